"""SSE4.1, AVX2, AVX-VNNI and AVX-512. What is not said here is where this package says it for every
machine.
"""

from __future__ import annotations

from ..writer import Writer
from .common import pinned_in


def dot_quads(w: Writer, accumulator: str, values: str, weights: str) -> str:
    """``vpdpbusd``."""
    name = {16: "llvm.x86.avx512.vpdpbusd.512", 8: "llvm.x86.avx512.vpdpbusd.256"}[w.lanes]
    return w.intrinsic(name, [accumulator, values, weights], [w.i32, w.i8, w.i8], w.i32)


def dot_pairs(w: Writer, accumulator: str, lhs: str, rhs: str) -> str:
    """``vpdpwssd``, ``vpmaddwd``."""
    pairs = [w.bitcast(value, w.i32, w.i16) for value in (lhs, rhs)]
    if w.lanes == 16:
        return w.intrinsic(
            "llvm.x86.avx512.vpdpwssd.512", [accumulator, *pairs], [w.i32, w.i16, w.i16], w.i32
        )
    name = {8: "llvm.x86.avx2.pmadd.wd", 4: "llvm.x86.sse2.pmadd.wd"}[w.lanes]
    return w.binary("addi", accumulator, w.intrinsic(name, pairs, [w.i16, w.i16], w.i32), w.i32)


def to_nearest_even(w: Writer, value: str) -> str:
    """What does not fit into an i32 becomes ``-2^31``."""
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


def multiply_add_toward_zero(w: Writer, lhs: str, rhs: str, addend: str) -> str:
    """``lhs * rhs + addend`` in float32, rounded once, toward zero (an embedded mode of AVX-512)."""
    mode = w.op("llvm.mlir.constant(11 : i32) : i32")  # an immediate: toward zero, exceptions suppressed
    return w.intrinsic(
        "llvm.x86.avx512.vfmadd.ps.512", [lhs, rhs, addend, mode], [w.f32, w.f32, w.f32, "i32"], w.f32
    )


def pinned(w: Writer, value: str, type_: str) -> str:
    return pinned_in(w, value, type_, "v")


def shuffle_bytes(w: Writer, table: str, lanes: str) -> str:
    """``vpshufb``: the low four bits of a lane count, where its top bit is not set."""
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


def multiply_high_words(w: Writer, lhs: str, rhs: str) -> str:
    """``vpmulhuw``."""
    name = {16: "llvm.x86.avx512.pmulhu.w.512", 8: "llvm.x86.avx2.pmulhu.w", 4: "llvm.x86.sse2.pmulhu.w"}
    return w.intrinsic(name[w.lanes], [lhs, rhs], [w.i16, w.i16], w.i16)


def broadcast_smallest_byte(w: Writer, value: str) -> str:
    """``vphminposuw``, the smallest of eight u16, of the smaller bytes of each two."""
    bytes_, words = "vector<16xi8>", "vector<8xi16>"
    odd = w.binary("shrui", w.bitcast(value, bytes_, words), w.splat(8, words), words)
    pairs = w.binary("minui", value, w.bitcast(odd, words, bytes_), bytes_)
    smallest = w.intrinsic("llvm.x86.sse41.phminposuw", [w.bitcast(pairs, bytes_, words)], [words], words)
    first = w.bitcast(smallest, words, bytes_)
    return w.shuffle(first, first, [0] * 16, bytes_)


def word_shift(w: Writer, pointer: str) -> str:
    """The shift reads 64 bits."""
    return w.load(pointer, "vector<8xi16>", 16)


def shift_right_words(w: Writer, value: str, count: str) -> str:
    """``vpsrlw``."""
    name = {16: "llvm.x86.avx512.psrl.w.512", 8: "llvm.x86.avx2.psrl.w", 4: "llvm.x86.sse2.psrl.w"}
    return w.intrinsic(name[w.lanes], [value, count], [w.i16, "vector<8xi16>"], w.i16)


def shift_right(w: Writer, value: str, count: str) -> str:
    """``vpsravd``. Without AVX2 there is no shift of each lane by its own count; ``psrad`` reads 64 bits."""
    if w.lanes > 4:
        return w.binary("shrsi", value, count, w.i32)
    low = w.binary("andi", w.bitcast(count, w.i32, w.i64), w.splat(31, w.i64), w.i64)
    return w.intrinsic("llvm.x86.sse2.psra.d", [value, w.bitcast(low, w.i64, w.i32)], [w.i32, w.i32], w.i32)


def narrow_to_words(w: Writer, low: str, high: str) -> str:
    """``vpackssdw``."""
    name = {
        16: "llvm.x86.avx512.packssdw.512",
        8: "llvm.x86.avx2.packssdw",
        4: "llvm.x86.sse2.packssdw.128",
    }[w.lanes]
    return w.intrinsic(name, [low, high], [w.i32, w.i32], w.i16)


def cut_to_words(w: Writer, low: str, high: str) -> str:
    """``vpackssdw``: to saturate costs nothing."""
    return narrow_to_words(w, low, high)


def narrow_to_bytes(w: Writer, low: str, high: str, signed: bool) -> str:
    """``vpacksswb`` or ``vpackuswb``."""
    kind = "packsswb" if signed else "packuswb"
    name = {
        16: f"llvm.x86.avx512.{kind}.512",
        8: f"llvm.x86.avx2.{kind}",
        4: f"llvm.x86.sse2.{kind}.128",
    }[w.lanes]
    return w.intrinsic(name, [low, high], [w.i16, w.i16], w.i8)


def sum_bytes(w: Writer, value: str) -> str:
    """``vpsadbw``."""
    name = {
        16: "llvm.x86.avx512.psad.bw.512",
        8: "llvm.x86.avx2.psad.bw",
        4: "llvm.x86.sse2.psad.bw",
    }[w.lanes]
    zero = w.splat(0, w.i8)
    return w.intrinsic(name, [value, zero], [w.i8, w.i8], w.i64)
