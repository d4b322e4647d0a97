"""What an instruction set has and no op says: each called in one tested place."""

from __future__ import annotations

from .writer import Writer


def dot_quads(w: Writer, accumulator: str, unsigned: str, signed: str) -> str:
    """``vpdpbusd``: every i32 lane gains the products of its four u8 with its four i8 (whole vectors)."""
    name = {16: "llvm.x86.avx512.vpdpbusd.512", 8: "llvm.x86.avx512.vpdpbusd.256"}[w.lanes]
    return w.intrinsic(name, [accumulator, unsigned, signed], [w.i32, w.i8, w.i8], w.i32)


def dot_pairs(w: Writer, accumulator: str, lhs: str, rhs: str) -> str:
    """Every i32 lane gains the products of its two i16 pairs; operands are i32 vectors that hold pairs."""
    pairs = [w.bitcast(value, w.i32, w.i16) for value in (lhs, rhs)]
    if w.lanes == 16:
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


def pinned(w: Writer, value: str, type_: str) -> str:
    """``value``, computed before what follows is loaded: LLVM would rather compute many independent values at
    once, whose operands then do not fit into registers.
    """
    return w.op(
        f'llvm.inline_asm has_side_effects asm_dialect = att "", "=v,0" {value} : ({type_}) -> {type_}'
    )


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
    """``vpermi2b`` (AVX512-VBMI): the byte of two vectors of 64 that the low seven bits of ``lanes`` say."""
    name = "llvm.x86.avx512.vpermi2var.qi.512"
    return w.intrinsic(name, [low, lanes, high], [w.i8, w.i8, w.i8], w.i8)


def saturating_subtract(w: Writer, lhs: str, rhs: str, type_: str) -> str:
    """Of signed integers."""
    return w.op(f"llvm.intr.ssub.sat({lhs}, {rhs}) : ({type_}, {type_}) -> {type_}")


def multiply_high_words(w: Writer, lhs: str, rhs: str) -> str:
    """``vpmulhuw``: the high halves of the products of u16 lanes."""
    name = {16: "llvm.x86.avx512.pmulhu.w.512", 8: "llvm.x86.avx2.pmulhu.w", 4: "llvm.x86.sse2.pmulhu.w"}
    return w.intrinsic(name[w.lanes], [lhs, rhs], [w.i16, w.i16], w.i16)


def smallest_word(w: Writer, value: str) -> str:
    """``vphminposuw``: the smallest of eight u16 in lane 0."""
    words = "vector<8xi16>"
    return w.intrinsic("llvm.x86.sse41.phminposuw", [value], [words], words)


def shift_right_words(w: Writer, value: str, count: str) -> str:
    """``vpsrlw``: all u16 lanes shifted by the low 64 bits of ``count``, a ``vector<8xi16>``."""
    name = {16: "llvm.x86.avx512.psrl.w.512", 8: "llvm.x86.avx2.psrl.w", 4: "llvm.x86.sse2.psrl.w"}
    return w.intrinsic(name[w.lanes], [value, count], [w.i16, "vector<8xi16>"], w.i16)


def saturating_add(w: Writer, lhs: str, rhs: str, type_: str) -> str:
    """Of signed integers."""
    return w.op(f"llvm.intr.sadd.sat({lhs}, {rhs}) : ({type_}, {type_}) -> {type_}")


def narrow_to_words(w: Writer, low: str, high: str) -> str:
    """``vpackssdw``: two i32 vectors to one of i16, saturated; in each 128 bits four lanes of ``low``, then
    four of ``high``.
    """
    name = {
        16: "llvm.x86.avx512.packssdw.512",
        8: "llvm.x86.avx2.packssdw",
        4: "llvm.x86.sse2.packssdw.128",
    }[w.lanes]
    return w.intrinsic(name, [low, high], [w.i32, w.i32], w.i16)


def narrow_to_bytes(w: Writer, low: str, high: str, signed: bool) -> str:
    """``vpacksswb`` or ``vpackuswb``: two i16 vectors to one of i8 or u8, saturated; in each 128 bits eight
    lanes of ``low``, then eight of ``high``.
    """
    kind = "packsswb" if signed else "packuswb"
    name = {
        16: f"llvm.x86.avx512.{kind}.512",
        8: f"llvm.x86.avx2.{kind}",
        4: f"llvm.x86.sse2.{kind}.128",
    }[w.lanes]
    return w.intrinsic(name, [low, high], [w.i16, w.i16], w.i8)


def sum_bytes(w: Writer, value: str) -> str:
    """``vpsadbw``: every i64 lane is the sum of its eight u8."""
    name = {
        16: "llvm.x86.avx512.psad.bw.512",
        8: "llvm.x86.avx2.psad.bw",
        4: "llvm.x86.sse2.psad.bw",
    }[w.lanes]
    zero = w.splat(0, w.i8)
    return w.intrinsic(name, [value, zero], [w.i8, w.i8], w.i64)


def multiply_add_toward_zero(w: Writer, lhs: str, rhs: str, addend: str) -> str:
    """``lhs * rhs + addend`` in float32, rounded once, toward zero (an embedded mode of AVX-512)."""
    mode = w.op("llvm.mlir.constant(11 : i32) : i32")  # an immediate: toward zero, exceptions suppressed
    return w.intrinsic(
        "llvm.x86.avx512.vfmadd.ps.512", [lhs, rhs, addend, mode], [w.f32, w.f32, w.f32, "i32"], w.f32
    )


def prefetch(w: Writer, pointer: str, to_write: bool = False) -> None:
    """Bring the line at ``pointer`` into the first cache."""
    flags = f"<{{cache = 1 : i32, hint = 3 : i32, rw = {int(to_write)} : i32}}>"
    w.line(f'"llvm.intr.prefetch"({pointer}) {flags} : (!llvm.ptr) -> ()')
