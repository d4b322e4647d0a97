"""A model under construction with arrays for its inputs: what the random one-operator models are drawn as."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from random_movements import Array, random_type, random_values, shape_of
from random_tensors import add_tensor
from tflite_builder import Builder
from zeropoint.dialect.types import TensorType

MOVED = ("f32", "i8", "u8", "i16", "i32", "i64", "i1", "q i8", "q u8", "q i16")


@dataclass
class Drawn:
    """A model under construction, the arrays for its inputs, and its outputs."""

    rng: np.random.Generator
    model: Builder = field(default_factory=Builder)
    inputs: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    arrays: list[Array] = field(default_factory=list)
    kind: str = ""
    """What the record calls its tensors, if the output's type does not say it."""

    def build(self) -> bytes:
        return self.model.build(self.inputs, self.outputs)

    def source(self, kind: TensorType, array: Array | None = None, name: str = "x") -> int:
        """An input of the model."""
        self.inputs.append(add_tensor(self.model, name, kind))
        self.arrays.append(random_values(self.rng, kind) if array is None else array)
        return self.inputs[-1]

    def integers(self, values: Any, dtype: type[np.generic] = np.int32) -> int:
        """A constant."""
        return self.model.constant(f"c{len(self.model.tensors)}", np.asarray(values, dtype))

    def maybe_constant(self, kind: TensorType, array: Array) -> int:
        """An input of the model, or a constant."""
        if self.rng.integers(0, 2):
            return self.source(kind, array, f"i{len(self.inputs)}")
        return add_tensor(self.model, f"i{len(self.model.tensors)}", kind, array)

    def result(self, kind: TensorType) -> int:
        self.outputs.append(add_tensor(self.model, f"y{len(self.outputs)}", kind))
        return self.outputs[-1]


def inner_indices(drawn: Drawn, shape: Sequence[int], extents: Sequence[int]) -> tuple[TensorType, Array]:
    """Indices inside ``extents``, one per place of the last dimension (one for all: of any shape)."""
    kind = TensorType(tuple(shape), str(drawn.rng.choice(["i32", "i64"])))
    high = np.asarray(extents) if len(extents) > 1 else extents[0]
    return kind, drawn.rng.integers(0, high, shape).astype(kind.dtype)


def drawn_source(
    rng: np.random.Generator, rank: int, elements: Sequence[str] = MOVED
) -> tuple[Drawn, TensorType, int]:
    drawn = Drawn(rng)
    kind = random_type(rng, shape_of(rng, rank), elements)
    return drawn, kind, drawn.source(kind)
