"""What LLVM has for every machine."""

from __future__ import annotations

from ..writer import Writer


def fused_multiply_add(w: Writer, lhs: str, rhs: str, addend: str) -> str:
    """``lhs * rhs + addend`` in float32, rounded once."""
    return w.op(f"math.fma {lhs}, {rhs}, {addend} : {w.f32}")


def saturating_add(w: Writer, lhs: str, rhs: str, type_: str) -> str:
    """Of signed integers."""
    return w.op(f"llvm.intr.sadd.sat({lhs}, {rhs}) : ({type_}, {type_}) -> {type_}")


def saturating_subtract(w: Writer, lhs: str, rhs: str, type_: str) -> str:
    """Of signed integers."""
    return w.op(f"llvm.intr.ssub.sat({lhs}, {rhs}) : ({type_}, {type_}) -> {type_}")


def prefetch(w: Writer, pointer: str, to_write: bool = False) -> None:
    """Bring the line at ``pointer`` into the first cache."""
    flags = f"<{{cache = 1 : i32, hint = 3 : i32, rw = {int(to_write)} : i32}}>"
    w.line(f'"llvm.intr.prefetch"({pointer}) {flags} : (!llvm.ptr) -> ()')


def pinned_in(w: Writer, value: str, type_: str, constraint: str) -> str:
    """``value`` behind an empty instruction that LLVM may not move, in a register as ``constraint`` says."""
    return w.op(
        f'llvm.inline_asm has_side_effects asm_dialect = att "", "={constraint},0" {value} : '
        f"({type_}) -> {type_}"
    )
