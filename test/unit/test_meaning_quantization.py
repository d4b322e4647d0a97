"""quantize, dequantize, requantize and clamp: the numpy meaning equals LiteRT bit by bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from random_tensors import Array, add_tensor, floating, judge, quantized, scales, seeds, values, zero_points
from tflite_builder import ACTIVATIONS, Builder
from zeropoint.dialect.meaning import evaluate
from zeropoint.dialect.types import TensorType


def _litert(
    operator: str, source: TensorType, result: TensorType, data: Array, axis: int = 0, mode: str = "reference"
) -> Array:
    model = Builder()
    x, y = add_tensor(model, "x", source, axis=axis), add_tensor(model, "y", result, axis=axis)
    model.op(operator, [x], [y])
    return judge(model, [x], [y], [data], mode == "reference")


REQUANTIZATIONS = [
    ("i8", "i8"),
    ("i8", "u8"),
    ("u8", "i8"),
    ("u8", "u8"),
    ("i16", "i8"),
    ("i16", "i16"),
    ("i16", "i32"),
    ("i32", "i8"),
    ("i32", "i16"),
]


@pytest.mark.parametrize(("source", "target"), REQUANTIZATIONS)
@settings(max_examples=60)
@given(st.data())
def test_requantize(source: str, target: str, data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(seeds))
    s_x, s_y = data.draw(scales()), data.draw(scales())
    if data.draw(st.booleans()):
        s_y = s_x * 2.0 ** data.draw(st.integers(-3, 3))
    x = quantized((200,), source, s_x, data.draw(zero_points(source)))
    y = quantized((200,), target, s_y, data.draw(zero_points(target)))
    array = values(rng, x)
    if source == "i32":  # the kernel's left shift wraps at 32 bits
        assume(s_x / s_y < 2.0**8)
        array = (array >> int(rng.integers(8, 30))).astype(np.int32)
    (actual,) = evaluate("requantize", [array], [x], [y], {})
    np.testing.assert_array_equal(actual, _litert("QUANTIZE", x, y, array))


@pytest.mark.parametrize("storage", ["i8", "u8"])
@settings(max_examples=100)
@given(seeds, scales(), st.floats(-7.9, 6.9) | st.integers(-7, 6).map(float), st.data())
def test_requantize_xnnpack(
    storage: str, seed: int, scale: float, log_ratio: float, data: st.DataObject
) -> None:
    x = quantized((256,), storage, scale, data.draw(zero_points(storage)))
    y = quantized((256,), storage, scale / 2.0**log_ratio, data.draw(zero_points(storage)))
    array = values(np.random.default_rng(seed), x)
    (actual,) = evaluate("requantize", [array], [x], [y], {}, "xnnpack")
    np.testing.assert_array_equal(actual, _litert("QUANTIZE", x, y, array, mode="xnnpack"))


def test_requantize_is_exact_between_signed_and_unsigned_storage() -> None:
    x, y = quantized((256,), "u8", 0.3, 7), quantized((256,), "i8", 0.3, -121)
    (actual,) = evaluate("requantize", [np.arange(256, dtype=np.uint8)], [x], [y], {})
    assert actual.tolist() == list(range(-128, 128))


QUANTIZATIONS = [
    ("i8", "reference"),
    ("u8", "reference"),
    ("i16", "reference"),
    ("i8", "xnnpack"),
    ("u8", "xnnpack"),
]


@pytest.mark.parametrize(("target", "mode"), QUANTIZATIONS)
@settings(max_examples=60)
@given(seeds, scales(), st.data())
def test_quantize(target: str, mode: str, seed: int, scale: float, data: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    y = quantized((300,), target, scale, data.draw(zero_points(target)))
    span = y.params.storage.maximum - y.params.storage.minimum
    ties = (rng.integers(-span, span, 300) + rng.choice([0.0, 0.5, -0.5], 300)) * scale
    reals = np.where(rng.random(300) < 0.5, ties, rng.uniform(-span, span, 300) * scale).astype(np.float32)
    (actual,) = evaluate("quantize", [reals], [floating((300,))], [y], {}, mode)
    np.testing.assert_array_equal(actual, _litert("QUANTIZE", floating((300,)), y, reals, mode=mode))


def test_quantize_saturates_infinities() -> None:
    """LiteRT's cast overflows on large values; the range is applied before the cast here.

    NaN gives the zero point.
    """
    reals = np.array([np.inf, -np.inf, 1e30, -1e30, np.nan], np.float32)
    kinds = [floating((5,))], [quantized((5,), "i8", 0.5, 7)]
    (y,) = evaluate("quantize", [reals], *kinds, {})
    assert y.tolist() == [127, -128, 127, -128, 7]
    (y,) = evaluate("quantize", [reals], *kinds, {}, "xnnpack")
    assert y.tolist() == [127, -128, 127, -128, 127]


@pytest.mark.parametrize("source", ["i8", "u8", "i16"])
@settings(max_examples=30)
@given(seeds, scales(), st.data())
def test_dequantize(source: str, seed: int, scale: float, data: st.DataObject) -> None:
    x = quantized((300,), source, scale, data.draw(zero_points(source)))
    array = values(np.random.default_rng(seed), x)
    (actual,) = evaluate("dequantize", [array], [x], [floating((300,))], {})
    np.testing.assert_array_equal(actual, _litert("DEQUANTIZE", x, floating((300,)), array))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_per_axis(axis: int) -> None:
    rng = np.random.default_rng(axis)
    shape = (3, 4, 5)
    per_axis = quantized(
        shape, "i8", rng.uniform(0.1, 2, shape[axis]), rng.integers(-9, 9, shape[axis]), axis
    )
    reals = rng.uniform(-80, 80, shape).astype(np.float32)
    (q,) = evaluate("quantize", [reals], [floating(shape)], [per_axis], {})
    np.testing.assert_array_equal(q, _litert("QUANTIZE", floating(shape), per_axis, reals, axis))
    (back,) = evaluate("dequantize", [q], [per_axis], [floating(shape)], {})
    np.testing.assert_array_equal(back, _litert("DEQUANTIZE", per_axis, floating(shape), q, axis))


CLAMPS = [
    (storage, activation) for storage in ("i8", "u8") for activation in ("RELU", "RELU6", "RELU_N1_TO_1")
]


@pytest.mark.parametrize(("storage", "activation"), [*CLAMPS, ("i16", "RELU")])
@settings(max_examples=40)
@given(seeds, scales(), st.floats(-3, 3) | st.sampled_from([-1.0, 0.0, 1.0]), st.data())
def test_clamp(
    storage: str, activation: str, seed: int, scale: float, log_ratio: float, data: st.DataObject
) -> None:
    x = quantized((300,), storage, scale, data.draw(zero_points(storage)))
    y = quantized((300,), storage, scale * 2.0**log_ratio, data.draw(zero_points(storage)))
    array = values(np.random.default_rng(seed), x)
    (actual,) = evaluate("clamp", [array], [x], [y], {"clamp": ACTIVATIONS[activation]})
    np.testing.assert_array_equal(actual, _litert(activation, x, y, array))


def test_float_clamp_keeps_nan() -> None:
    reals = np.array([-1.0, 7.0, np.nan, 2.0], np.float32)
    (y,) = evaluate("clamp", [reals], [floating((4,))], [floating((4,))], {"clamp": (0.0, 6.0)})
    np.testing.assert_array_equal(y, np.array([0.0, 6.0, np.nan, 2.0], np.float32))


def test_constant() -> None:
    kind: Any = quantized((2,), "u8", 0.5, 128)
    (y,) = evaluate("constant", [], [], [kind], {"value": np.array([1, 2], np.uint8)})
    assert y.dtype == np.uint8
    assert y.tolist() == [1, 2]
