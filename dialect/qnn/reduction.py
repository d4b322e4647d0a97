"""Ops that reduce whole axes: mean and arg_max."""

from typing import Any

from ..mlir import ext
from .core import QnnOp


class MeanOp(QnnOp, name="mean", traits=[ext.Pure]):
    """Mean over some axes."""

    result: ext.Result[Any]
    input: ext.Operand[Any]
    axes: Any = ext.attribute(kw_only=True)
    keep_dims: Any = ext.attribute(kw_only=True)


class ArgMaxOp(QnnOp, name="arg_max", traits=[ext.Pure]):
    """Index of the first largest value along an axis."""

    result: ext.Result[Any]
    input: ext.Operand[Any]
    axis: Any = ext.attribute(kw_only=True)
