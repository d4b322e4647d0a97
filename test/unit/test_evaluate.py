"""Modules run op by op with their numpy meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from random_tensors import values
from zeropoint.dialect.context import parse_file, parse_module
from zeropoint.dialect.evaluate import evaluate_module, evaluate_operation
from zeropoint.dialect.ir_types import to_tensor_type
from zeropoint.dialect.numerics import MODES
from zeropoint.dialect.types import TensorType
from zeropoint.errors import ImportModelError, InputError, PipelineError

NETWORK = """
!u = !quant.uniform<u8:f32, 0.5:3>
!v = !quant.uniform<u8:f32, 1.0:128>

func.func @main(%x: tensor<1x4x!u>) -> (tensor<1x2x!v>, tensor<1xi32>) {
  %w = "qnn.constant"() {value = dense<[[1, 2, 3, 4], [-56, 2, 3, 4]]> : tensor<2x4xi8>}
    : () -> tensor<2x4x!u>
  %y = "qnn.fully_connected"(%x, %w)
    {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>, qnn.note = "ignored"}
    : (tensor<1x4x!u>, tensor<2x4x!u>) -> tensor<1x2x!v>
  %i = "qnn.arg_max"(%y) {axis = 1 : i64} : (tensor<1x2x!v>) -> tensor<1xi32>
  return %y, %i : tensor<1x2x!v>, tensor<1xi32>
}"""


def test_a_network() -> None:
    x = np.array([[10, 3, 2, 0]], np.uint8)
    kept: list[tuple[str, tuple[int, ...]]] = []

    def keep(op: Any, arrays: list[Any]) -> None:
        kept.append((op.name, arrays[0].shape))

    scores, index = evaluate_module(parse_module(NETWORK), [x], keep=keep)
    weights = np.array([[1, 2, 3, 4], [200, 2, 3, 4]])  # the attribute holds the bits of unsigned values
    real = (x.astype(int) - 3) @ (weights - 3).T * 0.25
    np.testing.assert_array_equal(scores, np.clip(np.trunc(real + np.copysign(0.5, real)) + 128, 0, 255))
    assert scores.dtype == np.uint8
    assert index.tolist() == [1]
    assert kept == [("qnn.constant", (2, 4)), ("qnn.fully_connected", (1, 2)), ("qnn.arg_max", (1,))]


def test_the_numerics_mode() -> None:
    # 64 * 0.0078125 = 0.5: one mode rounds the tie away from zero, the other to even.
    text = """
module attributes {qnn.numerics = "xnnpack"} {
func.func @main(%x: tensor<1x1x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x1x!quant.uniform<i8:f32, 64.0>> {
  %w = "qnn.constant"() {value = dense<1> : tensor<1x1xi8>} : () -> tensor<1x1x!quant.uniform<i8:f32, 1.0>>
  %y = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>}
    : (tensor<1x1x!quant.uniform<i8:f32, 0.5>>, tensor<1x1x!quant.uniform<i8:f32, 1.0>>)
    -> tensor<1x1x!quant.uniform<i8:f32, 64.0>>
  return %y : tensor<1x1x!quant.uniform<i8:f32, 64.0>>
}}"""
    x = np.array([[64]], np.int8)
    module = parse_module(text)
    assert evaluate_module(module, [x])[0].tolist() == [[0]]
    assert evaluate_module(module, [x], mode="reference")[0].tolist() == [[1]]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([], "got 0 inputs, expected 1"),
        ([np.zeros((1, 4), np.int8)], r"input 0: got int8 \[1, 4\], expected uint8 \[1, 4\]"),
        ([np.zeros((2, 4), np.uint8)], r"got uint8 \[2, 4\], expected uint8 \[1, 4\]"),
    ],
)
def test_inputs_that_do_not_fit(inputs: list[Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate_module(parse_module(NETWORK), inputs)


def test_an_op_without_a_meaning() -> None:
    text = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
        %0 = arith.addf %x, %x : tensor<2xf32>
        return %0 : tensor<2xf32>
    }"""
    with pytest.raises(PipelineError, match=r"'arith\.addf' has no numpy meaning"):
        evaluate_module(parse_module(text), [np.zeros(2, np.float32)])


ROUND_TRIPS = sorted(
    path
    for path in (Path(__file__).parents[1] / "dialect").glob("*.mlir")
    if not path.name.endswith("-invalid.mlir")
)


@pytest.mark.parametrize("mode", sorted(MODES))
@pytest.mark.parametrize("path", ROUND_TRIPS, ids=lambda path: path.stem)
def test_what_verifies_can_be_evaluated(path: Path, mode: str) -> None:
    rng, evaluated = np.random.default_rng(0), 0
    for function in parse_file(path).body.operations:
        operation = function.regions[0].blocks[0].operations[0].operation
        types = [to_tensor_type(operand.type) for operand in operation.operands]
        result = to_tensor_type(operation.results[0].type)
        if not all(type_.is_static for type_ in [*types, result]):
            continue
        (array,) = evaluate_operation(operation, [_random(rng, type_) for type_ in types], mode)
        assert array.shape == result.shape
        assert array.dtype == result.dtype
        if result.is_quantized:
            storage = result.params.storage
            assert storage.minimum <= int(array.min())
            assert int(array.max()) <= storage.maximum
        evaluated += 1
    assert evaluated > 0


def _random(rng: np.random.Generator, type_: TensorType) -> Any:
    if type_.is_quantized or type_.is_float:
        return values(rng, type_)
    return rng.integers(-100, 100, type_.shape).astype(type_.dtype)


def test_sub_channel_values_have_a_scale_per_block() -> None:
    text = """
!s = !quant.uniform<i4:f32:{0:1, 1:2}, {{0.5, 0.25:1}, {1.0, 2.0}}>
func.func @main(%x: tensor<2x4x!s>) -> tensor<2x4xf32> {
  %y = "qnn.dequantize"(%x) : (tensor<2x4x!s>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}"""
    (y,) = evaluate_module(parse_module(text), [np.array([[1, 2, 3, 4], [-8, 7, 1, -1]], np.int8)])
    assert y.tolist() == [[0.5, 1.0, 0.5, 0.75], [-8.0, 7.0, 2.0, -2.0]]


@pytest.mark.parametrize(
    ("clamp", "stored"), [("1.0e30, 0x7F800000", 255), ("-6.0, -3.0", 0), ("300.0, 400.0", 255)]
)
def test_an_activation_outside_the_storage_range(clamp: str, stored: int) -> None:
    text = f"""
!u = !quant.uniform<u8:f32, 1.0>
func.func @main(%x: tensor<2x!u>) -> tensor<2x!u> {{
  %y = "qnn.clamp"(%x) {{clamp = array<f32: {clamp}>}} : (tensor<2x!u>) -> tensor<2x!u>
  return %y : tensor<2x!u>
}}"""
    (y,) = evaluate_module(parse_module(text), [np.array([0, 255], np.uint8)])
    assert y.tolist() == [stored, stored]


def test_no_entry() -> None:
    with pytest.raises(ImportModelError, match="no function @main"):
        evaluate_module(parse_module("module {}"), [])
