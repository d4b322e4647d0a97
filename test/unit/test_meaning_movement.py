"""concat, reshape, transpose, pad, slice, resize and arg_max: against LiteRT where it has the operator, else
against numpy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from random_tensors import add_tensor, floating, judge, quantized, scales, seeds, values, zero_points
from tflite_builder import Builder
from zeropoint.dialect.meaning import evaluate
from zeropoint.dialect.types import TensorType

storages = st.sampled_from(["i8", "u8", "i16"])


@settings(max_examples=100)
@given(seeds, storages, st.integers(0, 2), st.booleans(), st.data())
def test_concat(seed: int, storage: str, axis: int, same: bool, data: st.DataObject) -> None:
    """int8 and int16 want equal parameters; uint8 rescales in float32."""
    assume(same or storage == "u8")
    rng = np.random.default_rng(seed)
    scale, point = data.draw(scales()), data.draw(zero_points(storage))
    types = []
    for _ in range(int(rng.integers(1, 4))):
        shape = [2, 3, 4]
        shape[axis] = int(rng.integers(1, 5))
        own = (
            (scale, point)
            if same
            else (scale * 2.0 ** data.draw(st.floats(-3, 3)), data.draw(zero_points(storage)))
        )
        types.append(quantized(shape, storage, *own))
    shape[axis] = sum(kind.shape[axis] for kind in types)
    result = quantized(shape, storage, scale, point)
    arrays = [values(rng, kind) for kind in types]
    model = Builder()
    inputs = [add_tensor(model, f"x{index}", kind) for index, kind in enumerate(types)]
    output = add_tensor(model, "y", result)
    model.op("CONCATENATION", inputs, [output], Axis=axis)
    (actual,) = evaluate("concat", arrays, types, [result], {"axis": axis})
    np.testing.assert_array_equal(actual, judge(model, inputs, [output], arrays))


@settings(max_examples=30)
@given(seeds, storages, scales(), st.data())
def test_pad_with_the_zero_point(seed: int, storage: str, scale: float, data: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    low, high = rng.integers(0, 3, 4), rng.integers(0, 3, 4)
    x = quantized((1, 3, 2, 2), storage, scale, data.draw(zero_points(storage)))
    result = TensorType(tuple((np.asarray(x.shape) + low + high).tolist()), x.element)
    array = values(rng, x)
    model = Builder()
    inputs = [add_tensor(model, "x", x), model.constant("p", np.stack([low, high], 1).astype(np.int32))]
    output = add_tensor(model, "y", result)
    model.op("PAD", inputs, [output])
    (actual,) = evaluate(
        "pad", [array], [x], [result], {"low": tuple(low), "high": tuple(high), "value": 0.0}
    )
    np.testing.assert_array_equal(actual, judge(model, inputs[:1], [output], [array]))


@pytest.mark.parametrize(("value", "stored"), [(1.3, 3 + 3), (-1.25, 3 - 3), (1e9, 127), (-1e9, -128)])
def test_pad_with_a_value(value: float, stored: int) -> None:
    """The real value is quantized by the input's parameters: 1.3 / 0.5 rounds to 3, -2.5 away from zero to
    -3.
    """
    x, result = quantized((1,), "i8", 0.5, 3), quantized((2,), "i8", 0.5, 3)
    (y,) = evaluate(
        "pad", [np.array([9], np.int8)], [x], [result], {"low": (0,), "high": (1,), "value": value}
    )
    assert y.tolist() == [9, stored]


MOVES: list[tuple[str, dict[str, Any], tuple[int, ...], Any]] = [
    ("reshape", {}, (4, 6), lambda x: x.reshape(4, 6)),
    ("transpose", {"permutation": (2, 0, 1)}, (4, 2, 3), lambda x: x.transpose(2, 0, 1)),
    (
        "slice",
        {"offsets": (0, 1, 1), "sizes": (2, 2, 2), "strides": (1, 1, 2)},
        (2, 2, 2),
        lambda x: x[:, 1:, 1::2],
    ),
]


@pytest.mark.parametrize(("op", "attributes", "shape", "expected"), MOVES)
@pytest.mark.parametrize("element", ["i8", "f32", "i64"])
def test_moves(
    op: str, attributes: dict[str, Any], shape: tuple[int, ...], expected: Any, element: str
) -> None:
    x = quantized((2, 3, 4), "i8", 0.5, 1) if element == "i8" else TensorType((2, 3, 4), element)
    array = np.arange(24, dtype=x.dtype).reshape(2, 3, 4)
    (y,) = evaluate(op, [array], [x], [TensorType(shape, x.element)], attributes)
    np.testing.assert_array_equal(y, expected(array))
    assert y.dtype == array.dtype


@pytest.mark.parametrize(("op", "attributes", "shape", "expected"), MOVES)
def test_moves_requantize(op: str, attributes: dict[str, Any], shape: tuple[int, ...], expected: Any) -> None:
    x, result = quantized((2, 3, 4), "i8", 0.5, 1), quantized(shape, "u8", 0.25, 100)
    array = np.arange(24, dtype=np.int8).reshape(2, 3, 4)
    (y,) = evaluate(op, [array], [x], [result], attributes)
    np.testing.assert_array_equal(y, (expected(array).astype(int) - 1) * 2 + 100)


@pytest.mark.parametrize("op", ["resize_nearest", "resize_bilinear"])
@pytest.mark.parametrize(
    ("align_corners", "half_pixel_centers"), [(False, False), (True, False), (False, True)]
)
@pytest.mark.parametrize("mode", ["reference", "xnnpack"])
@settings(max_examples=40)
@given(
    seeds, st.sampled_from(["i8", "u8", "i16", "f32"]), st.lists(st.integers(1, 12), min_size=4, max_size=4)
)
def test_resize(
    op: str,
    align_corners: bool,
    half_pixel_centers: bool,
    mode: str,
    seed: int,
    storage: str,
    sizes: list[int],
) -> None:
    def make(size: list[int]) -> TensorType:
        shape = (2, *size, 3)
        return (
            floating(shape)
            if storage == "f32"
            else quantized(shape, storage, 0.5, 0 if storage == "i16" else 3)
        )

    assume(storage != "i16" or op == "resize_bilinear")
    assume(mode == "reference" or storage in ("i8", "u8"))
    x, result = make(sizes[:2]), make(sizes[2:])
    array = values(np.random.default_rng(seed), x)
    model = Builder()
    source, output = add_tensor(model, "x", x), add_tensor(model, "y", result)
    operator = "RESIZE_BILINEAR" if op == "resize_bilinear" else "RESIZE_NEAREST_NEIGHBOR"
    options = {"AlignCorners": align_corners, "HalfPixelCenters": half_pixel_centers}
    model.op(operator, [source, model.constant("size", np.asarray(sizes[2:], np.int32))], [output], **options)
    attributes = {"align_corners": align_corners, "half_pixel_centers": half_pixel_centers}
    (actual,) = evaluate(op, [array], [x], [result], attributes, mode)
    np.testing.assert_array_equal(actual, judge(model, [source], [output], [array], mode == "reference"))


@pytest.mark.parametrize("dtype", ["i32", "i64"])
@settings(max_examples=30)
@given(seeds, st.sampled_from(["i8", "u8"]), st.integers(0, 2))
def test_arg_max(dtype: str, seed: int, storage: str, axis: int) -> None:
    x = quantized((3, 4, 50), storage, 0.5, 3)
    array = (values(np.random.default_rng(seed), x) // 32).astype(x.dtype)  # few values: ties
    result = TensorType(tuple(np.delete(x.shape, axis).tolist()), dtype)
    model = Builder()
    source, output = add_tensor(model, "x", x), add_tensor(model, "y", result)
    kind = {"i32": 2, "i64": 4}[dtype]  # TensorType INT32, INT64
    model.op("ARG_MAX", [source, model.constant("axis", np.array(axis, np.int32))], [output], OutputType=kind)
    (actual,) = evaluate("arg_max", [array], [x], [result], {"axis": axis})
    np.testing.assert_array_equal(actual, judge(model, [source], [output], [array]))


def test_wrong_inputs_are_refused() -> None:
    x = quantized((2,), "i8", 0.5)
    with pytest.raises(ValueError, match=r"operand 0 is int8\[3\]"):
        evaluate("reshape", [np.zeros(3, np.int8)], [x], [x], {})
    with pytest.raises(ValueError, match="operand 0 is uint8"):
        evaluate("reshape", [np.zeros(2, np.uint8)], [x], [x], {})
    with pytest.raises(KeyError):
        evaluate("relu", [np.zeros(2, np.int8)], [x], [x], {})
