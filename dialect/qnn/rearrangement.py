"""Ops that choose which value goes where, without computing: broadcast, reverse, reverse_sequence, select;
and cast, which changes the type of stored values.
"""

from collections.abc import Iterator
from typing import Any

from ..mlir import ext
from .constraints import axis_in_range, element_type, equal_shape, inferred_shape, movable_types, per_tensor
from .core import QnnOp
from .indexing import index_type
from .shapes import broadcast_shape


class BroadcastOp(QnnOp, name="broadcast", traits=[ext.Pure]):
    """The input repeated along its dimensions of extent 1 and along new leading ones, as numpy does.

    ``result[..., i, ...] = input[..., 0 or i, ...]``

    Example: ``"qnn.broadcast"(%x) : (tensor<3x1x!q>) -> tensor<2x3x4x!q>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]

    def check(self) -> Iterator[str]:
        """(C1) the input broadcasts to the result's shape.
        (C2) input and result are both quantized per-tensor, or have one element type.
        """
        (source,), result = self.input_types, self.result_type
        yield from inferred_shape("C1", result.shape, lambda: broadcast_shape(source.shape, result.shape))
        yield from movable_types("C2", {"input": source, "result": result})


class ReverseOp(QnnOp, name="reverse", traits=[ext.Pure]):
    """The values in reverse order along some axes.

    ``result[..., i, ...] = input[..., extent - 1 - i, ...]`` for every axis

    Example: ``"qnn.reverse"(%x) {axes = array<i64: 1>} : (tensor<2x3x!q>) -> tensor<2x3x!q>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]
    axes: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) axes are different dimensions of the input.
        (C2) equal shapes.
        (C3) input and result are both quantized per-tensor, or have one element type.
        """
        (source,), result, axes = self.input_types, self.result_type, self.plain("axes")
        for axis in axes:
            yield from axis_in_range("C1", "axes", axis, len(source.shape))
        if len(set(axes)) != len(axes):
            yield f"(C1) axes: got {list(axes)}, expected different ones"
        yield from equal_shape("C2", "result", result.shape, source.shape)
        yield from movable_types("C3", {"input": source, "result": result})


class ReverseSequenceOp(QnnOp, name="reverse_sequence", traits=[ext.Pure]):
    """The first values of every batch in reverse order along an axis; how many, is a value of the batch.

    ``result[b, i] = input[b, lengths[b] - 1 - i]`` if ``i < lengths[b]``, else ``input[b, i]``; ``b`` is an
    index of ``batch_axis``, ``i`` one of ``axis``

    Example: ``"qnn.reverse_sequence"(%x, %n) {axis = 1 : i64, batch_axis = 0 : i64}
    : (tensor<2x5x3x!q>, tensor<2xi32>) -> tensor<2x5x3x!q>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]
    lengths: ext.Operand[Any]
    axis: Any = ext.attribute(kw_only=True)
    batch_axis: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) axis and batch_axis are different dimensions of the input.
        (C2) lengths are ordinary integers, one per batch.
        (C3) equal shapes.
        (C4) input and result are both quantized per-tensor, or have one element type.
        """
        (source, lengths), result = self.input_types, self.result_type
        axis, batch_axis = self.plain("axis"), self.plain("batch_axis")
        yield from axis_in_range("C1", "axis", axis, len(source.shape))
        yield from axis_in_range("C1", "batch_axis", batch_axis, len(source.shape))
        if axis == batch_axis:
            yield f"(C1) axis and batch_axis: got {axis} twice, expected different ones"
        yield from index_type("C2", "lengths", lengths)
        yield from equal_shape("C2", "lengths", lengths.shape, (source.shape[batch_axis],))
        yield from equal_shape("C3", "result", result.shape, source.shape)
        yield from movable_types("C4", {"input": source, "result": result})


class SelectOp(QnnOp, name="select", traits=[ext.Pure]):
    """One of two values, as a condition says, each broadcast as numpy does.

    ``result = on_true if condition else on_false``

    Example: ``"qnn.select"(%a, %b, %c) : (tensor<2x3x!q>, tensor<3x!q>, tensor<2x1xi1>) -> tensor<2x3x!q>``
    """

    result: ext.Result[Any]
    on_true: ext.Operand[Any]
    on_false: ext.Operand[Any]
    condition: ext.Operand[Any]

    def check(self) -> Iterator[str]:
        """(C1) the condition is i1.
        (C2) the result has the shape that the operands broadcast to.
        (C3) on_true, on_false and result are all quantized per-tensor, or have one element type.
        """
        (on_true, on_false, condition), result = self.input_types, self.result_type
        yield from element_type("C1", "condition", condition, condition.element == "i1", "i1")
        yield from inferred_shape(
            "C2",
            result.shape,
            lambda: broadcast_shape(broadcast_shape(on_true.shape, on_false.shape), condition.shape),
        )
        yield from movable_types("C3", {"on_true": on_true, "on_false": on_false, "result": result})


class CastOp(QnnOp, name="cast", traits=[ext.Pure]):
    """Stored values in another type: of a quantized tensor its integers, whatever they mean.

    ``result = input``; floats become integers by dropping the fraction, saturated, NaN the largest; integers
    wrap around; what is not 0 is true

    Example: ``"qnn.cast"(%x) : (tensor<4xi32>) -> tensor<4xf32>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]

    def check(self) -> Iterator[str]:
        """(C1) equal shapes.
        (C2) neither type has several scales.
        """
        (source,), result = self.input_types, self.result_type
        yield from equal_shape("C1", "result", result.shape, source.shape)
        yield from per_tensor("C2", "input", source)
        yield from per_tensor("C2", "result", result)
