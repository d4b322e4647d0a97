"""conv2d and fully_connected: the numpy meaning equals LiteRT bit by bit, on random one-operator models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from random_tensors import (
    Array,
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

activations = st.sampled_from(["NONE", "NONE", *sorted(ACTIVATIONS)])


@dataclass
class Convolution:
    """Types, attributes and values of one convolution, in qnn's layout."""

    types: list[TensorType]
    result: TensorType
    arrays: list[Array]
    attributes: dict[str, Any]
    padding: str
    activation: str

    def expected(self, reference: bool) -> Array:
        """What LiteRT computes; the filter of a depthwise convolution is ``[1, KH, KW, O]`` in a file."""
        x, w, b = self.types
        depthwise = self.attributes["groups"] > 1 and self.attributes["groups"] == x.shape[3]
        model = Builder()
        outputs, rows, columns, _ = w.shape
        filter_data, filter_shape, axis = self.arrays[1], w.shape, 0
        if depthwise:
            filter_data, filter_shape, axis = (
                filter_data.transpose(3, 1, 2, 0),
                (1, rows, columns, outputs),
                3,
            )
        inputs = [
            add_tensor(model, "x", x),
            add_tensor(model, "w", w, filter_data, axis, filter_shape),
            add_tensor(model, "b", b, self.arrays[2]),
        ]
        output = add_tensor(model, "y", self.result)
        options = {
            "Padding": self.padding,
            "StrideH": self.attributes["strides"][0],
            "StrideW": self.attributes["strides"][1],
            "DilationHFactor": self.attributes["dilations"][0],
            "DilationWFactor": self.attributes["dilations"][1],
            "FusedActivationFunction": self.activation,
        }
        if depthwise:
            options["DepthMultiplier"] = outputs // x.shape[3]
        model.op("DEPTHWISE_CONV_2D" if depthwise else "CONV_2D", inputs, [output], **options)
        return judge(model, inputs[:1], [output], self.arrays[:1], reference)

    def actual(self, mode: str) -> Array:
        return evaluate("conv2d", self.arrays, self.types, [self.result], self.attributes, mode)[0]


def _result_scale(rng: np.random.Generator, product: float, terms: int, amplitude: int, shift: int) -> float:
    """A scale that spreads typical accumulators over the result's range, moved by ``2^shift``.

    Often a power of two (ties).
    """
    exponent = np.log2(product * 70 * amplitude * np.sqrt(terms) / 60) + shift
    return float(np.float32(2.0 ** (np.round(exponent) if rng.random() < 0.3 else exponent)))


shifts = st.sampled_from([*[0] * 12, -2, 3, -14, 25, 40])
"""How far the result's scale is from the fitting one: huge multipliers, and ones that underflow to zero."""

amplitudes = st.sampled_from([1, 2, 5, 30, 127])
"""The largest weight: small ones make multipliers near one, where rules of rounding differ most."""


def _weights(rng: np.random.Generator, kind: TensorType, amplitude: int) -> Array:
    if amplitude == 127:
        return values(rng, kind)
    centre = kind.params.zero_points[0]
    stored = centre + rng.integers(-amplitude, amplitude + 1, kind.shape)
    return np.clip(stored, kind.params.storage.minimum, kind.params.storage.maximum).astype(kind.dtype)


