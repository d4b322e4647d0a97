"""What a TFLite file says, checked and free of flatbuffers: plain dataclasses that the importers work on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ...dialect.types import QuantParams, TensorType

OPTIONAL = -1
"""An operator input that is left out."""

_NAME_LIMIT = 80


def short(name: str) -> str:
    """A tensor name for a message: bounded, since names of 100,000 characters exist."""
    return name if len(name) <= _NAME_LIMIT else f"{name[: _NAME_LIMIT - 3]}..."


@dataclass(frozen=True)
class Blockwise:
    """Scales by blocks of ``size`` neighbours along a matrix's rows: the values of tensor ``scales``."""

    scales: int
    size: int


@dataclass(frozen=True)
class Tensor:
    """One tensor of a graph.

    ``element`` is ``f32``, ``i32`` ..., :class:`QuantParams` (storage integers with scales), or empty for
    what we do not compute with (strings, resources, complex numbers). Scales are the file's float32 values;
    a per-channel scale may be 0 (a channel of zeros). ``shape_signature`` has -1 where an extent may
    change; without ``has_rank`` the file says nothing of the shape. ``data`` are the stored values of a
    constant, 4-bit values unpacked to one per byte; read-only. ``obstacle`` says why the tensor cannot be
    used. Where scales go by blocks (``blockwise``), ``element`` is the plain integer.
    """

    index: int
    name: str
    type_name: str
    shape: tuple[int, ...]
    shape_signature: tuple[int, ...]
    element: str | QuantParams
    data: npt.NDArray[np.generic] | None = None
    is_variable: bool = False
    has_rank: bool = True
    obstacle: str = ""
    blockwise: Blockwise | None = None

    @property
    def type(self) -> TensorType:
        return TensorType(self.shape, self.element)

    @property
    def is_constant(self) -> bool:
        return self.data is not None


@dataclass(frozen=True)
class Operator:
    """One operator: ``name`` is the builtin's (``CONV_2D``) or ``CUSTOM``; ``inputs`` and ``outputs`` are
    tensor indices, and so are ``intermediates``, which only tell the parameters of values inside.
    """

    index: int
    name: str
    custom_code: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Mapping[str, Any]
    intermediates: tuple[int, ...] = ()
    custom_options: bytes = b""
    """The options of a custom operator, in a form of its own."""


@dataclass(frozen=True)
class Graph:
    """A subgraph; ``operators`` are sorted so that each comes after the producers of its inputs."""

    name: str
    tensors: tuple[Tensor, ...]
    operators: tuple[Operator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True)
class Signature:
    """A named entry point: names of a subgraph's inputs by tensor index, and tensor indices of its outputs by
    name, as one tensor may be several outputs.
    """

    key: str
    graph: int
    inputs: Mapping[int, str] = field(default_factory=dict)
    outputs: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class ModelFile:
    """A whole file. ``name`` is the file's name, for messages and locations."""

    name: str
    description: str
    graphs: tuple[Graph, ...]
    signatures: tuple[Signature, ...]
