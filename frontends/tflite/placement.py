"""Operators that put values at places of a tensor: MATRIX_DIAG, MATRIX_SET_DIAG, SPARSE_TO_DENSE."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dialect.types import TensorType
from .index_ops import check_range, index_value
from .operator_import import MOVABLE, OperatorImport
from .registry import importer


@importer("MATRIX_DIAG")
def matrix_diag(op: OperatorImport) -> None:
    """Each row becomes the diagonal of a matrix of zeros."""
    op.demand_counts((1,))
    op.demand_same_kind(MOVABLE)
    x = op.type(0)
    if not x.shape:
        op.fail("a scalar has no rows")
    shape = (*x.shape, x.shape[-1])
    result = op.result_type(shape)
    zero = np.asarray(x.params.zero_point if x.is_quantized else 0, x.dtype)
    nothing = op.constant_value(op.output(), zero, TensorType((), x.element), "zero")
    column = op.build("reshape", [op.value(0)], TensorType((*x.shape, 1), x.element), {})
    operands = [column, nothing, _diagonal(op, x.shape[-1], x.shape[-1])]
    op.bind(op.build("select", operands, result, {}), result)


@importer("MATRIX_SET_DIAG")
def matrix_set_diag(op: OperatorImport) -> None:
    """The diagonals of matrices are replaced."""
    op.demand_counts((2,))
    op.demand_same_kind(MOVABLE, (0, 1))
    shape, diagonal = op.type(0).shape, op.type(1)
    if len(shape) < 2 or diagonal.shape != (*shape[:-2], min(shape[-2:])):
        op.fail(f"diagonals of shape {list(diagonal.shape)} do not fit matrices of shape {list(shape)}")
    rows, columns = shape[-2:]
    laid_out = (*shape[:-2], rows, 1) if rows <= columns else (*shape[:-2], 1, columns)
    value = op.build("reshape", [op.value(1)], TensorType(laid_out, diagonal.element), {})
    op.emit("select", [value, op.value(0), _diagonal(op, rows, columns)], shape)


def _diagonal(op: OperatorImport, rows: int, columns: int) -> Any:
    """The constant condition that is true on the diagonal."""
    type_ = TensorType((rows, columns), "i1")
    op.demand_memory(type_.shape, type_)
    return op.constant_value(op.output(), np.eye(rows, columns, dtype=bool), type_, "diagonal")


@importer("SPARSE_TO_DENSE")
def sparse_to_dense(op: OperatorImport) -> None:
    """A value at each of some different places of a constant shape, a default elsewhere."""
    op.demand_counts((4,))
    op.demand_same_kind(MOVABLE - {"f16", "f64"}, (2, 3))
    shape, indices, values = op.integers(1, "shapes"), op.type(0), op.type(2)
    if not shape or min(shape) < 1:
        op.fail(f"the result's shape is {list(shape)}, expected positive extents")
    depth, count = len(shape), indices.elements // len(shape)
    if len(indices.shape) > 2 or count * depth != indices.elements:
        op.fail(f"indices of shape {list(indices.shape)} do not fit a result of shape {list(shape)}")
    if op.type(3).elements != 1 or values.shape not in ((), (1,), (count,)):
        op.fail(f"values of shape {list(values.shape)} do not fit {count} places")
    result = op.result_type(shape)
    check_range(op, 0, shape)
    places, _ = index_value(op, 0, (count, depth))
    if values.shape != (count,):
        single = op.build("reshape", [op.value(2)], TensorType((), values.element), {})
        updates = op.build("broadcast", [single], TensorType((count,), values.element), {})
    else:
        updates = op.value(2)
    flags = TensorType((count,), "i1")
    taken = op.constant_value(op.output(), np.ones(count, bool), flags, "taken")
    where = op.build("scatter_nd", [taken, places], TensorType(shape, "i1"), {})
    dense = op.build("scatter_nd", [updates, places], TensorType(shape, values.element), {})
    default = op.build("reshape", [op.value(3)], TensorType((), op.type(3).element), {})
    op.bind(op.build("select", [dense, default, where], result, {}), result)
