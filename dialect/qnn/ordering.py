"""Ops that order values along an axis: arg_min, top_k and nonzero (arg_max is in reduction.py)."""

from collections.abc import Iterator
from typing import Any

from ..mlir import ext
from ..types import TensorType
from .constraints import axis_in_range, element_type, equal_shape, has_rank, per_tensor
from .core import QnnOp
from .shapes import reduce_shape

ORDERED = ("f32", "i8", "u8", "i16", "i32", "i64")
"""Element types that are not quantized and can be compared."""


def ordered_type(number: str, type_: TensorType) -> Iterator[str]:
    """The input's values can be compared by what is stored."""
    comparable = type_.is_quantized or type_.element in ORDERED
    yield from element_type(number, "input", type_, comparable, "f32, an integer or a quantized one")
    yield from per_tensor(number, "input", type_)


class ArgMinOp(QnnOp, name="arg_min", traits=[ext.Pure]):
    """Index of the first smallest value along an axis, which vanishes.

    ``result[...] = min(i where input[..., i, ...] = min(input[..., :, ...]))``

    Example: ``"qnn.arg_min"(%x) {axis = 1 : i64} : (tensor<2x8x!q>) -> tensor<2xi32>``
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
            yield f"(C1) axis: dimension {axis} of extent 0 has no smallest value"
        yield from equal_shape(
            "C2", "result", result.shape, reduce_shape(source.shape, [axis], keep_dims=False)
        )
        yield from ordered_type("C3", source)
        yield from element_type("C4", "result", result, result.element in ("i32", "i64"), "i32 or i64")


class TopKOp(QnnOp, name="top_k", traits=[ext.Pure]):
    """Indices of the largest values of every row, largest first; of equal ones the first comes first.

    ``input[..., result[..., 0]] >= input[..., result[..., 1]] >= ...``; the result's last extent says how
    many

    Example: ``"qnn.top_k"(%x) : (tensor<2x8x!q>) -> tensor<2x3xi32>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]

    def check(self) -> Iterator[str]:
        """(C1) input and result have rank at least 1 and agree in all dimensions but the last.
        (C2) the result's last extent is at most the input's.
        (C3) the input is f32, an ordinary integer or quantized per-tensor.
        (C4) the result is i32 or i64.
        """
        (source,), result = self.input_types, self.result_type
        if not source.shape or not result.shape:
            yield f"(C1) ranks: got {len(source.shape)} and {len(result.shape)}, expected at least 1"
        yield from equal_shape("C1", "result", result.shape[:-1], source.shape[:-1])
        if -1 not in (source.shape[-1], result.shape[-1]) and result.shape[-1] > source.shape[-1]:
            yield f"(C2) result: got {result.shape[-1]} indices of {source.shape[-1]} values"
        yield from ordered_type("C3", source)
        yield from element_type("C4", "result", result, result.element in ("i32", "i64"), "i32 or i64")


class NonzeroOp(QnnOp, name="nonzero", traits=[ext.Pure]):
    """Indices of what is true, in order, and -1 behind them.

    ``result[0] < result[1] < ...``, ``input[result[k]] = true``

    Example: ``"qnn.nonzero"(%x) : (tensor<8xi1>) -> tensor<8xi64>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]

    def check(self) -> Iterator[str]:
        """(C1) the input is i1 of rank 1.
        (C2) the result has the input's shape.
        (C3) the result is i32 or i64.
        """
        (source,), result = self.input_types, self.result_type
        yield from element_type("C1", "input", source, source.element == "i1", "i1")
        yield from has_rank("C1", "input", source, 1)
        yield from equal_shape("C2", "result", result.shape, source.shape)
        yield from element_type("C3", "result", result, result.element in ("i32", "i64"), "i32 or i64")
