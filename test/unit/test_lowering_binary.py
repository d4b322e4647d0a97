"""maximum, minimum, binary, compare, prelu and integer arithmetic through the reference pipeline equal their
meaning.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lowered_ops import Case, check_cases
from random_tensors import Array, quantized, scales, seeds, values, zero_points
from zeropoint.dialect.binary_functions import BOOLEAN, INTEGER, PREDICATES, REAL
from zeropoint.dialect.types import TensorType

SHAPES = [((4, 8), (4, 8)), ((4, 8), (8,)), ((3, 1, 8), (4, 1)), ((8,), ()), ((1, 3, 3, 4), (1, 1, 1, 4))]
CLAMPS = [(), (0.0, np.inf), (0.0, 6.0), (-1.0, 1.0)]


@st.composite
def quantized_cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(seeds))
    shapes = draw(st.sampled_from(SHAPES))
    op = draw(st.sampled_from(["maximum", "minimum", "squared_difference", "div", "compare", "prelu"]))
    storage = draw(st.sampled_from(["i8", "u8"] if op == "squared_difference" else ["i8", "u8", "i16"]))
    result_shape = np.broadcast_shapes(*shapes)
    a, b, y = (
        quantized(shape, storage, draw(scales(-14, 2)), draw(zero_points(storage)))
        for shape in (*shapes, result_shape)
    )
    attributes = {}
    if op in ("squared_difference", "div"):
        op, attributes = "binary", {"function": op}
    if op == "compare":
        y, attributes = (
            TensorType(result_shape, "i1"),
            {"predicate": draw(st.sampled_from(sorted(PREDICATES)))},
        )
    return Case(op, [values(rng, a), values(rng, b)], [a, b], y, attributes)


@pytest.mark.parametrize("mode", ["reference", "xnnpack"])
@settings(max_examples=6, deadline=None)
@given(st.lists(quantized_cases(), min_size=16, max_size=16))
def test_quantized(mode: str, cases: list[Case]) -> None:
    check_cases(cases, mode)


def _integers(rng: np.random.Generator, kind: TensorType) -> Array:
    """Small and large ones, 0, -1 and the lowest."""
    info = np.iinfo(kind.dtype)
    large = rng.integers(info.min, info.max, kind.shape, kind.dtype, endpoint=True)
    chosen = rng.choice([0, -1, 1, 2, 3, -3, info.min, info.max], kind.shape)
    return np.where(rng.random(kind.shape) < 0.3, large, chosen).astype(kind.dtype)


@pytest.mark.parametrize("element", ["i8", "i16", "i32", "i64"])
def test_integers(element: str) -> None:
    rng = np.random.default_rng(2)
    a, b = TensorType((64,), element), TensorType((16, 1), element)
    y = TensorType((16, 64), element)
    arrays = [_integers(rng, a), _integers(rng, b)]
    cases = [Case("binary", arrays, [a, b], y, {"function": name}) for name in sorted(INTEGER)]
    cases += [Case(op, arrays, [a, b], y) for op in ("maximum", "minimum")]
    flags = TensorType(y.shape, "i1")
    cases += [Case("compare", arrays, [a, b], flags, {"predicate": name}) for name in sorted(PREDICATES)]
    if element in ("i32", "i64"):
        cases += [
            Case(op, arrays, [a, b], y, {"clamp": clamp}) for op in ("add", "sub", "mul") for clamp in CLAMPS
        ]
    check_cases(cases)


def test_booleans() -> None:
    kind = TensorType((4,), "i1")
    arrays = [np.asarray([False, False, True, True]), np.asarray([False, True, False, True])]
    cases = [Case("binary", arrays, [kind] * 2, kind, {"function": name}) for name in sorted(BOOLEAN)]
    cases += [Case("compare", arrays, [kind] * 2, kind, {"predicate": name}) for name in sorted(PREDICATES)]
    check_cases(cases)


def test_floats() -> None:
    rng = np.random.default_rng(1)
    a, b = TensorType((64,), "f32"), TensorType((16, 1), "f32")
    y, flags = TensorType((16, 64), "f32"), TensorType((16, 64), "i1")
    arrays = [values(rng, a), values(rng, b)]
    arrays[0][:3] = [np.nan, np.inf, 0.0]
    cases = []
    for name in sorted(REAL):
        operands = [np.abs(arrays[0]), arrays[1]] if name == "pow" else arrays
        cases.append(Case("binary", operands, [a, b], y, {"function": name}))
    cases += [Case(op, arrays, [a, b], y) for op in ("maximum", "minimum", "prelu")]
    cases += [Case("compare", arrays, [a, b], flags, {"predicate": name}) for name in sorted(PREDICATES)]
    check_cases(cases)
