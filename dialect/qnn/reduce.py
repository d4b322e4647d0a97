"""Ops that combine the elements along axes: reduce, reduce_max, reduce_min, cumsum."""

from collections.abc import Iterator, Sequence
from typing import Any

from ..mlir import ext
from ..types import TensorType
from .constraints import (
    axis_in_range,
    compute_types,
    element_type,
    equal_shape,
    one_of,
    plain_types,
)
from .core import QnnOp
from .shapes import reduce_shape

INTEGERS = ("i8", "i16", "i32", "i64")
FUNCTIONS = ("all", "any", "prod", "sum")
"""What ``qnn.reduce`` may compute."""


def _axes(number: str, axes: Sequence[int], rank: int) -> Iterator[str]:
    """Different dimensions of a tensor of ``rank``."""
    for axis in axes:
        yield from axis_in_range(number, "axes", axis, rank)
    if len(set(axes)) != len(axes):
        yield f"({number}) axes: got {list(axes)}, expected different ones"


def _reducible(number: str, source: TensorType, result: TensorType) -> Iterator[str]:
    types = {"input": source, "result": result}
    if source.is_quantized or source.is_float or result.is_quantized or result.is_float:
        yield from compute_types(number, types)
    else:
        yield from plain_types(number, types, INTEGERS)


class ReduceOp(QnnOp, name="reduce", traits=[ext.Pure]):
    """The sum or product over some axes, or whether all or any of them hold; axes become 1 (``keep_dims``) or
    vanish.

    ``result = function(input over axes)``, function sum, prod, all or any

    Example: ``"qnn.reduce"(%x) {function = "sum", axes = array<i64: 1, 2>, keep_dims = false} :
    (tensor<1x4x4x3x!q>) -> tensor<1x3x!r>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]
    function: Any = ext.attribute(kw_only=True)
    axes: Any = ext.attribute(kw_only=True)
    keep_dims: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) function is one of the above.
        (C2) axes are different dimensions of the input.
        (C3) the result's shape follows.
        (C4) input and result are both f32, both of one ordinary integer type, or both quantized per-tensor in
          i8, u8 or i16 storage; for all and any they are both i1.
        """
        (source,), result, axes = self.input_types, self.result_type, self.plain("axes")
        yield from one_of("C1", "function", self.plain("function"), FUNCTIONS)
        yield from _axes("C2", axes, len(source.shape))
        expected = reduce_shape(source.shape, axes, self.plain("keep_dims"))
        yield from equal_shape("C3", "result", result.shape, expected)
        if self.plain("function") in ("all", "any"):
            yield from plain_types("C4", {"input": source, "result": result}, ("i1",))
        else:
            yield from _reducible("C4", source, result)


class _ReduceExtremumOp(QnnOp):
    result: ext.Result[Any]
    input: ext.Operand[Any]
    axes: Any = ext.attribute(kw_only=True)
    keep_dims: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) axes are different dimensions of the input.
        (C2) the result's shape follows.
        (C3) input and result are both f32, both of one ordinary integer type, or both quantized per-tensor in
          i8, u8 or i16 storage.
        """
        (source,), result, axes = self.input_types, self.result_type, self.plain("axes")
        yield from _axes("C1", axes, len(source.shape))
        expected = reduce_shape(source.shape, axes, self.plain("keep_dims"))
        yield from equal_shape("C2", "result", result.shape, expected)
        yield from _reducible("C3", source, result)


class ReduceMaxOp(_ReduceExtremumOp, name="reduce_max", traits=[ext.Pure]):
    """The largest element over some axes, which become 1 (``keep_dims``) or vanish.

    ``result = max(input over axes)``

    Example: ``"qnn.reduce_max"(%x) {axes = array<i64: 1>, keep_dims = false} : (tensor<2x8x!q>) ->
    tensor<2x!q>``
    """


class ReduceMinOp(_ReduceExtremumOp, name="reduce_min", traits=[ext.Pure]):
    """The smallest element over some axes, which become 1 (``keep_dims``) or vanish.

    ``result = min(input over axes)``

    Example: ``"qnn.reduce_min"(%x) {axes = array<i64: 1>, keep_dims = false} : (tensor<2x8x!q>) ->
    tensor<2x!q>``
    """


class CumsumOp(QnnOp, name="cumsum", traits=[ext.Pure]):
    """Sums of the elements up to each one along an axis (``reverse``: from each one on), without the element
    itself if ``exclusive``.

    ``result[..., i, ...] = sum_(j <= i)(input[..., j, ...])``

    Example: ``"qnn.cumsum"(%x) {axis = 1 : i64, exclusive = false, reverse = false} : (tensor<2x8xf32>) ->
    tensor<2x8xf32>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]
    axis: Any = ext.attribute(kw_only=True)
    exclusive: Any = ext.attribute(kw_only=True)
    reverse: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) equal shapes.
        (C2) axis is a dimension of the input.
        (C3) the input is f32, i32 or i64, the result alike.
        """
        (source,), result = self.input_types, self.result_type
        yield from equal_shape("C1", "result", result.shape, source.shape)
        yield from axis_in_range("C2", "axis", self.plain("axis"), len(source.shape))
        holds = source.element in ("f32", "i32", "i64")
        yield from element_type("C3", "input", source, holds, "f32, i32 or i64")
        yield from element_type("C3", "result", result, result.element == source.element, "the input's")
