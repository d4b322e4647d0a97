"""Ops that move values without computing: concat, reshape, transpose, pad, slice.

If the result's parameters differ from an input's, the values are requantized after they are moved. Ordinary
integers can be moved too.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Optional

from ..ir_types import to_tensor_type
from ..mlir import ext
from ..types import DYNAMIC, TensorType
from .constraints import at_least, axis_in_range, equal_shape, inferred_shape, movable_types, value_count
from .core import QnnOp, create
from .shapes import concat_shape, pad_shape, transpose_shape

MAX_INPUTS = 16


def _inputs() -> Any:
    """A base with operands ``input_0`` ... that may be absent.

    A variadic group of operands would not do: IRDL takes it for operands of one and the same type.
    """
    names = [f"input_{i}" for i in range(MAX_INPUTS)]
    annotations = dict.fromkeys(names, Optional[ext.Operand[Any]])  # noqa: UP045 - for the bindings
    return type(QnnOp)("_Inputs", (QnnOp,), {"__annotations__": annotations, **dict.fromkeys(names)})


class ConcatOp(_inputs(), name="concat", traits=[ext.Pure]):
    """Tensors one behind the other along an axis; 1 to 16 of them, which ``create`` nests if there are more.

    ``result[..., offset(k) + i, ...] = input_k[..., i, ...]``

    Example: ``"qnn.concat"(%a, %b) {axis = 1 : i64, operandSegmentSizes =
    array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
    : (tensor<2x3x!q>, tensor<2x4x!r>) -> tensor<2x7x!q>``
    """

    result: ext.Result[Any] = ext.result(kw_only=True)
    axis: Any = ext.attribute(kw_only=True)

    @classmethod
    def operands_to_build(
        cls,
        operands: Sequence[Any],
        result_types: Sequence[TensorType],
        attributes: Mapping[str, Any],
        place: Mapping[str, Any],
    ) -> list[Any]:
        """At most ``MAX_INPUTS`` operands: neighbours are concatenated first, in the result's parameters."""
        values, axis = list(operands), attributes["axis"]
        while len(values) > MAX_INPUTS:
            parts = [values[i : i + MAX_INPUTS] for i in range(0, len(values), MAX_INPUTS)]
            values = []
            for part in parts:
                shape = concat_shape([to_tensor_type(value.type).shape for value in part], axis)
                type_ = replace(result_types[0], shape=shape)
                values += create("concat", part, [type_], attributes, **place)
        return values

    def check(self) -> Iterator[str]:
        """(C1) there is an input, and axis is a dimension of it.
        (C2) the result's shape follows: extents along axis add up, all others agree.
        (C3) inputs and result are all quantized per-tensor, or have one element type.
        """
        inputs, result, axis = self.input_types, self.result_type, self.plain("axis")
        if not inputs:
            yield "(C1) inputs: got 0, expected at least 1"
        yield from axis_in_range("C1", "axis", axis, len(inputs[0].shape))
        yield from inferred_shape("C2", result.shape, lambda: concat_shape([t.shape for t in inputs], axis))
        yield from movable_types("C3", {f"input {i}": t for i, t in enumerate(inputs)} | {"result": result})


class ReshapeOp(QnnOp, name="reshape", traits=[ext.Pure]):
    """The same values in row-major order, in the result type's shape.

    ``result.flat[i] = input.flat[i]``

    Example: ``"qnn.reshape"(%x) : (tensor<2x6x!q>) -> tensor<3x4x!q>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]

    def check(self) -> Iterator[str]:
        """(C1) equal numbers of elements.
        (C2) input and result are both quantized per-tensor, or have one element type.
        """
        (source,), result = self.input_types, self.result_type
        if source.is_static and result.is_static and source.elements != result.elements:
            yield (
                f"(C1) elements: got {result.elements} in shape {list(result.shape)}, "
                f"expected {source.elements} as in {list(source.shape)}"
            )
        yield from movable_types("C2", {"input": source, "result": result})


class TransposeOp(QnnOp, name="transpose", traits=[ext.Pure]):
    """Dimensions in another order: result dimension d is input dimension ``permutation[d]``.

    ``result[i_0, i_1, ...] = input[j]``, ``j[permutation[d]] = i_d``

    Example: ``"qnn.transpose"(%x) {permutation = array<i64: 1, 0>} : (tensor<2x3x!q>) -> tensor<3x2x!q>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]
    permutation: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) permutation names every dimension of the input once.
        (C2) the result's shape follows.
        (C3) input and result are both quantized per-tensor, or have one element type.
        """
        (source,), result, permutation = self.input_types, self.result_type, self.plain("permutation")
        rank = len(source.shape)
        if sorted(permutation) != list(range(rank)):
            yield f"(C1) permutation: got {list(permutation)}, expected every dimension below {rank} once"
        yield from equal_shape("C2", "result", result.shape, transpose_shape(source.shape, permutation))
        yield from movable_types("C3", {"input": source, "result": result})


class PadOp(QnnOp, name="pad", traits=[ext.Pure]):
    """A border of one real value, quantized by the input's parameters: 0.0 is the zero point.

    ``result[i] = input[i - low]`` inside, ``value`` elsewhere

    Example: ``"qnn.pad"(%x) {low = array<i64: 0, 1>, high = array<i64: 0, 2>, value = 0.0 : f32}
    : (tensor<2x3x!q>) -> tensor<2x6x!q>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]
    low: Any = ext.attribute(kw_only=True)
    high: Any = ext.attribute(kw_only=True)
    value: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) low and high have one value of at least 0 per dimension.
        (C2) the result's shape follows.
        (C3) input and result are both quantized per-tensor, or have one element type.
        (C4) value is not NaN.
        """
        (source,), result = self.input_types, self.result_type
        low, high = self.plain("low"), self.plain("high")
        for name, values in (("low", low), ("high", high)):
            yield from value_count("C1", name, values, len(source.shape))
            yield from at_least("C1", name, values, 0)
        yield from equal_shape("C2", "result", result.shape, pad_shape(source.shape, low, high))
        yield from movable_types("C3", {"input": source, "result": result})
        if math.isnan(self.plain("value")):
            yield "(C4) value: got nan, expected a number"


class SliceOp(QnnOp, name="slice", traits=[ext.Pure]):
    """Every ``strides[d]``-th element from ``offsets[d]`` on, ``sizes[d]`` of them.

    ``result[i] = input[offsets + i * strides]``

    Example: ``"qnn.slice"(%x) {offsets = array<i64: 0, 1>, sizes = array<i64: 2, 3>, strides = array<i64: 1,
    2>} : (tensor<2x8x!q>) -> tensor<2x3x!q>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]
    offsets: Any = ext.attribute(kw_only=True)
    sizes: Any = ext.attribute(kw_only=True)
    strides: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) offsets and sizes have one value of at least 0 per dimension, strides one of at least 1.
        (C2) the slice lies inside the input.
        (C3) sizes is the result's shape.
        (C4) input and result are both quantized per-tensor, or have one element type.
        """
        (source,), result = self.input_types, self.result_type
        offsets, sizes, strides = self.plain("offsets"), self.plain("sizes"), self.plain("strides")
        for name, values, minimum in (("offsets", offsets, 0), ("sizes", sizes, 0), ("strides", strides, 1)):
            yield from value_count("C1", name, values, len(source.shape))
            yield from at_least("C1", name, values, minimum)
        for d, extent in enumerate(source.shape):
            last = offsets[d] + (sizes[d] - 1) * strides[d]
            if extent != DYNAMIC and sizes[d] and last >= extent:
                yield f"(C2) the slice reaches index {last} of dimension {d}, whose extent is {extent}"
        yield from equal_shape("C3", "result", result.shape, sizes)
        yield from movable_types("C4", {"input": source, "result": result})
