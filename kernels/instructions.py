"""What an instruction set has and no op says: each called in one tested place."""

from __future__ import annotations

from .writer import Writer


def dot_quads(w: Writer, accumulator: str, unsigned: str, signed: str) -> str:
    """``vpdpbusd``: every i32 lane gains the products of its four u8 with its four i8 (whole byte vectors)."""
    name = {16: "llvm.x86.avx512.vpdpbusd.512", 8: "llvm.x86.avx512.vpdpbusd.256"}[w.lanes]
    return w.intrinsic(name, [accumulator, unsigned, signed], [w.i32, w.i8, w.i8], w.i32)


def dot_pairs(w: Writer, accumulator: str, lhs: str, rhs: str) -> str:
    """Every i32 lane gains the products of its two i16 pairs; operands are i32 vectors that hold the pairs."""
    pairs = [w.bitcast(value, w.i32, w.i16) for value in (lhs, rhs)]
    if w.isa.name == "avx512vnni":
        return w.intrinsic(
            "llvm.x86.avx512.vpdpwssd.512", [accumulator, *pairs], [w.i32, w.i16, w.i16], w.i32
        )
    name = {8: "llvm.x86.avx2.pmadd.wd", 4: "llvm.x86.sse2.pmadd.wd"}[w.lanes]
    return w.binary("addi", accumulator, w.intrinsic(name, pairs, [w.i16, w.i16], w.i32), w.i32)


def fused_multiply_add(w: Writer, lhs: str, rhs: str, addend: str) -> str:
    """``lhs * rhs + addend`` in float32, rounded once."""
    return w.op(f"math.fma {lhs}, {rhs}, {addend} : {w.f32}")


def to_nearest_even(w: Writer, value: str) -> str:
    """Float32 to i32, half to even; what does not fit into an i32 becomes ``-2^31``."""
    if w.lanes == 16:
        mask = w.constant("-1 : i16")
        zero = w.splat(0, w.i32)
        nearest = w.op("llvm.mlir.constant(4 : i32) : i32")  # the current mode; an immediate
        return w.intrinsic(
            "llvm.x86.avx512.mask.cvtps2dq.512",
            [value, zero, mask, nearest],
            [w.f32, w.i32, "i16", "i32"],
            w.i32,
        )
    name = {8: "llvm.x86.avx.cvt.ps2dq.256", 4: "llvm.x86.sse2.cvtps2dq"}[w.lanes]
    return w.intrinsic(name, [value], [w.f32], w.i32)


def shuffle_bytes(w: Writer, table: str, lanes: str) -> str:
    """``vpshufb``: in each 128 bits of a whole byte vector, the byte of ``table`` that the low four bits of
    ``lanes`` say, or zero where its top bit is set.
    """
    name = {
        16: "llvm.x86.avx512.pshuf.b.512",
        8: "llvm.x86.avx2.pshuf.b",
        4: "llvm.x86.ssse3.pshuf.b.128",
    }[w.lanes]
    return w.intrinsic(name, [table, lanes], [w.i8, w.i8], w.i8)


def look_up_128(w: Writer, low: str, lanes: str, high: str) -> str:
    """``vpermi2b`` (AVX512-VBMI): the byte of two whole vectors of 64 that the low seven bits of ``lanes`` say."""
    name = "llvm.x86.avx512.vpermi2var.qi.512"
    return w.intrinsic(name, [low, lanes, high], [w.i8, w.i8, w.i8], w.i8)


def saturating_subtract(w: Writer, lhs: str, rhs: str, type_: str) -> str:
    """Of signed integers."""
    return w.op(f"llvm.intr.ssub.sat({lhs}, {rhs}) : ({type_}, {type_}) -> {type_}")
