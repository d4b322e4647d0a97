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
