"""conv2d and fully_connected through the reference pipeline equal their numpy meaning bit by bit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lowered_ops import Case, build_module, check_cases, lower
from random_tensors import floating, quantized, same_padding, seeds, values, zero_points
from zeropoint.dialect.types import TensorType

MODES = ["reference", "xnnpack"]
CLAMPS = [(), (), (0.0, math.inf), (0.0, 6.0), (-1.0, 1.0), (-math.inf, 0.5)]


@st.composite
def convolutions(draw: st.DrawFn) -> Case:
    """All group counts, strides, dilations, paddings; filters constant or not; scales that tie, or exceed
    one.
    """
    rng = np.random.default_rng(draw(seeds))
    channels = draw(st.sampled_from([1, 3, 4, 8]))
    groups = draw(st.sampled_from([g for g in (1, 2, channels) if channels % g == 0]))
    outputs = groups * draw(st.integers(1, 3))
    kernel, strides, dilations = ([int(n) for n in rng.integers(1, 4, 2)] for _ in range(3))
    size = [int(n) for n in rng.integers(7, 10, 2)]
    padding = draw(st.sampled_from(["SAME", "VALID"]))
    axes = [same_padding(*axis, padding) for axis in zip(size, kernel, strides, dilations, strict=True)]
    x_shape, w_shape = (2, *size, channels), (outputs, *kernel, channels // groups)
    y_shape = (2, axes[0][0], axes[1][0], outputs)
    attributes = {
        "strides": strides,
        "dilations": dilations,
        "padding": [*axes[0][1:], *axes[1][1:]],
        "groups": groups,
        "clamp": draw(st.sampled_from(CLAMPS)),
    }
    types, result = _types(draw, rng, x_shape, w_shape, y_shape)
    return _case(draw, rng, "conv2d", types, result, attributes)


@st.composite
def products(draw: st.DrawFn) -> Case:
    """fully_connected of any rank, an i32 result among them."""
    rng = np.random.default_rng(draw(seeds))
    depth, outputs = (int(n) for n in rng.integers(1, 40, 2))
    rows = draw(st.sampled_from([(1,), (5,), (2, 3)]))
    types, result = _types(draw, rng, (*rows, depth), (outputs, depth), (*rows, outputs))
    attributes = {"clamp": draw(st.sampled_from(CLAMPS))}
    if types[0].is_quantized and types[1].params.is_per_tensor and draw(st.booleans()):
        scale = float(np.float32(types[0].params.scale * types[1].params.scale))
        result, attributes = quantized(result.shape, "i32", scale), {"clamp": ()}
    return _case(draw, rng, "fully_connected", types, result, attributes)


def _types(
    draw: st.DrawFn,
    rng: np.random.Generator,
    x_shape: tuple[int, ...],
    w_shape: tuple[int, ...],
    y_shape: tuple[int, ...],
) -> tuple[list[TensorType], TensorType]:
    """Types of input, filter and bias, and of the result."""
    outputs = w_shape[0]
    if draw(st.integers(0, 5)) == 0:
        return [floating(x_shape), floating(w_shape), floating((outputs,))], floating(y_shape)
    storage, filter_storage = draw(st.sampled_from([("i8", "i8"), ("u8", "u8"), ("u8", "i8"), ("i8", "i4")]))
    per_axis = draw(st.booleans())
    x = quantized(x_shape, storage, 2.0 ** rng.uniform(-8, -2), draw(zero_points(storage)))
    count = outputs if per_axis else 1
    # Powers of two give ties, equal exponents give equal shifts.
    exponents = np.round(rng.uniform(-9, -4, count)) if draw(st.booleans()) else rng.uniform(-9, -4, count)
    point = rng.integers(0, 256, count) if filter_storage == "u8" else 0
    w = quantized(w_shape, filter_storage, 2.0**exponents, point, 0 if per_axis else None)
    bias_scales = np.float32(x.params.scale) * np.asarray(w.params.scales, np.float32)
    b = quantized((outputs,), "i32", bias_scales, 0, 0 if per_axis else None)
    # From multipliers above one, through the usual ones, to those that leave nothing.
    shift = draw(st.sampled_from([-3, 0, 4, 8, 8, 11, 30]))
    scale = float(np.float32(np.median(bias_scales) * 2.0**shift * draw(st.sampled_from([1.0, 1.37]))))
    return [x, w, b], quantized(y_shape, storage, scale, draw(zero_points(storage)))


def _case(
    draw: st.DrawFn,
    rng: np.random.Generator,
    op: str,
    types: list[TensorType],
    result: TensorType,
    attributes: dict[str, object],
) -> Case:
    constants = draw(st.sampled_from([(1, 2), (1, 2), (), (1,), (2,)]))
    if draw(st.integers(0, 3)) == 0:
        types, constants = types[:2], tuple(i for i in constants if i < 2)
    arrays = [values(rng, kind) for kind in types[:2]]
    for kind in types[2:]:
        bias = rng.integers(-5000, 5000, kind.shape).astype(np.int32)
        arrays.append(bias if kind.is_quantized else values(rng, kind))
    return Case(op, arrays, types, result, attributes, constants)


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=4)
@given(st.lists(convolutions(), min_size=8, max_size=8))
def test_conv2d(mode: str, cases: list[Case]) -> None:
    check_cases(cases, mode)


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=4)
@given(st.lists(products(), min_size=8, max_size=8))
def test_fully_connected(mode: str, cases: list[Case]) -> None:
    check_cases(cases, mode)


def test_accumulators_wrap_like_the_machine() -> None:
    """Biases at the ends of int32: sums pass them and come back, as in the meaning."""
    x, w = quantized((1, 4), "i8", 0.5, -128), quantized((2, 4), "i8", 0.25)
    b, y = quantized((2,), "i32", 0.125), quantized((1, 2), "i32", 0.125)
    bias = np.array([2**31 - 1, -(2**31)], np.int32)
    arrays = [
        np.array([[127, 127, -128, 5]], np.int8),
        np.array([[1, 2, 3, 4], [-1, -2, -3, -4]], np.int8),
        bias,
    ]
    check_cases([Case("fully_connected", arrays, [x, w, b], y, {"clamp": ()}, (1, 2))])


def test_contraction_is_one_tagged_generic_and_one_rescale() -> None:
    """What later kernels match on: see the pass's contraction.py."""
    x, w = quantized((1, 8, 8, 4), "i8", 0.5, 3), quantized((8, 3, 3, 4), "i8", [0.01] * 8, 0, 0)
    y = quantized((1, 6, 6, 8), "i8", 0.7, -4)
    rng = np.random.default_rng(0)
    attributes = {"strides": (1, 1), "dilations": (1, 1), "padding": (0, 0, 0, 0), "groups": 1, "clamp": ()}
    case = Case("conv2d", [values(rng, x), values(rng, w)], [x, w], y, attributes, (1,))
    module = lower(build_module([case], "reference"))
    ops = [op.operation for op in module.body.operations[0].regions[0].blocks[0].operations]
    generics = [op for op in ops if op.name == "linalg.generic"]
    assert ["qnn.contraction" in op.attributes for op in generics] == [True, False]
    assert [op.name for op in ops if op.name in ("linalg.broadcast", "linalg.fill")] == ["linalg.broadcast"]
    assert all('"case"' in str(op.location) for op in generics)
