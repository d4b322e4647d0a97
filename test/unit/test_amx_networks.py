"""Whole networks through the pipeline for AMX, emulated, against the reference pipeline: what kernels and the
passes that choose them have to agree on.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

import amx_emulation
import kernel_runner
import zeropoint as zp
from zeropoint.codegen import amx_permission, loader
from zeropoint.codegen.lowering import KernelIr, Lowering
from zeropoint.codegen.machine import host
from zeropoint.dialect.context import new_context
from zeropoint.dialect.mlir import ir
from zeropoint.dialect.model import Model
from zeropoint.runtime import compiler

pytestmark = pytest.mark.skipif(not kernel_runner.has("amx"), reason="this CPU has no AVX512-VNNI")


def network(storage: str, filter_storage: str, filter_point: int) -> str:
    """A block of two convolutions with a residual, one with strides, a fully connected layer; channels that
    fill tiles and some that do not.
    """
    rng = np.random.default_rng(3)
    point = 131 if storage == "u8" else 3

    def constant(name: str, type_: str, *shape: int) -> str:
        size = "x".join(map(str, shape))
        bytes_ = rng.integers(0, 256, math.prod(shape), dtype=np.uint8).tobytes().hex()
        value = f'dense<"0x{bytes_}"> : tensor<{size}xi8>'
        return f'%{name} = "qnn.constant"() {{value = {value}}} : () -> tensor<{size}x{type_}>'

    def bias(name: str, type_: str, value: int, count: int) -> str:
        attribute = f"dense<{value}> : tensor<{count}xi32>"
        return f'%{name} = "qnn.constant"() {{value = {attribute}}} : () -> tensor<{count}x{type_}>'

    def conv(operands: str, stride: int, pad: int, clamp: str, types: str) -> str:
        numbers = {"strides": [stride] * 2, "dilations": [1, 1], "padding": [pad] * 4}
        arrays = ", ".join(f"{name} = array<i64: {str(v)[1:-1]}>" for name, v in numbers.items())
        sizes = "operandSegmentSizes = array<i32: 1, 1, 1>"
        return f'"qnn.conv2d"({operands}) {{{arrays}, groups = 1 : i64, clamp = {clamp}, {sizes}}} : {types}'

    return f"""
!x = !quant.uniform<{storage}:f32, 0.05:{point}>
!y = !quant.uniform<{storage}:f32, 0.08:{point}>
!z = !quant.uniform<{storage}:f32, 0.11:{point}>
!w = !quant.uniform<{filter_storage}:f32, 0.0001:{filter_point}>
!v = !quant.uniform<{filter_storage}:f32, 0.002:{filter_point}>
!a = !quant.uniform<i32:f32, 5.0e-06>
!b = !quant.uniform<i32:f32, 1.6e-04>
!c = !quant.uniform<i32:f32, 1.1e-05>
func.func @main(%x: tensor<1x13x13x64x!x>) -> (tensor<1x13x13x64x!z>, tensor<49x40x!y>) {{
  {constant("w0", "!w", 80, 3, 3, 64)}
  {constant("w1", "!v", 64, 1, 1, 80)}
  {constant("w2", "!w", 96, 3, 3, 64)}
  {constant("w3", "!v", 40, 96)}
  {bias("b0", "!a", 100, 80)}
  {bias("b1", "!b", -70, 64)}
  {bias("b2", "!c", 3, 96)}
  %0 = {
        conv(
            "%x, %w0, %b0",
            1,
            1,
            "array<f32: 0.0, 6.0>",
            "(tensor<1x13x13x64x!x>, tensor<80x3x3x64x!w>, tensor<80x!a>) -> tensor<1x13x13x80x!y>",
        )
    }
  %1 = {
        conv(
            "%0, %w1, %b1",
            1,
            0,
            "array<f32>",
            "(tensor<1x13x13x80x!y>, tensor<64x1x1x80x!v>, tensor<64x!b>) -> tensor<1x13x13x64x!z>",
        )
    }
  %2 = "qnn.add"(%x, %1) {{clamp = array<f32>}}
    : (tensor<1x13x13x64x!x>, tensor<1x13x13x64x!z>) -> tensor<1x13x13x64x!z>
  %3 = {
        conv(
            "%2, %w2, %b2",
            2,
            1,
            "array<f32>",
            "(tensor<1x13x13x64x!z>, tensor<96x3x3x64x!w>, tensor<96x!c>) -> tensor<1x7x7x96x!y>",
        )
    }
  %4 = "qnn.reshape"(%3) : (tensor<1x7x7x96x!y>) -> tensor<49x96x!y>
  %5 = "qnn.fully_connected"(%4, %w3) {{clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>}}
    : (tensor<49x96x!y>, tensor<40x96x!v>) -> tensor<49x40x!y>
  return %2, %5 : tensor<1x13x13x64x!z>, tensor<49x40x!y>
}}
"""


@pytest.fixture
def emulated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A host that seems to have AMX; the kernels that use it, as they are compiled."""
    written: list[str] = []
    launched = Lowering.launched

    def emulate(self: Lowering, text: str) -> KernelIr:
        kernel = launched(self, text)
        if "@llvm.x86.tile" not in kernel.text:
            return kernel
        written.append(text)
        # A name is defined once in a program.
        private = amx_emulation.emulated(kernel.text).replace("define i64 @amx", "define internal i64 @amx")
        return dataclasses.replace(kernel, text=private)

    machine = dataclasses.replace(host(), features=f"{host().features},+amx-tile,+amx-int8")
    assert machine.isa == "amx"
    monkeypatch.setattr(compiler, "_machine_here", lambda _: machine)
    monkeypatch.setattr(amx_permission, "request", lambda: None)
    monkeypatch.setattr(Lowering, "launched", emulate)
    # The tiles are variables, which only LLVM's linker knows.
    monkeypatch.setattr(loader, "can_map", lambda: False)
    return written


def results(text: str, pipeline: str) -> list[np.ndarray]:
    context = new_context()
    with context, ir.Location.unknown():
        module = ir.Module.parse(text)
    executable = zp.compile(Model.from_module(module, "network"), cache=False, pipeline=pipeline)
    (given,) = executable.inputs
    limits = np.iinfo(given.dtype)
    values = np.random.default_rng(4).integers(limits.min, limits.max + 1, given.shape).astype(given.dtype)
    return list(executable.run(values))


@pytest.mark.parametrize(
    ("storage", "filter_storage", "filter_point"),
    [("i8", "i8", 0), ("u8", "i8", 0), ("u8", "u8", 128), ("u8", "u8", 117)],
)
def test_a_network(storage: str, filter_storage: str, filter_point: int, emulated: list[str]) -> None:
    text = network(storage, filter_storage, filter_point)
    expected = results(text, "reference")
    assert not emulated
    for actual, wanted in zip(results(text, "optimized"), expected, strict=True):
        assert len(np.unique(wanted)) > 20
        np.testing.assert_array_equal(actual, wanted)
    assert len(emulated) >= 3
