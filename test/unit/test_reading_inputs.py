"""No kernel reads beyond a caller's array: behind each of them there is memory that may not be touched."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import ctypes, mmap, sys
import numpy as np
import zeropoint as zp
from zeropoint.dialect.context import parse_module

def guarded(array):
    '''A copy that ends where unreadable memory begins.'''
    page = mmap.PAGESIZE
    size = -(-array.nbytes // page) * page
    memory = mmap.mmap(-1, size + page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(start + size), ctypes.c_size_t(page), 0) == 0
    copy = np.frombuffer(memory, array.dtype, array.size, size - array.nbytes).reshape(array.shape)
    copy[...] = array
    return copy, memory

def check(text, *arrays):
    executable = zp.compile(zp.Model.from_module(parse_module(text), 'guarded'), cache=False)
    places = [guarded(array) for array in arrays]
    inputs = [copy for copy, _ in places]
    expected = executable.run(*arrays)
    for found in (executable.run(*inputs), executable.bind(*inputs)()):
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b)

X, Y = '!quant.uniform<i8:f32, 5.0e-01:3>', '!quant.uniform<i8:f32, 7.5e-01:-1>'
ops = {
    'requantize': ('"qnn.requantize"(%x)', 'q', 1),
    'add': ('"qnn.add"(%x, %y) {clamp = array<f32>}', 'q', 2),
    'mul': ('"qnn.mul"(%x, %y) {clamp = array<f32>}', 'q', 2),
    'quantize': ('"qnn.quantize"(%x)', 'f', 1),
    'dequantize': ('"qnn.dequantize"(%x)', 'd', 1),
}
op, kind, count = ops[sys.argv[1]]
for size in [1, 2, 15, 16, 17, 31, 63, 64, 65, 127, 128, 129, 200, 1000]:
    inner, outer = f'tensor<{size}x{X}>', f'tensor<{size}x{Y}>'
    if kind == 'f':
        inner = f'tensor<{size}xf32>'
    if kind == 'd':
        outer = f'tensor<{size}xf32>'
    names = ['%x', '%y'][:count]
    text = (
        f"func.func @main({', '.join(f'{name}: {inner}' for name in names)}) -> {outer} {{"
        f"%0 = {op} : ({', '.join([inner] * count)}) -> {outer} return %0 : {outer} }}"
    )
    rng = np.random.default_rng(size)
    arrays = [
        rng.normal(size=size).astype(np.float32) if kind == 'f' else rng.integers(-128, 128, size, np.int8)
        for _ in names
    ]
    check(text, *arrays)
"""
CONV = """
w, x = '!quant.uniform<i8:f32, 2.5e-01>', '!quant.uniform<u8:f32, 5.0e-01:3>'
shapes = 'array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64, padding = array<i64: 0, 0, 0, 0>'
for channels in [1, 3, 4, 5, 16, 64]:
    a, f, r = f'tensor<1x9x9x{channels}x{x}>', f'tensor<8x3x3x{channels}x{w}>', f'tensor<1x7x7x8x{x}>'
    check(
        f'func.func @main(%x: {a}) -> {r} {{'
        f'%w = "qnn.constant"() {{value = dense<2> : tensor<8x3x3x{channels}xi8>}} : () -> {f}'
        f'%0 = "qnn.conv2d"(%x, %w) {{strides = {shapes}, clamp = array<f32>,'
        f'operandSegmentSizes = array<i32: 1, 1, 0>}} : ({a}, {f}) -> {r} return %0 : {r} }}',
        np.random.default_rng(channels).integers(0, 256, (1, 9, 9, channels), np.uint8),
    )
"""
MEAN = """
x, y = '!quant.uniform<i8:f32, 2.5e-01:7>', '!quant.uniform<i8:f32, 5.0e-01:3>'
for channels in [1, 3, 15, 16, 17, 40, 64, 65, 130]:
    a, r = f'tensor<2x5x7x{channels}x{x}>', f'tensor<2x{channels}x{y}>'
    check(
        f'func.func @main(%x: {a}) -> {r} {{'
        f'%0 = "qnn.mean"(%x) {{axes = array<i64: 1, 2>, keep_dims = false}} : ({a}) -> {r}'
        f'return %0 : {r} }}',
        np.random.default_rng(channels).integers(-128, 128, (2, 5, 7, channels), np.int8),
    )
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="protects memory through libc's mprotect")
@pytest.mark.parametrize("op", ["requantize", "add", "mul", "quantize", "dequantize"])
def test_elementwise(op: str) -> None:
    subprocess.run([sys.executable, "-c", SCRIPT, op], check=True, timeout=200)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="protects memory through libc's mprotect")
@pytest.mark.parametrize("script", [CONV, MEAN])
def test_images(script: str) -> None:
    helpers = SCRIPT[: SCRIPT.index("X, Y = ")]
    subprocess.run([sys.executable, "-c", helpers + script], check=True, timeout=200)
