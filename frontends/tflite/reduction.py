"""MEAN and ARG_MAX."""

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


@importer("ARG_MAX")
def arg_max(op: OperatorImport) -> None:
    """arg_max along a constant axis; the output tensor's type says whether indices are i32 or i64."""
    op.demand_counts((2,))
    x = op.type(0)
    op.demand_kind(x, FLOAT | Q8)
    axes = op.integers(1, "axes")
    if len(axes) != 1:
        op.fail(f"got {len(axes)} axes, expected 1")
    axis = op.axis(axes[0], len(x.shape))
    index_type = {"INT32": "i32", "INT64": "i64"}.get(op.output().type_name)
    if index_type is None:
        op.fail(f"output type {op.output().type_name}, expected INT32 or INT64")
    op.emit(
        "arg_max", [op.value(0)], reduce_shape(x.shape, (axis,), False), {"axis": axis}, element=index_type
    )
