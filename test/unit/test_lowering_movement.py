"""Ops that move values, and the resizes, through the reference pipeline equal their meaning."""

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


def _element(
    draw: st.DrawFn, storages: tuple[str, ...] = ("i8", "u8", "i16", "f32")
) -> tuple[TensorType, TensorType]:
    """Scalar types of source and result: equal parameters, or not."""
    storage = draw(st.sampled_from(storages))
    if storage == "f32":
        return floating(()), floating(())
    source = quantized((), storage, draw(scales()), draw(zero_points(storage)))
    if draw(st.booleans()):
        return source, source
    return source, quantized((), storage, draw(scales()), draw(zero_points(storage)))


def _shaped(kind: TensorType, shape: tuple[int, ...]) -> TensorType:
    return TensorType(tuple(int(n) for n in shape), kind.element)


RESHAPES = [
    *[((2, 3, 4), (6, 4)), ((2, 3, 4), (2, 12)), ((24,), (2, 1, 12)), ((1, 6, 1), (6,)), ((6, 4), (4, 6))],
    *[((1, 1), ()), ((), (1, 1, 1)), ((4, 6), (2, 2, 2, 3)), ((2, 2, 6), (4, 3, 2)), ((3, 5), (3, 5))],
    *[((1, 2, 3, 1), (1, 6, 1, 1)), ((2, 1, 3), (2, 3))],
]


@st.composite
def movements(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(seeds))
    source, result = _element(draw)
    op = draw(st.sampled_from(["reshape", "transpose", "slice", "pad"]))
    if op == "reshape":
        x_shape, y_shape = draw(st.sampled_from(RESHAPES))
        x = _shaped(source, x_shape)
        return Case(op, [values(rng, x)], [x], _shaped(result, y_shape))
    rank = draw(st.integers(1, 4))
    shape = rng.integers(1, 6, rank)
    x = _shaped(source, tuple(shape))
    if op == "transpose":
        permutation = rng.permutation(rank).tolist()
        return Case(
            op,
            [values(rng, x)],
            [x],
            _shaped(result, tuple(shape[permutation])),
            {"permutation": permutation},
        )
    if op == "pad":
        low, high = rng.integers(0, 3, rank), rng.integers(0, 3, rank)
        value = draw(st.sampled_from([0.0, 0.0, 1.5, -300.0, 1e9]))
        attributes = {"low": low.tolist(), "high": high.tolist(), "value": value}
        return Case(op, [values(rng, x)], [x], _shaped(result, tuple(low + shape + high)), attributes)
    strides = rng.integers(1, 4, rank)
    offsets = rng.integers(0, shape)
    sizes = rng.integers(1, (shape - offsets - 1) // strides + 2)
    attributes = {"offsets": offsets.tolist(), "sizes": sizes.tolist(), "strides": strides.tolist()}
    return Case(op, [values(rng, x)], [x], _shaped(result, tuple(sizes)), attributes)


@st.composite
def concats(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(seeds))
    storage = draw(st.sampled_from(["i8", "u8", "i16", "f32"]))
    rank = draw(st.integers(1, 4))
    axis = draw(st.integers(0, rank - 1))
    shape = rng.integers(1, 5, rank)
    shared = draw(scales()), draw(zero_points(storage)) if storage != "f32" else 0

    def part(extent: int) -> TensorType:
        full = tuple(int(extent if i == axis else n) for i, n in enumerate(shape))
        if storage == "f32":
            return floating(full)
        parameters = shared if draw(st.booleans()) else (draw(scales()), draw(zero_points(storage)))
        return quantized(full, storage, *parameters)

    extents = rng.integers(1, 5, draw(st.integers(1, 4))).tolist()
    types = [part(extent) for extent in extents]
    return Case("concat", [values(rng, x) for x in types], types, part(sum(extents)), {"axis": axis})


@st.composite
def resizes(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(seeds))
    op = draw(st.sampled_from(["resize_nearest", "resize_bilinear", "resize_bilinear"]))
    source, result = _element(draw)
    batch, channels = rng.integers(1, 4, 2)
    size, target = rng.integers(1, 9, 2), rng.integers(1, 13, 2)
    x, y = _shaped(source, (batch, *size, channels)), _shaped(result, (batch, *target, channels))
    align_corners, half_pixel_centers = draw(st.sampled_from([(False, False), (True, False), (False, True)]))
    attributes = {"align_corners": align_corners, "half_pixel_centers": half_pixel_centers}
    return Case(op, [values(rng, x)], [x], y, attributes)


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=5)
@given(st.lists(movements(), min_size=12, max_size=12))
def test_movement(mode: str, cases: list[Case]) -> None:
    check_cases(cases, mode)


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=3)
@given(st.lists(concats(), min_size=6, max_size=6))
def test_concat(mode: str, cases: list[Case]) -> None:
    check_cases(cases, mode)


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=4)
@given(st.lists(resizes(), min_size=8, max_size=8))
def test_resize(mode: str, cases: list[Case]) -> None:
    check_cases(cases, mode)


def test_every_reshape() -> None:
    rng = np.random.default_rng(0)
    pairs = [*RESHAPES, *((new, old) for old, new in RESHAPES)]
    types = [(quantized(old, "i8", 0.5, 3), quantized(new, "i8", 0.5, 3)) for old, new in pairs]
    check_cases([Case("reshape", [values(rng, x)], [x], y) for x, y in types])


def test_a_result_that_is_an_operand() -> None:
    """Nothing to compute: the value still reaches the output buffer."""
    x = quantized((2, 3), "u8", 0.5, 3)
    array = np.arange(6, dtype=np.uint8).reshape(2, 3)
    check_cases(
        [Case("reshape", [array], [x], x), Case("clamp", [array], [x], x, {"clamp": (-math.inf, math.inf)})]
    )
