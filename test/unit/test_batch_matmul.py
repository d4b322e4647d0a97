"""batch_matmul as LiteRT's reference kernels compute it: broadcast batches, transposed factors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lowered_ops import Case, check_cases
from operator_models import check_model
from random_tensors import floating, quantized, seeds, values, zero_points
from tflite_builder import Builder
from zeropoint.dialect.describe import describe
from zeropoint.dialect.meaning import evaluate
from zeropoint.dialect.types import TensorType
from zeropoint.errors import ImportModelError, UnsupportedOpError
from zeropoint.frontends import load_bytes
from zeropoint.passes.relabelling import Signature, relabelled, relabelled_values, what_differs

KINDS = [("i8", "i8"), ("i8", "i8"), ("i16", "i16"), ("i16", "i8"), ("f32", "f32")]


def _factors(
    rng: np.random.Generator, kinds: tuple[str, str], transpose_lhs: bool, transpose_rhs: bool, points: Any
) -> tuple[list[TensorType], TensorType]:
    """Types of both factors and of the result; up to two batch dimensions, of which some broadcast."""
    rows, depth, columns = rng.integers(1, (6, 40, 9)).tolist()
    batches = rng.integers(1, 4, int(rng.integers(0, 3))).tolist()
    one, other = (tuple(1 if rng.random() < 0.3 else n for n in batches) for _ in range(2))
    if batches and rng.random() < 0.3:
        other = other[1:]
    shape = np.broadcast_shapes(one, other)
    lhs = (*one, *((depth, rows) if transpose_lhs else (rows, depth)))
    rhs = (*other, *((columns, depth) if transpose_rhs else (depth, columns)))
    if kinds[0] == "f32":
        return [floating(lhs), floating(rhs)], floating((*shape, rows, columns))
    s_lhs, s_rhs = (2.0 ** rng.uniform(-9, -2, 2)).tolist()
    s_y = s_lhs * s_rhs * np.sqrt(depth) * 2.0 ** rng.uniform(4, 9)
    types = [
        quantized(lhs, kinds[0], s_lhs, points[0] if kinds[0] == "i8" else 0),
        quantized(rhs, kinds[1], s_rhs, points[1] if kinds == ("i8", "i8") else 0),
    ]
    zero = points[2] if kinds[0] == "i8" else 0
    return types, quantized((*shape, rows, columns), kinds[0], s_y, zero)


points = st.tuples(*[zero_points("i8")] * 3)


@settings(max_examples=30)
@given(seeds, st.sampled_from(KINDS), st.booleans(), st.booleans(), points, st.booleans())
def test_products_are_litert_s(
    seed: int, kinds: tuple[str, str], adj_x: bool, adj_y: bool, chosen: Any, constant: bool
) -> None:
    rng = np.random.default_rng(seed)
    types, result = _factors(rng, kinds, adj_x, adj_y, chosen)
    model, arrays = Builder(), [values(rng, kind) for kind in types]
    indices = []
    for name, kind, array in zip("ab", types, arrays, strict=True):
        where: dict[str, Any] = {}
        if kind.is_quantized:
            where = {"scales": kind.params.scales, "zero_points": kind.params.zero_points}
        data = array if constant and name == "b" else None
        indices.append(model.tensor(name, kind.shape, kind.dtype, data=data, **where))
    where = {}
    if result.is_quantized:
        where = {"scales": result.params.scales, "zero_points": result.params.zero_points}
    y = model.tensor("y", result.shape, result.dtype, **where)
    model.op("BATCH_MATMUL", indices, [y], AdjX=adj_x, AdjY=adj_y)
    count = 1 if constant else 2
    tolerance = 0.0 if result.is_quantized else 1e-5
    check_model(
        model, indices[:count], [y], arrays[:count], compiled=seed % 16 == 0, rtol=tolerance, atol=tolerance
    )


@st.composite
def _cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(seeds))
    kinds = draw(st.sampled_from([*KINDS, ("u8", "i8"), ("u8", "u8")]))
    attributes = {"transpose_lhs": draw(st.booleans()), "transpose_rhs": draw(st.booleans())}
    types, result = _factors(rng, kinds, *attributes.values(), [3, -5, 7])
    if kinds[0] == "i8" and draw(st.booleans()):
        scale = float(np.float32(types[0].params.scale * types[1].params.scale))
        result = quantized(result.shape, "i32", scale)
    constants = draw(st.sampled_from([(), (1,)]))
    return Case("batch_matmul", [values(rng, kind) for kind in types], types, result, attributes, constants)


@pytest.mark.parametrize("mode", ["reference", "xnnpack"])
@settings(max_examples=3)
@given(st.lists(_cases(), min_size=8, max_size=8))
def test_lowering(mode: str, cases: list[Case]) -> None:
    check_cases(cases, mode)


def _model(
    lhs: tuple[int, ...], rhs: tuple[int, ...], dtype: Any = np.int8
) -> tuple[Builder, list[int], int]:
    model = Builder()
    a = model.tensor("a", lhs, dtype, scales=0.5)
    b = model.tensor("b", rhs, dtype, scales=0.5)
    y = model.tensor("y", (2, 2), dtype, scales=0.5)
    model.op("BATCH_MATMUL", [a, b], [y])
    return model, [a, b], y


@pytest.mark.parametrize(
    ("lhs", "rhs", "message"),
    [
        ((2, 3), (4, 2), "lhs has 3 columns, rhs 4 rows"),
        ((3,), (3, 2), "expected rank 2 and more"),
        ((3, 2, 3), (2, 3, 2), "do not broadcast"),
        ((2, 3), (3, 3), "declares output shape"),
    ],
)
def test_faults(lhs: tuple[int, ...], rhs: tuple[int, ...], message: str) -> None:
    model, inputs, y = _model(lhs, rhs)
    with pytest.raises(ImportModelError, match=message):
        load_bytes(model.build(inputs, [y]), name="m.tflite")


def test_uint8_is_refused() -> None:
    model, inputs, y = _model((2, 3), (3, 2), np.uint8)
    with pytest.raises(UnsupportedOpError) as caught:
        load_bytes(model.build(inputs, [y]), name="m.tflite")
    assert "quantized u8 times quantized u8 with quantized u8 result" in caught.value.faults[0]


@settings(max_examples=20)
@given(seeds, st.booleans(), points)
def test_other_labels_give_the_same_numbers(seed: int, transposed: bool, chosen: Any) -> None:
    """legalize-storage may store int8 as uint8, or the other way round: factors, result, or both."""
    rng = np.random.default_rng(seed)
    types, result = _factors(rng, ("i8", "i8"), False, transposed, chosen)
    attributes = {"transpose_lhs": False, "transpose_rhs": transposed}
    before = Signature("batch_matmul", tuple(types), result, attributes, "reference")
    labels = [str(rng.choice(["i8", "u8"])) for _ in range(3)]
    kinds = [relabelled(kind, label) for kind, label in zip([*types, result], labels, strict=True)]
    after = Signature("batch_matmul", tuple(kinds[:2]), kinds[2], attributes, "reference")
    assert what_differs(before, after) is None
    arrays = [values(rng, kind) for kind in types]
    (one,) = evaluate("batch_matmul", arrays, types, [result], attributes)
    moved = [
        array if kind == other else relabelled_values(array).view(other.dtype)
        for array, kind, other in zip(arrays, types, kinds, strict=False)
    ]
    (other,) = evaluate("batch_matmul", moved, kinds[:2], [kinds[2]], attributes)
    expected = one if kinds[2] == result else relabelled_values(one).view(np.uint8)
    np.testing.assert_array_equal(other, expected)


def test_products_are_counted_and_their_rescale_is_shown() -> None:
    model, inputs, y = _model((2, 3), (3, 2))
    (row,) = describe(load_bytes(model.build(inputs, [y]), name="m.tflite").module)
    assert row.macs == 2 * 3 * 2
    assert row.scales == (0.5,)
