"""Float activations on integer weights: the bits of LiteRT's reference kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zeropoint
from lowered_ops import Case, check_cases
from operator_models import check_model
from random_tensors import Array, floating, quantized, same_padding, seeds, values
from tflite_builder import ACTIVATIONS, Builder, packed, run_litert
from zeropoint.dialect.dynamic_range import quantize_rows
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.dialect.meaning import evaluate
from zeropoint.errors import ImportModelError
from zeropoint.frontends import load_bytes

activations = st.sampled_from(["NONE", "NONE", *sorted(ACTIVATIONS)])


def reals(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Values on one or both sides of zero, of very different sizes; rows of zeros among them."""
    size = (shape[0], *[1] * (len(shape) - 1))
    centre = rng.choice([0.0, 0.0, 1.5, -3.0], size)
    spread = 2.0 ** rng.uniform(-10, 10, size) * rng.choice([0.0, 1.0, 1.0, 1.0, 1.0], size)
    return ((rng.standard_normal(shape) + centre) * spread).astype(np.float32)


def add_weights(
    model: Builder,
    rng: np.random.Generator,
    shape: tuple[int, ...],
    axis: int,
    per_channel: bool,
    four_bits: bool,
) -> int:
    scales = rng.uniform(0.001, 0.1, shape[axis] if per_channel else 1)
    if not four_bits:
        data = rng.integers(-127, 128, shape).astype(np.int8)
        return model.constant("w", data, scales=scales, axis=axis)
    return model.tensor("w", shape, "int4", scales=scales, axis=axis, data=packed(rng.integers(-7, 8, shape)))


@settings(max_examples=30)
@given(seeds, st.booleans(), st.booleans(), st.booleans(), activations, st.booleans())
def test_fully_connected(
    seed: int, per_channel: bool, asymmetric: bool, with_bias: bool, activation: str, four_bits: bool
) -> None:
    rng = np.random.default_rng(seed)
    rows, depth, outputs = int(rng.integers(1, 5)), 2 * int(rng.integers(1, 40)), int(rng.integers(1, 20))
    model = Builder()
    x = model.tensor("x", (rows, depth), np.float32)
    inputs = [x, add_weights(model, rng, (outputs, depth), 0, per_channel, four_bits)]
    if with_bias:
        inputs.append(model.constant("b", rng.standard_normal(outputs).astype(np.float32)))
    y = model.tensor("y", (rows, outputs), np.float32)
    options = {"FusedActivationFunction": activation, "AsymmetricQuantizeInputs": asymmetric}
    model.op("FULLY_CONNECTED", inputs, [y], **options)
    check_model(model, [x], [y], [reals(rng, (rows, depth))], compiled=seed % 16 == 0)


@settings(max_examples=30)
@given(seeds, st.sampled_from(["dense", "depthwise", "grouped"]), st.booleans(), activations)
def test_convolutions(seed: int, kind: str, per_channel: bool, activation: str) -> None:
    rng = np.random.default_rng(seed)
    groups = {"dense": 1, "depthwise": int(rng.integers(1, 5)), "grouped": 2}[kind]
    depthwise = kind == "depthwise"
    depth, each = (1, int(rng.integers(1, 3))) if depthwise else rng.integers(1, 6, 2).tolist()
    channels, outputs = groups * depth, groups * each
    per_channel = outputs > 1 and (per_channel or kind != "dense")
    kernel, strides = rng.integers(1, 4, 2).tolist(), rng.integers(1, 3, 2).tolist()
    size = rng.integers(3, 8, 2).tolist()
    padding = str(rng.choice(["SAME", "VALID"]))
    axes = [same_padding(*axis, 1, padding) for axis in zip(size, kernel, strides, strict=True)]
    model = Builder()
    x = model.tensor("x", (2, *size, channels), np.float32)
    shape = (1, *kernel, outputs) if depthwise else (outputs, *kernel, depth)
    w = add_weights(model, rng, shape, 3 if depthwise else 0, per_channel, False)
    b = model.constant("b", rng.standard_normal(outputs).astype(np.float32))
    y = model.tensor("y", (2, axes[0][0], axes[1][0], outputs), np.float32)
    options: dict[str, Any] = {"Padding": padding, "StrideH": strides[0], "StrideW": strides[1]}
    options |= {"FusedActivationFunction": activation} | ({"DepthMultiplier": each} if depthwise else {})
    model.op("DEPTHWISE_CONV_2D" if depthwise else "CONV_2D", [x, w, b], [y], **options)
    check_model(model, [x], [y], [reals(rng, (2, *size, channels))], compiled=seed % 16 == 0)


