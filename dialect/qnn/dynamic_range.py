"""Contractions of floats with integer weights: the input is quantized at run time, by the range it has."""

from collections.abc import Iterator
from typing import Any, Optional

from ..mlir import ext
from ..types import QuantParams, TensorType
from . import shapes
from .constraints import (
    clamp_bounds,
    element_name,
    element_type,
    equal_shape,
    has_rank,
    inferred_shape,
    stored_in,
)
from .contraction import channel_violations, window_violations
from .core import QnnOp

_FILTERS = ("i4", "i8")


class DynamicConv2dOp(QnnOp, name="dynamic_conv2d", traits=[ext.Pure]):
    """2-D convolution of floats with an integer filter; each image of the batch is quantized at run time.

    ``result[n,y,x,o] = clamp(bias[o] + scale[n] * filter_scale[o] * sum((q[n, ...] - zero_point[n]) *
    filter[o,i,j,c]))``

    ``q``, ``scale`` and ``zero_point`` are the input in i8: over its range, or, unless ``asymmetric``, with
    zero point 0 over its largest magnitude. The sum is multiplied by the product of the scales, or, unless
    ``scales_first``, by the filter's and then by the input's. Attributes are otherwise those of conv2d.

    Example: ``"qnn.dynamic_conv2d"(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding
    = array<i64: 1, 1, 1, 1>, groups = 1 : i64, clamp = array<f32>, asymmetric = true, scales_first = false,
    operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x8x8x3xf32>, tensor<4x3x3x3x!w>) ->
    tensor<1x8x8x4xf32>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]
    filter: ext.Operand[Any]
    bias: Optional[ext.Operand[Any]] = None  # noqa: UP045 - the bindings match Optional
    strides: Any = ext.attribute(kw_only=True)
    dilations: Any = ext.attribute(kw_only=True)
    padding: Any = ext.attribute(kw_only=True)
    groups: Any = ext.attribute(kw_only=True)
    clamp: Any = ext.attribute(kw_only=True)
    asymmetric: Any = ext.attribute(kw_only=True)
    scales_first: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) input, filter and result have rank 4.
        (C2) strides and dilations are two values of at least 1, padding four of at least 0, groups is at
          least 1.
        (C3) input channels = filter channels x groups, and output channels divide by groups.
        (C4) the result's shape follows, and the kernel fits into the padded input.
        (C5) input and result are f32, the filter is quantized in i4 or i8, per-tensor or per output channel,
          with zero points 0.
        (C6) the bias has one f32 value per output channel.
        (C7) clamp is empty or low <= high.
        """
        source, kernel, *bias = self.input_types
        result = self.result_type
        for label, type_ in (("input", source), ("filter", kernel), ("result", result)):
            yield from has_rank("C1", label, type_, 4)
        yield from window_violations("C2", self, ("strides", "dilations"))
        yield from channel_violations(self, source, kernel)
        yield from inferred_shape(
            "C4",
            result.shape,
            lambda: shapes.conv2d_shape(
                source.shape,
                kernel.shape,
                self.plain("strides"),
                self.plain("dilations"),
                self.plain("padding"),
            ),
        )
        yield from _types("C5", source, kernel, result)
        yield from _bias("C6", kernel, bias)
        yield from clamp_bounds("C7", self.plain("clamp"))


class DynamicFullyConnectedOp(QnnOp, name="dynamic_fully_connected", traits=[ext.Pure]):
    """Product of floats with an integer filter matrix [N, K]; each row is quantized at run time.

    ``result[..., n] = clamp(bias[n] + scale[...] * filter_scale[n] * sum_k((q[..., k] - zero_point[...]) *
    filter[n, k]))``

    ``q``, ``scale`` and ``zero_point`` are the row in i8: over its range, or, unless ``asymmetric``, with
    zero point 0 over its largest magnitude. A filter whose scales go by blocks along k has a sum per block,
    each multiplied by its scale.

    Example: ``"qnn.dynamic_fully_connected"(%x, %w) {clamp = array<f32>, asymmetric = false,
    operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x8xf32>, tensor<4x8x!w>) -> tensor<2x4xf32>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]
    filter: ext.Operand[Any]
    bias: Optional[ext.Operand[Any]] = None  # noqa: UP045 - the bindings match Optional
    clamp: Any = ext.attribute(kw_only=True)
    asymmetric: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) the filter has rank 2, the input at least 1.
        (C2) the input's last extent is the filter's, and the result's shape follows.
        (C3) input and result are f32, the filter is quantized in i4 or i8, per-tensor, per output channel or
          by blocks of each row, with zero points 0.
        (C4) the bias has one f32 value per output channel.
        (C5) clamp is empty or low <= high.
        """
        source, kernel, *bias = self.input_types
        result = self.result_type
        yield from has_rank("C1", "filter", kernel, 2)
        if not source.shape:
            yield "(C1) input rank: got 0, expected at least 1"
        yield from inferred_shape(
            "C2", result.shape, lambda: shapes.fully_connected_shape(source.shape, kernel.shape)
        )
        yield from _types("C3", source, kernel, result, by_blocks=True)
        yield from _bias("C4", kernel, bias)
        yield from clamp_bounds("C5", self.plain("clamp"))


def _types(
    number: str, source: TensorType, kernel: TensorType, result: TensorType, by_blocks: bool = False
) -> Iterator[str]:
    for label, type_ in (("input", source), ("result", result)):
        yield from element_type(number, label, type_, type_.element == "f32", "f32")
    yield from element_type(number, "filter", kernel, kernel.is_quantized, "a quantized one")
    yield from stored_in(number, "filter", kernel, _FILTERS)
    params = kernel.params
    fitting = by_blocks and _are_rows(params)
    if params.axis not in (None, 0) or (params.block_sizes and not fitting):
        yield (
            f"({number}) filter must be quantized per-tensor or per-axis 0 (output channel), "
            f"got {element_name(kernel)}"
        )
    if any(params.zero_points):
        yield f"({number}) filter zero points must be 0, got {next(filter(None, params.zero_points))}"


def _are_rows(params: QuantParams) -> bool:
    """Whether each row of a matrix has blocks of its own."""
    blocks = dict(params.block_sizes)
    return set(blocks) == {0, 1} and blocks[0] == 1


def _bias(number: str, kernel: TensorType, bias: list[TensorType]) -> Iterator[str]:
    for type_ in bias:
        yield from equal_shape(number, "bias", type_.shape, kernel.shape[:1])
        yield from element_type(number, "bias", type_, type_.element == "f32", "f32")
