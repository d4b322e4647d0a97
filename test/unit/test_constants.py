"""Constant data: small ones in the text, large ones as resources that survive printing and parsing."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from zeropoint.dialect import qnn
from zeropoint.dialect.attributes import from_attribute, to_attribute
from zeropoint.dialect.constants import INLINE_ELEMENTS, elements_array, elements_attribute, has_data
from zeropoint.dialect.context import new_context, parse_module
from zeropoint.dialect.mlir import ir
from zeropoint.dialect.types import QuantParams, Storage, TensorType
from zeropoint.errors import PipelineError

LARGE = INLINE_ELEMENTS + 1


def _module(context: Any, array: npt.NDArray[Any], type_: TensorType, name: str = "w") -> Any:
    with context, ir.Location.name(name):
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            qnn.create("constant", [], [type_], {"value": array}, loc=ir.Location.name(name))
        module.operation.verify()
    return module


def _values(module: Any) -> list[npt.NDArray[Any]]:
    return [elements_array(op.operation.attributes["value"]) for op in module.body.operations]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64", "float32", "float16", "bool"])
@pytest.mark.parametrize("size", [0, 1, INLINE_ELEMENTS, LARGE, 1000])
def test_arrays_survive(dtype: str, size: int) -> None:
    array = np.arange(size).astype(dtype)
    with new_context():
        attribute = elements_attribute(array)
        assert str(attribute).startswith("dense<" if size <= INLINE_ELEMENTS else "dense_resource<")
        back = elements_array(attribute)
    # unsigned integers come back as the same bits, signed
    np.testing.assert_array_equal(back.view(dtype), array)


def test_scalars_keep_their_rank() -> None:
    with new_context():
        assert elements_array(elements_attribute(np.array(3, np.int32))).shape == ()


def test_splats_and_odd_widths_in_hand_written_text() -> None:
    with new_context():
        splat = elements_array(ir.Attribute.parse("dense<-3> : tensor<2x50xi8>"))
        np.testing.assert_array_equal(splat, np.full((2, 50), -3, np.int8))
        four_bits = elements_array(ir.Attribute.parse("dense<[[1, -2], [3, -8]]> : tensor<2x2xi4>"))
        np.testing.assert_array_equal(four_bits, np.array([[1, -2], [3, -8]], np.int8))
        np.testing.assert_array_equal(elements_array(ir.Attribute.parse("dense<7> : tensor<2x2xi4>")), 7)


def test_resources_survive_the_text() -> None:
    array = np.arange(LARGE, dtype=np.uint8) + 200
    type_ = TensorType((LARGE,), QuantParams(Storage.of("u8"), (0.5,), (3,)))
    text = str(_module(new_context(), array, type_, "block1/conv:0"))
    assert "dense_resource<block1_conv_0>" in text
    (value,) = _values(parse_module(text))
    np.testing.assert_array_equal(value.view(np.uint8), array)


def test_equal_names_and_a_second_module_in_one_context() -> None:
    context, type_ = new_context(), TensorType((LARGE,), "f32")
    first = _module(context, np.zeros(LARGE, np.float32), type_)
    other = str(_module(new_context(), np.ones(LARGE, np.float32), type_))
    second = parse_module(other, context)  # MLIR renames its resource, which is called "w" too
    third = _module(context, np.full(LARGE, 2, np.float32), type_)
    assert [float(_values(module)[0][0]) for module in (first, second, third)] == [0.0, 1.0, 2.0]


def test_elided_data_is_missed() -> None:
    module = _module(new_context(), np.zeros(LARGE, np.float32), TensorType((LARGE,), "f32"))
    text = str(module.operation.get_asm(large_resource_limit=4))
    parsed = parse_module(text)
    assert not has_data(parsed.body.operations[0].operation.attributes["value"])
    with pytest.raises(PipelineError, match=r"constant 'w': its data is missing"):
        _values(parsed)


def test_data_of_the_wrong_size_is_an_error() -> None:
    text = """
        module { "qnn.constant"() {value = dense_resource<w> : tensor<32xi8>} : () -> tensor<32xi8> }
        {-#  dialect_resources: { builtin: { w: "0x0400000001020304" } }  #-}"""
    with pytest.raises(PipelineError, match="constant 'w': got 4 bytes, expected 32"):
        _values(parse_module(text))


@pytest.mark.parametrize("digits", ['0x0400000G"', '0x0"', '0x"', '0x04000000AB"" } } #-}'])
def test_broken_resources_are_mlirs_errors(digits: str) -> None:
    with pytest.raises(PipelineError, match="error: "):
        parse_module('module {}\n{-#  dialect_resources: { builtin: { w: "' + digits + " } } #-}")


@pytest.mark.parametrize("digits", ["0x04000000ABC", "0x04000000AB\n"])
def test_resources_that_break_off(digits: str) -> None:
    with pytest.raises(PipelineError, match="resource 'w': the string of its data does not end"):
        parse_module('module {}\n{-#  dialect_resources: { builtin: { w: "' + digits + " } } #-}")


def test_stored_values_of_a_resource_are_verified() -> None:
    type_ = TensorType((LARGE,), QuantParams(Storage(8, True, -100, 100), (0.5,), (0,)))
    with pytest.raises(ir.MLIRError, match=r"\(C3\) values from 0 to 101 lie outside the storage range"):
        _module(new_context(), np.r_[np.zeros(LARGE - 1), 101].astype(np.int8), type_)


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("strides", [2, 1], "array<i64: 2, 1>"),
        ("strides", np.array([2, 1], np.int32), "array<i64: 2, 1>"),
        ("clamp", (), "array<f32>"),
        ("clamp", [0, 6], "array<f32: 0.000000e+00, 6.000000e+00>"),
        ("axis", np.int32(3), "3 : i64"),
        ("beta", 1, "1.000000e+00 : f32"),
        ("keep_dims", True, "true"),
        ("keep_dims", np.bool_(False), "false"),
        ("other", "text", '"text"'),
    ],
)
def test_attributes(name: str, value: Any, text: str) -> None:
    with new_context():
        attribute = to_attribute(name, value)
        assert str(attribute) == text
        assert to_attribute(name, attribute) == attribute
        plain = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
        assert from_attribute(attribute) == (tuple(plain) if isinstance(plain, list) else plain)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("axis", 1.5),
        ("axis", True),
        ("keep_dims", 1),
        ("strides", [1.5, 1]),
        ("strides", 1),
        ("clamp", None),
        ("x", None),
    ],
)
def test_wrong_attributes(name: str, value: Any) -> None:
    with new_context(), pytest.raises(TypeError, match=f"attribute '{name}'"):
        to_attribute(name, value)
