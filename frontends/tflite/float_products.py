"""What recurrent operators on floats compute with: products with weights (of floats, or "hybrid", of
integers), activations, sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...dialect.types import TensorType
from .operator_import import CLAMPS, OperatorImport, kind

INTEGER_WEIGHTS = ("quantized i8",)
_LEAST = np.array([1e-8], np.float32)
"""Added to a variance before the inverse root."""


def floats(*shape: int) -> TensorType:
    return TensorType(shape, "f32")


def product(op: OperatorImport, value: Any, weights: Sequence[int], biases: Sequence[int] = ()) -> Any:
    """Rows of ``value`` times the operator's inputs ``weights``, one below the other, plus ``biases``.

    On weights of integers each row is quantized at run time.
    """
    types = [op.type(index) for index in weights]
    depth = value.type.shape[1]
    for type_ in types:
        if len(type_.shape) != 2 or type_.shape[1] != depth or kind(type_) != kind(types[0]):
            op.fail(f"weights of type {kind(type_)}{list(type_.shape)} do not fit rows of {depth} values")
    array = np.concatenate([op.constant(index, "weights") for index in weights])
    operands = [value, op.constant_value(op.tensor(weights[0]), array, _joined(op, types), "gates")]
    if biases:
        bias = np.concatenate([op.constant(index, "biases").reshape(-1) for index in biases])
        if bias.dtype != np.float32 or bias.size != array.shape[0]:
            op.fail(f"biases: got {bias.size} values of {bias.dtype}, expected {array.shape[0]} of float32")
        operands.append(op.constant_value(op.tensor(biases[0]), bias, floats(bias.size), "gates"))
    result = floats(value.type.shape[0], array.shape[0])
    if kind(types[0]) == "f32":
        return op.build("fully_connected", operands, result, {"clamp": ()})
    attributes = {"clamp": (), "asymmetric": op.option("asymmetric_inputs")}
    return op.build("dynamic_fully_connected", operands, result, attributes)


def _joined(op: OperatorImport, types: Sequence[TensorType]) -> TensorType:
    """The type of weights one below the other: a scale per row, if they are integers."""
    shape = (sum(type_.shape[0] for type_ in types), types[0].shape[1])
    if kind(types[0]) == "f32":
        return TensorType(shape, "f32")
    op.demand_kind(types[0], INTEGER_WEIGHTS, "weights")
    if any(not type_.params.is_per_tensor or type_.params.zero_point for type_ in types):
        op.fail("weights of integers need one scale, and the zero point 0")
    if len(types) == 1:
        return TensorType(shape, types[0].params)
    scales = tuple(scale for type_ in types for scale in [type_.params.scale] * type_.shape[0])
    zeros = (0,) * len(scales)
    return TensorType(shape, replace(types[0].params, scales=scales, zero_points=zeros, axis=0))


def scaled_vector(op: OperatorImport, index: int, count: int) -> Any:
    """An input of ``count`` floats, or of integers that stand for them, as a constant of floats."""
    type_, stored = op.type(index), op.constant(index, "weights").reshape(-1)
    if stored.size != count:
        op.fail(f"input {index}: got {stored.size} values, expected {count}")
    if kind(type_) == "f32":
        return op.constant_value(op.tensor(index), stored, floats(count), "vector")
    op.demand_kind(type_, INTEGER_WEIGHTS, "weights")
    values = stored.astype(np.float32) * np.float32(type_.params.scale)
    return op.constant_value(op.tensor(index), values, floats(count), "vector")


def normalized(op: OperatorImport, value: Any) -> Any:
    """``(x - mean) / sqrt(variance + 1e-8)`` of every row."""
    batch, units = value.type.shape
    mean = {"axes": (1,), "keep_dims": True}
    centred = subtract(op, value, op.build("mean", [value], floats(batch, 1), mean), (batch, units))
    variance = op.build("mean", [multiply(op, centred, centred)], floats(batch, 1), mean)
    least = op.constant_value(op.output(), _LEAST, floats(1), "least variance")
    inverse = op.build("unary", [add(op, variance, least)], floats(batch, 1), {"function": "rsqrt"})
    return multiply(op, centred, inverse)


def subtract(op: OperatorImport, one: Any, other: Any, shape: Sequence[int]) -> Any:
    return op.build("sub", [one, other], floats(*shape), {"clamp": ()})


def add(op: OperatorImport, one: Any, other: Any, clamp: Sequence[float] = ()) -> Any:
    return op.build("add", [one, other], floats(*one.type.shape), {"clamp": tuple(clamp)})


def multiply(op: OperatorImport, one: Any, other: Any) -> Any:
    return op.build("mul", [one, other], floats(*one.type.shape), {"clamp": ()})


def logistic(op: OperatorImport, value: Any) -> Any:
    return op.build("logistic", [value], floats(*value.type.shape), {})


def activated(op: OperatorImport, value: Any) -> Any:
    """The operator's fused activation of a value."""
    activation = op.option("activation")
    type_ = floats(*value.type.shape)
    if activation == "TANH":
        return op.build("tanh", [value], type_, {})
    if activation not in CLAMPS:
        op.unsupported(f"a fused {activation} activation")
    clamp = CLAMPS[activation]
    return op.build("clamp", [value], type_, {"clamp": clamp}) if clamp else value
