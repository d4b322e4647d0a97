"""AMX without the hardware: the same LLVM IR, with its tile intrinsics replaced by functions on eight tiles
in memory.

What the CPU would answer with a fault - tiles that are not configured, shapes that do not fit - is counted
instead.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from typing import Any

_DOTS = {"ss": ("sext", "sext"), "su": ("sext", "zext"), "us": ("zext", "sext"), "uu": ("zext", "zext")}
_INTRINSIC = re.compile(r"@llvm\.x86\.(ldtilecfg|tile\w+|tdpb\w+)\(")
_DECLARATION = re.compile(
    r"^(; Function Attrs:[^\n]*\n)?declare void @llvm\.x86\.(ldtilecfg|tile|tdpb)[^\n]*\n", re.M
)

STATE = ("amx_emulated_faults", "amx_emulated_is_configured")
"""``i64 f()``: how many instructions would have failed since the last call; whether the last configuration
was not released.
"""


def checked(call: Callable[..., None], addresses: Any) -> Callable[..., None]:
    """``call``, which fails where an instruction would have, or where it leaves tiles behind."""
    faults, is_configured = (ctypes.CFUNCTYPE(ctypes.c_int64)(addresses[name]) for name in STATE)

    def run(*arguments: Any) -> None:
        call(*arguments)
        assert faults() == 0, "an AMX instruction would have failed"
        assert not is_configured(), "tiles were not released"

    return run


def emulated(text: str) -> str:
    """LLVM IR that computes the same without AMX."""
    text = _INTRINSIC.sub(r"@amx_emulated_\1(", _DECLARATION.sub("", text))
    return "\n".join([text, _STATE, *(_dot(name, *kinds) for name, kinds in _DOTS.items())])


# Tiles are [16 rows][64 bytes]; the configuration is as the instruction reads it: bytes per row as i16 from
# byte 16, rows as i8 from byte 48, the palette in byte 0.
_STATE = """
@amx_tiles = internal global [8 x [1024 x i8]] zeroinitializer, align 64
@amx_configuration = internal global [64 x i8] zeroinitializer, align 64
@amx_faults = internal global i64 0

define i64 @amx_emulated_faults() {
  %faults = load i64, ptr @amx_faults
  store i64 0, ptr @amx_faults
  ret i64 %faults
}

define i64 @amx_emulated_is_configured() {
  %palette = load i8, ptr @amx_configuration
  %wide = zext i8 %palette to i64
  ret i64 %wide
}

define internal void @amx_expect(i1 %good) {
  %bad = xor i1 %good, true
  %one = zext i1 %bad to i64
  %before = load i64, ptr @amx_faults
  %after = add i64 %before, %one
  store i64 %after, ptr @amx_faults
  ret void
}

define internal i64 @amx_rows(i8 %tile) {
  %index = zext i8 %tile to i64
  %at = add i64 %index, 48
  %place = getelementptr i8, ptr @amx_configuration, i64 %at
  %rows = load i8, ptr %place
  %wide = zext i8 %rows to i64
  %some = icmp ne i64 %wide, 0
  call void @amx_expect(i1 %some)
  ret i64 %wide
}

define internal i64 @amx_row_bytes(i8 %tile) {
  %index = zext i8 %tile to i64
  %twice = shl i64 %index, 1
  %at = add i64 %twice, 16
  %place = getelementptr i8, ptr @amx_configuration, i64 %at
  %bytes = load i16, ptr %place
  %wide = zext i16 %bytes to i64
  ret i64 %wide
}

define internal ptr @amx_row(i8 %tile, i64 %row) {
  %index = zext i8 %tile to i64
  %place = getelementptr [8 x [1024 x i8]], ptr @amx_tiles, i64 0, i64 %index
  %at = shl i64 %row, 6
  %start = getelementptr i8, ptr %place, i64 %at
  ret ptr %start
}

define internal void @amx_emulated_ldtilecfg(ptr %from) {
  %palette = load i8, ptr %from
  %known = icmp eq i8 %palette, 1
  call void @amx_expect(i1 %known)
  call void @llvm.memcpy.p0.p0.i64(ptr @amx_configuration, ptr %from, i64 64, i1 false)
  call void @llvm.memset.p0.i64(ptr @amx_tiles, i8 0, i64 8192, i1 false)
  ret void
}

define internal void @amx_emulated_tilerelease() {
  call void @llvm.memset.p0.i64(ptr @amx_configuration, i8 0, i64 64, i1 false)
  call void @llvm.memset.p0.i64(ptr @amx_tiles, i8 -1, i64 8192, i1 false)
  ret void
}

define internal void @amx_emulated_tilezero(i8 %tile) {
  %rows = call i64 @amx_rows(i8 %tile)
  %start = call ptr @amx_row(i8 %tile, i64 0)
  call void @llvm.memset.p0.i64(ptr %start, i8 0, i64 1024, i1 false)
  ret void
}