@settings(max_examples=30)
@given(seeds, st.booleans(), st.booleans(), st.booleans(), st.booleans())
def test_batch_matmul(seed: int, adj_x: bool, adj_y: bool, per_channel: bool, asymmetric: bool) -> None:
    rng = np.random.default_rng(seed)
    batch, rows, depth, columns = rng.integers(1, (4, 5, 30, 10)).tolist()
    model = Builder()
    shape = (batch, depth, rows) if adj_x else (batch, rows, depth)
    x = model.tensor("x", shape, np.float32)
    matrix = (columns, depth) if adj_y else (depth, columns)
    w = add_weights(model, rng, matrix, 0 if adj_y else 1, per_channel, False)
    y = model.tensor("y", (batch, rows, columns), np.float32)
    options = {"AdjX": adj_x, "AdjY": adj_y, "AsymmetricQuantizeInputs": asymmetric}
    model.op("BATCH_MATMUL", [x, w], [y], **options)
    check_model(model, [x], [y], [reals(rng, shape)], compiled=seed % 16 == 0)


@st.composite
def _cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(seeds))
    channels, outputs, asymmetric = (
        draw(st.sampled_from([1, 2, 32])),
        int(rng.integers(1, 5)),
        draw(st.booleans()),
    )
    scales = rng.uniform(0.001, 0.1, outputs if draw(st.booleans()) else 1)
    axis = 0 if len(scales) > 1 else None
    with_bias, constants = draw(st.booleans()), draw(st.sampled_from([(1, 2), (1,), ()]))
    if draw(st.booleans()):
        op, shapes = "dynamic_fully_connected", [(3, 2, channels), (outputs, channels), (3, 2, outputs)]
        attributes: dict[str, Any] = {
            "clamp": draw(st.sampled_from([(), (0.0, 6.0)])),
            "asymmetric": asymmetric,
        }
    else:
        groups = draw(st.sampled_from([1, channels]))
        outputs = outputs if groups == 1 else channels
        scales = scales[:1]
        axis = None
        op = "dynamic_conv2d"
        shapes = [(2, 6, 5, channels), (outputs, 3, 2, channels // groups), (2, 3, 5, outputs)]
        attributes = {"clamp": (), "asymmetric": asymmetric, "scales_first": draw(st.booleans())}
        attributes |= {"strides": (2, 1), "dilations": (1, 1), "padding": (1, 0, 0, 1), "groups": groups}
    types = [floating(shapes[0]), quantized(shapes[1], "i8", scales, 0, axis), floating((outputs,))]
    arrays = [reals(rng, shapes[0]), values(rng, types[1]), values(rng, types[2])]
    count = 3 if with_bias else 2
    used = tuple(i for i in constants if i < count)
    return Case(op, arrays[:count], types[:count], floating(shapes[2]), attributes, used)


@settings(max_examples=4)
@given(st.lists(_cases(), min_size=8, max_size=8))
def test_lowering(cases: list[Case]) -> None:
    check_cases(cases)


@pytest.mark.parametrize("asymmetric", [False, True])
def test_rows_are_quantized_alone(asymmetric: bool) -> None:
    """A row of zeros has the scale 1; the others use the whole range, whatever is beside them."""
    rows = np.array([[0, 0, 0], [1, -2, 0.5], [1e-6, 2e-6, 0]], np.float32)
    centred, scale = quantize_rows(rows, asymmetric)
    assert scale[0] == 1
    assert not centred[0].any()
    np.testing.assert_allclose(centred * scale[:, None], rows, atol=2 / 127 * 0.51)
    assert centred[2].max() >= 127


def test_what_is_not_a_number_counts_as_the_lowest() -> None:
    rows = np.array([[np.nan, 1.0], [np.inf, 1.0]], np.float32)
    assert quantize_rows(rows, False)[0].tolist() == [[-127, 127], [-127, 0]]
    x, w = floating((2, 2)), quantized((1, 2), "i8", 0.5)
    arrays = [rows, np.array([[1, 1]], np.int8)]
    attributes = {"clamp": (), "asymmetric": False}
    (y,) = evaluate("dynamic_fully_connected", arrays, [x, w], [floating((2, 1))], attributes)
    assert y[0, 0] == 0
    check_cases([Case("dynamic_fully_connected", arrays, [x, w], floating((2, 1)), attributes, (1,))])


def test_weights_with_a_zero_point_are_refused() -> None:
    model = Builder()
    x = model.tensor("x", (1, 2), np.float32)
    w = model.constant("w", np.ones((1, 2), np.int8), scales=0.5, zero_points=3)
    y = model.tensor("y", (1, 1), np.float32)
    model.op("FULLY_CONNECTED", [x, w, -1], [y])
    with pytest.raises(ImportModelError, match="int8 weights need zero point 0, got 3"):
        load_bytes(model.build([x], [y]), name="m.tflite")


def _blocks(
    rng: np.random.Generator, shape: tuple[int, int], size: int, scales: Array | None = None
) -> tuple[Builder, int, Array]:
    """A model that begins with weights in blocks (tensor 1) and their scales (tensor 0); the real weights."""
    outputs, depth = shape
    model = Builder()
    if scales is None:
        scales = rng.uniform(0.01, 0.1, (outputs, depth // size)).astype(np.float16)
    index = model.tensor("scales", scales.shape, "float16", data=scales)
    stored = rng.integers(-8, 8, shape).astype(np.int8)
    w = model.tensor("w", shape, "int4", data=packed(stored))
    model.tensors[w].blockwise = (index, size)
    real = stored.reshape(outputs, -1, size) * scales.reshape(outputs, -1, 1).astype(np.float32)
    return model, w, real.reshape(shape)


@settings(max_examples=20)
@given(seeds, st.booleans(), activations)
def test_weights_in_blocks(seed: int, with_bias: bool, activation: str) -> None:
    """LiteRT's reference kernels take the blocks for one scale of zero: its default ones are the judge, up to
    what quantizing the input in another rounding does.
    """
    rng = np.random.default_rng(seed)
    size, outputs, rows = 32, int(rng.integers(1, 20)), int(rng.integers(1, 4))
    depth = size * int(rng.integers(1, 5))
    model, w, real = _blocks(rng, (outputs, depth), size)
    x, y = model.tensor("x", (rows, depth), np.float32), model.tensor("y", (rows, outputs), np.float32)
    bias = rng.standard_normal(outputs).astype(np.float32) * with_bias
    inputs = [x, w, model.constant("b", bias) if with_bias else -1]
    model.op("FULLY_CONNECTED", inputs, [y], FusedActivationFunction=activation)
    array = rng.standard_normal((rows, depth)).astype(np.float32)
    data = model.build([x], [y])
    imported = load_bytes(data, name="m.tflite")
    (meant,) = evaluate_module(imported.module, [array])
    low, high = ACTIVATIONS[activation] or (-np.inf, np.inf)
    step = (array.max(axis=1) - array.min(axis=1))[:, None] / 255
    error = np.abs(real).sum(axis=1) * step / 2 + 1e-5  # half a step of each input
    assert (np.abs(meant - np.clip(array @ real.T + bias, low, high)) <= error).all()
    (judged,) = run_litert(data, [array], reference=False)
    assert (np.abs(meant - judged) <= 2 * error).all()
    if seed % 16 == 0:
        (computed,) = zeropoint.compile(imported, cache=False).run(array)
        np.testing.assert_array_equal(computed, meant)


def test_blocks_of_scale_zero_hold_zeros() -> None:
    rng = np.random.default_rng(0)
    scales = np.array([[0.0, 0.5]], np.float16)
    model, w, real = _blocks(rng, (1, 8), 4, scales)
    x, y = model.tensor("x", (1, 8), np.float32), model.tensor("y", (1, 1), np.float32)
    model.op("FULLY_CONNECTED", [x, w, -1], [y])
    array = np.array([[-255, 0, 255, 9, 1, 2, 3, 4]], np.float32)
    (meant,) = evaluate_module(load_bytes(model.build([x], [y]), name="m").module, [array])
    np.testing.assert_allclose(meant, array @ real.T, atol=8 * 4 * 0.5)


@pytest.mark.parametrize(
    ("size", "scales", "message"),
    [
        (3, [[1.0, 1.0]], "blocks of 3 do not divide weights of shape"),
        (4, [[1.0]], "got 1 of type FLOAT16, expected 2 floats"),
        (4, [[1.0, np.inf]], "must be finite and positive"),
        (4, [[1.0, -1.0]], "must be finite and positive"),
    ],
)
def test_faults_of_blocks(size: int, scales: list[list[float]], message: str) -> None:
    model, w, _ = _blocks(np.random.default_rng(0), (1, 8), 4, np.array([[1.0, 1.0]], np.float16))
    model.tensors[0].shape = (1, len(scales[0]))
    model.tensors[0].data = np.array(scales, np.float16).tobytes()
    model.tensors[w].blockwise = (0, size)
    x, y = model.tensor("x", (1, 8), np.float32), model.tensor("y", (1, 1), np.float32)
    model.op("FULLY_CONNECTED", [x, w, -1], [y])
    with pytest.raises(ImportModelError, match=message):
        load_bytes(model.build([x], [y]), name="m.tflite")


def test_blocks_need_a_tensor_of_scales() -> None:
    model, w, _ = _blocks(np.random.default_rng(0), (1, 8), 4)
    model.tensors[w].blockwise = (99, 4)
    x, y = model.tensor("x", (1, 8), np.float32), model.tensor("y", (1, 1), np.float32)
    model.op("FULLY_CONNECTED", [x, w, -1], [y])
    with pytest.raises(ImportModelError, match="tensor 99 of block scales does not exist"):
        load_bytes(model.build([x], [y]), name="m.tflite")
