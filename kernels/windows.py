"""What becomes of the bytes of a window: their maximum, their rounded average.

Averages are computed of unsigned bytes: signed ones are made 128 larger first. A stored number (the *middle*)
stands for the integer 0, and the reference rounds half away from it: below it, half down. For a sum ``s`` of
``n`` bytes

    ``average = floor((s + n // 2 - [n is even and s < n * middle]) / n)``
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from . import instructions
from .launch import Bytes
from .writer import Writer

NARROW_TAPS = 128
"""Up to here ``S`` fits into 16 bits, and one 16-bit multiplication divides it exactly."""
WIDE_TAPS = 65535
"""Up to here ``S`` and ``n`` are exact in float32; their rounded quotient never reaches the next integer."""
HEADER_BYTES = 64
_ENTRY_BYTES = 32
_LOW, _HIGH, _MIDDLE = 0, 4, 8


class Reduction(Protocol):
    """How a kernel reduces a window of one block of channels, in one vector or several."""

    @property
    def types(self) -> list[str]: ...

    @property
    def width(self) -> int:
        """Channels of a block."""

    def start(self) -> list[str]: ...

    def load(self, pointer: str) -> list[str]: ...

    def combine(self, lhs: Sequence[str], rhs: Sequence[str]) -> list[str]: ...

    def parameters(self, constants: str, count: str) -> list[str]:
        """What :meth:`finish` needs for windows of ``count`` taps, an i64."""

    def finish(self, total: Sequence[str], parameters: Sequence[str]) -> str:
        """Bytes, ``vector<width x i8>``."""


def header(low: int, high: int, middle: int = 0) -> Bytes:
    """``[HEADER_BYTES]``: the bounds of the result and the middle; of unsigned bytes for averages."""
    numbers = np.zeros(HEADER_BYTES // 4, np.int32)
    numbers[:3] = low, high, middle
    return numbers.view(np.uint8)


def division_table(taps: int, middle: int) -> Bytes:
    """``[(taps + 1) * 32]``: for every count ``n`` of at most :data:`NARROW_TAPS` the 16-bit numbers
    ``bias``, ``lead``, ``multiplier`` and at byte 16 a shift, so that for a sum ``s`` of bytes

        ``average = ((s + bias - [s + lead < 0]) * multiplier >> 16) >> shift``

    ``multiplier = ceil(2^(16 + shift) / n)`` with ``2^shift < n <= 2^(shift + 1)``: too large by less than
    ``n / 2^(16 + shift)`` of itself, which no sum below ``256 * n`` notices up to 128 taps.
    """
    table = np.zeros((taps + 1, _ENTRY_BYTES), np.uint8)
    for n in range(1, taps + 1):
        shift = max(n - 1, 1).bit_length() - 1
        # One tap: the multiplier does not reach 2^16; (s + 1) * (2^16 - 1) >> 16 is s.
        bias = n // 2 + (n == 1)
        lead = -n * middle if n % 2 == 0 else 0
        multiplier = min(-(-(1 << (16 + shift)) // n), (1 << 16) - 1)
        table[n, :6] = np.array([bias, lead, multiplier], np.int64).astype(np.uint16).view(np.uint8)
        table[n, 16] = shift
    return table.reshape(-1)


@dataclass(frozen=True)
class Maximum:
    """The largest byte."""

    w: Writer
    signed: bool
    limited: bool
    """Whether the bounds are narrower than the storage."""

    @property
    def types(self) -> list[str]:
        return [self.w.i8]

    @property
    def width(self) -> int:
        return self.w.isa.vector_bytes

    def start(self) -> list[str]:
        return [self.w.splat(-128 if self.signed else 0, self.w.i8)]

    def load(self, pointer: str) -> list[str]:
        return [self.w.load(pointer, self.w.i8)]

    def combine(self, lhs: Sequence[str], rhs: Sequence[str]) -> list[str]:
        return [self._limit("max", lhs[0], rhs[0])]

    def parameters(self, constants: str, count: str) -> list[str]:
        return [_broadcast(self.w, constants, at, "i8", self.w.i8) for at in (_LOW, _HIGH) if self.limited]

    def finish(self, total: Sequence[str], parameters: Sequence[str]) -> str:
        value = total[0]
        for name, bound in zip(("max", "min"), parameters, strict=False):
            value = self._limit(name, value, bound)
        return value

    def _limit(self, name: str, value: str, bound: str) -> str:
        return self.w.binary(name + ("si" if self.signed else "ui"), value, bound, self.w.i8)


@dataclass(frozen=True)
class NarrowAverage:
    """The average of at most :data:`NARROW_TAPS` bytes, in 16 bits.

    Two vectors: the sum of all 16-bit lanes, modulo 2^16, and of their high bytes alone. That is one shift a
    tap; unpacking bytes would take two shuffles.
    """

    w: Writer
    signed: bool
    limited: bool
    away: bool
    """Whether a window's count can be even and its sum below the middle: where half is rounded down."""

    @property
    def types(self) -> list[str]:
        return [self.w.i16] * 2

    @property
    def width(self) -> int:
        return self.w.isa.vector_bytes

    def start(self) -> list[str]:
        return [self.w.splat(0, self.w.i16)] * 2

    def load(self, pointer: str) -> list[str]:
        w = self.w
        pairs = w.bitcast(_unsigned(w, w.load(pointer, w.i8), self.signed, w.i8), w.i8, w.i16)
        return [pairs, w.binary("shrui", pairs, w.splat(8, w.i16), w.i16)]

    def combine(self, lhs: Sequence[str], rhs: Sequence[str]) -> list[str]:
        return [self._add(a, b) for a, b in zip(lhs, rhs, strict=True)]

    def parameters(self, constants: str, count: str) -> list[str]:
        w = self.w
        entry = w.at(w.at(constants, HEADER_BYTES), w.times(count, _ENTRY_BYTES))
        numbers = [_broadcast(w, entry, at, "i16", w.i16) for at in (0, 2, 4)]
        shift = instructions.word_shift(w, w.at(entry, 16))
        bounds = [_broadcast(w, constants, at, "i16", w.i16) for at in (_LOW, _HIGH) if self.limited]
        return [*numbers, shift, *bounds]

    def finish(self, total: Sequence[str], parameters: Sequence[str]) -> str:
        w, (pairs, odd) = self.w, total
        byte = w.splat(8, w.i16)
        even = w.binary("subi", pairs, w.binary("shli", odd, byte, w.i16), w.i16)
        low, high = (self._average(part, parameters) for part in (even, odd))
        both = w.binary("ori", low, w.binary("shli", high, byte, w.i16), w.i16)
        return _unsigned(w, w.bitcast(both, w.i16, w.i8), self.signed, w.i8)

    def _average(self, total: str, parameters: Sequence[str]) -> str:
        w, (bias, lead, multiplier, shift, *bounds) = self.w, parameters
        biased = self._add(total, bias)
        if self.away:
            below = w.binary("shrsi", self._add(total, lead), w.splat(15, w.i16), w.i16)
            biased = self._add(biased, below)
        scaled = instructions.multiply_high_words(w, biased, multiplier)
        return _limited(w, instructions.shift_right_words(w, scaled, shift), bounds, w.i16)

    def _add(self, lhs: str, rhs: str) -> str:
        return self.w.binary("addi", lhs, rhs, self.w.i16)


