"""max_pool2d, avg_pool2d and mean: the numpy meaning equals LiteRT's reference kernels bit by bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from random_tensors import (
    add_tensor,
    floating,
    judge,
    quantized,
    same_padding,
    scales,
    seeds,
    values,
    zero_points,
)
from tflite_builder import ACTIVATIONS, Builder
from zeropoint.dialect.meaning import evaluate
from zeropoint.dialect.types import TensorType

OPERATORS = {"max_pool2d": "MAX_POOL_2D", "avg_pool2d": "AVERAGE_POOL_2D"}


@st.composite
def pools(draw: st.DrawFn) -> tuple[Any, ...]:
    rng = np.random.default_rng(draw(seeds))
    storage, padding = (
        draw(st.sampled_from(["i8", "u8", "i16", "f32"])),
        draw(st.sampled_from(["SAME", "VALID"])),
    )
    window, strides, shape = rng.integers(1, 5, 2), rng.integers(1, 4, 2), rng.integers(4, 9, 2)
    axes = [same_padding(*one, padding) for one in zip(shape, window, strides, (1, 1), strict=True)]
    channels = int(rng.integers(1, 5))
    if storage == "f32":
        x, make = floating((2, *shape, channels)), floating
    else:
        scale, point = draw(scales()), draw(zero_points(storage))
        x = quantized((2, *shape, channels), storage, scale, point)
        make = lambda result_shape: quantized(result_shape, storage, scale, point)  # noqa: E731 - one line, used once
    attributes = {
        "window": tuple(window.tolist()),
        "strides": tuple(strides.tolist()),
        "padding": (axes[0][1], axes[0][2], axes[1][1], axes[1][2]),
    }
    return (
        x,
        make((2, axes[0][0], axes[1][0], channels)),
        attributes,
        values(rng, x),
        padding,
        draw(st.sampled_from(sorted(ACTIVATIONS))),
    )


@pytest.mark.parametrize("mode", ["reference", "xnnpack"])
@pytest.mark.parametrize("op", sorted(OPERATORS))
@settings(max_examples=100)
@given(pools())
def test_pool(op: str, mode: str, case: tuple[Any, ...]) -> None:
    # XNNPACK does not take pools that skip elements; their clamp bounds are then the reference's.
    skips = any(s > w for s, w in zip(case[2]["strides"], case[2]["window"], strict=True))
    assume(mode == "reference" or (case[0].dtype.itemsize == 1 and not skips))
    x, result, attributes, data, padding, activation = case
    model = Builder()
    source, output = add_tensor(model, "x", x), add_tensor(model, "y", result)
    model.op(
        OPERATORS[op],
        [source],
        [output],
        Padding=padding,
        StrideH=attributes["strides"][0],
        StrideW=attributes["strides"][1],
        FilterHeight=attributes["window"][0],
        FilterWidth=attributes["window"][1],
        FusedActivationFunction=activation,
    )
    expected = judge(model, [source], [output], [data], mode == "reference")
    (actual,) = evaluate(op, [data], [x], [result], {**attributes, "clamp": ACTIVATIONS[activation]}, mode)
    if x.is_float:
        np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-6)
    else:
        np.testing.assert_array_equal(actual, expected)


@st.composite
def means(draw: st.DrawFn) -> tuple[Any, ...]:
    rng = np.random.default_rng(draw(seeds))
    storage, keep = draw(st.sampled_from(["i8", "u8", "i16"])), draw(st.booleans())
    shape = tuple(rng.integers(1, 8, 4).tolist())
    axes = draw(st.lists(st.integers(-4, 3), min_size=1, max_size=4))
    s_x = draw(scales())
    s_y = s_x * 2.0 ** draw(st.sampled_from([0, 0, -1, 1, -3, -20, 30]) | st.floats(-4, 2))
    point = draw(zero_points(storage))
    x = quantized(shape, storage, s_x, point)
    reduced = {axis % 4 for axis in axes}
    kept = [n if axis not in reduced else 1 for axis, n in enumerate(shape) if keep or axis not in reduced]
    y_point = point if draw(st.booleans()) else draw(zero_points(storage))
    return x, quantized(kept, storage, s_y, y_point), axes, keep, values(rng, x)


@pytest.mark.parametrize("mode", ["reference", "xnnpack"])
@settings(max_examples=120)
@given(means())
def test_mean(mode: str, case: tuple[Any, ...]) -> None:
    assume(mode == "reference" or case[0].dtype.itemsize == 1)
    x, result, axes, keep, data = case
    model = Builder()
    source, output = add_tensor(model, "x", x), add_tensor(model, "y", result)
    model.op("MEAN", [source, model.constant("axes", np.asarray(axes, np.int32))], [output], KeepDims=keep)
    expected = judge(model, [source], [output], [data], mode == "reference")
    (actual,) = evaluate("mean", [data], [x], [result], {"axes": tuple(axes), "keep_dims": keep}, mode)
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("keep", [False, True])
def test_mean_of_floats(keep: bool) -> None:
    x = floating((2, 3, 4, 5))
    data = values(np.random.default_rng(1), x)
    result = TensorType((2, 1, 1, 5) if keep else (2, 5), "f32")
    (y,) = evaluate("mean", [data], [x], [result], {"axes": (1, 2), "keep_dims": keep})
    np.testing.assert_allclose(y, data.mean(axis=(1, 2), keepdims=keep), rtol=1e-6)


@pytest.mark.parametrize(("op", "expected"), [("max_pool2d", 10 + 2 * 20), ("avg_pool2d", 10 + 2 * 10)])
def test_pools_requantize_when_parameters_differ(op: str, expected: int) -> None:
    """Pooled as stored, then ``(q - 3) * 0.5 / 0.25 + 10``; LiteRT ignores the difference."""
    x, result = quantized((1, 2, 1, 1), "i8", 0.5, 3), quantized((1, 1, 1, 1), "i8", 0.25, 10)
    attributes = {"window": (2, 1), "strides": (1, 1), "padding": (0, 0, 0, 0), "clamp": ()}
    (y,) = evaluate(op, [np.array([3, 23], np.int8).reshape(1, 2, 1, 1)], [x], [result], attributes)
    assert y.ravel().tolist() == [expected]
