"""Pools, mean, arg_max, softmax, logistic and tanh through the reference pipeline equal their meaning."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lowered_ops import Case, check_cases
from random_tensors import floating, quantized, same_padding, scales, seeds, values, zero_points
from zeropoint.dialect.activation_tables import natural_params
from zeropoint.dialect.types import Storage, TensorType

MODES = ["reference", "xnnpack"]
CLAMPS = [(), (), (0.0, math.inf), (0.0, 6.0), (-1.0, 1.0)]


def _typed(draw: st.DrawFn, shape: tuple[int, ...], storage: str) -> TensorType:
    if storage == "f32":
        return floating(shape)
    return quantized(shape, storage, draw(scales()), draw(zero_points(storage)))


def _result(draw: st.DrawFn, shape: tuple[int, ...], source: TensorType, storage: str) -> TensorType:
    """``source``'s parameters, or others."""
    return TensorType(shape, source.element) if draw(st.booleans()) else _typed(draw, shape, storage)


@st.composite
def pools(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(seeds))
    storage = draw(st.sampled_from(["i8", "u8", "i16", "f32"]))
    padding = draw(st.sampled_from(["SAME", "VALID"]))
    size, window, strides = rng.integers(4, 9, 2), rng.integers(1, 5, 2), rng.integers(1, 4, 2)
    axes = [same_padding(*axis, padding) for axis in zip(size, window, strides, (1, 1), strict=True)]
    channels = int(rng.integers(1, 20))
    x = _typed(draw, (2, *(int(n) for n in size), channels), storage)
    y = _result(draw, (2, axes[0][0], axes[1][0], channels), x, storage)
    attributes = {
        "window": window.tolist(),
        "strides": strides.tolist(),
        "padding": [*axes[0][1:], *axes[1][1:]],
        "clamp": draw(st.sampled_from(CLAMPS)),
    }
    return Case(draw(st.sampled_from(["max_pool2d", "avg_pool2d"])), [values(rng, x)], [x], y, attributes)


@st.composite
def means(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(seeds))
    storage = draw(st.sampled_from(["i8", "u8", "i16", "f32"]))
    rank = draw(st.integers(1, 4))
    shape = tuple(int(n) for n in rng.integers(1, 8, rank))
    axes = sorted(int(a) for a in rng.permutation(rank)[: draw(st.integers(1, rank))])
    keep_dims = draw(st.booleans())
    kept = [1 if i in axes else n for i, n in enumerate(shape) if keep_dims or i not in axes]
    x = _typed(draw, shape, storage)
    y = _result(draw, tuple(kept), x, storage)
    return Case("mean", [values(rng, x)], [x], y, {"axes": axes, "keep_dims": keep_dims})


@st.composite
def arg_maxes(draw: st.DrawFn) -> Case:
    """Few different values, so that many tie; NaN among the floats."""
    rng = np.random.default_rng(draw(seeds))
    storage = draw(st.sampled_from(["i8", "u8", "f32"]))
    rank = draw(st.integers(1, 4))
    shape = tuple(int(n) for n in rng.integers(1, 9, rank))
    axis = draw(st.integers(0, rank - 1))
    x = _typed(draw, shape, storage)
    array = rng.choice([x.dtype.type(1), x.dtype.type(0), *values(rng, _with_shape(x, (4,)))], shape)
    if storage == "f32" and draw(st.booleans()):
        array = np.where(rng.random(shape) < 0.1, np.float32(math.nan), array)
    kept = tuple(n for i, n in enumerate(shape) if i != axis)
    result = TensorType(kept, draw(st.sampled_from(["i32", "i64"])))
    return Case("arg_max", [array.astype(x.dtype)], [x], result, {"axis": axis})


@st.composite
def activations(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(seeds))
    op = draw(st.sampled_from(["logistic", "tanh", "softmax", "softmax"]))
    storage = draw(st.sampled_from(["i8", "u8", "i16", "f32"]))
    shape = draw(st.sampled_from([(2, 10), (1, 300), (3, 2, 5), (7,)]))
    x = _typed(draw, shape, storage)
    attributes = {}
    if op == "softmax":
        attributes = {
            "beta": draw(st.sampled_from([1.0, 1.0, 0.5, 2.0])),
            "axis": draw(st.integers(0, len(shape) - 1)),
        }
    if storage == "f32":
        return Case(op, [values(rng, x) * 4], [x], floating(shape), attributes)
    natural = TensorType(shape, natural_params(op, Storage.of(storage), x.params.storage))
    y = natural if draw(st.booleans()) else _typed(draw, shape, storage)
    return Case(op, [values(rng, x)], [x], y, attributes)


def _with_shape(kind: TensorType, shape: tuple[int, ...]) -> TensorType:
    return TensorType(shape, kind.element)


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=4)
@given(st.lists(pools(), min_size=8, max_size=8))
def test_pools(mode: str, cases: list[Case]) -> None:
    check_cases(cases, mode)


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=4)
@given(st.lists(means(), min_size=8, max_size=8))
def test_mean(mode: str, cases: list[Case]) -> None:
    check_cases(cases, mode)


@settings(max_examples=3)
@given(st.lists(arg_maxes(), min_size=8, max_size=8))
def test_arg_max(cases: list[Case]) -> None:
    check_cases(cases)


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=4)
@given(st.lists(activations(), min_size=8, max_size=8))
def test_activations(mode: str, cases: list[Case]) -> None:
    check_cases(cases, mode)


def test_softmax_of_a_thousand_equal_logits() -> None:
    """The reciprocal's shift exceeds 31 bits: every probability is the smallest value."""
    x = quantized((1, 1001), "i8", 0.1, 5)
    y = TensorType(x.shape, natural_params("softmax", Storage.of("i8")))
    array = np.full(x.shape, 17, np.int8)
    check_cases([Case("softmax", [array], [x], y, {"beta": 1.0, "axis": 1})])