define internal void @amx_copy(i8 %tile, ptr %memory, i64 %pitch, i1 %loads) {
  %rows = call i64 @amx_rows(i8 %tile)
  %bytes = call i64 @amx_row_bytes(i8 %tile)
  %start = call ptr @amx_row(i8 %tile, i64 0)
  br i1 %loads, label %clear, label %loop
clear:
  call void @llvm.memset.p0.i64(ptr %start, i8 0, i64 1024, i1 false)
  br label %loop
loop:
  %row = phi i64 [0, %0], [0, %clear], [%next, %again]
  %more = icmp ult i64 %row, %rows
  br i1 %more, label %body, label %done
body:
  %inside = call ptr @amx_row(i8 %tile, i64 %row)
  %at = mul i64 %row, %pitch
  %outside = getelementptr i8, ptr %memory, i64 %at
  %target = select i1 %loads, ptr %inside, ptr %outside
  %source = select i1 %loads, ptr %outside, ptr %inside
  call void @llvm.memmove.p0.p0.i64(ptr %target, ptr %source, i64 %bytes, i1 false)
  br label %again
again:
  %next = add i64 %row, 1
  br label %loop
done:
  ret void
}

define internal void @amx_emulated_tileloadd64(i8 %tile, ptr %memory, i64 %pitch) {
  call void @amx_copy(i8 %tile, ptr %memory, i64 %pitch, i1 true)
  ret void
}

define internal void @amx_emulated_tilestored64(i8 %tile, ptr %memory, i64 %pitch) {
  call void @amx_copy(i8 %tile, ptr %memory, i64 %pitch, i1 false)
  ret void
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
"""


def _dot(name: str, lhs_extends: str, rhs_extends: str) -> str:
    """``sums[m, :] += lhs[m, 4 * k + b] * rhs[k, b::4]``, 16 columns at once; shapes have to fit."""
    lines = [
        f"define internal void @amx_emulated_tdpb{name}d(i8 %sums, i8 %lhs, i8 %rhs) {{",
        "  %rows = call i64 @amx_rows(i8 %sums)",
        "  %lhs_rows = call i64 @amx_rows(i8 %lhs)",
        "  %depth = call i64 @amx_rows(i8 %rhs)",
        "  %row_bytes = call i64 @amx_row_bytes(i8 %sums)",
        "  %rhs_bytes = call i64 @amx_row_bytes(i8 %rhs)",
        "  %lhs_bytes = call i64 @amx_row_bytes(i8 %lhs)",
        "  %quads = lshr i64 %lhs_bytes, 2",
    ]
    for left, right in (("rows", "lhs_rows"), ("row_bytes", "rhs_bytes"), ("quads", "depth")):
        lines += [
            f"  %fit_{left} = icmp eq i64 %{left}, %{right}",
            f"  call void @amx_expect(i1 %fit_{left})",
        ]
    for left, right in (("sums", "lhs"), ("sums", "rhs"), ("lhs", "rhs")):
        lines += [
            f"  %differ_{left}_{right} = icmp ne i8 %{left}, %{right}",
            f"  call void @amx_expect(i1 %differ_{left}_{right})",
        ]
    lines += [
        "  br label %loop",
        "loop:",
        "  %m = phi i64 [0, %0], [%m_next, %finish]",
        "  %more = icmp ult i64 %m, %rows",
        "  br i1 %more, label %row, label %done",
        "row:",
        "  %sums_at = call ptr @amx_row(i8 %sums, i64 %m)",
        "  %lhs_at = call ptr @amx_row(i8 %lhs, i64 %m)",
        "  %before = load <16 x i32>, ptr %sums_at",
        "  br label %inner",
        "inner:",
        "  %k = phi i64 [0, %row], [%k_next, %inner]",
        "  %t0 = phi <16 x i32> [%before, %row], [%t4, %inner]",
        "  %rhs_at = call ptr @amx_row(i8 %rhs, i64 %k)",
        "  %rhs_row = load <64 x i8>, ptr %rhs_at",
        "  %quad = shl i64 %k, 2",
    ]
    for b in range(4):
        lanes = ", ".join(f"i32 {4 * n + b}" for n in range(16))
        lines += [
            f"  %at{b} = add i64 %quad, {b}",
            f"  %place{b} = getelementptr i8, ptr %lhs_at, i64 %at{b}",
            f"  %byte{b} = load i8, ptr %place{b}",
            f"  %wide{b} = {lhs_extends} i8 %byte{b} to i32",
            f"  %first{b} = insertelement <16 x i32> poison, i32 %wide{b}, i64 0",
            f"  %all{b} = shufflevector <16 x i32> %first{b}, <16 x i32> poison, <16 x i32> zeroinitializer",
            f"  %narrow{b} = shufflevector <64 x i8> %rhs_row, <64 x i8> poison, <16 x i32> <{lanes}>",
            f"  %column{b} = {rhs_extends} <16 x i8> %narrow{b} to <16 x i32>",
            f"  %product{b} = mul <16 x i32> %all{b}, %column{b}",
            f"  %t{b + 1} = add <16 x i32> %t{b}, %product{b}",
        ]
    lines += [
        "  %k_next = add i64 %k, 1",
        "  %on = icmp ult i64 %k_next, %depth",
        "  br i1 %on, label %inner, label %finish",
        "finish:",
        "  store <16 x i32> %t4, ptr %sums_at",
        "  %m_next = add i64 %m, 1",
        "  br label %loop",
        "done:",
        "  ret void",
        "}",
    ]
    return "\n".join(lines)