@st.composite
def convolutions(
    draw: st.DrawFn, storage: str, group_kinds: tuple[str, ...] = ("dense", "depthwise", "grouped")
) -> Convolution:
    rng = np.random.default_rng(draw(seeds))
    padding, activation, kind = (
        draw(st.sampled_from(["SAME", "VALID"])),
        draw(activations),
        draw(st.sampled_from(group_kinds)),
    )
    groups = {"dense": 1, "depthwise": int(rng.integers(2, 6)), "grouped": 2}[kind]
    per_group, outputs_per_group = (
        (1, int(rng.integers(1, 4))) if kind == "depthwise" else rng.integers(2, 6, 2).tolist()
    )
    kernel, strides = rng.integers(1, 4, 2).tolist(), rng.integers(1, 3, 2).tolist()
    dilations = rng.integers(1, 3, 2).tolist() if kind != "grouped" else [1, 1]
    spatial = [int(rng.integers((k - 1) * d + 1, 9)) for k, d in zip(kernel, dilations, strict=True)]
    axes = [same_padding(*one, padding) for one in zip(spatial, kernel, strides, dilations, strict=True)]
    channels, outputs = groups * per_group, groups * outputs_per_group
    s_x = draw(scales())
    if storage == "u8":
        s_w, z_w, axis = [draw(scales())], int(rng.integers(0, 256)), None
    else:
        s_w, z_w, axis = (draw(scales()) * 2.0 ** rng.uniform(-2, 2, outputs)).tolist(), 0, 0
    amplitude = draw(amplitudes)
    s_y = _result_scale(
        rng, s_x * float(np.mean(s_w)), per_group * kernel[0] * kernel[1], amplitude, draw(shifts)
    )
    assume(s_y > 2.0**-28)  # LiteRT's clamp bounds overflow int32 below it
    x = quantized((draw(st.integers(1, 2)), *spatial, channels), storage, s_x, draw(zero_points(storage)))
    w = quantized((outputs, *kernel, per_group), storage, s_w, z_w, axis)
    b = quantized((outputs,), "i32", [np.float32(s_x) * np.float32(s) for s in w.params.scales], 0, axis)
    y = quantized((x.shape[0], axes[0][0], axes[1][0], outputs), storage, s_y, draw(zero_points(storage)))
    bias = (rng.integers(-100, 101, outputs) * amplitude).astype(np.int32)
    attributes = {
        "strides": tuple(strides),
        "dilations": tuple(dilations),
        "padding": (axes[0][1], axes[0][2], axes[1][1], axes[1][2]),
        "groups": groups,
        "clamp": ACTIVATIONS[activation],
    }
    return Convolution(
        [x, w, b], y, [values(rng, x), _weights(rng, w, amplitude), bias], attributes, padding, activation
    )


@settings(max_examples=100)
@given(convolutions("i8"))
def test_conv2d_per_channel_int8(case: Convolution) -> None:
    np.testing.assert_array_equal(case.actual("reference"), case.expected(reference=True))


@settings(max_examples=100)
@given(convolutions("u8", ("dense", "depthwise")))
def test_conv2d_per_tensor_uint8(case: Convolution) -> None:
    np.testing.assert_array_equal(case.actual("reference"), case.expected(reference=True))


@settings(max_examples=100)
@given(convolutions("i8"))
def test_conv2d_xnnpack_int8(case: Convolution) -> None:
    np.testing.assert_array_equal(case.actual("xnnpack"), case.expected(reference=False))


@st.composite
def dense_layers(draw: st.DrawFn, storage: str, per_channel: bool, result: str) -> tuple[Any, ...]:
    rng = np.random.default_rng(draw(seeds))
    batch, depth, outputs = (int(n) for n in rng.integers(1, (4, 40, 20)))
    s_x, s_w = draw(scales()), draw(scales())
    weight_scales = (s_w * 2.0 ** rng.uniform(-2, 2, outputs)).tolist() if per_channel else [s_w]
    z_w = int(rng.integers(0, 256)) if storage == "u8" else 0
    x = quantized((batch, depth), storage, s_x, draw(zero_points(storage)))
    w = quantized((outputs, depth), storage, weight_scales, z_w, 0 if per_channel else None)
    b = quantized(
        (outputs,), "i32", [np.float32(s_x) * np.float32(s) for s in w.params.scales], 0, w.params.axis
    )
    amplitude = draw(amplitudes)
    s_y = _result_scale(rng, s_x * s_w, depth, amplitude, draw(shifts))
    assume(s_y > 2.0**-28)
    y = quantized((batch, outputs), result, s_y, draw(zero_points(result)))
    bias = (rng.integers(-100, 101, outputs) * amplitude).astype(np.int32)
    arrays = [values(rng, x), _weights(rng, w, amplitude), bias]
    return [x, w, b], y, arrays, draw(activations)


