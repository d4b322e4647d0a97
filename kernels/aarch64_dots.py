"""The products of bytes that AArch64 has, for :mod:`.aarch64_conv2d_code`. Both factors are i8."""

from __future__ import annotations

from collections.abc import Sequence

from .instructions.aarch64 import dot_quads
from .instructions.common import pinned_in
from .writer import Writer

_NEON = "llvm.aarch64.neon"
_HALF_BYTES = "vector<8xi8>"


def opaque(w: Writer, pointer: str) -> str:
    """A pointer of which LLVM does not know how it came about."""
    return pinned_in(w, pointer, "!llvm.ptr", "r")


def opaque_behind(w: Writer, pointer: str, others: Sequence[str]) -> str:
    """The same, but not before ``others``, some i32 vectors, are there."""
    constraints = ",".join(["=r", "0", *["w"] * len(others)])
    types = ", ".join(["!llvm.ptr", *[w.i32] * len(others)])
    return w.op(
        f'llvm.inline_asm asm_dialect = att "", "{constraints}" {", ".join([pointer, *others])} : '
        f"({types}) -> !llvm.ptr"
    )


def behind(w: Writer, value: str, other: str) -> str:
    """``value``, an i8 vector that nobody else uses from here on, but not before ``other``, an i32 vector, is
    there. It takes no instruction: LLVM would compute more at once than there are registers for.
    """
    return w.op(
        f'llvm.inline_asm asm_dialect = att "", "=w,0,w" {value}, {other} : ({w.i8}, {w.i32}) -> {w.i8}'
    )


def dot_lane(w: Writer, accumulator: str, values: str, weights: str, lane: int) -> str:
    """``sdot`` by element: every i32 lane gains the products of its four weights with four of the values,
    those of i32 lane ``lane``.
    """
    lanes = w.bitcast(values, w.i8, w.i32)
    quad = w.bitcast(w.shuffle(lanes, lanes, [lane] * w.lanes, w.i32), w.i32, w.i8)
    return dot_quads(w, accumulator, weights, quad)


def multiply_matrices(w: Writer, accumulator: str, values: str, weights: str) -> str:
    """``smmla``: lane ``2 * i + j`` gains the products of the eight values of row ``i`` with the eight
    weights of row ``j``.
    """
    types = [w.i32, w.i8, w.i8]
    return w.intrinsic(f"{_NEON}.smmla.v4i32.v16i8", [accumulator, values, weights], types, w.i32)


def pair_of(w: Writer, value: str, pair: int) -> str:
    """``dup``: two neighbours of a vector's bytes, all over."""
    words = w.bitcast(value, w.i8, w.i16)
    return w.bitcast(w.shuffle(words, words, [pair] * 8, w.i16), w.i16, w.i8)


def half_of(w: Writer, value: str, upper: bool) -> str:
    """Eight of a vector's bytes: LLVM folds it into ``smull2``."""
    return w.shuffle(value, value, range(8 * upper, 8 * upper + 8), w.i8)


def multiply_half(w: Writer, values: str, weights: str) -> str:
    """``smull``: eight products, i16."""
    return w.intrinsic(f"{_NEON}.smull.v8i16", [values, weights], [_HALF_BYTES] * 2, w.i16)


def multiply_add_half(w: Writer, sums: str, values: str, weights: str) -> str:
    """``smlal``: ``sums`` and eight products, i16, which wrap."""
    return w.binary("addi", sums, multiply_half(w, values, weights), w.i16)


def add_pairs(w: Writer, accumulator: str, words: str) -> str:
    """``sadalp``: every i32 lane gains its two i16."""
    pairs = w.intrinsic(f"{_NEON}.saddlp.v4i32.v8i16", [words], [w.i16], w.i32)
    return w.binary("addi", accumulator, pairs, w.i32)


def add_byte_pairs(w: Writer, values: str) -> str:
    """``saddlp``: the sums of two i8 each, i16."""
    return w.intrinsic(f"{_NEON}.saddlp.v8i16.v16i8", [values], [w.i8], w.i16)


def sums_of_pairs(w: Writer, low: str, high: str) -> str:
    """``addp``: the sums of neighbours in ``low``, then in ``high``, i32."""
    return w.intrinsic(f"{_NEON}.addp.v4i32", [low, high], [w.i32, w.i32], w.i32)
