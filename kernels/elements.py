"""Bytes as vectors of numbers and back: what elementwise kernels do around their arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from . import doubling
from .instruction_set import InstructionSet
from .instructions import narrow_to_bytes, narrow_to_words, saturating_add, shift_right
from .runs import each_step, load_bytes, store_bytes
from .writer import Writer

QUARTERS = 4
"""Vectors of i32 or float32 for a vector of bytes."""


def load_numbers(w: Writer, pointer: str, position: str, quarter: int, signed: bool, step: int) -> str:
    """The bytes of one quarter of the ``step`` elements at ``position``, as i32."""
    count = min(step - quarter * w.lanes, w.lanes)
    if count <= 0:
        return w.splat(0, w.i32)
    value = load_bytes(w, w.at(w.at(pointer, position), quarter * w.lanes), count, w.lanes)
    kind = "extsi" if signed else "extui"
    return w.op(f"arith.{kind} {value} : {w.quarter} to {w.i32}")


def load_floats(w: Writer, pointer: str, position: str, quarter: int, step: int) -> str:
    """One quarter of the ``step`` float32 at ``position``."""
    count = min(step - quarter * w.lanes, w.lanes)
    if count <= 0:
        return w.splat(0.0, w.f32)
    address = w.at(w.at(pointer, w.times(position, 4)), 4 * w.lanes * quarter)
    return w.bitcast(load_bytes(w, address, 4 * count, 4 * w.lanes), w.i8, w.f32)


def to_floats(w: Writer, numbers: str) -> str:
    return w.op(f"arith.sitofp {numbers} : {w.i32} to {w.f32}")


def to_bytes(w: Writer, quarters: Sequence[str], signed: bool, zero_point: str = "") -> str:
    """Four i32 vectors as one of bytes, saturated; ``zero_point`` (an i16 vector) is added on the way."""
    words = [narrow_to_words(w, quarters[i], quarters[i + 1]) for i in (0, 2)]
    if zero_point:
        words = [saturating_add(w, word, zero_point, w.i16) for word in words]
    packed = narrow_to_bytes(w, words[0], words[1], signed)
    blocks = w.lanes // 4
    if blocks == 1:
        return packed
    # Every 128 bits hold four numbers of each quarter.
    order = [QUARTERS * block + quarter for quarter in range(QUARTERS) for block in range(blocks)]
    dwords = w.bitcast(packed, w.i8, w.i32)
    return w.bitcast(w.shuffle(dwords, dwords, order, w.i32), w.i32, w.i8)


@dataclass(frozen=True)
class Storage:
    """How i32 numbers are stored as bytes; values in registers."""

    signed: bool
    low: str
    high: str
    zero_point: str = ""
    """What is added to them (i16); empty: nothing."""
    flips: bool = False
    """Whether the numbers are u8, but what is stored is 128 less, as i8."""

    @classmethod
    def load(
        cls, w: Writer, signed: bool, low: str, high: str, zero_point: str = "", flips: bool = False
    ) -> Storage:
        """From i64."""
        if zero_point:
            zero_point = w.broadcast(w.op(f"arith.trunci {zero_point} : i64 to i16"), "i16", w.i16)
        bounds = [w.broadcast(w.op(f"arith.trunci {value} : i64 to i8"), "i8", w.i8) for value in (low, high)]
        return cls(signed, bounds[0], bounds[1], zero_point, flips)

    def bytes_of(self, w: Writer, quarters: Sequence[str]) -> str:
        """Saturated and clamped."""
        kind = "s" if self.signed else "u"
        value = to_bytes(w, quarters, self.signed, self.zero_point)
        value = w.binary(f"max{kind}i", value, self.low, w.i8)
        value = w.binary(f"min{kind}i", value, self.high, w.i8)
        return w.binary("xori", value, w.splat(-128, w.i8), w.i8) if self.flips else value


def each_vector(
    w: Writer,
    target: str,
    length: str,
    step: int,
    storage: Storage,
    compute: Callable[[str, int], str],
) -> None:
    """Store ``compute(position, quarter)``, i32 vectors, as the bytes of a run at ``target``."""

    def one(position: str) -> None:
        quarters = [compute(position, quarter) for quarter in range(QUARTERS)]
        result = storage.bytes_of(w, quarters)
        store_bytes(w, result, w.at(target, position), step, w.isa.vector_bytes)

    each_step(w, length, step, one)


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

    AArch64 has instructions for it (:mod:`.doubling`). Elsewhere, on twice the number both roundings are
    ``(2a * m + 2^31 + 2^(31 + e) - (a < 0) * 2^32) >> (32 + e)``: the high halves of the products, a 32-bit
    addition and a 32-bit shift.
    """

    multiplier: str
    offset: str
    sign_mask: str
    shift: str

    NAMES = ("multiplier", "offset", "sign_mask", "shift")

    @staticmethod
    def doublings(isa: InstructionSet) -> int:
        """How often numbers are doubled before :meth:`apply`."""
        return 0 if doubling.serves(isa) else 1

    @classmethod
    def pack(cls, multiplier: int, shift: int) -> tuple[int, ...]:
        """Scalars in the order of :attr:`NAMES`, of a shift that is at most zero."""
        return multiplier, (1 << 31) + (1 << (31 - shift) if shift else 0), -1 if shift else 0, -shift

    @classmethod
    def load(cls, w: Writer, scalars: Sequence[str]) -> DoubleRounding:
        if doubling.serves(w.isa):
            multiplier, offset, sign_mask, shift = (splat_i32(w, value) for value in scalars)
            return cls(multiplier, offset, sign_mask, w.binary("subi", w.splat(0, w.i32), shift, w.i32))
        wide = [w.broadcast(value, "i64", w.i64) for value in scalars[:2]]
        return cls(*wide, *(splat_i32(w, value) for value in scalars[2:]))

    def apply(self, w: Writer, doubled: str) -> str:
        """``doubled``: an i32 vector of numbers below 2^30, doubled as :meth:`doublings` says."""
        if doubling.serves(w.isa):
            parameters = [self.multiplier, self.shift, self.sign_mask]
            return doubling.apply(w, doubling.MASKED, doubled, parameters)
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
        result = w.shuffle(totals[0], totals[1], high, w.i32)
        sign = w.binary("shrsi", doubled, w.splat(31, w.i32), w.i32)
        result = w.binary("addi", result, w.binary("andi", sign, self.sign_mask, w.i32), w.i32)
        return shift_right(w, result, self.shift)


def truncated(w: Writer, floats: str) -> str:
    """Float32 that fit, as i32, rounded toward zero."""
    return w.op(f"arith.fptosi {floats} : {w.f32} to {w.i32}")


def has_fused_multiply_add(isa: InstructionSet) -> bool:
    return isa.architecture == "aarch64" or "+fma" in isa.features or "+avx512f" in isa.features


def rounds_toward_zero(isa: InstructionSet, step: int | None = None) -> bool:
    """Whether a fused multiply-add can, for vectors of ``step`` bytes if it is given: AVX-512's, of whole
    vectors.
    """
    return "+avx512f" in isa.features and (isa.vector_bytes if step is None else step) == 64


def float32_bits(value: float) -> int:
    """Of the float32 nearest to ``value``, as an i32."""
    return int(np.float32(value).view(np.int32))
