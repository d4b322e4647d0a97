"""Elementwise operators and reductions from a TFLite file to numbers: imported, evaluated and compiled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import zeropoint
from elementwise_models import integers, litert, model_of
from random_tensors import Array, quantized, values
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.dialect.types import TensorType
from zeropoint.errors import ZeropointError
from zeropoint.frontends import load_bytes

SHAPE = (2, 3, 4)
KINDS = {"i8": (0.05, 3), "u8": (0.04, 120), "i16": (0.001, 0)}
UNARY: dict[str, tuple[str, ...]] = {
    "ABS": ("f32", "i8", "i16", "i32"),
    "CEIL": ("f32",),
    "COS": ("f32",),
    "ELU": ("f32", "i8"),
    "EXP": ("f32", "i8", "i16"),
    "FLOOR": ("f32",),
    "GELU": ("f32", "i8", "u8"),
    "HARD_SWISH": ("f32", "i8", "u8"),
    "LEAKY_RELU": ("f32", "i8", "u8", "i16"),
    "LOG": ("f32", "i8"),
    "LOGICAL_NOT": ("i1",),
    "NEG": ("f32", "i32", "i64"),
    "ROUND": ("f32",),
    "RSQRT": ("f32", "i8", "i16"),
    "SIGN": ("f32", "i32"),
    "SIN": ("f32",),
    "SQRT": ("f32", "i8", "i16"),
    "SQUARE": ("f32",),
}
BINARY: dict[str, tuple[str, ...]] = {
    "ADD": ("f32", "i8", "u8", "i32", "i64"),
    "ADD_N": ("f32", "i32"),
    "ATAN2": ("f32",),
    "BITWISE_XOR": ("i32",),
    "DIV": ("f32", "i32"),
    "EQUAL": ("f32", "i8", "u8", "i32", "i1"),
    "FLOOR_DIV": ("f32", "i32"),
    "FLOOR_MOD": ("f32", "i32", "i64"),
    "GREATER": ("f32", "i8", "u8", "i32"),
    "GREATER_EQUAL": ("f32", "i8", "u8", "i64"),
    "LESS": ("f32", "i8", "u8", "i32"),
    "LESS_EQUAL": ("f32", "i8", "u8", "i32"),
    "LOGICAL_AND": ("i1",),
    "LOGICAL_OR": ("i1",),
    "MAXIMUM": ("f32", "i8", "u8", "i16", "i32"),
    "MINIMUM": ("f32", "i8", "u8", "i16", "i64"),
    "MUL": ("f32", "i8", "u8", "i32", "i64"),
    "NOT_EQUAL": ("f32", "i8", "u8", "i32", "i1"),
    "POW": ("f32", "i32"),
    "PRELU": ("f32", "i8", "u8"),
    "SQUARED_DIFFERENCE": ("f32", "i8", "i32"),
    "SUB": ("f32", "i8", "u8", "i32", "i64"),
}
REDUCTIONS: dict[str, tuple[str, ...]] = {
    "CUMSUM": ("f32", "i32"),
    "MEAN": ("f32", "i8", "u8", "i16", "i32", "i64"),
    "REDUCE_ALL": ("i1",),
    "REDUCE_ANY": ("i1",),
    "REDUCE_MAX": ("f32", "i8", "u8", "i16", "i32"),
    "REDUCE_MIN": ("f32", "i8", "u8", "i16", "i64"),
    "REDUCE_PROD": ("f32", "i8", "i32"),
    "SUM": ("f32", "u8", "i32", "i64"),
}
POSITIVE = ("LOG", "RSQRT", "SQRT", "POW", "FLOOR_MOD", "FLOOR_DIV", "DIV")


def _pairs(table: Mapping[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    return [(operator, kind) for operator, kinds in table.items() for kind in kinds]


def _type(kind: str, shape: tuple[int, ...] = SHAPE) -> TensorType:
    return quantized(shape, kind, *KINDS[kind]) if kind in KINDS else TensorType(shape, kind)


def _values(kind: TensorType, seed: int, *, positive: bool = False) -> Array:
    rng = np.random.default_rng(seed)
    if kind.element == "i1":
        return rng.random(kind.shape) < 0.5
    array = values(rng, kind)
    if kind.element in ("i32", "i64"):
        array = rng.integers(-9, 9, kind.shape, kind.dtype)
    if positive and kind.is_quantized:
        return np.maximum(array, kind.params.zero_point + 1).astype(kind.dtype)
    return (np.abs(array) + 1).astype(kind.dtype) if positive else array


def _check(
    operator: str,
    types: list[TensorType],
    result: TensorType,
    arrays: list[Array],
    constants: tuple[Array, ...] = (),
    **options: Any,
) -> None:
    """Imported equals LiteRT, compiled equals imported; floats to a few units in the last place."""
    expected = litert(operator, types, result, arrays, constants=constants, **options)
    model = load_bytes(model_of(operator, types, result, constants, **options), name="m.tflite")
    (meant,) = evaluate_module(model.module, arrays)
    (computed,) = zeropoint.compile(model, cache=False).run(*arrays)
    for actual in (meant, computed):
        assert actual.dtype == expected.dtype
        if result.is_float:
            np.testing.assert_allclose(actual, expected, rtol=2e-6, atol=2e-6)
        else:
            np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize(("operator", "kind"), _pairs(UNARY))
def test_unary(operator: str, kind: str) -> None:
    x = _type(kind)
    options = {"Approximate": True} if operator == "GELU" else {}
    options |= {"Alpha": 0.3} if operator == "LEAKY_RELU" else {}
    _check(operator, [x], x, [_values(x, 1, positive=operator in POSITIVE)], **options)


@pytest.mark.parametrize(("operator", "kind"), _pairs(BINARY))
def test_binary(operator: str, kind: str) -> None:
    a, b = _type(kind), _type(kind, SHAPE if operator in ("ADD_N", "ATAN2") else (4,))
    boolean = "EQUAL" in operator or operator in ("GREATER", "LESS")
    y = TensorType(SHAPE, "i1") if boolean else a
    arrays = [_values(x, i, positive=operator in POSITIVE) for i, x in enumerate((a, b))]
    _check(operator, [a, b], y, arrays)


@pytest.mark.parametrize(("operator", "kind"), _pairs(REDUCTIONS))
def test_reduction(operator: str, kind: str) -> None:
    x = _type(kind)
    if operator == "CUMSUM":
        axis = (np.asarray(1, np.int32),)
        _check(operator, [x], x, [_values(x, 1)], axis, Exclusive=True, Reverse=True)
        return
    axes = (integers([0, -1]),) if operator != "REDUCE_PROD" else (integers([1]),)
    shape = (1, 3, 1) if operator != "REDUCE_PROD" else (2, 1, 4)
    _check(operator, [x], _type(kind, shape), [_values(x, 1)], axes, KeepDims=True)


@pytest.mark.parametrize("operator", ["ADD", "SUB", "MUL"])
def test_fused_activation_of_integers(operator: str) -> None:
    x = TensorType(SHAPE, "i32")
    arrays = [_values(x, 1), _values(x, 2)]
    _check(operator, [x, x], x, arrays, FusedActivationFunction="RELU6")


def test_fused_activation_of_a_quotient() -> None:
    x = TensorType(SHAPE, "f32")
    arrays = [_values(x, 1), _values(x, 2, positive=True)]
    _check("DIV", [x, x], x, arrays, FusedActivationFunction="RELU_N1_TO_1")


@pytest.mark.parametrize("kind", ["f32", "i8"])
def test_mean_of_a_scalar(kind: str) -> None:
    """A scalar has no axes, whatever the file says."""
    x = _type(kind, ())
    _check("MEAN", [x], x, [_values(x, 1)], (integers([0]),), KeepDims=False)


@pytest.mark.parametrize(
    ("operator", "types", "constants", "options", "message"),
    [
        ("PRELU", ["f32", "f32 5"], (), {}, "do not broadcast: 4 against 5"),
        ("LEAKY_RELU", ["i8"], (), {"Alpha": float("nan")}, "alpha must be finite, got nan"),
        ("SUM", ["i8"], (integers([3]),), {}, "axis 3 does not exist in a tensor of rank 3"),
        ("CUMSUM", ["f32"], (integers([0, 1]),), {}, "got 2 axes, expected 1"),
        ("LESS", ["i1", "i1"], (), {}, "input of type i1"),
        ("EQUAL", ["i8", "u8"], (), {}, "quantized i8 mixed with quantized u8"),
    ],
)
def test_faults(
    operator: str, types: list[str], constants: tuple[Array, ...], options: dict[str, Any], message: str
) -> None:
    inputs = [_type(t.split()[0], (5,) if " " in t else SHAPE) for t in types]
    result = TensorType(SHAPE, "i1") if operator in ("LESS", "EQUAL") else inputs[0]
    with pytest.raises(ZeropointError, match=message):
        load_bytes(model_of(operator, inputs, result, constants, **options), name="m.tflite")
