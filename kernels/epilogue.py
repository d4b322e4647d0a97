"""From i32 accumulators to stored bytes, in registers, by the kernel's rounding rule.

DOUBLE needs one 64-bit addition per product: for a right shift ``e`` of at least one both roundings are one
floor,

    ``y = floor((a * m + 2^30 + 2^(30 + e) + z * 2^(31 + e) - (a < 0) * 2^31) / 2^(31 + e))``

The term in ``a < 0`` only matters where the result may lie below the zero point. Without a shift there is
only the first rounding, and neither that term nor ``2^(30 + e)``. With a large ``e`` the zero point is added
after the division instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..dialect.numerics import Rounding
from ..dialect.op_constants import Rescale
from .channels import Channels, as_bytes
from .launch import Bytes, Code, Option
from .writer import Writer

_MAX_SHIFT = 31
_MAX_EARLY_SHIFT = 20
"""Beyond it ``z * 2^(31 + e)`` and a full product might not fit into 64 bits together."""
_LARGEST_SCALE = 2.0**60
"""So that a float32 product of an accumulator is finite."""
_PARAMETERS = {Rounding.DOUBLE: 8, Rounding.FLOAT32_HALF_EVEN: 1, Rounding.ONCE_HALF_AWAY: 2}
"""Vectors of parameters per vector of channels."""
HEADER_BYTES = 64
"""Of :meth:`Epilogue.header`: zero point, low, high as i32."""


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


def header(rescale: Rescale) -> Bytes:
    """What all channels share: ``[HEADER_BYTES]``."""
    numbers = np.zeros(HEADER_BYTES // 4, np.int32)
    numbers[:3] = rescale.zero_point, rescale.low, rescale.high
    return numbers.view(np.uint8)


@dataclass(frozen=True)
class Epilogue:
    """The epilogue of one kernel, as far as its code depends on it."""

    rounding: Rounding
    early: bool = False
    """DOUBLE: whether the zero point is part of the sum that is divided."""
    corrects: bool = False
    """DOUBLE: whether results may lie below the zero point."""

    @classmethod
    def of(cls, rescale: Rescale) -> Epilogue:
        if rescale.rounding is not Rounding.DOUBLE:
            return cls(rescale.rounding)
        early = all(-shift <= _MAX_EARLY_SHIFT for shift in rescale.shifts)
        return cls(rescale.rounding, early, rescale.low < rescale.zero_point)

    @classmethod
    def of_code(cls, code: Code) -> Epilogue:
        """What :meth:`options` has put into a code."""
        return cls(Rounding(code["rounding"]), bool(code["early"]), bool(code["corrects"]))

    @property
    def options(self) -> tuple[tuple[str, Option], ...]:
        return (("rounding", self.rounding.value), ("early", self.early), ("corrects", self.corrects))

    def parameter_bytes(self, lanes: int) -> int:
        """Per vector of channels."""
        return _PARAMETERS[self.rounding] * lanes * 4

    def pack(self, rescale: Rescale, channels: Channels) -> Bytes:
        """``[vectors, parameter_bytes]``."""
        if self.rounding is Rounding.FLOAT32_HALF_EVEN:
            return as_bytes(channels.spread(rescale.scales, np.float32))
        if self.rounding is Rounding.ONCE_HALF_AWAY:
            return as_bytes(channels.spread(rescale.scales, np.float64))
        multiplier = channels.spread(rescale.multipliers, np.int64)
        exponent = -channels.spread(rescale.shifts, np.int64)
        exponent = np.where(multiplier == 0, 1, exponent)  # any will do, the product is zero
        one, shifts = np.int64(1), exponent > 0
        offset = (one << 30) + np.where(shifts, one << (30 + exponent), 0)
        if self.early:
            offset += np.int64(rescale.zero_point) << (31 + exponent)
        correction = np.where(shifts, -(one << 31), 0)
        columns = (multiplier, offset, 31 + exponent, correction)
        return as_bytes(np.stack([values[:, start::2] for values in columns for start in (0, 1)], 1))

    def limits(self, w: Writer, pointer: str) -> list[str]:
        """Zero point, low and high from a header, in all i32 lanes."""
        return [w.broadcast(w.load(w.at(pointer, 4 * i), "i32", 4), "i32", w.i32) for i in range(3)]

    def load(self, w: Writer, pointer: str) -> list[str]:
        """The parameters of one vector of channels."""
        types = {Rounding.DOUBLE: w.i64, Rounding.FLOAT32_HALF_EVEN: w.f32, Rounding.ONCE_HALF_AWAY: w.f64}
        count = _PARAMETERS[self.rounding]
        if self.rounding is Rounding.DOUBLE and not self.corrects:
            count -= 2  # the corrections, which are packed last
        return [
            # LLVM would move ordinary loads out of the loop over tiles, into registers that are not free, and
            # reload them from the stack; and it would forget there how wide a multiplier is.
            w.load(w.at(pointer, w.isa.vector_bytes * i), types[self.rounding], volatile=True)
            for i in range(count)
        ]

    def apply(self, w: Writer, accumulator: str, parameters: Sequence[str], limits: Sequence[str]) -> str:
        """An i32 vector of accumulators to stored numbers, clamped, as i32."""
        if self.rounding is Rounding.DOUBLE:
            return self._double(w, accumulator, parameters, limits)
        if self.rounding is Rounding.FLOAT32_HALF_EVEN:
            return self._float32(w, accumulator, parameters, limits)
        return self._once(w, accumulator, parameters, limits)

    def _double(self, w: Writer, accumulator: str, parameters: Sequence[str], limits: Sequence[str]) -> str:
        wide = w.bitcast(accumulator, w.i32, w.i64)
        half = w.splat(32, w.i64)
        even = w.binary("shrsi", w.binary("shli", wide, half, w.i64), half, w.i64)
        odd = w.binary("shrsi", wide, half, w.i64)
        results = []
        for lanes, value in enumerate((even, odd)):
            multiplier, offset, shift = parameters[lanes], parameters[2 + lanes], parameters[4 + lanes]
            # It is 32 bits wide: said so that LLVM takes vpmuldq and not the slower full product.
            multiplier = w.binary("shrsi", w.binary("shli", multiplier, half, w.i64), half, w.i64)
            total = w.binary("addi", w.binary("muli", value, multiplier, w.i64), offset, w.i64)
            if self.corrects:
                sign = w.binary("shrsi", value, w.splat(63, w.i64), w.i64)
                correction = w.binary("andi", sign, parameters[6 + lanes], w.i64)
                total = w.binary("addi", total, correction, w.i64)
            results.append(w.bitcast(w.binary("shrsi", total, shift, w.i64), w.i64, w.i32))
        # The low halves of both are the results of the even and of the odd lanes.
        interleave = [lane if lane % 2 == 0 else lane + w.lanes - 1 for lane in range(w.lanes)]
        merged = w.shuffle(results[0], results[1], interleave, w.i32)
        zero_point, low, high = limits
        if not self.early:
            merged = w.binary("addi", merged, zero_point, w.i32)
        return w.binary("minsi", w.binary("maxsi", merged, low, w.i32), high, w.i32)

    def _float32(self, w: Writer, accumulator: str, parameters: Sequence[str], limits: Sequence[str]) -> str:
        product = w.binary(
            "mulf", w.op(f"arith.sitofp {accumulator} : {w.i32} to {w.f32}"), parameters[0], w.f32
        )
        bounds = [self._real_bound(w, limits, i, w.i32, w.f32) for i in (1, 2)]
        rounded = w.op(f"math.roundeven {_limit(w, product, bounds, w.f32)} : {w.f32}")
        return w.binary("addi", w.op(f"arith.fptosi {rounded} : {w.f32} to {w.i32}"), limits[0], w.i32)

    def _once(self, w: Writer, accumulator: str, parameters: Sequence[str], limits: Sequence[str]) -> str:
        halves, count = [], w.lanes // 2
        part_type = f"vector<{count}xi32>"
        for half, scale in enumerate(parameters):
            lanes = list(range(count * half, count * half + count))
            part = w.shuffle(accumulator, accumulator, lanes, w.i32)
            product = w.binary("mulf", w.op(f"arith.sitofp {part} : {part_type} to {w.f64}"), scale, w.f64)
            bounds = [
                w.op(f"arith.sitofp {w.shuffle(bound, bound, lanes, w.i32)} : {part_type} to {w.f64}")
                for bound in (w.binary("subi", limits[i], limits[0], w.i32) for i in (1, 2))
            ]
            rounded = w.op(f"math.round {_limit(w, product, bounds, w.f64)} : {w.f64}")
            halves.append(w.op(f"arith.fptosi {rounded} : {w.f64} to {part_type}"))
        both = w.shuffle(halves[0], halves[1], list(range(w.lanes)), part_type)
        return w.binary("addi", both, limits[0], w.i32)

    def _real_bound(self, w: Writer, limits: Sequence[str], which: int, source: str, target: str) -> str:
        return w.op(
            f"arith.sitofp {w.binary('subi', limits[which], limits[0], source)} : {source} to {target}"
        )


def _limit(w: Writer, value: str, bounds: Sequence[str], type_: str) -> str:
    """Clamp before rounding: the bounds are whole numbers, so the order does not matter, and the conversion
    to integers cannot overflow.
    """
    mask = type_.replace("f32", "i1").replace("f64", "i1")
    for predicate, limit in zip(("ogt", "olt"), bounds, strict=True):
        keep = w.op(f"arith.cmpf {predicate}, {value}, {limit} : {type_}")
        value = w.op(f"arith.select {keep}, {value}, {limit} : {mask}, {type_}")
    return value