@dataclass(frozen=True)
class WideSum:
    """The sum of bytes as they are stored, in 32 bits."""

    w: Writer
    signed: bool

    @property
    def types(self) -> list[str]:
        return [self.w.i32]

    @property
    def width(self) -> int:
        return self.w.lanes

    def start(self) -> list[str]:
        return [self.w.splat(0, self.w.i32)]

    def load(self, pointer: str) -> list[str]:
        w = self.w
        extend = "extsi" if self.signed else "extui"
        return [w.op(f"arith.{extend} {w.load(pointer, w.quarter)} : {w.quarter} to {w.i32}")]

    def combine(self, lhs: Sequence[str], rhs: Sequence[str]) -> list[str]:
        return [self.w.binary("addi", lhs[0], rhs[0], self.w.i32)]


@dataclass(frozen=True)
class WideAverage(WideSum):
    """The average of at most :data:`WIDE_TAPS` bytes, in 32 bits and float32."""

    limited: bool

    def parameters(self, constants: str, count: str) -> list[str]:
        w = self.w
        n = w.op(f"arith.trunci {count} : i64 to i32")
        one = w.constant("1 : i32")
        half = w.binary("shrui", n, one, "i32")
        even = w.binary("xori", w.binary("andi", n, one, "i32"), one, "i32")
        middle = w.load(w.at(constants, _MIDDLE), "i32", 4)
        to_unsigned = w.binary("muli", n, w.constant(f"{128 if self.signed else 0} : i32"), "i32")
        below = w.binary("muli", w.binary("muli", n, middle, "i32"), even, "i32")
        numbers = [w.binary("addi", to_unsigned, half, "i32"), w.binary("subi", to_unsigned, below, "i32")]
        divisor = w.broadcast(w.op(f"arith.sitofp {n} : i32 to f32"), "f32", w.f32)
        bounds = [_broadcast(w, constants, at, "i32", w.i32) for at in (_LOW, _HIGH) if self.limited]
        return [*(w.broadcast(number, "i32", w.i32) for number in numbers), divisor, *bounds]

    def finish(self, total: Sequence[str], parameters: Sequence[str]) -> str:
        w, (bias, lead, divisor, *bounds) = self.w, parameters
        below = w.binary("shrsi", self.combine(total, [lead])[0], w.splat(31, w.i32), w.i32)
        biased = self.combine(self.combine(total, [bias]), [below])[0]
        real = w.op(f"arith.sitofp {biased} : {w.i32} to {w.f32}")
        average = w.op(f"arith.fptosi {w.binary('divf', real, divisor, w.f32)} : {w.f32} to {w.i32}")
        limited = _limited(w, average, bounds, w.i32)
        return _unsigned(w, w.op(f"arith.trunci {limited} : {w.i32} to {w.quarter}"), self.signed, w.quarter)


def store_channels(w: Writer, value: str, width: int, channels: int, pointer: str) -> None:
    """The first ``channels`` of ``width`` bytes."""
    if channels < width:
        value = w.shuffle(value, value, range(channels), f"vector<{width}xi8>")
    w.store(value, pointer, f"vector<{channels}xi8>")


def _broadcast(w: Writer, pointer: str, at: int, scalar: str, type_: str) -> str:
    return w.broadcast(w.load(w.at(pointer, at), scalar), scalar, type_)


def _unsigned(w: Writer, value: str, signed: bool, type_: str) -> str:
    """Signed bytes 128 larger, as unsigned ones; and back."""
    return w.binary("xori", value, w.splat(-128, type_), type_) if signed else value


def _limited(w: Writer, value: str, bounds: Sequence[str], type_: str) -> str:
    for name, bound in zip(("maxsi", "minsi"), bounds, strict=False):
        value = w.binary(name, value, bound, type_)
    return value
