"""unary and leaky_relu through the reference pipeline equal their meaning."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lowered_ops import Case, check_cases
from random_tensors import floating, quantized, scales, seeds, values, zero_points
from zeropoint.dialect.types import TensorType
from zeropoint.dialect.unary_functions import BOOLEAN, INTEGER, REAL


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(seeds))
    shape = tuple(int(n) for n in rng.integers(1, 8, draw(st.integers(0, 3))))
    source = draw(st.sampled_from(["i8", "u8", "i16"]))
    # From 8 to 16 bits or back, too: the table has entries of any storage.
    target = draw(st.sampled_from([source, source, "i8", "u8", "i16"]))
    x, y = (
        quantized(shape, storage, draw(scales()), draw(zero_points(storage))) for storage in (source, target)
    )
    if draw(st.booleans()):
        return Case("leaky_relu", [values(rng, x)], [x], y, {"alpha": draw(st.floats(-4, 4, width=32))})
    return Case("unary", [values(rng, x)], [x], y, {"function": draw(st.sampled_from(sorted(REAL)))})


@pytest.mark.parametrize("mode", ["reference", "xnnpack"])
@settings(max_examples=3, deadline=None)
@given(st.lists(cases(), min_size=16, max_size=16))
def test_quantized(mode: str, cases: list[Case]) -> None:
    check_cases(cases, mode)


def test_float() -> None:
    array = np.concatenate([np.linspace(-20, 20, 401), [0.0, 0.5, 1.5, 2.5, -0.5, -2.5, np.inf, -np.inf]])
    positive = np.abs(array) + 1e-3
    found = []
    for function in sorted(REAL):
        domain = positive if function in ("log", "rsqrt", "sqrt") else array
        domain = domain[np.isfinite(domain)] if function in ("cos", "sin") else domain
        x = floating(domain.shape)
        found.append(Case("unary", [domain.astype(np.float32)], [x], x, {"function": function}))
    check_cases(found)


def test_integers() -> None:
    found = []
    for element in ("i8", "i16", "i32", "i64"):
        kind = TensorType((5,), element)
        array = np.asarray([-5, 0, 7, np.iinfo(kind.dtype).min, np.iinfo(kind.dtype).max], kind.dtype)
        found += [Case("unary", [array], [kind], kind, {"function": name}) for name in sorted(INTEGER)]
    check_cases(found)


def test_booleans() -> None:
    kind = TensorType((2, 2), "i1")
    array = np.asarray([[True, False], [False, True]])
    check_cases([Case("unary", [array], [kind], kind, {"function": name}) for name in sorted(BOOLEAN)])
