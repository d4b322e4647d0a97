"""Bytes as vectors of numbers and back: what elementwise kernels do around their arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..dialect.op_constants import Rescale
from .instructions import narrow_to_bytes, narrow_to_words
from .runs import each_step, store_bytes
from .writer import Writer

QUARTERS = 4
"""Vectors of i32 or float32 for a vector of bytes."""


def load_numbers(w: Writer, pointer: str, position: str, quarter: int, signed: bool) -> str:
    """The bytes of one quarter of the vector at ``position``, as i32."""
    address = w.at(w.at(pointer, position), quarter * w.lanes)
    kind = "extsi" if signed else "extui"
    return w.op(f"arith.{kind} {w.load(address, w.quarter)} : {w.quarter} to {w.i32}")


def to_floats(w: Writer, numbers: str) -> str:
    return w.op(f"arith.sitofp {numbers} : {w.i32} to {w.f32}")


def to_bytes(w: Writer, quarters: Sequence[str], signed: bool) -> str:
    """Four i32 vectors as one of bytes, saturated."""
    low, high = (narrow_to_words(w, *quarters[i : i + 2]) for i in (0, 2))
    packed = narrow_to_bytes(w, low, high, signed)
    blocks = w.lanes // 4
    if blocks == 1:
        return packed
    # Every 128 bits hold four numbers of each quarter.
    order = [QUARTERS * block + quarter for quarter in range(QUARTERS) for block in range(blocks)]
    dwords = w.bitcast(packed, w.i8, w.i32)
    return w.bitcast(w.shuffle(dwords, dwords, order, w.i32), w.i32, w.i8)


@dataclass(frozen=True)
class Bounds:
    """Of stored bytes, in registers."""

    low: str
    high: str
    signed: bool

    @classmethod
    def load(cls, w: Writer, low: str, high: str, signed: bool) -> Bounds:
        """From two i64."""
        return cls(*(splat_byte(w, value) for value in (low, high)), signed)

    def apply(self, w: Writer, value: str) -> str:
        above = w.binary("maxsi" if self.signed else "maxui", value, self.low, w.i8)
        return w.binary("minsi" if self.signed else "minui", above, self.high, w.i8)


def each_vector(
    w: Writer,
    target: str,
    length: str,
    step: int,
    bounds: Bounds,
    compute: Callable[[str, int], str],
) -> None:
    """Store ``compute(position, quarter)``, i32 vectors, as clamped bytes of a run at ``target``."""

    def one(position: str) -> None:
        quarters = [compute(position, quarter) for quarter in range(QUARTERS)]
        result = bounds.apply(w, to_bytes(w, quarters, bounds.signed))
        store_bytes(w, result, w.at(target, position), step, w.isa.vector_bytes)

    each_step(w, length, step, one)


def splat_byte(w: Writer, value: str) -> str:
    """The lowest byte of an i64 in all lanes of a byte vector."""
    return w.broadcast(w.op(f"arith.trunci {value} : i64 to i8"), "i8", w.i8)


def splat_i32(w: Writer, value: str) -> str:
    """The lower half of an i64 in all i32 lanes."""
    return w.broadcast(w.op(f"arith.trunci {value} : i64 to i32"), "i32", w.i32)


def splat_f32(w: Writer, value: str) -> str:
    """The float32 whose bits are the lower half of an i64 in all lanes."""
    bits = w.op(f"arith.trunci {value} : i64 to i32")
    return w.broadcast(w.op(f"arith.bitcast {bits} : i32 to f32"), "f32", w.f32)


@dataclass(frozen=True)
class DoubleRounding:
    """A multiplier and a right shift of at most 31, in registers, by the rule DOUBLE (see ``epilogue.py``).

    On twice the number both roundings are ``(2a * m + 2^31 + 2^(31 + e) - (a < 0) * 2^32) >> (32 + e)``: the
    high halves of the products, a 32-bit addition and a 32-bit shift.
    """

    multiplier: str
    offset: str
    sign_mask: str
    shift: str

    NAMES = ("multiplier", "offset", "sign_mask", "shift")

    @classmethod
    def pack(cls, multiplier: int, shift: int) -> tuple[int, ...]:
        """Scalars in the order of :attr:`NAMES`, of a shift that is at most zero."""
        return multiplier, (1 << 31) + (1 << (31 - shift) if shift else 0), -1 if shift else 0, -shift

    @classmethod
    def load(cls, w: Writer, scalars: Sequence[str]) -> DoubleRounding:
        wide = [w.broadcast(value, "i64", w.i64) for value in scalars[:2]]
        return cls(*wide, *(splat_i32(w, value) for value in scalars[2:]))

    def apply(self, w: Writer, doubled: str) -> str:
        """``doubled``: twice an i32 vector of numbers below 2^30."""
        half = w.splat(32, w.i64)
        wide = w.bitcast(doubled, w.i32, w.i64)
        even = w.binary("shrsi", w.binary("shli", wide, half, w.i64), half, w.i64)
        odd = w.binary("shrsi", wide, half, w.i64)
        # It is 32 bits wide: said so that LLVM takes vpmuldq and not the slower full product.
        multiplier = w.binary("shrsi", w.binary("shli", self.multiplier, half, w.i64), half, w.i64)
        totals = []
        for value in (even, odd):
            product = w.binary("muli", value, multiplier, w.i64)
            totals.append(w.bitcast(w.binary("addi", product, self.offset, w.i64), w.i64, w.i32))
        high = [lane + 1 if lane % 2 == 0 else lane + w.lanes for lane in range(w.lanes)]
        result = w.shuffle(*totals, high, w.i32)
        sign = w.binary("shrsi", doubled, w.splat(31, w.i32), w.i32)
        result = w.binary("addi", result, w.binary("andi", sign, self.sign_mask, w.i32), w.i32)
        return shift_right(w, result, self.shift)


def shift_right(w: Writer, value: str, count: str) -> str:
    """Every i32 lane by the same count, which is in all lanes of ``count``; arithmetically."""
    if w.lanes > 4:
        return w.binary("shrsi", value, count, w.i32)
    # Without AVX2 there is no shift of each lane by its own count; this one reads 64 bits.
    low = w.binary("andi", w.bitcast(count, w.i32, w.i64), w.splat(31, w.i64), w.i64)
    return w.intrinsic("llvm.x86.sse2.psra.d", [value, w.bitcast(low, w.i64, w.i32)], [w.i32, w.i32], w.i32)


def why_not_double(multiplier: int, shift: int) -> str | None:
    """None if :class:`DoubleRounding` can, else the reason why not."""
    return "a scale of one and more" if multiplier and not -31 <= shift <= 0 else None


def fits_bytes(rescale: Rescale, signed: bool) -> bool:
    """Whether the bounds are numbers of a signed or an unsigned byte."""
    return (-128 if signed else 0) <= rescale.low <= rescale.high <= (127 if signed else 255)
