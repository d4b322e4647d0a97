"""Int16 activations with int8 weights: imported operators equal LiteRT, and compiled code their meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zeropoint
from lowered_ops import Case, check_cases
from operator_models import check_model
from random_tensors import Array, quantized, same_padding, seeds, values
from tflite_builder import ACTIVATIONS, Builder, run_litert
from zeropoint.dialect.types import TensorType
from zeropoint.frontends import load_bytes

INT32 = 2
"""The schema's number of the type."""
biases = st.sampled_from(["int64", "int32", "none"])
activations = st.sampled_from(["NONE", "NONE", *sorted(ACTIVATIONS)])


def _bias(
    model: Builder, rng: np.random.Generator, kind: str, scales: Array, far: bool, count: int
) -> list[int]:
    if kind == "none":
        return []
    # Beyond 32 bits; but LiteRT casts the rescaled sum to int32 before it saturates, which has to fit.
    limit = (1 << 33) if far and kind == "int64" else 200_000
    data = rng.integers(-limit, limit, count).astype(kind)
    return [model.constant("b", data, scales=scales)]


def _options(kind: str) -> dict[str, Any]:
    return {"QuantizedBiasType": INT32} if kind == "int32" else {}


def _add_weights(
    model: Builder, rng: np.random.Generator, shape: tuple[int, ...], axis: int, per_channel: bool
) -> tuple[int, Array]:
    count = shape[axis] if per_channel else 1
    scales = (2.0 ** rng.uniform(-9, -4, count)).astype(np.float32)
    weights = rng.integers(-127, 128, shape).astype(np.int8)
    return model.constant("w", weights, scales=scales, axis=axis), scales


def _result_scale(rng: np.random.Generator, product: float, terms: int) -> float:
    """From multipliers that saturate many results to those that leave little."""
    return float(np.float32(product * np.sqrt(terms) * 2.0 ** rng.uniform(3, 8)))


@settings(max_examples=30)
@given(seeds, st.sampled_from(["dense", "depthwise", "grouped"]), biases, activations, st.booleans())
def test_convolutions(seed: int, kind: str, bias: str, activation: str, far: bool) -> None:
    rng = np.random.default_rng(seed)
    groups = {"dense": 1, "depthwise": int(rng.integers(2, 5)), "grouped": 2}[kind]
    depth, each = (1, int(rng.integers(1, 3))) if kind == "depthwise" else rng.integers(1, 6, 2).tolist()
    channels, outputs = groups * depth, groups * each
    kernel, strides = rng.integers(1, 4, 2).tolist(), rng.integers(1, 3, 2).tolist()
    size = rng.integers(3, 8, 2).tolist()
    padding = str(rng.choice(["SAME", "VALID"]))
    axes = [same_padding(*axis, 1, padding) for axis in zip(size, kernel, strides, strict=True)]
    model, s_x = Builder(), float(np.float32(2.0 ** rng.uniform(-14, -8)))
    x = model.tensor("x", (2, *size, channels), np.int16, scales=s_x)
    depthwise = kind == "depthwise"
    if bias == "none" and not depthwise:
        bias = "int64"  # LiteRT refuses a CONV_2D without bias
    shape = (1, *kernel, outputs) if depthwise else (outputs, *kernel, depth)
    w, s_w = _add_weights(model, rng, shape, 3 if depthwise else 0, True)
    if depthwise and bias == "int32":
        bias = "int64"  # the operator has no option that says int32
    inputs = [x, w, *_bias(model, rng, bias, s_x * s_w, far, outputs)]
    s_y = _result_scale(rng, s_x * float(s_w.mean()), depth * kernel[0] * kernel[1])
    y = model.tensor("y", (2, axes[0][0], axes[1][0], outputs), np.int16, scales=s_y)
    options = {"Padding": padding, "StrideH": strides[0], "StrideW": strides[1]}
    options |= {"FusedActivationFunction": activation}
    options |= {"DepthMultiplier": each} if depthwise else _options(bias)
    model.op("DEPTHWISE_CONV_2D" if depthwise else "CONV_2D", inputs, [y], **options)
    array = values(rng, quantized((2, *size, channels), "i16", s_x))
    check_model(model, [x], [y], [array], compiled=seed % 16 == 0)


