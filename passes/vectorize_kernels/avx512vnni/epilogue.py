"""From sixteen i32 accumulators to sixteen stored bytes, in registers, by the kernel's rounding rule.

DOUBLE needs one 64-bit addition per product: for a right shift ``e`` of at least one both roundings are one
floor,

    ``y = floor((a * m + 2^30 + 2^(30 + e) + z * 2^(31 + e) - (a < 0) * 2^31) / 2^(31 + e))``

The term in ``a < 0`` only matters where the result may lie below the zero point. Without a shift there is
only the first rounding, and neither that term nor ``2^(30 + e)``. With a large ``e`` the zero point is added
after the division instead.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ....dialect.numerics import Rounding
from ....dialect.op_constants import Rescale
from .channels import Channels, as_bytes
from .writer import BYTES, F32, F64, I32, I64, Writer

_MAX_SHIFT = 31
_MAX_EARLY_SHIFT = 20
"""Beyond it ``z * 2^(31 + e)`` and a full product might not fit into 64 bits together."""
_LARGEST_SCALE = 2.0**60
"""So that a float32 product of an accumulator is finite."""
_VECTOR_BYTES = 64
_PARAMETERS = {Rounding.DOUBLE: 8, Rounding.FLOAT32_HALF_EVEN: 1, Rounding.ONCE_HALF_AWAY: 2}
"""Vectors of parameters per sixteen channels."""
_INTERLEAVE = [lane if lane % 2 == 0 else lane + 15 for lane in range(16)]
"""Even lanes of one vector of i32, and its own even lanes for the odd ones of a second."""


def why_not(rescale: Rescale) -> str | None:
    """None if there is an epilogue for ``rescale``, else the reason why not."""
    if rescale.rounding not in _PARAMETERS:
        return f"rounding '{rescale.rounding.value}' has no vector epilogue"
    if rescale.rounding is Rounding.DOUBLE:
        pairs = zip(rescale.multipliers, rescale.shifts, strict=True)
        if any(multiplier and not -_MAX_SHIFT <= shift <= 0 for multiplier, shift in pairs):
            return f"a shift outside -{_MAX_SHIFT}..0 (scales of one and more)"
    elif not all(0.0 <= scale <= _LARGEST_SCALE for scale in rescale.scales):
        return "a scale beyond 2^60"
    return None


class Epilogue:
    """The epilogue of one kernel; its parameters follow what the kernel keeps per sixteen channels."""

    def __init__(self, rescale: Rescale) -> None:
        self.rescale = rescale
        self.parameter_bytes = _PARAMETERS[rescale.rounding] * _VECTOR_BYTES

    def pack(self, channels: Channels) -> npt.NDArray[np.uint8]:
        """``[vectors, parameter_bytes]``."""
        rescale = self.rescale
        if rescale.rounding is Rounding.FLOAT32_HALF_EVEN:
            return as_bytes(channels.spread(rescale.scales, np.float32))
        if rescale.rounding is Rounding.ONCE_HALF_AWAY:
            return as_bytes(channels.spread(rescale.scales, np.float64))
        multiplier = channels.spread(rescale.multipliers, np.int64)
        exponent = -channels.spread(rescale.shifts, np.int64)
        exponent = np.where(multiplier == 0, 1, exponent)  # any will do, the product is zero
        one, shifts = np.int64(1), exponent > 0
        offset = (one << 30) + np.where(shifts, one << (30 + exponent), 0)
        if self._adds_early:
            offset += np.int64(rescale.zero_point) << (31 + exponent)
        correction = np.where(shifts, -(one << 31), 0)
        columns = (multiplier, offset, 31 + exponent, correction)
        return as_bytes(np.stack([values[:, start::2] for values in columns for start in (0, 1)], 1))

    @property
    def _adds_early(self) -> bool:
        """Whether the zero point is part of the sum that is divided."""
        return all(-shift <= _MAX_EARLY_SHIFT for shift in self.rescale.shifts)

    @property
    def _corrects(self) -> bool:
        """Whether results may lie below the zero point."""
        return self.rescale.low < self.rescale.zero_point

    def load(self, w: Writer, pointer: str) -> list[str]:
        """The parameters of sixteen channels."""
        types = {Rounding.DOUBLE: I64, Rounding.FLOAT32_HALF_EVEN: F32, Rounding.ONCE_HALF_AWAY: F64}
        rounding = self.rescale.rounding
        count = _PARAMETERS[rounding]
        if rounding is Rounding.DOUBLE and not self._corrects:
            count -= 2  # the corrections, which are packed last
        return [
            # LLVM would move ordinary loads out of the loop over tiles, into registers that are not free, and
            # reload them from the stack; and it would forget there how wide a multiplier is.
            w.load(w.at(pointer, _VECTOR_BYTES * i), types[rounding], volatile=True)
            for i in range(count)
        ]

    def apply(self, w: Writer, accumulator: str, parameters: Sequence[str]) -> str:
        """``vector<16xi32>`` accumulators to ``vector<16xi8>``, clamped."""
        steps = {
            Rounding.DOUBLE: self._double,
            Rounding.FLOAT32_HALF_EVEN: self._float32,
            Rounding.ONCE_HALF_AWAY: self._once,
        }
        value = steps[self.rescale.rounding](w, accumulator, parameters)
        return w.op(f"arith.trunci {value} : {I32} to {BYTES}")

    def _double(self, w: Writer, accumulator: str, parameters: Sequence[str]) -> str:
        low, high = self.rescale.low, self.rescale.high
        wide = w.bitcast(accumulator, I32, I64)
        half = w.splat(32, I64)
        even = w.binary("shrsi", w.binary("shli", wide, half, I64), half, I64)
        odd = w.binary("shrsi", wide, half, I64)
        results = []
        for lanes, value in enumerate((even, odd)):
            multiplier, offset, shift = parameters[lanes], parameters[2 + lanes], parameters[4 + lanes]
            # It is 32 bits wide: said so that LLVM takes vpmuldq and not the slower full product.
            multiplier = w.binary("shrsi", w.binary("shli", multiplier, half, I64), half, I64)
            total = w.binary("addi", w.binary("muli", value, multiplier, I64), offset, I64)
            if self._corrects:
                sign = w.binary("shrsi", value, w.splat(63, I64), I64)
                correction = w.binary("andi", sign, parameters[6 + lanes], I64)
                total = w.binary("addi", total, correction, I64)
            results.append(w.bitcast(w.binary("shrsi", total, shift, I64), I64, I32))
        # The low halves of both are the results of the even and of the odd lanes.
        merged = w.op(f"vector.shuffle {results[0]}, {results[1]} {_INTERLEAVE} : {I32}, {I32}")
        if not self._adds_early:
            merged = self._plus_zero_point(w, merged)
        merged = w.binary("maxsi", merged, w.splat(low, I32), I32)
        return w.binary("minsi", merged, w.splat(high, I32), I32)

    def _float32(self, w: Writer, accumulator: str, parameters: Sequence[str]) -> str:
        product = w.binary("mulf", w.op(f"arith.sitofp {accumulator} : {I32} to {F32}"), parameters[0], F32)
        rounded = w.op(f"math.roundeven {self._limit(w, product, F32)} : {F32}")
        return self._plus_zero_point(w, w.op(f"arith.fptosi {rounded} : {F32} to {I32}"))

    def _once(self, w: Writer, accumulator: str, parameters: Sequence[str]) -> str:
        halves, eight = [], "vector<8xi32>"
        for half, scale in enumerate(parameters):
            lanes = list(range(8 * half, 8 * half + 8))
            part = w.op(f"vector.shuffle {accumulator}, {accumulator} {lanes} : {I32}, {I32}")
            product = w.binary("mulf", w.op(f"arith.sitofp {part} : {eight} to {F64}"), scale, F64)
            rounded = w.op(f"math.round {self._limit(w, product, F64)} : {F64}")
            halves.append(w.op(f"arith.fptosi {rounded} : {F64} to {eight}"))
        both = w.op(f"vector.shuffle {halves[0]}, {halves[1]} {list(range(16))} : {eight}, {eight}")
        return self._plus_zero_point(w, both)

    def _plus_zero_point(self, w: Writer, value: str) -> str:
        return w.binary("addi", value, w.splat(self.rescale.zero_point, I32), I32)

    def _limit(self, w: Writer, value: str, type_: str) -> str:
        """Clamp before rounding: the bounds are whole numbers, so the order does not matter, and the
        conversion to integers cannot overflow.
        """
        mask = type_.replace("f32", "i1").replace("f64", "i1")
        bounds = (("ogt", self.rescale.low), ("olt", self.rescale.high))
        for predicate, bound in bounds:
            limit = w.splat(float(bound - self.rescale.zero_point), type_)
            keep = w.op(f"arith.cmpf {predicate}, {value}, {limit} : {type_}")
            value = w.op(f"arith.select {keep}, {value}, {limit} : {mask}, {type_}")
        return value
