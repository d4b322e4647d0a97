"""Bytes as vectors of numbers and back: what elementwise kernels do around their arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from . import doubling
from .instruction_set import InstructionSet
from .instructions import cut_to_words, narrow_to_bytes, narrow_to_words, saturating_add, shift_right
from .instructions.aarch64 import bytes_to_floats
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


def load_all_numbers(w: Writer, pointer: str, position: str, signed: bool, step: int) -> list[str]:
    """The bytes of the ``step`` elements at ``position`` as i32, quarter by quarter."""
    if w.isa.architecture != "aarch64" or step < w.isa.vector_bytes:
        return [load_numbers(w, pointer, position, quarter, signed, step) for quarter in range(QUARTERS)]
    whole = w.load(w.at(pointer, position), w.i8)
    wide = f"vector<{QUARTERS * w.lanes}xi32>"
    numbers = w.op(f"arith.{'extsi' if signed else 'extui'} {whole} : {w.i8} to {wide}")
    firsts = range(0, QUARTERS * w.lanes, w.lanes)
    return [w.shuffle(numbers, numbers, range(first, first + w.lanes), wide) for first in firsts]


def load_words(w: Writer, pointer: str, position: str, signed: bool, step: int) -> list[str]:
    """The bytes of the ``step`` elements at ``position`` as two i16 vectors of 16 bytes."""
    whole = load_bytes(w, w.at(pointer, position), step, w.isa.vector_bytes)
    count, half = w.isa.vector_bytes, f"vector<{w.isa.vector_bytes // 2}xi8>"
    halves = (w.shuffle(whole, whole, range(i, i + count // 2), w.i8) for i in (0, count // 2))
    return [w.op(f"arith.{'extsi' if signed else 'extui'} {part} : {half} to {w.i16}") for part in halves]


def load_reals(w: Writer, pointer: str, position: str, signed: bool, step: int) -> list[str]:
    """The bytes of the ``step`` elements at ``position`` as float32, quarter by quarter."""
    if w.isa.architecture != "aarch64":
        numbers = (load_numbers(w, pointer, position, quarter, signed, step) for quarter in range(QUARTERS))
        return [to_floats(w, number) for number in numbers]
    whole = load_bytes(w, w.at(pointer, position), step, w.isa.vector_bytes)
    used = -(-step // w.lanes)
    reals = [bytes_to_floats(w, whole, quarter, signed) for quarter in range(used)]
    return reals + [w.splat(0.0, w.f32)] * (QUARTERS - used)


def to_floats(w: Writer, numbers: str) -> str:
    return w.op(f"arith.sitofp {numbers} : {w.i32} to {w.f32}")


def to_bytes(
    w: Writer, quarters: Sequence[str], signed: bool, zero_point: str = "", fits_words: bool = False
) -> str:
    """Four i32 vectors as one of bytes, saturated; ``zero_point`` (an i16 vector) is added on the way.
    ``fits_words``: whether the numbers are known to fit i16.
    """
    narrow = cut_to_words if fits_words else narrow_to_words
    words = [narrow(w, quarters[i], quarters[i + 1]) for i in (0, 2)]
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
    fits_words: bool = False
    """Whether the numbers are known to fit i16."""

    @classmethod
    def load(
        cls,
        w: Writer,
        signed: bool,
        low: str,
        high: str,
        zero_point: str = "",
        flips: bool = False,
        fits_words: bool = False,
    ) -> Storage:
        """From i64."""
        if zero_point:
            zero_point = w.broadcast(w.op(f"arith.trunci {zero_point} : i64 to i16"), "i16", w.i16)
        bounds = [w.broadcast(w.op(f"arith.trunci {value} : i64 to i8"), "i8", w.i8) for value in (low, high)]
        return cls(signed, bounds[0], bounds[1], zero_point, flips, fits_words)

    def bytes_of(self, w: Writer, quarters: Sequence[str]) -> str:
        """Saturated and clamped."""
        kind = "s" if self.signed else "u"
        value = to_bytes(w, quarters, self.signed, self.zero_point, self.fits_words)
        value = w.binary(f"max{kind}i", value, self.low, w.i8)
        value = w.binary(f"min{kind}i", value, self.high, w.i8)
        return w.binary("xori", value, w.splat(-128, w.i8), w.i8) if self.flips else value


def each_vector(
    w: Writer,
    target: str,
    length: str,
    step: int,
    storage: Storage,
    compute: Callable[[str], Sequence[str]],
) -> None:
    """Store ``compute(position)``, four i32 vectors, as the bytes of a run at ``target``."""

    def one(position: str) -> None:
        quarters = compute(position)
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
