"""Operators whose places are values: GATHER, GATHER_ND, EMBEDDING_LOOKUP, SCATTER_ND, ONE_HOT,
DYNAMIC_UPDATE_SLICE, REVERSE_SEQUENCE.

Constant indices are checked here. Those that the graph computes cannot be: LiteRT stops with an error where
one lies outside, compiled code takes the nearest place (see ``qnn.gather``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...dialect.qnn.shapes import gather_shape
from ...dialect.types import TensorType
from .operator_import import MOVABLE, Q8, OperatorImport, kind
from .registry import importer

INDICES = frozenset({"i16", "i32", "i64"})


def index_value(op: OperatorImport, index: int, shape: Sequence[int] | None = None) -> tuple[Any, TensorType]:
    """An input of indices, perhaps in another shape; a scale that the file gives them means nothing."""
    type_, value = op.type(index), op.value(index)
    if kind(type_) == "quantized i32":
        type_ = TensorType(type_.shape, "i32")
        value = op.build("cast", [value], type_, {})
    op.demand_kind(type_, INDICES, "indices")
    wanted = tuple(type_.shape if shape is None else shape)
    if wanted != type_.shape:
        type_ = TensorType(wanted, type_.element)
        value = op.build("reshape", [value], type_, {})
    return value, type_


def check_range(op: OperatorImport, index: int, extents: Sequence[int]) -> None:
    """Constant indices lie inside ``extents``, the last dimension naming one of them each time."""
    if not op.is_constant(index):
        return
    values = op.constant(index, "indices").astype(np.int64).reshape(-1, len(extents))
    for k, extent in enumerate(extents):
        wrong = values[:, k][(values[:, k] < 0) | (values[:, k] >= extent)]
        if wrong.size:
            op.fail(f"index {wrong[0]} lies outside an extent of {extent}")


@importer("GATHER")
def gather(op: OperatorImport) -> None:
    """gather along one axis; a single constant index is a slice."""
    op.demand_counts((2,))
    op.demand_same_kind(MOVABLE)
    shape, indices = op.type(0).shape, op.type(1).shape
    axis = op.axis(op.option("axis"), len(shape))
    batch_dims = op.option("batch_dims")
    batch_dims += len(indices) if batch_dims < 0 else 0
    if not 0 <= batch_dims <= min(axis, len(indices)) or shape[:batch_dims] != indices[:batch_dims]:
        op.fail(
            f"{batch_dims} batch dimensions do not fit shapes {list(shape)} and {list(indices)} "
            f"gathered along dimension {axis}"
        )
    check_range(op, 1, (shape[axis],))
    if op.is_constant(1) and not indices:
        start = int(op.constant(1, "indices"))
        offsets = tuple(start if d == axis else 0 for d in range(len(shape)))
        sizes = (*shape[:axis], 1, *shape[axis + 1 :])
        attributes = {"offsets": offsets, "sizes": sizes, "strides": (1,) * len(shape)}
        part = op.build("slice", [op.value(0)], TensorType(sizes, op.type(0).element), attributes)
        op.emit("reshape", [part], (*shape[:axis], *shape[axis + 1 :]))
        return
    _emit_gather(op, op.value(0), (*indices, 1), axis, batch_dims)


def _emit_gather(
    op: OperatorImport, source: Any, indices: Sequence[int], axis: int = 0, batch_dims: int = 0
) -> None:
    """gather by the second input in the shape ``indices``, whose last extent is the depth."""
    value, type_ = index_value(op, 1, indices)
    shape = gather_shape(op.type(0).shape, type_.shape, axis, batch_dims)
    op.emit("gather", [source, value], shape, {"axis": axis, "batch_dims": batch_dims})


@importer("GATHER_ND")
def gather_nd(op: OperatorImport) -> None:
    """gather by several coordinates from the first dimension on."""
    op.demand_counts((2,))
    op.demand_same_kind(MOVABLE)
    shape, indices = op.type(0).shape, op.type(1).shape
    if not indices or not 1 <= indices[-1] <= len(shape):
        op.fail(f"indices of shape {list(indices)} do not fit shape {list(shape)}")
    check_range(op, 1, shape[: indices[-1]])
    _emit_gather(op, op.value(0), indices)


@importer("EMBEDDING_LOOKUP")
def embedding_lookup(op: OperatorImport) -> None:
    """Rows of the second input; quantized ones become reals where the result is."""
    op.demand_counts((2,))
    x = op.type(1)
    if not x.shape:
        op.fail("the values are a scalar, expected rows")
    indices, type_ = index_value(op, 0, (*op.type(0).shape, 1))
    if op.is_constant(0):
        rows = op.constant(0, "indices")
        if rows.size and not 0 <= rows.min() <= rows.max() < x.shape[0]:
            op.fail(f"indices {rows.tolist()} lie outside of {x.shape[0]} rows")
    shape = gather_shape(x.shape, type_.shape, 0, 0)
    attributes = {"axis": 0, "batch_dims": 0}
    if kind(x) == kind(op.output().type):
        op.demand_same_kind(MOVABLE, (1,))
        op.emit("gather", [op.value(1), indices], shape, attributes)
        return
    op.demand_kind(x, Q8 | {"quantized i4"}, "values")
    op.demand_kind(op.output().type, {"f32"}, "result")
    if x.params.is_per_tensor:
        rows_stored = op.build("gather", [op.value(1), indices], TensorType(shape, x.element), attributes)
        op.emit("dequantize", [rows_stored], shape)
        return
    reals = op.build("dequantize", [op.value(1)], TensorType(x.shape, "f32"), {})
    op.emit("gather", [reals, indices], shape, attributes)


@importer("SCATTER_ND")
def scatter_nd(op: OperatorImport) -> None:
    """scatter_nd into a constant shape."""
    op.demand_counts((3,))
    op.demand_kind(op.type(1), MOVABLE - {"f16", "f64"})
    shape, indices, updates = op.integers(2, "shapes"), op.type(0).shape, op.type(1)
    if not indices or not 1 <= indices[-1] <= len(shape):
        op.fail(f"indices of shape {list(indices)} do not fit shape {list(shape)}")
    expected = (*indices[:-1], *shape[indices[-1] :])
    if updates.shape != expected:
        op.fail(f"updates have shape {list(updates.shape)}, expected {list(expected)}")
    op.demand_positive(extents=min(shape))
    check_range(op, 0, shape[: indices[-1]])
    value, _ = index_value(op, 0)
    result = op.result_type(shape)
    if result.element != updates.element:
        op.unsupported("updates and result have different types or parameters")
    op.bind(op.build("scatter_nd", [op.value(1), value], result, {}), result)


@importer("ONE_HOT")
def one_hot(op: OperatorImport) -> None:
    """one_hot of a constant depth; axis -1 is the last one."""
    op.demand_counts((4,))
    op.demand_same_kind(MOVABLE, (2, 3))
    depths, indices = op.integers(1, "depths"), op.type(0).shape
    if len(depths) != 1 or op.type(2).elements != 1 or op.type(3).elements != 1:
        op.fail("depth, on value and off value must be one number each")
    op.demand_positive(depth=depths[0])
    axis = op.axis(op.option("axis"), len(indices) + 1)
    on_off = [op.build("reshape", [op.value(i)], TensorType((), op.type(i).element), {}) for i in (2, 3)]
    shape = (*indices[:axis], depths[0], *indices[axis:])
    op.emit("one_hot", [*on_off, index_value(op, 0)[0]], shape, {"axis": axis})


@importer("DYNAMIC_UPDATE_SLICE")
def dynamic_update_slice(op: OperatorImport) -> None:
    op.demand_counts((3,))
    op.demand_same_kind(MOVABLE, (0, 1))
    shape, part = op.type(0).shape, op.type(1).shape
    if len(part) != len(shape) or any(inside > extent for inside, extent in zip(part, shape, strict=True)):
        op.fail(f"an update of shape {list(part)} does not fit into shape {list(shape)}")
    if op.type(2).elements != len(shape):
        op.fail(f"got {op.type(2).elements} start indices, expected {len(shape)}")
    begin, _ = index_value(op, 2, (len(shape),))
    op.emit("dynamic_update_slice", [op.value(0), op.value(1), begin], shape)


@importer("REVERSE_SEQUENCE")
def reverse_sequence(op: OperatorImport) -> None:
    op.demand_counts((2,))
    op.demand_same_kind(MOVABLE)
    shape = op.type(0).shape
    axis, batch_axis = (op.axis(op.option(name), len(shape)) for name in ("seq_dim", "batch_dim"))
    if axis == batch_axis or op.type(1).shape != (shape[batch_axis],):
        op.fail(
            f"lengths of shape {list(op.type(1).shape)} do not fit shape {list(shape)} "
            f"with sequences along {axis} and batches along {batch_axis}"
        )
    lengths, _ = index_value(op, 1)
    if op.is_constant(1) and not 0 <= op.constant(1, "lengths").max() <= shape[axis]:
        op.fail(f"lengths {op.constant(1, 'lengths').tolist()} exceed an extent of {shape[axis]}")
    op.emit("reverse_sequence", [op.value(0), lengths], shape, {"axis": axis, "batch_axis": batch_axis})
