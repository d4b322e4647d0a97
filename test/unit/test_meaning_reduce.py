"""Sums, products, extrema and running sums: the numpy meaning equals LiteRT bit by bit."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elementwise_models import integers, litert
from random_tensors import Array, quantized, scales, seeds, values, zero_points
from zeropoint.dialect.meaning import evaluate
from zeropoint.dialect.qnn.shapes import reduce_shape
from zeropoint.dialect.types import TensorType

modes = pytest.mark.parametrize("mode", ["reference", "xnnpack"])


Form: TypeAlias = tuple[tuple[int, ...], tuple[int, ...], bool]
"""Shape, axes, keep_dims."""


@st.composite
def reductions(draw: st.DrawFn) -> Form:
    shape = tuple(draw(st.lists(st.integers(1, 6), min_size=1, max_size=4)))
    axes = sorted(draw(st.sets(st.integers(0, len(shape) - 1), min_size=1)))
    return shape, tuple(axes), draw(st.booleans())


def _point(data: st.DataObject, storage: str) -> int:
    return 0 if storage == "i16" else data.draw(zero_points(storage))


def _expected(
    operator: str, x: TensorType, y: TensorType, array: Array, axes: tuple[int, ...], keep: bool, mode: str
) -> Array:
    return litert(operator, [x], y, [array], mode, [integers(axes)], KeepDims=keep)


@pytest.mark.parametrize("operator", ["REDUCE_MAX", "REDUCE_MIN"])
@pytest.mark.parametrize("storage", ["i8", "u8", "i16"])
@modes
@settings(max_examples=10)
@given(seeds, reductions(), scales(), st.data())
def test_extremum(
    operator: str, storage: str, mode: str, seed: int, form: Form, scale: float, data: st.DataObject
) -> None:
    (shape, axes, keep), point = form, _point(data, storage)
    x = quantized(shape, storage, scale, point)
    y = quantized(reduce_shape(shape, axes, keep), storage, scale, point)
    array = values(np.random.default_rng(seed), x)
    (actual,) = evaluate(operator.lower(), [array], [x], [y], {"axes": axes, "keep_dims": keep}, mode)
    np.testing.assert_array_equal(actual, _expected(operator, x, y, array, axes, keep, mode))


@pytest.mark.parametrize(
    ("storage", "mode"), [("u8", "reference"), ("i8", "xnnpack"), ("u8", "xnnpack"), ("i16", "xnnpack")]
)
@settings(max_examples=40)
@given(seeds, reductions(), scales(-8, 0), scales(-8, 0), st.data())
def test_sum(
    storage: str, mode: str, seed: int, form: Form, s_x: float, s_y: float, data: st.DataObject
) -> None:
    shape, axes, keep = form
    x = quantized(shape, storage, s_x, _point(data, storage))
    y = quantized(reduce_shape(shape, axes, keep), storage, s_y, _point(data, storage))
    array = values(np.random.default_rng(seed), x)
    attributes = {"function": "sum", "axes": axes, "keep_dims": keep}
    (actual,) = evaluate("reduce", [array], [x], [y], attributes, mode)
    expected = _expected("SUM", x, y, array, axes, keep, mode)
    # The default interpreter sums int16 in floats; the reference kernel's sums of int8 and int16 are wrong.
    np.testing.assert_allclose(actual, expected, rtol=0, atol=storage == "i16")


@pytest.mark.parametrize("storage", ["i8", "i16"])
# (The optimized kernel forgets the scale where the extents are 1.)
@settings(max_examples=40)
@given(seeds, reductions(), scales(-8, 0), scales(-8, 0), st.data())
def test_product(storage: str, seed: int, form: Form, s_x: float, s_y: float, data: st.DataObject) -> None:
    shape, axes, keep = form
    # Scales and extents whose products LiteRT keeps inside 32 bits.
    axes, s_x = axes[:1], s_x / (128 if storage == "i8" else 1 << 15)
    x = quantized(shape, storage, s_x, _point(data, storage))
    y = quantized(reduce_shape(shape, axes, keep), storage, s_y, _point(data, storage))
    array = values(np.random.default_rng(seed), x)
    attributes = {"function": "prod", "axes": axes, "keep_dims": keep}
    (actual,) = evaluate("reduce", [array], [x], [y], attributes)
    expected = _expected("REDUCE_PROD", x, y, array, axes, keep, "reference")
    np.testing.assert_array_equal(actual, expected)


PLAIN = [
    *[(name, kind) for name in ("SUM", "REDUCE_PROD", "MEAN") for kind in ("f32", "i32", "i64")],
    *[(name, kind) for name in ("REDUCE_MAX", "REDUCE_MIN") for kind in ("f32", "i32", "i64")],
    ("REDUCE_ALL", "i1"),
    ("REDUCE_ANY", "i1"),
]


@pytest.mark.parametrize(("operator", "kind"), PLAIN)
@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("axes", [(0,), (1, 2), (0, 1, 2)])
def test_plain(operator: str, kind: str, keep: bool, axes: tuple[int, ...]) -> None:
    shape, rng = (3, 4, 5), np.random.default_rng(4)
    x, y = TensorType(shape, kind), TensorType(reduce_shape(shape, axes, keep), kind)
    array = (rng.standard_normal(shape) * (2 if kind == "f32" else 9)).astype(x.dtype)
    if kind == "i1":
        array = rng.random(shape) < (0.9 if operator == "REDUCE_ALL" else 0.1)
    op = {"MEAN": "mean", "REDUCE_MAX": "reduce_max", "REDUCE_MIN": "reduce_min"}.get(operator, "reduce")
    attributes = {"axes": axes, "keep_dims": keep}
    if op == "reduce":
        attributes["function"] = operator.removeprefix("REDUCE_").lower()
    (actual,) = evaluate(op, [array], [x], [y], attributes)
    expected = _expected(operator, x, y, array, axes, keep, "reference")
    if kind == "f32":
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)
    else:
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("kind", ["f32", "i32", "i64"])
@pytest.mark.parametrize("exclusive", [True, False])
@pytest.mark.parametrize("reverse", [True, False])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_cumsum(kind: str, exclusive: bool, reverse: bool, axis: int) -> None:
    x = TensorType((3, 4, 5), kind)
    array = (np.random.default_rng(4).standard_normal(x.shape) * 9).astype(x.dtype)
    attributes = {"axis": axis % 3, "exclusive": exclusive, "reverse": reverse}
    (actual,) = evaluate("cumsum", [array], [x], [x], attributes)
    options = {"Exclusive": exclusive, "Reverse": reverse}
    expected = litert("CUMSUM", [x], x, [array], constants=[np.asarray(axis, np.int32)], **options)
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-5)
