"""Ops whose places are values: gather, scatter_nd, dynamic_slice, dynamic_update_slice, one_hot.

An index outside its dimension never reaches memory that is not the tensor's: gather and the dynamic slices
take the nearest place that exists, scatter_nd and one_hot write nothing for it.
"""

from collections.abc import Iterator
from typing import Any

from ..mlir import ext
from ..types import TensorType
from .constraints import axis_in_range, element_type, equal_shape, movable_types, value_count
from .core import QnnOp
from .shapes import gather_shape, same_extent

INDEX_ELEMENTS = ("i16", "i32", "i64")


def index_type(number: str, label: str, type_: TensorType) -> Iterator[str]:
    """A tensor of indices holds ordinary signed integers."""
    yield from element_type(number, label, type_, type_.element in INDEX_ELEMENTS, "i16, i32 or i64")


class GatherOp(QnnOp, name="gather", traits=[ext.Pure]):
    """Parts of the input at places that a tensor of indices names, each by ``depth`` coordinates.

    ``result[p, q, s] = input[p, indices[p[:batch_dims], q, :], s]``: the coordinates are those of the input's
    dimensions ``axis`` ... ``axis + depth - 1``, limited to what exists

    Example: ``"qnn.gather"(%x, %i) {axis = 1 : i64, batch_dims = 0 : i64}
    : (tensor<2x8x3x!q>, tensor<5x1xi32>) -> tensor<2x5x3x!q>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]
    indices: ext.Operand[Any]
    axis: Any = ext.attribute(kw_only=True)
    batch_dims: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) indices are ordinary integers of rank 1 + batch_dims at least; their last extent, the depth,
        is at least 1.
        (C2) the input has the dimensions axis ... axis + depth - 1, none of them empty, behind the
        batch_dims that it shares with the indices.
        (C3) the result's shape follows.
        (C4) input and result are both quantized per-tensor, or have one element type.
        """
        (source, indices), result = self.input_types, self.result_type
        axis, batch_dims = self.plain("axis"), self.plain("batch_dims")
        yield from index_type("C1", "indices", indices)
        if not 0 <= batch_dims < len(indices.shape) or indices.shape[-1] < 1:
            yield (
                f"(C1) indices shape: got {list(indices.shape)}, "
                f"expected {batch_dims} batch dimensions and a depth of at least 1"
            )
        depth = indices.shape[-1]
        if not batch_dims <= axis <= len(source.shape) - depth:
            yield (
                f"(C2) axis: got {axis}, expected {batch_dims} to {len(source.shape) - depth} for a depth of "
                f"{depth} in a tensor of rank {len(source.shape)}"
            )
        yield from equal_shape("C2", "indices batch", indices.shape[:batch_dims], source.shape[:batch_dims])
        if 0 in source.shape[axis : axis + depth]:
            yield f"(C2) input shape: got {list(source.shape)}, which has nothing to gather"
        expected = gather_shape(source.shape, indices.shape, axis, batch_dims)
        yield from equal_shape("C3", "result", result.shape, expected)
        yield from movable_types("C4", {"input": source, "result": result})


class ScatterNdOp(QnnOp, name="scatter_nd", traits=[ext.Pure]):
    """Real zeros, to which every update is added at the place its indices name.

    ``result[i, s] = sum(updates[q, s] where indices[q, :] = i)``; indices outside of the result count for
    nothing. Integers wrap around, quantized values saturate, of booleans one is enough.

    Example: ``"qnn.scatter_nd"(%u, %i) : (tensor<5x3xf32>, tensor<5x1xi32>) -> tensor<8x3xf32>``
    """

    result: ext.Result[Any]
    updates: ext.Operand[Any]
    indices: ext.Operand[Any]

    def check(self) -> Iterator[str]:
        """(C1) indices are ordinary integers of rank at least 1; their last extent, the depth, is 1 to the
        result's rank.
        (C2) the updates have the shape of the indices without the depth, then that of the result without
        its first depth dimensions.
        (C3) updates and result have one element type.
        """
        (updates, indices), result = self.input_types, self.result_type
        yield from index_type("C1", "indices", indices)
        if not indices.shape or not 1 <= indices.shape[-1] <= len(result.shape):
            yield (
                f"(C1) indices shape: got {list(indices.shape)}, "
                f"expected a depth of 1 to {len(result.shape)}, the result's rank"
            )
        expected = (*indices.shape[:-1], *result.shape[indices.shape[-1] :])
        yield from equal_shape("C2", "updates", updates.shape, expected)
        yield from movable_types("C3", {"updates": updates, "result": result})
        if updates.element != result.element:
            yield "(C3) updates and result must have the same parameters"


