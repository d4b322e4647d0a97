"""Functions of one tensor, element by element: unary and leaky_relu."""

import math
from collections.abc import Iterator
from typing import Any

from ..mlir import ext
from ..unary_functions import BOOLEAN, FUNCTIONS, INTEGER
from .constraints import (
    compute_types,
    element_name,
    element_type,
    equal_shape,
    one_of,
)
from .core import QnnOp


class UnaryOp(QnnOp, name="unary", traits=[ext.Pure]):
    """A function of every element.

    ``result = function(input)``

    On f32 and quantized tensors: abs, ceil, cos, elu, exp, floor, gelu, gelu_tanh (gelu by its tanh formula),
    hard_swish, log, neg, round (half to even), rsqrt, sign, sin, sqrt, square. On ordinary integers, which
    wrap around: abs, neg, sign, square. On i1: logical_not.

    Example: ``"qnn.unary"(%x) {function = "abs"} : (tensor<4x!q>) -> tensor<4x!r>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]
    function: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) equal shapes.
        (C2) function is one of the above.
        (C3) input and result are both f32, both quantized per-tensor in i8, u8 or i16 storage, or of the same
          ordinary integer type, and the function works on them.
        """
        (source,), result, function = self.input_types, self.result_type, self.plain("function")
        yield from equal_shape("C1", "result", result.shape, source.shape)
        yield from one_of("C2", "function", function, FUNCTIONS)
        if function in BOOLEAN:
            yield from element_type("C3", "input", source, source.element == "i1", "i1")
        if source.is_quantized or source.element == "f32":
            yield from compute_types("C3", {"input": source, "result": result})
            return
        works = function in BOOLEAN or (function in INTEGER and source.element in ("i8", "i16", "i32", "i64"))
        if not works:
            yield f"(C3) {function} of {element_name(source)}, expected f32 or a quantized type"
        yield from element_type("C3", "result", result, result.element == source.element, "the input's")


class LeakyReluOp(QnnOp, name="leaky_relu", traits=[ext.Pure]):
    """The input, multiplied by ``alpha`` below 0.

    ``result = input if input >= 0 else alpha * input``

    Example: ``"qnn.leaky_relu"(%x) {alpha = 0.25 : f32} : (tensor<4x!q>) -> tensor<4x!r>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]
    alpha: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) equal shapes.
        (C2) input and result are both f32, or both quantized per-tensor in i8, u8 or i16 storage.
        (C3) alpha is finite.
        """
        (source,), result = self.input_types, self.result_type
        yield from equal_shape("C1", "result", result.shape, source.shape)
        yield from compute_types("C2", {"input": source, "result": result})
        if not math.isfinite(self.plain("alpha")):
            yield f"(C3) alpha must be finite, got {self.plain('alpha')}"
