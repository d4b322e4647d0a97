"""Ops that normalize along an axis: log_softmax, l2_normalization, local_response_normalization."""

from collections.abc import Iterator
from typing import Any

from ..mlir import ext
from .constraints import axis_in_range, compute_types, element_type, equal_shape
from .core import QnnOp


class _RowOp(QnnOp):
    result: ext.Result[Any]
    input: ext.Operand[Any]
    axis: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) equal shapes.
        (C2) axis is a dimension of the input.
        (C3) input and result are both f32, or both quantized per-tensor in i8 or u8 storage.
        """
        (source,), result = self.input_types, self.result_type
        yield from equal_shape("C1", "result", result.shape, source.shape)
        yield from axis_in_range("C2", "axis", self.plain("axis"), len(source.shape))
        yield from compute_types("C3", {"input": source, "result": result}, ("i8", "u8"))


class LogSoftmaxOp(_RowOp, name="log_softmax", traits=[ext.Pure]):
    """The logarithm of softmax along an axis.

    ``result[i] = input[i] - log(sum_j(exp(input[j])))``

    Example: ``"qnn.log_softmax"(%x) {axis = 1 : i64} : (tensor<2x8x!q>) -> tensor<2x8x!r>``
    """


class L2NormalizationOp(_RowOp, name="l2_normalization", traits=[ext.Pure]):
    """Vectors along an axis, scaled to length 1.

    ``result[i] = input[i] / max(sqrt(sum_j(input[j]^2)), 1e-6)``

    Example: ``"qnn.l2_normalization"(%x) {axis = 1 : i64} : (tensor<2x8x!q>) -> tensor<2x8x!r>``
    """


class LocalResponseNormalizationOp(QnnOp, name="local_response_normalization", traits=[ext.Pure]):
    """Elements divided by a power of the squares around them along the last axis, up to ``radius`` away.

    ``result[..., c] = input[..., c] / (bias + alpha * sum_(|j - c| <= radius)(input[..., j]^2))^beta``

    Example: ``"qnn.local_response_normalization"(%x) {radius = 2 : i64, bias = 1.0 : f32, alpha = 0.5 : f32,
    beta = 0.75 : f32} : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]
    radius: Any = ext.attribute(kw_only=True)
    bias: Any = ext.attribute(kw_only=True)
    alpha: Any = ext.attribute(kw_only=True)
    beta: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) equal shapes of rank 1 or more.
        (C2) input and result are f32.
        (C3) radius is not negative.
        """
        (source,), result = self.input_types, self.result_type
        yield from equal_shape("C1", "result", result.shape, source.shape)
        if not source.shape:
            yield "(C1) input: got a scalar, expected rank 1 or more"
        for label, type_ in (("input", source), ("result", result)):
            yield from element_type("C2", label, type_, type_.element == "f32", "f32")
        if self.plain("radius") < 0:
            yield f"(C3) radius must not be negative, got {self.plain('radius')}"