class DynamicSliceOp(QnnOp, name="dynamic_slice", traits=[ext.Pure]):
    """A part of the input, as large as the result, from a place that is a value.

    ``result[i] = input[start + i]``, ``start = min(max(begin, 0), input shape - result shape)``

    Example: ``"qnn.dynamic_slice"(%x, %b) : (tensor<8x3x!q>, tensor<2xi32>) -> tensor<2x3x!q>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]
    begin: ext.Operand[Any]

    def check(self) -> Iterator[str]:
        """(C1) begin are ordinary integers, one per dimension of the input.
        (C2) the result fits into the input.
        (C3) input and result are both quantized per-tensor, or have one element type.
        """
        (source, begin), result = self.input_types, self.result_type
        yield from _fits_inside(source, begin, result, "result")
        yield from movable_types("C3", {"input": source, "result": result})


class DynamicUpdateSliceOp(QnnOp, name="dynamic_update_slice", traits=[ext.Pure]):
    """The input, in which a part from a place that is a value on is the update.

    ``result[start + i] = update[i]``, ``result[j] = input[j]`` elsewhere, ``start = min(max(begin, 0), input
    shape - update shape)``

    Example: ``"qnn.dynamic_update_slice"(%x, %u, %b)
    : (tensor<8x3x!q>, tensor<2x3x!q>, tensor<2xi32>) -> tensor<8x3x!q>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]
    update: ext.Operand[Any]
    begin: ext.Operand[Any]

    def check(self) -> Iterator[str]:
        """(C1) begin are ordinary integers, one per dimension of the input.
        (C2) the update fits into the input, and the result has the input's shape.
        (C3) input, update and result are all quantized per-tensor, or have one element type.
        """
        (source, update, begin), result = self.input_types, self.result_type
        yield from _fits_inside(source, begin, update, "update")
        yield from equal_shape("C2", "result", result.shape, source.shape)
        yield from movable_types("C3", {"input": source, "update": update, "result": result})


def _fits_inside(source: TensorType, begin: TensorType, part: TensorType, label: str) -> Iterator[str]:
    rank = len(source.shape)
    yield from index_type("C1", "begin", begin)
    yield from equal_shape("C1", "begin", begin.shape, (rank,))
    yield from value_count("C2", f"{label} shape", part.shape, rank)
    for extent, inside in zip(source.shape, part.shape, strict=True):
        if inside > extent and not same_extent(inside, extent):
            yield (
                f"(C2) {label} shape: got {list(part.shape)}, which does not fit into {list(source.shape)}"
            )


class OneHotOp(QnnOp, name="one_hot", traits=[ext.Pure]):
    """A new dimension in which the place that an index names has one value, all others another.

    ``result[p, k, q] = on_value if indices[p, q] = k else off_value``, with ``k`` the dimension ``axis``

    Example: ``"qnn.one_hot"(%on, %off, %i) {axis = 1 : i64}
    : (tensor<f32>, tensor<f32>, tensor<4xi32>) -> tensor<4x10xf32>``
    """

    result: ext.Result[Any]
    on_value: ext.Operand[Any]
    off_value: ext.Operand[Any]
    indices: ext.Operand[Any]
    axis: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) on_value and off_value have no dimensions.
        (C2) axis is a dimension of the result, whose shape is that of the indices without it.
        (C3) indices are ordinary integers.
        (C4) on_value, off_value and result are all quantized per-tensor, or have one element type.
        """
        (on_value, off_value, indices), result, axis = self.input_types, self.result_type, self.plain("axis")
        for label, value in (("on_value", on_value), ("off_value", off_value)):
            yield from equal_shape("C1", label, value.shape, ())
        yield from axis_in_range("C2", "axis", axis, len(result.shape))
        rest = (*result.shape[:axis], *result.shape[axis + 1 :])
        yield from equal_shape("C2", "indices", indices.shape, rest)
        yield from index_type("C3", "indices", indices)
        yield from movable_types("C4", {"on_value": on_value, "off_value": off_value, "result": result})
