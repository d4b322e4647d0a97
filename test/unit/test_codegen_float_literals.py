"""Floating point constants survive the way from the bindings' LLVM IR to llvmlite's, bit by bit."""

from __future__ import annotations

import ctypes
import struct

import llvmlite.binding as llvm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zeropoint.codegen.float_literals import rewrite_float_literals
from zeropoint.codegen.llvm import to_object
from zeropoint.codegen.loader import load
from zeropoint.codegen.lowering import translate
from zeropoint.codegen.machine import host
from zeropoint.dialect.context import parse_module

WIDTHS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
SPECIAL = {
    "f16": [0x0000, 0x8000, 0x7C00, 0xFC00, 0x7E00, 0x0001, 0x7BFF, 0x2E66],
    "bf16": [0x0000, 0x8000, 0x7F80, 0xFF80, 0x7FC0, 0x0001, 0x7F7F, 0x3DCD],
    "f32": [0x00000000, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0x7FC12345, 0x00000001,
            0x7F7FFFFF, 0x00800000, 0x3DCCCCCD, 0x3F800000],
    "f64": [0, 1 << 63, 0x7FF << 52, 0xFFF << 52, 0x7FF8 << 48, 1, 0x7FEFFFFFFFFFFFFF, 0x3FB999999999999A],
}  # fmt: skip


def module_text(kind: str, patterns: list[int]) -> str:
    """Store every constant of a type at consecutive places."""
    width = WIDTHS[kind]
    lines = []
    for i, bits in enumerate(patterns):
        lines += [
            f"%c{i} = llvm.mlir.constant(0x{bits:0{width // 4}X} : {kind}) : {kind}",
            f"%p{i} = llvm.getelementptr %out[{i}] : (!llvm.ptr) -> !llvm.ptr, i{width}",
            f"llvm.store %c{i}, %p{i} : {kind}, !llvm.ptr",
        ]
    return "llvm.func @constants(%out: !llvm.ptr) {\n" + "\n".join(lines) + "\nllvm.return }"


def constants_through_the_jit(kind: str, patterns: list[int]) -> list[int]:
    code = load({"it": to_object(translate(parse_module(module_text(kind, patterns))), host())})
    out = np.zeros(len(patterns), f"uint{WIDTHS[kind]}")
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address("it", "constants"))(out.ctypes.data)
    return [int(bits) for bits in out]


@pytest.mark.parametrize("kind", WIDTHS)
def test_special_values(kind: str) -> None:
    assert constants_through_the_jit(kind, SPECIAL[kind]) == SPECIAL[kind]


@settings(max_examples=20)
@given(st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=20))
def test_any_float32(values: list[float]) -> None:
    patterns = [struct.unpack("<I", struct.pack("<f", value))[0] for value in values]
    assert constants_through_the_jit("f32", patterns) == patterns


@settings(max_examples=20)
@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=20))
def test_any_float64(values: list[float]) -> None:
    patterns = [struct.unpack("<Q", struct.pack("<d", value))[0] for value in values]
    assert constants_through_the_jit("f64", patterns) == patterns


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("fmul float %1, 1.000000e-01", "fmul float %1, 0x3FB99999A0000000"),
        ("fcmp olt double %a, f0x3F55CAF00E536D4A", "fcmp olt double %a, 0x3F55CAF00E536D4A"),
        ("select i1 %c, float +inf, float %x", "select i1 %c, float 0x7FF0000000000000, float %x"),
        ("phi half [ -inf, %5 ]", "phi half [ 0xHFC00, %5 ]"),
        ("<2 x bfloat> splat (bfloat +qnan)", "<2 x bfloat> splat (bfloat 0xR7FC0)"),
    ],
)
def test_literal_takes_the_last_named_type(new: str, old: str) -> None:
    assert rewrite_float_literals(new) == old


@pytest.mark.parametrize(
    "text",
    [
        "call float @llvm.maximum.f32(float %a, float %b)",
        "define void @conv2d_1e5(ptr %0) {",
        "br label %float",
        "store i32 1073741824, ptr %f0x12",
        'source_filename = "LLVMDialectModule"',
    ],
)
def test_other_text_is_kept(text: str) -> None:
    assert rewrite_float_literals(text) == text


def test_llvmlite_still_needs_this() -> None:
    """When this fails, llvmlite reads the new literals: drop ``float_literals.py``."""
    with pytest.raises(RuntimeError):
        llvm.parse_assembly("define float @f() {\n  ret float 1.000000e-01\n}")
