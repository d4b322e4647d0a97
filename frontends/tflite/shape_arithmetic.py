"""Operators that compute shapes: in models with a dynamic batch, the graph computes a RESHAPE's new shape.

All shapes are known at import, so these become constants; on values that are not, they are not supported.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .operator_import import PLAIN, OperatorImport
from .registry import importer

NOT_A_SHAPE = "this operator is supported on constants only yet"


@importer("SHAPE")
def shape_of(op: OperatorImport) -> None:
    op.demand_counts((1,))
    op.demand_kind(op.output().type, PLAIN, "result")
    op.emit_constant(np.asarray(op.type(0).shape, op.output().type.dtype))


@importer("GATHER")
def gather(op: OperatorImport) -> None:
    """Elements of a constant vector by constant indices."""
    op.demand_counts((2,))
    values = _constant_integers(op)
    indices = np.asarray(op.integers(1, "indices")).reshape(op.type(1).shape)
    if values.ndim != 1 or op.option("batch_dims"):
        op.unsupported(NOT_A_SHAPE)
    op.axis(op.option("axis"), 1)
    if indices.size and not 0 <= indices.min() <= indices.max() < values.size:
        op.fail(f"indices {indices.tolist()} lie outside a vector of {values.size} elements")
    op.emit_constant(np.asarray(values[indices]))


@importer("REDUCE_PROD")
def reduce_prod(op: OperatorImport) -> None:
    """The product of a constant over constant axes."""
    op.demand_counts((2,))
    values = _constant_integers(op)
    axes = tuple({op.axis(axis, values.ndim) for axis in op.integers(1, "axes")})
    product = values.prod(axis=axes, keepdims=op.option("keep_dims"), dtype=values.dtype)
    op.emit_constant(np.asarray(product))


def _constant_integers(op: OperatorImport) -> npt.NDArray[np.generic]:
    """The first input, which must be constant integers of the result's type."""
    if op.demand_same_kind(PLAIN) not in PLAIN or not op.is_constant(0):
        op.unsupported(NOT_A_SHAPE)
    return op.constant(0, "values")
