"""Operators that choose, order or convert values: SELECT, SELECT_V2, TOPK_V2, ARG_MAX, ARG_MIN, CAST."""

from __future__ import annotations

from ...dialect.qnn.shapes import broadcast_shape, gather_shape, reduce_shape
from ...dialect.types import TensorType
from .operator_import import FLOAT, MOVABLE, PLAIN, Q8, Q16, OperatorImport
from .registry import importer


@importer("SELECT", "SELECT_V2")
def select(op: OperatorImport) -> None:
    """select; SELECT takes equal shapes and a condition per row, SELECT_V2 broadcasts."""
    op.demand_counts((3,))
    op.demand_kind(op.type(0), {"i1"}, "condition")
    op.demand_same_kind(MOVABLE, (1, 2))
    condition, x, y = (type_.shape for type_ in op.input_types)
    value = op.value(0)
    if op.name == "SELECT":
        if x != y or condition not in (x, x[:1], ()):
            op.fail(f"shapes {list(condition)}, {list(x)} and {list(y)} do not fit")
        if condition != x and condition:
            condition = (*condition, *(1,) * (len(x) - 1))
            value = op.build("reshape", [value], TensorType(condition, "i1"), {})
    shape = op.infer(broadcast_shape, op.infer(broadcast_shape, x, y), condition)
    op.emit("select", [op.value(1), op.value(2), value], shape)


@importer("TOPK_V2")
def top_k(op: OperatorImport) -> None:
    """Indices of the largest values of each row, then the values at them."""
    op.demand_counts((2,), 2)
    op.demand_kind(op.type(0), FLOAT | Q8 | Q16 | (PLAIN | {"i8", "u8", "i16"}))
    op.demand_kind(op.output(1).type, {"i32"}, "indices")
    x, counts = op.type(0), op.integers(1, "counts")
    if len(counts) != 1 or not x.shape or not 0 <= counts[0] <= x.shape[-1]:
        op.fail(f"{list(counts)} largest values of rows of shape {list(x.shape)}")
    indices = op.result_type((*x.shape[:-1], counts[0]), 1)
    places = op.build("top_k", [op.value(0)], indices, {})
    op.bind(places, indices, 1)
    axis = len(x.shape) - 1
    deep = TensorType((*indices.shape, 1), indices.element)
    places = op.build("reshape", [places], deep, {})
    shape = gather_shape(x.shape, deep.shape, axis, axis)
    op.emit("gather", [op.value(0), places], shape, {"axis": axis, "batch_dims": axis})


@importer("ARG_MAX", "ARG_MIN")
def arg_extreme(op: OperatorImport) -> None:
    """arg_max or arg_min along a constant axis; the output's type says whether indices are i32 or i64."""
    op.demand_counts((2,))
    x = op.type(0)
    op.demand_kind(x, FLOAT | Q8 | Q16 | PLAIN | {"i8", "u8"})
    axes = op.integers(1, "axes")
    if len(axes) != 1:
        op.fail(f"got {len(axes)} axes, expected 1")
    axis = op.axis(axes[0], len(x.shape))
    if x.shape[axis] == 0:
        op.fail(f"dimension {axis} of shape {list(x.shape)} is empty")
    index_type = {"INT32": "i32", "INT64": "i64"}.get(op.output().type_name)
    if index_type is None:
        op.fail(f"output type {op.output().type_name}, expected INT32 or INT64")
    name = "arg_max" if op.name == "ARG_MAX" else "arg_min"
    shape = reduce_shape(x.shape, (axis,), keep_dims=False)
    op.emit(name, [op.value(0)], shape, {"axis": axis}, element=index_type)


@importer("CAST")
def cast(op: OperatorImport) -> None:
    """Stored values in the output's type, as LiteRT does: scales on either side mean nothing."""
    op.demand_counts((1,))
    op.demand_kind(op.type(0), MOVABLE | {"quantized i4"})
    op.demand_kind(op.output().type, MOVABLE, "result")
    op.emit("cast", [op.value(0)], op.type(0).shape)