@settings(max_examples=30)
@given(seeds, st.booleans(), biases, activations, st.booleans())
def test_fully_connected(seed: int, per_channel: bool, bias: str, activation: str, far: bool) -> None:
    rng = np.random.default_rng(seed)
    batch, depth, outputs = (int(n) for n in rng.integers(1, (4, 60, 20)))
    model, s_x = Builder(), float(np.float32(2.0 ** rng.uniform(-14, -8)))
    x = model.tensor("x", (batch, depth), np.int16, scales=s_x)
    w, s_w = _add_weights(model, rng, (outputs, depth), 0, per_channel)
    inputs = [x, w, *_bias(model, rng, bias, s_x * s_w, far, outputs)]
    y = model.tensor(
        "y", (batch, outputs), np.int16, scales=_result_scale(rng, s_x * float(s_w.mean()), depth)
    )
    model.op("FULLY_CONNECTED", inputs, [y], FusedActivationFunction=activation, **_options(bias))
    array = values(rng, quantized((batch, depth), "i16", s_x))
    check_model(model, [x], [y], [array], compiled=seed % 16 == 0)


@st.composite
def _cases(draw: st.DrawFn) -> Case:
    """Ops whose weights or biases are, or are not, constants; sums of more than 32 bits."""
    rng = np.random.default_rng(draw(seeds))
    depth, outputs = draw(st.sampled_from([4, 600, 3000])), int(rng.integers(1, 6))
    x = quantized((3, depth), "i16", 2.0**-10)
    w = quantized((outputs, depth), "i8", 2.0 ** rng.uniform(-9, -5, outputs), 0, 0)
    b = TensorType((outputs,), "i64")
    y = quantized((3, outputs), "i16", float(np.float32(2.0 ** rng.uniform(-8, 2))))
    arrays = [values(rng, x), values(rng, w), rng.integers(-(1 << 40), 1 << 40, outputs)]
    constants = draw(st.sampled_from([(1, 2), (1,), (2,), ()]))
    if draw(st.booleans()):
        return Case("fully_connected", arrays, [x, w, b], y, {"clamp": ()}, constants)
    shape = (x.shape[0], 1, 1, depth)
    types = [TensorType(shape, x.element), TensorType((outputs, 1, 1, depth), w.element), b]
    arrays = [arrays[0].reshape(shape), arrays[1].reshape(types[1].shape), arrays[2]]
    window = {"strides": (1, 1), "dilations": (1, 1), "padding": (0, 0, 0, 0), "groups": 1, "clamp": ()}
    return Case("conv2d", arrays, types, TensorType((3, 1, 1, outputs), y.element), window, constants)


@settings(max_examples=4)
@given(st.lists(_cases(), min_size=6, max_size=6))
def test_lowering(cases: list[Case]) -> None:
    check_cases(cases)


@pytest.mark.parametrize("constants", [(1, 2), ()])
def test_sums_beyond_32_bits(constants: tuple[int, ...]) -> None:
    """1000 products of the extremes leave 32 bits: a 64-bit accumulator shows in the result."""
    x, w = quantized((1, 1000), "i16", 1.0), quantized((1, 1000), "i8", 1.0)
    arrays = [np.full((1, 1000), -32768, np.int16), np.full((1, 1000), -127, np.int8), np.array([1 << 33])]
    y = quantized((1, 1), "i16", float(1 << 20))
    case = Case("fully_connected", arrays, [x, w, TensorType((1,), "i64")], y, {"clamp": ()}, constants)
    assert case.expected("reference").item() == round((32768 * 127 * 1000 + (1 << 33)) / (1 << 20))
    check_cases([case])


def test_a_target_without_the_operator_computes_in_float() -> None:
    """The 64-bit bias, whose scale goes without saying, becomes real values."""
    model = Builder()
    x = model.tensor("x", (1, 4), np.int16, scales=0.25)
    w = model.constant("w", np.array([[1, 2, 3, 4], [-4, 3, -2, 1]], np.int8), scales=[0.5, 0.25])
    b = model.constant("b", np.array([1 << 20, -5]), scales=[0.125, 0.0625])
    y = model.tensor("y", (1, 2), np.int16, scales=8.0)
    model.op("FULLY_CONNECTED", [x, w, b], [y])
    array = np.array([[100, -50, 3, 7]], np.int16)
    executable = zeropoint.compile(
        load_bytes(model.build([x], [y]), name="m.tflite"), target="float-islands-demo", cache=False
    )
    (got,) = executable.run(array)
    np.testing.assert_array_equal(got, run_litert(model.build([x], [y]), [array])[0])
