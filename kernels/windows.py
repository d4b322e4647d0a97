"""What becomes of the bytes of a window: their maximum, their rounded average.

Averages are computed in the *unsigned domain*: ``S``, the sum of ``n`` bytes as ``0 .. 255`` (128 more than a
signed byte). A stored number stands for the integer ``0`` in the middle; the reference rounds half away from
it. For a sum below ``n * middle`` that is half down:

    ``average = floor((S + n // 2 - [n is even and S < n * middle]) / n)``
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
    """How a kernel reduces a window of one block of channels."""

    @property
    def type(self) -> str: ...

    @property
    def width(self) -> int:
        """Channels of a vector."""

    def start(self) -> str: ...

    def load(self, pointer: str) -> str: ...

    def combine(self, lhs: str, rhs: str) -> str: ...

    def parameters(self, constants: str, count: str) -> list[str]:
        """What :meth:`finish` needs for windows of ``count`` taps, an i64."""

    def finish(self, total: str, parameters: Sequence[str]) -> str:
        """Bytes, ``vector<width x i8>``."""


def header(low: int, high: int, middle: int = 0) -> Bytes:
    """``[HEADER_BYTES]``: the bounds of the result and the middle, in the unsigned domain for averages."""
    numbers = np.zeros(HEADER_BYTES // 4, np.int32)
    numbers[:3] = low, high, middle
    return numbers.view(np.uint8)


def division_table(taps: int, signed: bool, middle: int) -> Bytes:
    """``[(taps + 1) * 32]``: for every count ``n`` of at most :data:`NARROW_TAPS` the 16-bit numbers
    ``bias``, ``lead``, ``multiplier`` and at byte 16 a shift, so that for a sum ``s`` of stored numbers

        ``average = ((s + bias - [s + lead < 0]) * multiplier >> 16) >> shift``

    ``multiplier = ceil(2^(16 + shift) / n)`` with ``2^shift < n <= 2^(shift + 1)``: too large by less than
    ``n / 2^(16 + shift)`` of itself, which no sum below ``256 * n`` notices up to 128 taps.
    """
    table = np.zeros((taps + 1, _ENTRY_BYTES), np.uint8)
    for n in range(1, taps + 1):
        shift = max(n - 1, 1).bit_length() - 1
        to_unsigned = 128 * n if signed else 0
        # One tap: the multiplier does not reach 2^16; (S + 1) * (2^16 - 1) >> 16 is S.
        bias = to_unsigned + n // 2 + (n == 1)
        lead = to_unsigned - (n * middle if n % 2 == 0 else 0)
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
    def type(self) -> str:
        return self.w.i8

    @property
    def width(self) -> int:
        return self.w.isa.vector_bytes

    def start(self) -> str:
        return self.w.splat(-128 if self.signed else 0, self.type)

    def load(self, pointer: str) -> str:
        return self.w.load(pointer, self.type)

    def combine(self, lhs: str, rhs: str) -> str:
        return self.w.binary(self._name("max"), lhs, rhs, self.type)

    def parameters(self, constants: str, count: str) -> list[str]:
        return [_broadcast(self.w, constants, at, "i8", self.type) for at in (_LOW, _HIGH) if self.limited]

    def finish(self, total: str, parameters: Sequence[str]) -> str:
        for name, bound in zip(("max", "min"), parameters, strict=False):
            total = self.w.binary(self._name(name), total, bound, self.type)
        return total

    def _name(self, name: str) -> str:
        return name + ("si" if self.signed else "ui")


@dataclass(frozen=True)
class NarrowAverage:
    """The average of at most :data:`NARROW_TAPS` bytes, in 16 bits."""

    w: Writer
    signed: bool
    limited: bool
    away: bool
    """Whether a sum can be even and below the middle: where half is rounded down."""

    @property
    def type(self) -> str:
        return self.w.i16

    @property
    def width(self) -> int:
        return self.w.isa.vector_bytes // 2

    def start(self) -> str:
        return self.w.splat(0, self.type)

    def load(self, pointer: str) -> str:
        return _widened(self.w, pointer, self.width, self.signed, self.type)

    def combine(self, lhs: str, rhs: str) -> str:
        return self.w.binary("addi", lhs, rhs, self.type)

    def parameters(self, constants: str, count: str) -> list[str]:
        w = self.w
        entry = w.at(w.at(constants, HEADER_BYTES), w.times(count, _ENTRY_BYTES))
        numbers = [_broadcast(w, entry, at, "i16", self.type) for at in (0, 2, 4)]
        shift = w.load(w.at(entry, 16), "vector<8xi16>", 16)
        bounds = [_broadcast(w, constants, at, "i16", self.type) for at in (_LOW, _HIGH) if self.limited]
        return [*numbers, shift, *bounds]

    def finish(self, total: str, parameters: Sequence[str]) -> str:
        w = self.w
        bias, lead, multiplier, shift, *bounds = parameters
        biased = self.combine(total, bias)
        if self.away:
            below = w.binary("shrsi", self.combine(total, lead), w.splat(15, self.type), self.type)
            biased = self.combine(biased, below)
        average = instructions.shift_right_words(
            w, instructions.multiply_high_words(w, biased, multiplier), shift
        )
        return _to_bytes(w, average, bounds, self.signed, self.width, self.type)


@dataclass(frozen=True)
class WideAverage:
    """The average of at most :data:`WIDE_TAPS` bytes, in 32 bits and float32."""

    w: Writer
    signed: bool
    limited: bool

    @property
    def type(self) -> str:
        return self.w.i32

    @property
    def width(self) -> int:
        return self.w.lanes

    def start(self) -> str:
        return self.w.splat(0, self.type)

    def load(self, pointer: str) -> str:
        return _widened(self.w, pointer, self.width, self.signed, self.type)

    def combine(self, lhs: str, rhs: str) -> str:
        return self.w.binary("addi", lhs, rhs, self.type)

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
        bounds = [_broadcast(w, constants, at, "i32", self.type) for at in (_LOW, _HIGH) if self.limited]
        return [*(w.broadcast(number, "i32", w.i32) for number in numbers), divisor, *bounds]

    def finish(self, total: str, parameters: Sequence[str]) -> str:
        w = self.w
        bias, lead, divisor, *bounds = parameters
        below = w.binary("shrsi", self.combine(total, lead), w.splat(31, w.i32), w.i32)
        real = w.op(f"arith.sitofp {self.combine(self.combine(total, bias), below)} : {w.i32} to {w.f32}")
        average = w.op(f"arith.fptosi {w.binary('divf', real, divisor, w.f32)} : {w.f32} to {w.i32}")
        return _to_bytes(w, average, bounds, self.signed, self.width, self.type)


def store_channels(w: Writer, value: str, width: int, channels: int, pointer: str) -> None:
    """The first ``channels`` of ``width`` bytes."""
    if channels < width:
        value = w.shuffle(value, value, range(channels), f"vector<{width}xi8>")
    w.store(value, pointer, f"vector<{channels}xi8>")


def _broadcast(w: Writer, pointer: str, at: int, scalar: str, type_: str) -> str:
    return w.broadcast(w.load(w.at(pointer, at), scalar), scalar, type_)


def _widened(w: Writer, pointer: str, width: int, signed: bool, type_: str) -> str:
    narrow = f"vector<{width}xi8>"
    return w.op(f"arith.{'extsi' if signed else 'extui'} {w.load(pointer, narrow)} : {narrow} to {type_}")


def _to_bytes(w: Writer, average: str, bounds: Sequence[str], signed: bool, width: int, type_: str) -> str:
    for name, bound in zip(("maxsi", "minsi"), bounds, strict=False):
        average = w.binary(name, average, bound, type_)
    if signed:
        average = w.binary("subi", average, w.splat(128, type_), type_)
    return w.op(f"arith.trunci {average} : {type_} to vector<{width}xi8>")
