"""Activation functions: clamp, logistic, tanh, softmax."""

from typing import Any

from ..mlir import ext
from .core import QnnOp


class ClampOp(QnnOp, name="clamp", traits=[ext.Pure]):
    """Bring to the result's parameters, then limit: the RELU family."""

    result: ext.Result[Any]
    input: ext.Operand[Any]
    clamp: Any = ext.attribute(kw_only=True)


class LogisticOp(QnnOp, name="logistic", traits=[ext.Pure]):
    """The logistic function."""

    result: ext.Result[Any]
    input: ext.Operand[Any]


class TanhOp(QnnOp, name="tanh", traits=[ext.Pure]):
    """The hyperbolic tangent."""

    result: ext.Result[Any]
    input: ext.Operand[Any]


class SoftmaxOp(QnnOp, name="softmax", traits=[ext.Pure]):
    """Softmax along an axis."""

    result: ext.Result[Any]
    input: ext.Operand[Any]
    beta: Any = ext.attribute(kw_only=True)
    axis: Any = ext.attribute(kw_only=True)
