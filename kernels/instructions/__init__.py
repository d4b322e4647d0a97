"""What an instruction set has and no op says: each instruction in one tested place.

:mod:`.common` is what LLVM has for every machine. What architectures have in common but for its name is a
function here, in terms of both; :mod:`.x86` and :mod:`.aarch64` have the same functions for theirs, and what
only one of them has, which code for it imports from there.
"""

from __future__ import annotations

from types import ModuleType

from ..writer import Writer
from . import aarch64, x86
from .common import fused_multiply_add, prefetch, saturating_add, saturating_subtract

__all__ = [
    "broadcast_smallest_byte",
    "cut_to_words",
    "dot_pairs",
    "dot_quads",
    "fused_multiply_add",
    "multiply_high_words",
    "narrow_to_bytes",
    "narrow_to_words",
    "pinned",
    "prefetch",
    "saturating_add",
    "saturating_subtract",
    "shift_right",
    "shift_right_words",
    "shuffle_bytes",
    "sum_bytes",
    "to_nearest_even",
    "word_shift",
]


def _own(w: Writer) -> ModuleType:
    """The instructions of the machine that a kernel is written for."""
    return {"x86_64": x86, "aarch64": aarch64}[w.isa.architecture]


def dot_quads(w: Writer, accumulator: str, values: str, weights: str) -> str:
    """Every i32 lane gains the products of its four bytes (whole vectors). Weights are signed; values are
    unsigned where the instruction set's inputs are.
    """
    return str(_own(w).dot_quads(w, accumulator, values, weights))


def dot_pairs(w: Writer, accumulator: str, lhs: str, rhs: str) -> str:
    """Every i32 lane gains the products of its two i16 pairs; operands are i32 vectors that hold pairs."""
    return str(_own(w).dot_pairs(w, accumulator, lhs, rhs))


def to_nearest_even(w: Writer, value: str) -> str:
    """Float32 to i32, half to even. What is below becomes ``-2^31``; what is above, or no number, is
    arbitrary.
    """
    return str(_own(w).to_nearest_even(w, value))


def pinned(w: Writer, value: str, type_: str) -> str:
    """``value``, a vector, computed before what follows is loaded: LLVM would rather compute many independent
    values at once, whose operands then do not fit into registers.
    """
    return str(_own(w).pinned(w, value, type_))


def shuffle_bytes(w: Writer, table: str, lanes: str) -> str:
    """In each 128 bits of a whole byte vector, the byte of ``table`` that ``lanes`` says, 0 to 15; or zero
    where its top bit is set.
    """
    return str(_own(w).shuffle_bytes(w, table, lanes))


def multiply_high_words(w: Writer, lhs: str, rhs: str) -> str:
    """The high halves of the products of u16 lanes."""
    return str(_own(w).multiply_high_words(w, lhs, rhs))


def broadcast_smallest_byte(w: Writer, value: str) -> str:
    """The smallest u8 of a ``vector<16xi8>``, in all of its lanes."""
    return str(_own(w).broadcast_smallest_byte(w, value))


def word_shift(w: Writer, pointer: str) -> str:
    """The count of :func:`shift_right_words` that is the u16 at ``pointer``, followed by 14 bytes of zero."""
    return str(_own(w).word_shift(w, pointer))


def shift_right_words(w: Writer, value: str, count: str) -> str:
    """All u16 lanes shifted by one count of :func:`word_shift`."""
    return str(_own(w).shift_right_words(w, value, count))


def shift_right(w: Writer, value: str, count: str) -> str:
    """Every i32 lane by the same count, at most 31, which is in all lanes of ``count``; arithmetically."""
    return str(_own(w).shift_right(w, value, count))


def narrow_to_words(w: Writer, low: str, high: str) -> str:
    """Two i32 vectors to one of i16, saturated; in each 128 bits four lanes of ``low``, then four of
    ``high``.
    """
    return str(_own(w).narrow_to_words(w, low, high))


def cut_to_words(w: Writer, low: str, high: str) -> str:
    """As :func:`narrow_to_words`, of numbers that fit."""
    return str(_own(w).cut_to_words(w, low, high))


def narrow_to_bytes(w: Writer, low: str, high: str, signed: bool) -> str:
    """Two i16 vectors to one of i8 or u8, saturated; in each 128 bits eight lanes of ``low``, then eight of
    ``high``.
    """
    return str(_own(w).narrow_to_bytes(w, low, high, signed))


def sum_bytes(w: Writer, value: str) -> str:
    """Every i64 lane is the sum of its eight u8."""
    return str(_own(w).sum_bytes(w, value))
