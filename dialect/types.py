"""Tensor types as plain data: what an op's type says, readable without MLIR.

A tensor is float (``f32``), an ordinary integer (``i32``, ``i64``, ``i1`` ...) or quantized. A quantized
element type carries its storage type, scales and zero points: ``real = (stored - zero_point) * scale``.
``dialect/ir_types.py`` converts these to and from MLIR types.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

DYNAMIC = -1
"""A dimension whose extent is not known before run time."""


@dataclass(frozen=True)
class Storage:
    """The integer type that a quantized value is stored in, e.g. ``i8`` or ``u8``, with its admissible
    bounds.
    """

    bits: int
    signed: bool
    minimum: int
    maximum: int

    @classmethod
    def of(cls, name: str) -> Storage:
        """``i4 u4 i8 u8 i16 u16 i32 i64`` with their full range."""
        bits, signed = int(name[1:]), name[0] == "i"
        low = -(1 << (bits - 1)) if signed else 0
        return cls(bits, signed, low, low + (1 << bits) - 1)

    @property
    def name(self) -> str:
        """``i8``, ``u8`` ... without bounds."""
        return f"{'i' if self.signed else 'u'}{self.bits}"

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The numpy dtype that holds one stored value (4-bit values are held one per byte)."""
        return np.dtype(f"{'int' if self.signed else 'uint'}{max(8, self.bits)}")

    def __str__(self) -> str:
        full = Storage.of(self.name)
        return self.name if self == full else f"{self.name}<{self.minimum}:{self.maximum}>"


@dataclass(frozen=True)
class QuantParams:
    """Scales and zero points of a quantized tensor; one of each (per-tensor), or one per index of ``axis``
    (per-channel).

    ``block_sizes`` (sub-channel) maps an axis to the number of neighbours that share one scale; ``scales`` is
    then flat, in row-major order of the blocks.
    """

    storage: Storage
    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int | None = None
    block_sizes: tuple[tuple[int, int], ...] = ()

    @property
    def is_per_tensor(self) -> bool:
        return self.axis is None and not self.block_sizes

    @property
    def scale(self) -> float:
        """The scale of a per-tensor type."""
        assert self.is_per_tensor, "per-tensor parameters expected"
        return self.scales[0]

    @property
    def zero_point(self) -> int:
        """The zero point of a per-tensor type."""
        assert self.is_per_tensor, "per-tensor parameters expected"
        return self.zero_points[0]

    def same_values(self, other: QuantParams) -> bool:
        """Whether equal stored integers mean equal reals in both (storage bounds do not matter)."""
        return (
            self.storage.name == other.storage.name
            and self.scales == other.scales
            and self.zero_points == other.zero_points
            and self.axis == other.axis
            and self.block_sizes == other.block_sizes
        )


@dataclass(frozen=True)
class TensorType:
    """Shape and element type. ``element`` is ``f32``, ``f16``, ``i1``, ``i8``, ``u8``, ``i32``, ``i64`` ...
    or :class:`QuantParams`.
    """

    shape: tuple[int, ...]
    element: str | QuantParams

    @property
    def params(self) -> QuantParams:
        """The quantization parameters; only for quantized tensors."""
        assert isinstance(self.element, QuantParams), "a quantized tensor expected"
        return self.element

    @property
    def is_quantized(self) -> bool:
        return isinstance(self.element, QuantParams)

    @property
    def is_float(self) -> bool:
        return isinstance(self.element, str) and self.element.startswith("f")

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The numpy dtype of a value of this type."""
        if isinstance(self.element, QuantParams):
            return self.element.storage.dtype
        if self.element == "i1":
            return np.dtype(bool)
        kind = {"f": "float", "i": "int", "u": "uint"}[self.element[0]]
        return np.dtype(f"{kind}{self.element[1:]}")

    @property
    def stored(self) -> Storage:
        """The stored values' integer type, with its full range; only of integers and quantized tensors."""
        element = self.element
        return Storage.of(element.storage.name if isinstance(element, QuantParams) else element)

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def is_static(self) -> bool:
        return DYNAMIC not in self.shape


def broadcast_along(
    values: Sequence[float], params: QuantParams, shape: Sequence[int]
) -> npt.NDArray[np.generic]:
    """``values`` (one per scale of ``params``) laid out so that numpy broadcasts them over a tensor of
    ``shape``.
    """
    array = np.asarray(values)
    if params.is_per_tensor:
        return array.reshape(())
    if params.axis is not None:
        return array.reshape([-1 if d == params.axis else 1 for d in range(len(shape))])
    blocks = dict(params.block_sizes)
    array = array.reshape([shape[d] // blocks[d] if d in blocks else 1 for d in range(len(shape))])
    for axis, size in blocks.items():
        array = np.repeat(array, size, axis)
    return array
