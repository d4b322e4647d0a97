"""Activation functions: clamp, logistic, tanh, softmax."""

import math
from collections.abc import Iterator
from typing import Any

from ..mlir import ext
from .constraints import axis_in_range, clamp_bounds, compute_types, equal_shape
from .core import QnnOp


class ClampOp(QnnOp, name="clamp", traits=[ext.Pure]):
    """Bring to the result's parameters, then limit: the RELU family as an op of its own.

    ``result = min(max(input, low), high)``; relu is [0, inf], relu6 [0, 6]

    Example: ``"qnn.clamp"(%x) {clamp = array<f32: 0.0, 6.0>} : (tensor<4x!q>) -> tensor<4x!r>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]
    clamp: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) equal shapes.
        (C2) input and result are both f32, or both quantized per-tensor in i8, u8 or i16 storage.
        (C3) clamp is empty or low <= high.
        """
        (source,), result = self.input_types, self.result_type
        yield from equal_shape("C1", "result", result.shape, source.shape)
        yield from compute_types("C2", {"input": source, "result": result})
        yield from clamp_bounds("C3", self.plain("clamp"))


class _TableOp(QnnOp):
    result: ext.Result[Any]
    input: ext.Operand[Any]

    def check(self) -> Iterator[str]:
        """(C1) equal shapes.
        (C2) input and result are both f32, or both quantized per-tensor in i8, u8 or i16 storage.
        """
        (source,), result = self.input_types, self.result_type
        yield from equal_shape("C1", "result", result.shape, source.shape)
        yield from compute_types("C2", {"input": source, "result": result})


class LogisticOp(_TableOp, name="logistic", traits=[ext.Pure]):
    """The logistic function.

    ``result = 1 / (1 + exp(-input))``

    Example: ``"qnn.logistic"(%x) : (tensor<4x!q>) -> tensor<4x!r>``
    """


class TanhOp(_TableOp, name="tanh", traits=[ext.Pure]):
    """The hyperbolic tangent.

    ``result = tanh(input)``

    Example: ``"qnn.tanh"(%x) : (tensor<4x!q>) -> tensor<4x!r>``
    """


class SoftmaxOp(QnnOp, name="softmax", traits=[ext.Pure]):
    """Exponentials along an axis, scaled to add up to one.

    ``result[i] = exp(beta * input[i]) / sum_j(exp(beta * input[j]))``

    Example: ``"qnn.softmax"(%x) {beta = 1.0 : f32, axis = 1 : i64} : (tensor<2x8x!q>) -> tensor<2x8x!r>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]
    beta: Any = ext.attribute(kw_only=True)
    axis: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) equal shapes.
        (C2) axis is a dimension of the input.
        (C3) beta is finite and positive.
        (C4) input and result are both f32, or both quantized per-tensor in i8, u8 or i16 storage, the result
          not in narrower storage than the input.
        """
        (source,), result, beta = self.input_types, self.result_type, self.plain("beta")
        yield from equal_shape("C1", "result", result.shape, source.shape)
        yield from axis_in_range("C2", "axis", self.plain("axis"), len(source.shape))
        if not 0.0 < beta < math.inf:
            yield f"(C3) beta must be finite and positive, got {beta}"
        yield from compute_types("C4", {"input": source, "result": result})
        if source.is_quantized and result.params.storage.bits < source.params.storage.bits:
            yield (
                f"(C4) result: got storage type {result.params.storage.name}, "
                f"expected at least {source.params.storage.bits} bits (the input's)"
            )
