"""The instructions of the set that have no op: each called in one tested place."""

from __future__ import annotations

from .writer import I32, Writer

_QUADS = "vector<64xi8>"
_PAIRS = "vector<32xi16>"


def dot_bytes(w: Writer, accumulator: str, unsigned: str, signed: str) -> str:
    """vpdpbusd: every i32 lane gains the products of its four u8 with its four i8 (as ``vector<64xi8>``)."""
    return w.intrinsic(
        "llvm.x86.avx512.vpdpbusd.512", [accumulator, unsigned, signed], [I32, _QUADS, _QUADS], I32
    )


def dot_words(w: Writer, accumulator: str, lhs: str, rhs: str) -> str:
    """vpdpwssd: every i32 lane gains the products of its two i16 pairs; operands are ``vector<16xi32>``."""
    pairs = [w.bitcast(value, I32, _PAIRS) for value in (lhs, rhs)]
    return w.intrinsic("llvm.x86.avx512.vpdpwssd.512", [accumulator, *pairs], [I32, _PAIRS, _PAIRS], I32)