def _check_dense(case: tuple[Any, ...], mode: str) -> None:
    types, result, arrays, activation = case
    model = Builder()
    inputs = [add_tensor(model, "x", types[0])]
    inputs += [
        add_tensor(model, name, kind, data)
        for name, kind, data in zip("wb", types[1:], arrays[1:], strict=True)
    ]
    output = add_tensor(model, "y", result)
    model.op("FULLY_CONNECTED", inputs, [output], FusedActivationFunction=activation)
    expected = judge(model, inputs[:1], [output], arrays[:1], mode == "reference")
    (actual,) = evaluate("fully_connected", arrays, types, [result], {"clamp": ACTIVATIONS[activation]}, mode)
    np.testing.assert_array_equal(actual, expected)


@settings(max_examples=100)
@given(dense_layers("i8", per_channel=False, result="i8"))
def test_fully_connected_per_tensor_int8(case: tuple[Any, ...]) -> None:
    _check_dense(case, "reference")


@settings(max_examples=100)
@given(dense_layers("i8", per_channel=True, result="i8"))
def test_fully_connected_per_channel_int8(case: tuple[Any, ...]) -> None:
    _check_dense(case, "reference")


@settings(max_examples=100)
@given(dense_layers("u8", per_channel=False, result="u8"))
def test_fully_connected_per_tensor_uint8(case: tuple[Any, ...]) -> None:
    _check_dense(case, "reference")


@settings(max_examples=100)
@given(dense_layers("i8", per_channel=True, result="i8"))
def test_fully_connected_xnnpack_int8(case: tuple[Any, ...]) -> None:
    _check_dense(case, "xnnpack")


def test_fully_connected_keeps_an_int32_result() -> None:
    """A result with the accumulator's own scale is the accumulator."""
    x, w = quantized((1, 2), "i8", 0.5, 3), quantized((2, 2), "i8", 0.25)
    result = quantized((1, 2), "i32", 0.125)
    arrays = [np.array([[127, -128]], np.int8), np.array([[127, 127], [-127, 1]], np.int8)]
    (y,) = evaluate("fully_connected", arrays, [x, w], [result], {"clamp": ()})
    assert y.tolist() == [[124 * 127 - 131 * 127, -124 * 127 - 131]]


def test_accumulators_wrap_at_32_bits() -> None:
    x, w, b = quantized((1, 1), "i8", 1.0), quantized((1, 1), "i8", 1.0), quantized((1,), "i32", 1.0)
    arrays = [np.array([[1]], np.int8), np.array([[1]], np.int8), np.array([2**31 - 1], np.int32)]
    (y,) = evaluate("fully_connected", arrays, [x, w, b], [quantized((1, 1), "i8", 1.0)], {"clamp": ()})
    assert y.tolist() == [[-128]]


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_float_convolution(groups: int) -> None:
    rng = np.random.default_rng(groups)
    x, w, b = floating((1, 6, 5, 4)), floating((8, 3, 3, 4 // groups)), floating((8,))
    result = floating((1, 6, 5, 8))
    attributes = {
        "strides": (1, 1),
        "dilations": (1, 1),
        "padding": (1, 1, 1, 1),
        "groups": groups,
        "clamp": (0.0, 6.0),
    }
    arrays = [values(rng, kind) for kind in (x, w, b)]
    case = Convolution([x, w, b], result, arrays, attributes, "SAME", "RELU6")
    np.testing.assert_allclose(case.actual("reference"), case.expected(reference=True), rtol=1e-5, atol=1e-5)
