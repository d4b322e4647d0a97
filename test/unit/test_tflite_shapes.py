"""Shapes that a graph computes: what is computed from constants is a constant, and follows ``shapes``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import zeropoint
from tflite_builder import Builder, run_litert
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.dialect.types import TensorType
from zeropoint.errors import ImportModelError, UnsupportedOpError
from zeropoint.frontends import load_bytes
from zeropoint.frontends.tflite.operator_import import is_folded

I32 = np.int32


def ints(b: Builder, values: Any, dtype: type[np.generic] = I32) -> int:
    return b.constant(f"c{len(b.tensors)}", np.asarray(values, dtype))


def flattened() -> tuple[Builder, int, int]:
    """[N, 3, 4] to [N, 12] as converters write it: the batch out of the shape, packed with -1."""
    b = Builder()
    x = b.tensor("x", (2, 3, 4), np.int8, scales=0.5, signature=(-1, 3, 4))
    shape, batch, target = b.tensor("s", (3,), I32), b.tensor("n", (), I32), b.tensor("t", (2,), I32)
    b.op("SHAPE", [x], [shape], OutType=2)
    b.op("STRIDED_SLICE", [shape, ints(b, [0]), ints(b, [1]), ints(b, [1])], [batch], ShrinkAxisMask=1)
    b.op("PACK", [batch, ints(b, -1)], [target], ValuesCount=2, Axis=0)
    y = b.tensor("y", (2, 12), np.int8, scales=0.5, signature=(-1, 12))
    b.op("RESHAPE", [x, target], [y])
    return b, x, y


@pytest.mark.parametrize("batch", [1, 2, 5])
def test_a_dynamic_batch_stays_static_once_it_is_given(batch: int) -> None:
    b, x, y = flattened()
    model = load_bytes(b.build([x], [y]), name="m", shapes=[(batch, 3, 4)])
    assert model.outputs[0].shape == (batch, 12)
    assert [op.operation.name for op in model.main.regions[0].blocks[0].operations if "constant" not in
            op.operation.name] == ["qnn.reshape", "func.return"]  # fmt: skip


def test_batches_run() -> None:
    b, x, y = flattened()
    array = np.arange(60, dtype=np.int8).reshape(5, 3, 4)
    model = load_bytes(b.build([x], [y]), name="m", shapes={"x": (5, 3, 4)})
    (result,) = zeropoint.compile(model, cache=False).run(array)
    np.testing.assert_array_equal(result, array.reshape(5, 12))


def values(b: Builder, outputs: list[int]) -> list[np.ndarray[Any, Any]]:
    """What a model without inputs that matter gives: evaluated, and by LiteRT."""
    x = b.tensor("unused", (1,), np.float32)
    data, array = b.build([x], outputs), np.zeros(1, np.float32)
    results = evaluate_module(load_bytes(data, name="m").module, [array])
    for result, wanted in zip(results, run_litert(data, [array]), strict=True):
        np.testing.assert_array_equal(result, wanted)
        assert result.dtype == wanted.dtype
    return results


@pytest.mark.parametrize(
    ("start", "limit", "delta", "dtype", "count"),
    [(0, 5, 1, np.int32, 5), (5, 0, -2, np.int32, 3), (1, 8, 3, np.int64, 3), (0, 1, 0.25, np.float32, 4)],
)
def test_range(start: float, limit: float, delta: float, dtype: type[np.generic], count: int) -> None:
    b = Builder()
    operands = [ints(b, value, dtype) for value in (start, limit, delta)]
    y = b.tensor("y", (count,), dtype)
    b.op("RANGE", operands, [y])
    (result,) = values(b, [y])
    np.testing.assert_array_equal(result, np.arange(start, limit, delta, dtype))


@pytest.mark.parametrize("delta", [0, -1])
def test_a_range_that_does_not_end(delta: int) -> None:
    b = Builder()
    b.op("RANGE", [ints(b, 0), ints(b, 5), ints(b, delta)], [b.tensor("y", (5,), I32)])
    with pytest.raises(ImportModelError, match="does not end"):
        load_bytes(b.build([], [3]), name="m")


def test_rank_of_any_tensor() -> None:
    b = Builder()
    x, y = b.tensor("x", (2, 3, 4), np.float32), b.tensor("y", (), I32)
    b.op("RANK", [x], [y])
    model = load_bytes(b.build([x], [y]), name="m")
    (result,) = evaluate_module(model.module, [np.zeros((2, 3, 4), np.float32)])
    assert result == 3
    assert result.shape == ()


def test_broadcast_args() -> None:
    b = Builder()
    y = b.tensor("y", (3,), I32)
    b.op("BROADCAST_ARGS", [ints(b, [4, 1]), ints(b, [2, 1, 3])], [y])
    assert values(b, [y])[0].tolist() == [2, 4, 3]


def test_places_and_different_values_of_constants() -> None:
    b = Builder()
    where = b.tensor("where", (3, 2), np.int64)
    b.op("WHERE", [b.constant("c", np.asarray([[True, False], [True, True]]))], [where])
    different, which = b.tensor("u", (3,), I32), b.tensor("i", (5,), I32)
    b.op("UNIQUE", [ints(b, [7, 3, 7, -1, 3])], [different, which], IdxOutType=2)
    places, found, number = values(b, [where, different, which])
    assert places.tolist() == [[0, 0], [1, 0], [1, 1]]
    assert found.tolist() == [7, 3, -1]
    assert number.tolist() == [0, 1, 0, 2, 1]


def test_what_has_no_known_length_is_no_operators_input() -> None:
    b = Builder()
    x, y = b.tensor("x", (4,), np.int32), b.tensor("places", (1, 1), np.int64, signature=(-1, 1))
    b.op("WHERE", [x], [y])
    z = b.tensor("z", (2,), I32)
    b.op("SHAPE", [y], [z], OutType=2)
    with pytest.raises(UnsupportedOpError) as caught:
        load_bytes(b.build([x], [z]), name="m")
    assert "input 'places', whose length only a run can tell" in str(caught.value)


def test_weights_that_are_moved_stay_constants() -> None:
    """A filter that is reshaped and transposed at run time is a constant for the operator that reads it."""
    b = Builder()
    x = b.tensor("x", (1, 3), np.int8, scales=0.5)
    w = b.constant("w", np.arange(6, dtype=np.int8), scales=0.25)
    shaped, turned = (b.tensor(n, s, np.int8, scales=0.25) for n, s in (("a", (3, 2)), ("b", (2, 3))))
    b.op("RESHAPE", [w, ints(b, [3, 2])], [shaped])
    b.op("TRANSPOSE", [shaped, ints(b, [1, 0])], [turned])
    y = b.tensor("y", (1, 2), np.int8, scales=1.0)
    b.op("FULLY_CONNECTED", [x, turned, -1], [y])
    model = load_bytes(b.build([x], [y]), name="m")
    assert "qnn.transpose" not in model.text()
    array = np.asarray([[1, 2, 3]], np.int8)
    (result,) = evaluate_module(model.module, [array])
    np.testing.assert_array_equal(result, run_litert(b.build([x], [y]), [array])[0])


@pytest.mark.parametrize(
    ("op", "inputs", "result", "folded"),
    [
        ("add", [TensorType((1 << 16,), "i32")], TensorType((1 << 16,), "i32"), True),
        ("broadcast", [TensorType((), "i32")], TensorType((1 << 17,), "i32"), False),
        ("transpose", [TensorType((1 << 9, 1 << 9), "f32")], TensorType((1 << 9, 1 << 9), "f32"), True),
        ("mul", [TensorType((1 << 10,), "f32")], TensorType((1 << 10,), "f32"), True),
        ("mul", [TensorType((1 << 11,), "f32")], TensorType((1 << 11,), "f32"), False),
    ],
)
def test_what_is_computed_at_import(
    op: str, inputs: list[TensorType], result: TensorType, folded: bool
) -> None:
    assert is_folded(op, inputs, result) == folded


@pytest.mark.parametrize(("batch_dims", "fits"), [(-1, True), (1, True), (2, False), (-3, False)])
def test_batch_dimensions_of_gather_count_from_the_end_of_the_indices(batch_dims: int, fits: bool) -> None:
    b = Builder()
    x, i = b.tensor("x", (2, 5, 3), np.float32), b.tensor("i", (2, 4), I32)
    y = b.tensor("y", (2, 4, 3), np.float32)
    b.op("GATHER", [x, i], [y], Axis=1, BatchDims=batch_dims)
    data = b.build([x, i], [y])
    if not fits:
        with pytest.raises(ImportModelError, match="batch dimensions do not fit"):
            load_bytes(data, name="m")
        return
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal((2, 5, 3)).astype(np.float32), rng.integers(0, 5, (2, 4)).astype(I32)]
    (result,) = evaluate_module(load_bytes(data, name="m").module, arrays)
    np.testing.assert_array_equal(result, run_litert(data, arrays)[0])


def test_a_tensor_whose_rank_the_file_does_not_say_takes_the_inferred_shape() -> None:
    """As converters write it for results of loops: no shape at all."""
    b = Builder()
    x, y = b.tensor("x", (2, 3), np.float32), b.tensor("y", (), np.float32)
    b.op("RESHAPE", [x, ints(b, [3, 2])], [y])
    assert load_bytes(b.build([x], [y]), name="m").outputs[0].shape == (3, 2)
