"""Ops on two tensors, element by element, with numpy broadcasting."""

from typing import Any

from ..mlir import ext
from .core import QnnOp


class _BinaryOp(QnnOp):
    result: ext.Result[Any]
    lhs: ext.Operand[Any]
    rhs: ext.Operand[Any]
    clamp: Any = ext.attribute(kw_only=True)


class AddOp(_BinaryOp, name="add", traits=[ext.Pure]):
    """Sum of two tensors."""


class SubOp(_BinaryOp, name="sub", traits=[ext.Pure]):
    """Difference of two tensors."""


class MulOp(_BinaryOp, name="mul", traits=[ext.Pure]):
    """Product of two tensors."""
