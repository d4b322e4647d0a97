"""Ops that move values without computing: concat, reshape, transpose, pad, slice."""

from collections.abc import Sequence
from typing import Any

from ..mlir import ext
from .core import QnnOp


class ConcatOp(QnnOp, name="concat", traits=[ext.Pure]):
    """Tensors one behind the other along an axis."""

    result: ext.Result[Any]
    inputs: Sequence[ext.Operand[Any]]
    axis: Any = ext.attribute(kw_only=True)


class ReshapeOp(QnnOp, name="reshape", traits=[ext.Pure]):
    """The same values in row-major order under another shape."""

    result: ext.Result[Any]
    input: ext.Operand[Any]


class TransposeOp(QnnOp, name="transpose", traits=[ext.Pure]):
    """Dimensions in another order."""

    result: ext.Result[Any]
    input: ext.Operand[Any]
    permutation: Any = ext.attribute(kw_only=True)


class PadOp(QnnOp, name="pad", traits=[ext.Pure]):
    """A border of one constant value."""

    result: ext.Result[Any]
    input: ext.Operand[Any]
    low: Any = ext.attribute(kw_only=True)
    high: Any = ext.attribute(kw_only=True)
    value: Any = ext.attribute(kw_only=True)


class SliceOp(QnnOp, name="slice", traits=[ext.Pure]):
    """Every ``strides[d]``-th element from ``offsets[d]`` on, ``sizes[d]`` of them."""

    result: ext.Result[Any]
    input: ext.Operand[Any]
    offsets: Any = ext.attribute(kw_only=True)
    sizes: Any = ext.attribute(kw_only=True)
    strides: Any = ext.attribute(kw_only=True)
