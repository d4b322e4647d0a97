"""add, sub and mul: the numpy meaning equals LiteRT's reference kernels bit by bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from random_tensors import add_tensor, floating, judge, quantized, scales, seeds, values, zero_points
from tflite_builder import ACTIVATIONS, Builder
from zeropoint.dialect import rescale
from zeropoint.dialect.meaning import evaluate
from zeropoint.dialect.types import TensorType

Case = tuple[str, list[TensorType], TensorType, list[Any], str]

shapes = st.sampled_from(
    [
        ((2, 3, 4, 5), (2, 3, 4, 5)),
        ((1, 4, 4, 3), (1, 1, 1, 3)),
        ((1, 4, 4, 3), ()),
        ((7, 1), (1, 9)),
        ((3,), (2, 2, 3)),
        ((6, 1, 5), (4, 1)),
    ]
)


@st.composite
def cases(draw: st.DrawFn, storage: str, ops: tuple[str, ...] = ("add", "sub", "mul")) -> Case:
    rng = np.random.default_rng(draw(seeds))
    op, activation = draw(st.sampled_from(ops)), draw(st.sampled_from(sorted(ACTIVATIONS)))
    left, right = draw(shapes)
    s_lhs, s_rhs = draw(scales()), draw(scales())
    if draw(st.booleans()):
        s_rhs = s_lhs
    spread = float(2.0 ** draw(st.floats(-3, 6)))
    fitting = s_lhs * s_rhs * 2.0**6 if op == "mul" else max(s_lhs, s_rhs)
    if storage == "i16":
        fitting *= 2.0**8 if op == "mul" else 1
    s_y = fitting * (2.0 ** np.round(np.log2(spread)) if rng.random() < 0.3 else spread)
    assume(s_y > 2.0**-28)
    types = [
        quantized(shape, storage, s, draw(zero_points(storage)))
        for shape, s in ((left, s_lhs), (right, s_rhs))
    ]
    result = quantized(np.broadcast_shapes(left, right), storage, s_y, draw(zero_points(storage)))
    return op, types, result, [values(rng, kind) for kind in types], activation


def _check(case: Case, mode: str = "reference", **options: Any) -> None:
    op, types, result, arrays, activation = case
    model = Builder()
    inputs = [add_tensor(model, name, kind) for name, kind in zip("ab", types, strict=True)]
    output = add_tensor(model, "y", result)
    model.op(op.upper(), inputs, [output], FusedActivationFunction=activation, **options)
    expected = judge(model, inputs, [output], arrays, mode == "reference")
    (actual,) = evaluate(op, arrays, types, [result], {"clamp": ACTIVATIONS[activation]}, mode)
    np.testing.assert_array_equal(actual, expected)


@settings(max_examples=150)
@given(cases("i8"))
def test_int8(case: Case) -> None:
    _check(case)


@settings(max_examples=120)
@given(cases("u8"))
def test_uint8(case: Case) -> None:
    _check(case)


@pytest.mark.parametrize("storage", ["i8", "u8"])
@settings(max_examples=100)
@given(st.data())
def test_xnnpack(storage: str, data: st.DataObject) -> None:
    case = data.draw(cases(storage))
    _assume_delegated(case)
    _check(case, "xnnpack")


def _assume_delegated(case: Case) -> None:
    """Other scales run in LiteRT's optimized kernels, whose bits are no judge."""
    op, (lhs, rhs), result, _, _ = case
    s_lhs, s_rhs, s_y = lhs.params.scale, rhs.params.scale, result.params.scale
    if op == "mul":
        assume(2.0**-15 < s_lhs * s_rhs / s_y < 2.0**8)
    else:
        assume(min(s_lhs, s_rhs) / s_y > 2.0**-10 and max(s_lhs, s_rhs) / s_y < 2.0**8)


@settings(max_examples=100)
@given(cases("i16", ("add", "sub")))
def test_int16_sum(case: Case) -> None:
    _check(case, PotScaleInt16=False)


@settings(max_examples=60)
@given(cases("i16", ("mul",)))
def test_int16_product(case: Case) -> None:
    _check(case)


def test_add_saturates_by_sign_when_the_output_multiplier_is_above_one() -> None:
    """A result scale 2^20 times finer than the inputs': any non-zero sum is beyond the range."""
    kind, result = quantized((4,), "i8", 1.0), quantized((4,), "i8", 2.0**-25)
    arrays = [np.array([1, -1, 127, 5], np.int8), np.array([0, 0, 127, -5], np.int8)]
    (y,) = evaluate("add", arrays, [kind, kind], [result], {"clamp": ()})
    assert y.tolist() == [127, -128, 127, 0]


@pytest.mark.parametrize("scale", [2.0**-60, 2.0**-100])
def test_sub_saturates_for_absurd_scales(scale: float) -> None:
    kind, result = quantized((3,), "u8", 1.0, 128), quantized((3,), "u8", scale, 10)
    arrays = [np.array([0, 255, 9], np.uint8), np.array([255, 0, 9], np.uint8)]
    (y,) = evaluate("sub", arrays, [kind, kind], [result], {"clamp": ()})
    assert y.tolist() == [0, 255, 10]


def test_constants_of_add() -> None:
    """Equal scales of one half: T = 1, both multipliers one half; output scale one half: T / (2^20 / 2)."""
    kind = quantized((1,), "i8", 0.5)
    constants = rescale.add(kind, kind, kind)
    assert (constants.lhs_multiplier, constants.lhs_shift) == (1 << 30, 0)
    assert (constants.output.multipliers, constants.output.shifts) == ((1 << 30,), (-18,))
    assert constants.sum_limit is None


@pytest.mark.parametrize("op", ["add", "sub", "mul"])
def test_float(op: str) -> None:
    rng = np.random.default_rng(0)
    types, result = [floating((1, 4, 4, 3)), floating((3,))], floating((1, 4, 4, 3))
    _check((op, types, result, [values(rng, kind) for kind in types], "RELU6"))


def test_int32_wraps() -> None:
    kind = TensorType((2,), "i32")
    arrays = [np.array([2**31 - 1, 3], np.int32), np.array([1, -5], np.int32)]
    (y,) = evaluate("add", arrays, [kind, kind], [kind], {"clamp": ()})
    assert y.tolist() == [-(2**31), -2]
