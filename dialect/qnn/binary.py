"""Ops on two tensors, element by element: maximum, minimum, binary, compare, prelu."""

from collections.abc import Iterator
from typing import Any

from ..binary_functions import BITWISE, BOOLEAN, FUNCTIONS, INTEGER, PREDICATES, QUANTIZED, REAL
from ..mlir import ext
from .constraints import (
    ACTIVATIONS,
    compute_types,
    element_type,
    inferred_shape,
    one_of,
    plain_types,
)
from .core import QnnOp
from .shapes import broadcast_shape

INTEGERS = ("i8", "i16", "i32", "i64")
"""Ordinary integers that ops compute on."""
UNSIGNED = ("u8", "u16", "u32")


class _ExtremumOp(QnnOp):
    result: ext.Result[Any]
    lhs: ext.Operand[Any]
    rhs: ext.Operand[Any]

    def check(self) -> Iterator[str]:
        """(C1) operands and result are all f32, all quantized per-tensor in i8, u8 or i16 storage, or all of
          one ordinary integer type.
        (C2) the result has the shape that the operands broadcast to.
        """
        (lhs, rhs), result = self.input_types, self.result_type
        types = {"lhs": lhs, "rhs": rhs, "result": result}
        if any(type_.is_quantized or type_.is_float for type_ in types.values()):
            yield from compute_types("C1", types)
        else:
            yield from plain_types("C1", types, INTEGERS)
        yield from inferred_shape("C2", result.shape, lambda: broadcast_shape(lhs.shape, rhs.shape))


class MaximumOp(_ExtremumOp, name="maximum", traits=[ext.Pure]):
    """The larger one of two elements.

    ``result = lhs if lhs > rhs else rhs``

    Quantized operands are brought to the result's parameters first.

    Example: ``"qnn.maximum"(%a, %b) : (tensor<2x4x!q>, tensor<4x!r>) -> tensor<2x4x!q>``
    """


class MinimumOp(_ExtremumOp, name="minimum", traits=[ext.Pure]):
    """The smaller one of two elements.

    ``result = lhs if lhs < rhs else rhs``

    Quantized operands are brought to the result's parameters first.

    Example: ``"qnn.minimum"(%a, %b) : (tensor<2x4x!q>, tensor<4x!r>) -> tensor<2x4x!q>``
    """


class BinaryOp(QnnOp, name="binary", traits=[ext.Pure]):
    """A function of two elements.

    ``result = function(lhs, rhs)``

    On f32: atan2, div, floor_div, floor_mod, pow, squared_difference. On ordinary integers, which wrap
    around: bitwise_xor, div (towards 0), floor_div, floor_mod, pow, right_shift (by 0 to all bits but one;
    copies of the sign come in), squared_difference; what does not exist is 0. bitwise_xor and right_shift
    also on integers without sign. On i1: bitwise_xor, logical_and, logical_or. On quantized tensors: div (by
    0: saturated), squared_difference.

    Example: ``"qnn.binary"(%a, %b) {function = "squared_difference"} : (tensor<2x4x!q>, tensor<4x!r>) ->
    tensor<2x4x!q>``
    """

    result: ext.Result[Any]
    lhs: ext.Operand[Any]
    rhs: ext.Operand[Any]
    function: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) function is one of the above.
        (C2) operands and result are all f32, all quantized per-tensor in i8 or u8 (div: also i16) storage, or
          all of one ordinary integer type or i1, and the function works on them.
        (C3) the result has the shape that the operands broadcast to.
        """
        (lhs, rhs), result, function = self.input_types, self.result_type, self.plain("function")
        types = {"lhs": lhs, "rhs": rhs, "result": result}
        yield from one_of("C1", "function", function, FUNCTIONS)
        if lhs.is_quantized and function in QUANTIZED:
            yield from compute_types("C2", types, QUANTIZED[function])
        else:
            yield from plain_types("C2", types, _works_on(function))
        yield from inferred_shape("C3", result.shape, lambda: broadcast_shape(lhs.shape, rhs.shape))


def _works_on(function: str) -> tuple[str, ...]:
    """Element types that are not quantized."""
    return (
        *(("f32",) if function in REAL else ()),
        *(INTEGERS if function in INTEGER else ()),
        *(UNSIGNED if function in BITWISE else ()),
        *(("i1",) if function in BOOLEAN else ()),
    )


class CompareOp(QnnOp, name="compare", traits=[ext.Pure]):
    """Whether a predicate holds for two elements: equal, greater, greater_equal, less, less_equal, not_equal.

    ``result = lhs predicate rhs``

    Example: ``"qnn.compare"(%a, %b) {predicate = "less"} : (tensor<2x4x!q>, tensor<4x!r>) -> tensor<2x4xi1>``
    """

    result: ext.Result[Any]
    lhs: ext.Operand[Any]
    rhs: ext.Operand[Any]
    predicate: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) predicate is one of the above.
        (C2) the operands are both f32, both quantized per-tensor in i8, u8 or i16 storage, or both of one
          ordinary integer type or i1.
        (C3) the result is i1.
        (C4) the result has the shape that the operands broadcast to.
        """
        (lhs, rhs), result = self.input_types, self.result_type
        types = {"lhs": lhs, "rhs": rhs}
        yield from one_of("C1", "predicate", self.plain("predicate"), tuple(PREDICATES))
        if any(type_.is_quantized or type_.is_float for type_ in types.values()):
            yield from compute_types("C2", types)
        else:
            yield from plain_types("C2", types, (*INTEGERS, "i1"))
        yield from element_type("C3", "result", result, result.element == "i1", "i1")
        yield from inferred_shape("C4", result.shape, lambda: broadcast_shape(lhs.shape, rhs.shape))


class PreluOp(QnnOp, name="prelu", traits=[ext.Pure]):
    """The input, multiplied by a learned slope below 0.

    ``result = input if input >= 0 else input * alpha``

    Example: ``"qnn.prelu"(%x, %alpha) : (tensor<2x4x!q>, tensor<4x!r>) -> tensor<2x4x!q>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]
    alpha: ext.Operand[Any]

    def check(self) -> Iterator[str]:
        """(C1) input, alpha and result are all f32, or all quantized per-tensor in i8, u8 or i16 storage.
        (C2) the result has the shape that the operands broadcast to.
        """
        (source, alpha), result = self.input_types, self.result_type
        types = {"input": source, "alpha": alpha, "result": result}
        yield from compute_types("C1", types, ACTIVATIONS)
        yield from inferred_shape("C2", result.shape, lambda: broadcast_shape(source.shape, alpha.shape))
