"""Ops that reduce whole axes: mean and arg_max."""

from collections.abc import Iterator
from typing import Any

from ..mlir import ext
from .constraints import axis_in_range, compute_types, element_type, equal_shape, plain_types
from .core import QnnOp
from .ordering import ordered_type
from .shapes import reduce_shape


class MeanOp(QnnOp, name="mean", traits=[ext.Pure]):
    """Mean over some axes, which become 1 (``keep_dims``) or vanish.

    ``result = sum(input over axes) / count``

    Of ordinary integers it is truncated towards 0.

    Example: ``"qnn.mean"(%x) {axes = array<i64: 1, 2>, keep_dims = false} : (tensor<1x4x4x3x!q>) ->
    tensor<1x3x!q>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]
    axes: Any = ext.attribute(kw_only=True)
    keep_dims: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) axes are different dimensions of the input, none of them empty.
        (C2) the result's shape follows.
        (C3) input and result are both f32, both i32 or i64, or both quantized per-tensor in i8, u8 or i16
          storage.
        """
        (source,), result, axes = self.input_types, self.result_type, self.plain("axes")
        for axis in axes:
            yield from axis_in_range("C1", "axes", axis, len(source.shape))
            if source.shape[axis] == 0:
                yield f"(C1) axes: the mean over dimension {axis} of extent 0 does not exist"
        if len(set(axes)) != len(axes):
            yield f"(C1) axes: got {list(axes)}, expected different ones"
        expected = reduce_shape(source.shape, axes, self.plain("keep_dims"))
        yield from equal_shape("C2", "result", result.shape, expected)
        types = {"input": source, "result": result}
        if source.element in ("i32", "i64"):
            yield from plain_types("C3", types, ("i32", "i64"))
        else:
            yield from compute_types("C3", types)


class ArgMaxOp(QnnOp, name="arg_max", traits=[ext.Pure]):
    """Index of the first largest value along an axis, which vanishes.

    ``result[...] = min(i where input[..., i, ...] = max(input[..., :, ...]))``

    Example: ``"qnn.arg_max"(%x) {axis = 1 : i64} : (tensor<2x8x!q>) -> tensor<2xi32>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]
    axis: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) axis is a dimension of the input, and not empty.
        (C2) the result's shape is the input's without it.
        (C3) the input is f32, an ordinary integer or quantized per-tensor.
        (C4) the result is i32 or i64.
        """
        (source,), result, axis = self.input_types, self.result_type, self.plain("axis")
        yield from axis_in_range("C1", "axis", axis, len(source.shape))
        if source.shape[axis] == 0:
            yield f"(C1) axis: dimension {axis} of extent 0 has no largest value"
        yield from equal_shape(
            "C2", "result", result.shape, reduce_shape(source.shape, [axis], keep_dims=False)
        )
        yield from ordered_type("C3", source)
        yield from element_type("C4", "result", result, result.element in ("i32", "i64"), "i32 or i64")
