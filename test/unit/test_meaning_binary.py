"""maximum, minimum, binary, compare and prelu: the numpy meaning equals LiteRT bit by bit."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from elementwise_models import litert
from random_tensors import Array, floating, quantized, scales, seeds, values, zero_points
from zeropoint.dialect.binary_constants import div, headroom_of
from zeropoint.dialect.binary_functions import PREDICATES
from zeropoint.dialect.meaning import evaluate
from zeropoint.dialect.types import TensorType

SHAPES = [((4, 8), (4, 8)), ((4, 8), (8,)), ((3, 1, 8), (4, 1)), ((8,), (1,)), ((1, 3, 3, 4), (1, 1, 1, 4))]
Shapes: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
modes = pytest.mark.parametrize("mode", ["reference", "xnnpack"])


def _result_shape(shapes: Shapes) -> tuple[int, ...]:
    return tuple(np.broadcast_shapes(*shapes))


def _point(data: st.DataObject, storage: str) -> int:
    return 0 if storage == "i16" else data.draw(zero_points(storage))


@pytest.mark.parametrize("op", ["maximum", "minimum"])
@pytest.mark.parametrize("storage", ["i8", "u8", "i16"])
@modes
@settings(max_examples=10)
@given(seeds, st.sampled_from(SHAPES), scales(), st.data())
def test_extremum(
    op: str, storage: str, mode: str, seed: int, shapes: Shapes, scale: float, data: st.DataObject
) -> None:
    rng, point = np.random.default_rng(seed), _point(data, storage)
    a, b, y = (quantized(shape, storage, scale, point) for shape in (*shapes, _result_shape(shapes)))
    arrays = [values(rng, a), values(rng, b)]
    (actual,) = evaluate(op, arrays, [a, b], [y], {}, mode)
    np.testing.assert_array_equal(actual, litert(op.upper(), [a, b], y, arrays, mode))


@pytest.mark.parametrize("storage", ["i8"])
@modes
@settings(max_examples=40)
@given(seeds, st.sampled_from(SHAPES), scales(-10, 0), scales(-10, 0), scales(-10, 0), st.data())
def test_squared_difference(
    storage: str,
    mode: str,
    seed: int,
    shapes: Shapes,
    s_a: float,
    s_b: float,
    s_y: float,
    data: st.DataObject,
) -> None:
    rng = np.random.default_rng(seed)
    # LiteRT ends the process for an output multiplier of 1 or more.
    s_y = max(s_y, (2 * max(s_a, s_b)) ** 2 / 2**14 * 1.001)
    a, b = (quantized(n, storage, s, _point(data, storage)) for n, s in zip(shapes, (s_a, s_b), strict=True))
    y = quantized(_result_shape(shapes), storage, s_y, _point(data, storage))
    arrays = [values(rng, a), values(rng, b)]
    (actual,) = evaluate("binary", arrays, [a, b], [y], {"function": "squared_difference"}, mode)
    np.testing.assert_array_equal(actual, litert("SQUARED_DIFFERENCE", [a, b], y, arrays, mode))


@pytest.mark.parametrize("storage", ["i8", "u8", "i16"])
@modes
@settings(max_examples=40)
@given(seeds, st.sampled_from(SHAPES), scales(-8, 0), scales(-8, 0), scales(-8, 0), st.data())
def test_div(
    storage: str,
    mode: str,
    seed: int,
    shapes: Shapes,
    s_a: float,
    s_b: float,
    s_y: float,
    data: st.DataObject,
) -> None:
    rng = np.random.default_rng(seed)
    a, b = (quantized(n, storage, s, _point(data, storage)) for n, s in zip(shapes, (s_a, s_b), strict=True))
    y = quantized(_result_shape(shapes), storage, s_y, _point(data, storage))
    arrays = [values(rng, a), values(rng, b)]
    arrays[1] = np.where(arrays[1] == b.params.zero_point, arrays[1] ^ 1, arrays[1])
    (actual,) = evaluate("binary", arrays, [a, b], [y], {"function": "div"}, mode)
    # LiteRT shifts by up to 40 in a 32-bit register: its small quotients are wrong, 0 / x is 1.
    constants = div(a, b, y)
    left, right = (
        np.broadcast_to(array.astype(np.int64) - kind.params.zero_point, y.shape)
        for array, kind in zip(arrays, (a, b), strict=True)
    )
    shift = headroom_of(np.where(right < 0, -left, left)) + np.floor(np.log2(np.abs(right))) - constants.shift
    kept = (shift <= 31) & (shift >= 0)
    np.testing.assert_array_equal(actual[kept], litert("DIV", [a, b], y, arrays, mode)[kept])


@pytest.mark.parametrize("storage", ["i8", "u8"])
@pytest.mark.parametrize("predicate", sorted(PREDICATES))
@modes
@settings(max_examples=10)
@given(seeds, st.sampled_from(SHAPES), scales(-8, -0.01), scales(-8, -0.01), st.data())
def test_compare(
    storage: str,
    predicate: str,
    mode: str,
    seed: int,
    shapes: Shapes,
    s_a: float,
    s_b: float,
    data: st.DataObject,
) -> None:
    rng = np.random.default_rng(seed)
    assume(max(s_a, s_b) < 1)
    a, b = (quantized(n, storage, s, _point(data, storage)) for n, s in zip(shapes, (s_a, s_b), strict=True))
    y = TensorType(_result_shape(shapes), "i1")
    arrays = [values(rng, a), values(rng, b)]
    (actual,) = evaluate("compare", arrays, [a, b], [y], {"predicate": predicate}, mode)
    np.testing.assert_array_equal(actual, litert(predicate.upper(), [a, b], y, arrays, mode))


# LiteRT has an int16 kernel, too, but its products wrap around in 16 bits.
@pytest.mark.parametrize("storage", ["i8", "u8"])
@modes
@settings(max_examples=30)
@given(seeds, st.sampled_from(SHAPES), scales(-10, 0), scales(-10, 0), scales(-10, 0), st.data())
def test_prelu(
    storage: str,
    mode: str,
    seed: int,
    shapes: Shapes,
    s_x: float,
    s_a: float,
    s_y: float,
    data: st.DataObject,
) -> None:
    rng = np.random.default_rng(seed)
    shapes = (_result_shape(shapes), shapes[1])
    x, alpha = (
        quantized(n, storage, s, _point(data, storage)) for n, s in zip(shapes, (s_x, s_a), strict=True)
    )
    y = quantized(_result_shape(shapes), storage, s_y, _point(data, storage))
    arrays = [values(rng, x), values(rng, alpha)]
    (actual,) = evaluate("prelu", arrays, [x, alpha], [y], {}, mode)
    np.testing.assert_array_equal(actual, litert("PRELU", [x, alpha], y, arrays, mode))


def test_exact_comparison() -> None:
    """Where LiteRT cannot tell neighbours apart (its steps are 2^-8), the reals are compared."""
    a, b = quantized((4,), "i8", 2.0**-12), quantized((4,), "i8", 0.5)
    arrays = [np.asarray([1, 2, 0, -1], np.int8), np.asarray([0, 0, 0, 0], np.int8)]
    y = TensorType((4,), "i1")
    (actual,) = evaluate("compare", arrays, [a, b], [y], {"predicate": "greater"})
    np.testing.assert_array_equal(actual, [True, True, False, False])


def test_division_by_zero_saturates() -> None:
    kind = quantized((3,), "i8", 0.5, 3)
    arrays = [np.asarray([10, 3, -10], np.int8), np.asarray([3, 3, 3], np.int8)]
    (actual,) = evaluate("binary", arrays, [kind, kind], [kind], {"function": "div"})
    np.testing.assert_array_equal(actual, [127, 3, -128])


def _operands(rng: np.random.Generator, kind: str, shapes: Shapes, function: str) -> list[Array]:
    if kind == "f32":
        arrays = [rng.standard_normal(shape).astype(np.float32) * 3 for shape in shapes]
        return [np.abs(arrays[0]), arrays[1]] if function == "pow" else arrays
    dtype = np.dtype({"i1": "bool"}.get(kind, f"int{kind[1:]}"))
    low, high = (0, 2) if kind == "i1" else (-50, 50)
    arrays = [rng.integers(low, high, shape).astype(dtype) for shape in shapes]
    if function == "pow":
        return [arrays[0] % 7, np.abs(arrays[1]) % 5]
    if function in ("div", "floor_div", "floor_mod"):
        arrays[1] = np.where(arrays[1] == 0, 3, arrays[1]).astype(dtype)
    return arrays


PLAIN = [
    ("atan2", "f32"),
    ("bitwise_xor", "i32"),
    ("div", "f32"),
    ("div", "i32"),
    ("floor_div", "f32"),
    ("floor_div", "i32"),
    ("floor_mod", "f32"),
    ("floor_mod", "i32"),
    ("floor_mod", "i64"),
    ("logical_and", "i1"),
    ("logical_or", "i1"),
    ("maximum", "f32"),
    ("maximum", "i32"),
    ("minimum", "i64"),
    ("pow", "f32"),
    ("pow", "i32"),
    ("squared_difference", "f32"),
    ("squared_difference", "i32"),
]


@pytest.mark.parametrize(("function", "kind"), PLAIN)
@pytest.mark.parametrize("shapes", SHAPES)
def test_plain(function: str, kind: str, shapes: Shapes) -> None:
    if function == "atan2" and shapes[0] != shapes[1]:
        pytest.skip("LiteRT's kernel does not broadcast")
    arrays = _operands(np.random.default_rng(7), kind, shapes, function)
    a, b = (TensorType(shape, kind) for shape in shapes)
    y = TensorType(_result_shape(shapes), kind)
    is_op = function in ("maximum", "minimum")
    attributes = {} if is_op else {"function": function}
    (actual,) = evaluate(function if is_op else "binary", arrays, [a, b], [y], attributes)
    expected = litert(function.upper(), [a, b], y, arrays)
    if kind == "f32":
        np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-7)
    else:
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("predicate", sorted(PREDICATES))
@pytest.mark.parametrize("kind", ["f32", "i32", "i64", "i1"])
def test_compare_plain(predicate: str, kind: str) -> None:
    if kind == "i1" and predicate not in ("equal", "not_equal"):
        pytest.skip("an order of booleans does not exist")
    shapes = ((4, 8), (8,))
    rng = np.random.default_rng(3)
    arrays = [rng.integers(0, 2, shape).astype(TensorType(shape, kind).dtype) for shape in shapes]
    a, b = (TensorType(shape, kind) for shape in shapes)
    y = TensorType((4, 8), "i1")
    (actual,) = evaluate("compare", arrays, [a, b], [y], {"predicate": predicate})
    np.testing.assert_array_equal(actual, litert(predicate.upper(), [a, b], y, arrays))


def test_prelu_float() -> None:
    rng = np.random.default_rng(5)
    x, alpha = floating((2, 3, 4)), floating((4,))
    arrays = [values(rng, x), values(rng, alpha)]
    (actual,) = evaluate("prelu", arrays, [x, alpha], [x], {})
    np.testing.assert_array_equal(actual, litert("PRELU", [x, alpha], x, arrays))


@pytest.mark.parametrize("operator", ["ADD", "SUB", "MUL"])
@pytest.mark.parametrize("kind", ["i32", "i64"])
@pytest.mark.parametrize("shapes", SHAPES)
def test_integer_arithmetic(operator: str, kind: str, shapes: Shapes) -> None:
    rng = np.random.default_rng(5)
    a, b = (TensorType(shape, kind) for shape in shapes)
    y = TensorType(_result_shape(shapes), kind)
    info = np.iinfo(y.dtype)
    arrays = [rng.integers(info.min, info.max, t.shape, y.dtype, endpoint=True) for t in (a, b)]
    (actual,) = evaluate(operator.lower(), arrays, [a, b], [y], {"clamp": ()})
    np.testing.assert_array_equal(actual, litert(operator, [a, b], y, arrays))
