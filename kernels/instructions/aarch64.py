"""NEON and its dot products; vectors have 16 bytes. What is not said here is where this package says it for
every machine.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..writer import Writer
from .common import pinned_in

_NEON = "llvm.aarch64.neon"
_HALF_WORDS = "vector<4xi16>"
_HALF_BYTES = "vector<8xi8>"


def dot_quads(w: Writer, accumulator: str, values: str, weights: str) -> str:
    """``sdot``."""
    name = f"{_NEON}.sdot.v4i32.v16i8"
    return w.intrinsic(name, [accumulator, values, weights], [w.i32, w.i8, w.i8], w.i32)


def dot_pairs(w: Writer, accumulator: str, lhs: str, rhs: str) -> str:
    """``smull`` and ``smull2``, whose neighbours ``addp`` adds."""
    lhs, rhs = (w.bitcast(value, w.i32, w.i16) for value in (lhs, rhs))
    products = [multiply_words(w, lhs, rhs, upper) for upper in (False, True)]
    return w.binary(
        "addi", accumulator, w.intrinsic(f"{_NEON}.addp.v4i32", products, [w.i32] * 2, w.i32), w.i32
    )


def add_pair_products(w: Writer, accumulator: str, pair: str, weights: str) -> str:
    """``smlal`` and ``smlal2`` by element: every i32 lane gains the product of ``pair``'s first i16 and that
    of the lower half of ``weights``, then of the second one and the upper half. Both are i32 vectors, all
    lanes of ``pair`` the same.
    """
    words, lanes = w.bitcast(pair, w.i32, w.i16), w.bitcast(weights, w.i32, w.i16)
    for upper in (False, True):
        factor = w.shuffle(words, words, [int(upper)] * 4, w.i16)
        product = w.intrinsic(
            f"{_NEON}.smull.v4i32", [_half(w, lanes, upper, w.i16), factor], [_HALF_WORDS] * 2, w.i32
        )
        accumulator = w.binary("addi", accumulator, product, w.i32)
    return accumulator


def to_nearest_even(w: Writer, value: str) -> str:
    """``fcvtns``: saturates; what is no number becomes zero."""
    return w.intrinsic(f"{_NEON}.fcvtns.v4i32.v4f32", [value], [w.f32], w.i32)


def pinned(w: Writer, value: str, type_: str) -> str:
    return pinned_in(w, value, type_, "w")


def shuffle_bytes(w: Writer, table: str, lanes: str) -> str:
    """``tbl``: zero for every lane number above 15."""
    return w.intrinsic(f"{_NEON}.tbl1.v16i8", [table, lanes], [w.i8, w.i8], w.i8)


def look_up_256(w: Writer, table: Sequence[str], lanes: str) -> str:
    """``tbl`` and ``tbx``: the byte of sixteen vectors that ``lanes`` say. Each looks up 64 bytes; ``tbx``
    leaves what is beyond them.
    """
    types = [w.i8] * 5
    found = w.intrinsic(f"{_NEON}.tbl4.v16i8", [*table[:4], lanes], types, w.i8)
    for first in range(4, len(table), 4):
        lanes = w.binary("subi", lanes, w.splat(64, w.i8), w.i8)
        rows = table[first : first + 4]
        found = w.intrinsic(f"{_NEON}.tbx4.v16i8", [found, *rows, lanes], [w.i8, *types], w.i8)
    return found


def multiply_high_words(w: Writer, lhs: str, rhs: str) -> str:
    """``umull`` and ``umull2``; ``uzp2`` takes the high halves."""
    products = [
        w.intrinsic(
            f"{_NEON}.umull.v4i32",
            [_half(w, value, upper, w.i16) for value in (lhs, rhs)],
            [_HALF_WORDS] * 2,
            w.i32,
        )
        for upper in (False, True)
    ]
    low, high = (w.bitcast(product, w.i32, w.i16) for product in products)
    return w.shuffle(low, high, range(1, 16, 2), w.i16)


def multiply_words(w: Writer, lhs: str, rhs: str, upper: bool) -> str:
    """``smull`` or ``smull2``: the i32 products of the lower or the upper four i16 of two vectors."""
    halves = [_half(w, value, upper, w.i16) for value in (lhs, rhs)]
    return w.intrinsic(f"{_NEON}.smull.v4i32", halves, [_HALF_WORDS] * 2, w.i32)


def broadcast_smallest_byte(w: Writer, value: str) -> str:
    """``uminv``."""
    type_ = "vector<16xi8>"
    return w.broadcast(w.op(f"vector.reduction <minui>, {value} : {type_} into i8"), "i8", type_)


def word_shift(w: Writer, pointer: str) -> str:
    """The negative count in all lanes: ``ushl`` shifts to the left."""
    count = w.binary("subi", w.constant("0 : i16"), w.load(pointer, "i16", 2), "i16")
    return w.broadcast(count, "i16", w.i16)


def shift_right_words(w: Writer, value: str, count: str) -> str:
    """``ushl``."""
    return w.intrinsic(f"{_NEON}.ushl.v8i16", [value, count], [w.i16] * 2, w.i16)


def shift_right(w: Writer, value: str, count: str) -> str:
    """``sshl`` by the negative count."""
    return w.binary("shrsi", value, count, w.i32)


def doubling_multiply_high(w: Writer, lhs: str, rhs: str) -> str:
    """``sqrdmulh``: ``floor((lhs * rhs + 2^30) / 2^31)`` of i32 lanes that are not both ``-2^31``."""
    return w.intrinsic(f"{_NEON}.sqrdmulh.v4i32", [lhs, rhs], [w.i32] * 2, w.i32)


def rounding_shift(w: Writer, value: str, left: str) -> str:
    """``srshl``: i32 lanes shifted to the left by those of ``left``; to the right where they are negative,
    and then rounded half up.
    """
    return w.intrinsic(f"{_NEON}.srshl.v4i32", [value, left], [w.i32] * 2, w.i32)


def narrow_to_numbers(w: Writer, low: str, high: str) -> str:
    """``sqxtn`` and ``sqxtn2``: two i64 vectors to one of i32, saturated."""
    half = f"vector<{w.lanes // 2}xi32>"
    parts = [w.intrinsic(f"{_NEON}.sqxtn.v2i32", [value], [w.i64], half) for value in (low, high)]
    return w.shuffle(parts[0], parts[1], range(w.lanes), half)


def narrow_to_words(w: Writer, low: str, high: str) -> str:
    """``sqxtn`` and ``sqxtn2``."""
    name = f"{_NEON}.sqxtn.v4i16"
    return _joined(
        w, [w.intrinsic(name, [value], [w.i32], _HALF_WORDS) for value in (low, high)], _HALF_WORDS
    )


def bytes_to_floats(w: Writer, value: str, quarter: int, signed: bool) -> str:
    """Four bytes of a vector as float32: ``tbl`` puts each into an i32 lane, the top byte of it where it is
    signed, which ``scvtf`` takes for a number with 24 fraction bits.
    """
    place = 3 if signed else 0
    lanes = [4 * quarter + byte // 4 if byte % 4 == place else -1 for byte in range(16)]
    wide = shuffle_bytes(w, value, w.constant(f"dense<[{', '.join(map(str, lanes))}]> : {w.i8}"))
    numbers = w.bitcast(wide, w.i8, w.i32)
    if not signed:
        return w.op(f"arith.uitofp {numbers} : {w.i32} to {w.f32}")
    bits = w.op("llvm.mlir.constant(24 : i32) : i32")  # an immediate
    return w.intrinsic(f"{_NEON}.vcvtfxs2fp.v4f32.v4i32", [numbers, bits], [w.i32, "i32"], w.f32)


def cut_to_words(w: Writer, low: str, high: str) -> str:
    """``uzp1``: one instruction, where saturation takes two."""
    parts = [w.bitcast(value, w.i32, w.i16) for value in (low, high)]
    return w.shuffle(parts[0], parts[1], range(0, 16, 2), w.i16)


def narrow_to_bytes(w: Writer, low: str, high: str, signed: bool) -> str:
    """``sqxtn`` and ``sqxtn2``, or ``sqxtun`` and ``sqxtun2``."""
    name = f"{_NEON}.{'sqxtn' if signed else 'sqxtun'}.v8i8"
    return _joined(
        w, [w.intrinsic(name, [value], [w.i16], _HALF_BYTES) for value in (low, high)], _HALF_BYTES
    )


def add_products(
    w: Writer, totals: Sequence[str], factors: Sequence[tuple[str, str]], upper: bool
) -> list[str]:
    """Two vectors of i32 gain the products of the lower or the upper eight i8 of one pair of vectors or two:
    ``smull``, ``smlal`` (or ``smull2``, ``smlal2``), ``saddw`` and ``saddw2``. The i16 sum of two products
    must not overflow: they may not both be of ``-128`` and ``-128``.
    """
    products = [
        w.intrinsic(
            f"{_NEON}.smull.v8i16",
            [_half(w, value, upper, w.i8) for value in pair],
            [_HALF_BYTES] * 2,
            w.i16,
        )
        for pair in factors
    ]
    product = products[0]
    for other in products[1:]:
        product = w.binary("addi", product, other, w.i16)
    halves = [_half(w, product, high, w.i16) for high in (False, True)]
    return [
        w.binary("addi", total, w.op(f"arith.extsi {half} : {_HALF_WORDS} to {w.i32}"), w.i32)
        for total, half in zip(totals, halves, strict=True)
    ]


def sum_bytes(w: Writer, value: str) -> str:
    """``uaddlp``, thrice."""
    types = [w.i8, w.i16, w.i32, w.i64]
    for source, target, name in zip(
        types, types[1:], ("v8i16.v16i8", "v4i32.v8i16", "v2i64.v4i32"), strict=False
    ):
        value = w.intrinsic(f"{_NEON}.uaddlp.{name}", [value], [source], target)
    return value


def _half(w: Writer, value: str, upper: bool, type_: str) -> str:
    """The lower or the upper eight bytes of a vector of ``type_``."""
    count = w.isa.vector_bytes // 2 // (1 if type_ == w.i8 else 2)
    return w.shuffle(value, value, range(count * upper, count * upper + count), type_)


def _joined(w: Writer, halves: Sequence[str], type_: str) -> str:
    """Two vectors of eight bytes as one."""
    return w.shuffle(halves[0], halves[1], range(16 if type_ == _HALF_BYTES else 8), type_)
