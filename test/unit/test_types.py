"""Plain types, and their way to MLIR types and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zeropoint.dialect.context import new_context
from zeropoint.dialect.ir_types import to_element, to_ir_element, to_ir_type, to_tensor_type
from zeropoint.dialect.mlir import ir
from zeropoint.dialect.qnn.parameters import parameter_violations
from zeropoint.dialect.types import DYNAMIC, QuantParams, Storage, TensorType

CONTEXT = new_context()

storages = st.sampled_from(["i4", "u4", "i8", "u8", "i16", "u16", "i32"]).map(Storage.of)
float32_scales = st.floats(2.0**-126, 2.0**100, width=32)


@st.composite
def tensor_types(draw: st.DrawFn) -> TensorType:
    """Per-tensor, per-axis and sub-channel types of rank 2."""
    storage = draw(storages)
    rows, blocks, size = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    points = st.integers(storage.minimum, storage.maximum)

    def parameters(count: int) -> tuple[tuple[float, ...], tuple[int, ...]]:
        scales = tuple(draw(st.lists(float32_scales, min_size=count, max_size=count)))
        return scales, tuple(draw(st.lists(points, min_size=count, max_size=count)))

    scheme = draw(st.sampled_from(["per-tensor", "per-axis", "sub-channel"]))
    if scheme == "per-tensor":
        params = QuantParams(storage, *parameters(1))
    elif scheme == "per-axis":
        params = QuantParams(storage, *parameters(rows), axis=0)
    else:
        params = QuantParams(storage, *parameters(rows * blocks), block_sizes=((0, 1), (1, size)))
    return TensorType((rows, blocks * size), params)


@given(tensor_types())
def test_quantized_types_survive_mlir_and_its_text(type_: TensorType) -> None:
    with CONTEXT:
        built = to_ir_type(type_)
        assert to_tensor_type(built) == type_
        assert ir.Type.parse(str(built)) == built


@given(tensor_types())
def test_generated_types_are_well_formed(type_: TensorType) -> None:
    assert list(parameter_violations("result", type_)) == []


@pytest.mark.parametrize("element", ["f16", "f32", "f64", "i1", "i8", "u8", "i32", "i64", "u16"])
def test_ordinary_types(element: str) -> None:
    type_ = TensorType((2, DYNAMIC, 0), element)
    with CONTEXT:
        assert to_tensor_type(to_ir_type(type_)) == type_


def test_storage_bounds_are_kept() -> None:
    params = QuantParams(Storage(8, True, -127, 127), (0.5,), (0,))
    with CONTEXT:
        built = to_ir_element(params)
        assert str(built) == "!quant.uniform<i8<-127:127>:f32, 5.000000e-01>"
        assert to_element(built) == params
    assert str(params.storage) == "i8<-127:127>"
    assert str(Storage.of("u4")) == "u4"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tensor<*xf32>", "not a ranked tensor type"),
        ("memref<4xf32>", "not a ranked tensor type"),
        ("tensor<4xcomplex<f32>>", "element type complex<f32> is not supported"),
        ("tensor<4x!quant.any<i8:f32>>", "not a uniform quantized type"),
        ("tensor<4x!quant.uniform<i8:f16, 0.5>>", "got f16, expected f32"),
    ],
)
def test_other_types_are_refused(text: str, message: str) -> None:
    with CONTEXT, pytest.raises(TypeError, match=message):
        to_tensor_type(ir.Type.parse(text))


def test_a_sub_channel_type_needs_a_shape_that_fits() -> None:
    params = QuantParams(Storage.of("i4"), (0.5, 1.0), (0, 0), block_sizes=((0, 2),))
    with CONTEXT:
        assert to_tensor_type(to_ir_type(TensorType((4, 3), params))).params == params
        with pytest.raises(TypeError, match="2 scales do not fit"):
            to_ir_type(TensorType((6, 3), params))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"scales": (0.0,)}, "scale must be finite and positive, got 0.0"),
        ({"scales": (float("nan"),)}, "scale must be finite and positive, got nan"),
        ({"zero_points": (128,)}, "zero point 128 lies outside the storage range"),
        ({"storage": Storage.of("i64")}, "got storage type i64"),
        ({"axis": 2}, "dimension 2 does not exist"),
        ({"axis": 1}, "got 1, expected 3"),
        ({"block_sizes": ((1, 2),)}, "does not divide into blocks of 2"),
        ({"block_sizes": ((5, 1),)}, "dimension 5 does not exist"),
    ],
)
def test_malformed_parameters(params: dict[str, Any], message: str) -> None:
    fields: dict[str, Any] = {"storage": Storage.of("i8"), "scales": (0.5,), "zero_points": (0,)}
    type_ = TensorType((1, 3), QuantParams(**(fields | params)))
    first = next(parameter_violations("operand 0", type_))
    assert first.startswith("(C0) operand 0: ")
    assert message in first


def test_dtypes() -> None:
    quantized = {
        "i4": np.int8,
        "u4": np.uint8,
        "i8": np.int8,
        "u8": np.uint8,
        "i16": np.int16,
        "i32": np.int32,
    }
    for name, dtype in quantized.items():
        assert TensorType((1,), QuantParams(Storage.of(name), (1.0,), (0,))).dtype == dtype
    assert TensorType((1,), "f32").dtype == np.float32
    assert TensorType((1,), "i1").dtype == np.bool_
