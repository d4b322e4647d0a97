"""MEAN."""

from __future__ import annotations

from ...dialect.qnn.shapes import reduce_shape
from .operator_import import FLOAT, Q8, Q16, OperatorImport
from .registry import importer


@importer("MEAN")
def mean(op: OperatorImport) -> None:
    """mean over constant axes; negative ones count from the end, repeated ones count once."""
    op.demand_counts((2,))
    op.demand_same_kind(FLOAT | Q8 | Q16)
    x = op.type(0)
    axes = sorted({op.axis(axis, len(x.shape)) for axis in op.integers(1, "axes")})
    if not axes:
        op.unsupported("a mean over no axes")
    keep_dims = op.option("keep_dims")
    attributes = {"axes": tuple(axes), "keep_dims": keep_dims}
    op.emit("mean", [op.value(0)], reduce_shape(x.shape, axes, keep_dims), attributes)
