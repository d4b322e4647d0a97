"""softmax, logistic and tanh: the numpy meaning equals LiteRT's reference kernels bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_tensors import Array, add_tensor, floating, judge, quantized, scales, seeds, values, zero_points
from tflite_builder import Builder
from zeropoint.dialect import activation_tables as tables
from zeropoint.dialect.meaning import evaluate
from zeropoint.dialect.types import QuantParams, Storage, TensorType


def _natural(op: str, shape: tuple[int, ...], storage: str, source: str | None = None) -> TensorType:
    return TensorType(shape, tables.natural_params(op, Storage.of(storage), Storage.of(source or storage)))


def _litert(
    operator: str,
    source: TensorType,
    result: TensorType,
    data: Array,
    mode: str = "reference",
    **options: float,
) -> Array:
    model = Builder()
    x, y = add_tensor(model, "x", source), add_tensor(model, "y", result)
    model.op(operator, [x], [y], **options)
    return judge(model, [x], [y], [data], mode == "reference")


@pytest.mark.parametrize("storage", ["i8", "u8"])
@pytest.mark.parametrize("op", ["logistic", "tanh"])
@pytest.mark.parametrize("mode", ["reference", "xnnpack"])
@settings(max_examples=40)
@given(scales(-10, 1), st.data())
def test_8bit_activation(storage: str, mode: str, op: str, scale: float, data: st.DataObject) -> None:
    x = quantized((256,), storage, scale, data.draw(zero_points(storage)))
    result = _natural(op, (256,), storage)
    if op == "tanh" and data.draw(st.booleans()):
        result = quantized((256,), storage, data.draw(scales(-9, -3)), data.draw(zero_points(storage)))
    array = np.arange(256, dtype=np.uint8).view(x.dtype)
    (actual,) = evaluate(op, [array], [x], [result], {}, mode)
    np.testing.assert_array_equal(actual, _litert(op.upper(), x, result, array, mode))


@pytest.mark.parametrize("op", ["logistic", "tanh"])
@settings(max_examples=15)
@given(scales(-16, -6) | st.sampled_from([2.0**-12, 2.0**-11]))
def test_16bit_activation(op: str, scale: float) -> None:
    x, result = quantized((65536,), "i16", scale), _natural(op, (65536,), "i16")
    array = np.arange(65536, dtype=np.uint16).view(np.int16)
    (actual,) = evaluate(op, [array], [x], [result], {})
    np.testing.assert_array_equal(actual, _litert(op.upper(), x, result, array))


SOFTMAXES = [("i8", "i8"), ("u8", "u8"), ("i8", "i16"), ("i16", "i16")]


@pytest.mark.parametrize(("source", "target"), SOFTMAXES)
@settings(max_examples=60)
@given(
    seeds, scales(-10, 3), st.sampled_from([1.0, 0.5, 3.0]), st.sampled_from([1, 2, 5, 100, 500]), st.data()
)
def test_softmax(
    source: str, target: str, seed: int, scale: float, beta: float, depth: int, data: st.DataObject
) -> None:
    rng = np.random.default_rng(seed)
    if source == "i16":
        scale = scale * 2.0**-8
    x, result = (
        quantized((3, depth), source, scale, data.draw(zero_points(source))),
        _natural("softmax", (3, depth), target, source),
    )
    array = values(rng, x)
    if data.draw(st.booleans()):  # a narrow row: no value dominates
        array = np.clip(array, *np.sort(array.ravel())[[len(array) // 2, min(len(array), array.size - 1)]])
    (actual,) = evaluate("softmax", [array], [x], [result], {"beta": beta, "axis": 1})
    np.testing.assert_array_equal(actual, _litert("SOFTMAX", x, result, array, Beta=beta))


def test_other_result_parameters_are_reached_by_a_requantize() -> None:
    x, result = quantized((1, 2), "i8", 0.1), quantized((1, 2), "i8", 1 / 64, 5)
    array = np.array([[3, 3]], np.int8)
    (y,) = evaluate("softmax", [array], [x], [result], {"beta": 1.0, "axis": 1})
    assert y.tolist() == [[5 + 32, 5 + 32]]


def test_softmax_along_another_axis() -> None:
    x = quantized((4, 3), "i8", 0.1)
    array = values(np.random.default_rng(0), x)
    result = _natural("softmax", (4, 3), "i8")
    (down,) = evaluate("softmax", [array], [x], [result], {"beta": 1.0, "axis": 0})
    turned = TensorType((3, 4), x.element)
    (across,) = evaluate(
        "softmax", [array.T.copy()], [turned], [TensorType((3, 4), result.element)], {"beta": 1.0, "axis": 1}
    )
    np.testing.assert_array_equal(down, across.T)


@pytest.mark.parametrize("op", ["logistic", "tanh", "softmax"])
def test_float_activation(op: str) -> None:
    kind = floating((4, 9))
    array = (values(np.random.default_rng(0), kind) * 8).astype(np.float32)
    attributes = {"beta": 1.5, "axis": 1} if op == "softmax" else {}
    (actual,) = evaluate(op, [array], [kind], [kind], attributes)
    options = {"Beta": 1.5} if op == "softmax" else {}
    np.testing.assert_allclose(
        actual, _litert(op.upper(), kind, kind, array, **options), rtol=1e-5, atol=1e-7
    )


def test_activation_table_is_indexed_from_the_lowest_value() -> None:
    source, target = (
        QuantParams(Storage.of("i8"), (1.0,), (0,)),
        tables.natural_params("logistic", Storage.of("i8")),
    )
    table = tables.activation_table("logistic", source, target)
    assert (table[0], table[128], table[255]) == (-128, 0, 127)


def test_softmax_of_a_thousand_equal_values() -> None:
    """A sum of 512 and more needs a shift beyond 31 bits, where LiteRT's reference kernel aborts: every share
    rounds to zero.
    """
    x = quantized((1, 1024), "i8", 0.001)
    (y,) = evaluate(
        "softmax",
        [np.zeros((1, 1024), np.int8)],
        [x],
        [_natural("softmax", (1, 1024), "i8")],
        {"beta": 1.0, "axis": 1},
    )
    assert set(y.ravel().tolist()) == {-128}
