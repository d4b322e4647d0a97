"""Pooling over windows of height and width."""

from typing import Any

from ..mlir import ext
from .core import QnnOp


class _PoolOp(QnnOp):
    result: ext.Result[Any]
    input: ext.Operand[Any]
    window: Any = ext.attribute(kw_only=True)
    strides: Any = ext.attribute(kw_only=True)
    padding: Any = ext.attribute(kw_only=True)
    clamp: Any = ext.attribute(kw_only=True)


class MaxPool2dOp(_PoolOp, name="max_pool2d", traits=[ext.Pure]):
    """Largest value of every window."""


class AvgPool2dOp(_PoolOp, name="avg_pool2d", traits=[ext.Pure]):
    """Mean of every window."""
