"""add, sub, mul, quantize, dequantize, requantize and clamp through the reference pipeline equal their
meaning.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lowered_ops import Case, check_cases
from random_tensors import floating, quantized, scales, seeds, values, zero_points
from zeropoint.dialect.types import TensorType

MODES = ["reference", "xnnpack"]
CLAMPS = [(), (), (0.0, math.inf), (0.0, 6.0), (-1.0, 1.0)]
SHAPES = [
    ((2, 3, 5), (2, 3, 5)),
    ((4, 1, 6), (1, 3, 6)),
    ((3, 8), (8,)),
    ((1,), (2, 7)),
    ((), (3,)),
    ((2, 4), (1, 1)),
]


def typed(draw: st.DrawFn, storage: str, shape: tuple[int, ...]) -> TensorType:
    return quantized(shape, storage, draw(scales()), draw(zero_points(storage)))


@st.composite
def sums_and_products(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(seeds))
    op = draw(st.sampled_from(["add", "sub", "mul"]))
    shapes = list(draw(st.sampled_from(SHAPES)))
    if draw(st.booleans()):
        shapes.reverse()
    result_shape = np.broadcast_shapes(*shapes)
    storage = draw(st.sampled_from(["i8", "i8", "u8", "i16", "f32"]))
    if storage == "f32":
        types = [floating(shape) for shape in (*shapes, result_shape)]
    else:
        types = [typed(draw, storage, shape) for shape in (*shapes, result_shape)]
    arrays = [values(rng, kind) for kind in types[:2]]
    constants = draw(st.sampled_from([(), (), (0,), (1,)]))
    return Case(op, arrays, types[:2], types[2], {"clamp": draw(st.sampled_from(CLAMPS))}, constants)


@st.composite
def changes_of_parameters(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(seeds))
    op = draw(st.sampled_from(["requantize", "requantize", "clamp"]))
    storages = ["i8", "u8", "i16"] if op == "clamp" else ["i8", "u8", "i16", "i32"]
    storage, target = draw(st.sampled_from(storages)), draw(st.sampled_from(storages))
    x = typed(draw, storage, (3, 50))
    y = x if draw(st.integers(0, 4)) == 0 else typed(draw, target, (3, 50))
    attributes = {"clamp": draw(st.sampled_from(CLAMPS))} if op == "clamp" else {}
    return Case(op, [values(rng, x)], [x], y, attributes)


SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e30, -1e30, 3.4e38, 1e-40]


@st.composite
def conversions(draw: st.DrawFn) -> Case:
    """quantize and dequantize, per-axis too; ties, infinities and NaN among the floats."""
    rng = np.random.default_rng(draw(seeds))
    storage = draw(st.sampled_from(["i8", "u8", "i16", "i32"]))
    axis = draw(st.sampled_from([None, None, 0, 1]))
    shape = (3, 60)
    count = 1 if axis is None else shape[axis]
    points = [draw(zero_points(storage))] if count == 1 else [0] * count
    if storage == "u8" and count > 1:
        points = rng.integers(0, 256, count).tolist()
    kind = quantized(
        shape, storage, 2.0 ** np.round(rng.uniform(-9, 2, count), rng.integers(0, 2) * 3), points, axis
    )
    if draw(st.booleans()):
        return Case("dequantize", [values(rng, kind)], [kind], floating(shape))
    steps = rng.integers(-300, 300, shape) + rng.choice([0.0, 0.5, 0.5, 0.25], shape)
    reals = (steps * np.resize(kind.params.scales, shape[::-1]).T).astype(np.float32)
    reals.reshape(-1)[: len(SPECIAL)] = SPECIAL
    return Case("quantize", [reals], [floating(shape)], kind)


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=5)
@given(st.lists(sums_and_products(), min_size=10, max_size=10))
def test_sums_and_products(mode: str, cases: list[Case]) -> None:
    check_cases(cases, mode)


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=5)
@given(st.lists(changes_of_parameters(), min_size=10, max_size=10))
def test_changes_of_parameters(mode: str, cases: list[Case]) -> None:
    check_cases(cases, mode)


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=5)
@given(st.lists(conversions(), min_size=8, max_size=8))
def test_conversions(mode: str, cases: list[Case]) -> None:
    check_cases(cases, mode)


def test_float_clamp_keeps_nan() -> None:
    x = np.array([math.nan, -3.0, 7.0, 1.5, math.inf, -math.inf], np.float32)
    kind = floating(x.shape)
    check_cases(
        [Case("clamp", [x], [kind], kind, {"clamp": bounds}) for bounds in [(0.0, 6.0), (0.0, math.inf)]]
    )


def test_every_8_bit_value_at_ties() -> None:
    """Halving and doubling scales: every stored value, ties of both signs included."""
    full = np.arange(-128, 128).astype(np.int8)
    cases = [
        Case(
            "requantize",
            [full],
            [quantized((256,), "i8", 0.5, zero)],
            quantized((256,), "i8", 0.5 * ratio, 3),
        )
        for zero in (-128, 0, 127)
        for ratio in (0.25, 0.5, 2.0, 4.0, 8.0)
    ]
    check_cases(cases)
    check_cases(cases, "xnnpack")
