"""reduce, reduce_max, reduce_min, cumsum and integer means through the reference pipeline equal their
meaning.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lowered_ops import Case, check_cases
from random_tensors import quantized, scales, seeds, values, zero_points
from zeropoint.dialect.qnn.shapes import reduce_shape
from zeropoint.dialect.types import TensorType


@st.composite
def quantized_cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(seeds))
    shape = tuple(draw(st.lists(st.integers(1, 6), min_size=0, max_size=4)))
    axes = sorted(draw(st.sets(st.integers(0, len(shape) - 1)))) if shape else []
    keep = draw(st.booleans())
    storage = draw(st.sampled_from(["i8", "u8", "i16"]))
    x, y = (
        quantized(kind, storage, draw(scales(-14, 2)), draw(zero_points(storage)))
        for kind in (shape, reduce_shape(shape, axes, keep))
    )
    if draw(st.booleans()):
        y = TensorType(y.shape, x.element)
    op = draw(st.sampled_from(["reduce_max", "reduce_min", "sum", "prod"]))
    attributes = {"axes": axes, "keep_dims": keep}
    if op in ("sum", "prod"):
        op, attributes = "reduce", {"function": op, **attributes}
    return Case(op, [values(rng, x)], [x], y, attributes)


@pytest.mark.parametrize("mode", ["reference", "xnnpack"])
@settings(max_examples=5, deadline=None)
@given(st.lists(quantized_cases(), min_size=16, max_size=16))
def test_quantized(mode: str, cases: list[Case]) -> None:
    check_cases(cases, mode)


@pytest.mark.parametrize("element", ["f32", "i32", "i64"])
def test_plain(element: str) -> None:
    x = TensorType((3, 4, 5), element)
    array = (np.random.default_rng(4).standard_normal(x.shape) * 3).astype(x.dtype)
    cases = []
    for axes, keep in (((0,), True), ((1, 2), False), ((0, 1, 2), False)):
        attributes = {"axes": axes, "keep_dims": keep}
        y = TensorType(reduce_shape(x.shape, axes, keep), element)
        cases += [Case(op, [array], [x], y, attributes) for op in ("reduce_max", "reduce_min", "mean")]
        cases += [Case("reduce", [array], [x], y, {"function": f, **attributes}) for f in ("sum", "prod")]
    for axis, exclusive, reverse in ((0, False, False), (1, True, False), (2, False, True), (2, True, True)):
        attributes = {"axis": axis, "exclusive": exclusive, "reverse": reverse}
        cases.append(Case("cumsum", [array], [x], x, attributes))
    check_cases(cases)


def test_extrema_of_small_integers_and_nan() -> None:
    cases = []
    for element in ("i8", "i16"):
        x, y = TensorType((4,), element), TensorType((), element)
        array = np.asarray([-5, 3, -7, -1], x.dtype)
        attributes = {"axes": (0,), "keep_dims": False}
        cases += [Case(op, [array], [x], y, attributes) for op in ("reduce_max", "reduce_min")]
    x, y = TensorType((3,), "f32"), TensorType((), "f32")
    array = np.asarray([np.nan, 2.0, np.nan], np.float32)
    cases += [Case(op, [array], [x], y, attributes) for op in ("reduce_max", "reduce_min")]
    check_cases(cases)


def test_quantifiers() -> None:
    x, y = TensorType((3, 4), "i1"), TensorType((3,), "i1")
    array = np.asarray([[1, 1, 1, 1], [0, 1, 0, 0], [0, 0, 0, 0]], bool)
    attributes = {"axes": (1,), "keep_dims": False}
    check_cases([Case("reduce", [array], [x], y, {"function": f, **attributes}) for f in ("all", "any")])
