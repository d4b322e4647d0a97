"""Ops that multiply activations with weights and accumulate in i32 or i64: conv2d and fully_connected."""

from collections.abc import Iterator
from typing import Any, Optional

from ..mlir import ext
from ..types import DYNAMIC, TensorType
from . import shapes
from .constraints import (
    ACTIVATIONS,
    at_least,
    clamp_bounds,
    element_name,
    element_type,
    equal_shape,
    has_rank,
    inferred_shape,
    per_tensor,
    same_family,
    stored_in,
    value_count,
)
from .core import QnnOp

BIAS_SCALE_TOLERANCE = 1e-5
"""A bias scale is the product of two float32 scales, stored by some writers rounded to float32: 2^-23 each
way, with room.
"""

FILTER_STORAGES = ("i4", "u4", "i8", "u8")
RESULT_STORAGES = (*ACTIVATIONS, "i32")


class Conv2dOp(QnnOp, name="conv2d", traits=[ext.Pure]):
    """2-D convolution of an NHWC input; ``groups`` = channels makes it depthwise.

    ``result[n,y,x,o] = clamp(bias[o] + sum(input[n, y*sh + i*dh - top, x*sw + j*dw - left, c] *
    filter[o,i,j,c]))``

    The filter is laid out [O, KH, KW, I/groups]; padding is [top, bottom, left, right] and pads with real
    zeros; ``clamp`` is empty or [low, high] in real values.

    Example: ``"qnn.conv2d"(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding =
    array<i64: 1, 1, 1, 1>, groups = 1 : i64, clamp = array<f32: 0.0, 6.0>, operandSegmentSizes = array<i32:
    1, 1, 0>} : (tensor<1x8x8x3x!q>, tensor<4x3x3x3x!w>) -> tensor<1x8x8x4x!r>``
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

    def check(self) -> Iterator[str]:
        """(C1) input, filter and result have rank 4.
        (C2) strides and dilations are two values of at least 1, padding four of at least 0, groups is at
          least 1.
        (C3) input channels = filter channels x groups, and output channels divide by groups.
        (C4) the result's shape follows, and the kernel fits into the padded input.
        (C5) input, filter and result are all f32 or all quantized: the input per-tensor in i8, u8 or i16
          storage, the filter per-tensor or per output channel in 4 or 8 bits (for an i16 input 16, too;
          signed per-channel zero points are 0), the result per-tensor in i8, u8, i16 or i32.
        (C6) the bias has one value per output channel: f32, or i32 storage with zero point 0 and scale =
          input scale x filter scale, or for an i16 input i64 in units of that scale, which makes the
          accumulators i64.
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
        yield from contraction_types("C5", source, kernel, result)
        yield from bias_violations("C6", source, kernel, bias)
        yield from clamp_bounds("C7", self.plain("clamp"))


class FullyConnectedOp(QnnOp, name="fully_connected", traits=[ext.Pure]):
    """Product with a filter matrix [N, K], bias included; leading dimensions of the input stay.

    ``result[..., n] = clamp(bias[n] + sum_k(input[..., k] * filter[n, k]))``

    A result in i32 storage whose scale is input scale x filter scale is the accumulator itself.

    Example: ``"qnn.fully_connected"(%x, %w, %b) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1,
    1>} : (tensor<2x8x!q>, tensor<4x8x!w>, tensor<4x!b>) -> tensor<2x4x!r>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]
    filter: ext.Operand[Any]
    bias: Optional[ext.Operand[Any]] = None  # noqa: UP045 - the bindings match Optional
    clamp: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) the filter has rank 2, the input at least 1.
        (C2) the input's last extent is the filter's, and the result's shape follows.
        (C3) input, filter and result are all f32 or all quantized: the input per-tensor in i8, u8 or i16
          storage, the filter per-tensor or per output channel in 4 or 8 bits (for an i16 input 16, too;
          signed per-channel zero points are 0), the result per-tensor in i8, u8, i16 or i32.
        (C4) the bias has one value per output channel: f32, or i32 storage with zero point 0 and scale =
          input scale x filter scale, or for an i16 input i64 in units of that scale, which makes the
          accumulators i64.
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
        yield from contraction_types("C3", source, kernel, result)
        yield from bias_violations("C4", source, kernel, bias)
        yield from clamp_bounds("C5", self.plain("clamp"))


def window_violations(number: str, op: QnnOp, positive: tuple[str, ...]) -> Iterator[str]:
    """Attributes of height and width (``positive``: two values >= 1 each) and padding (four values >= 0)."""
    for name in positive:
        yield from value_count(number, name, op.plain(name), 2)
        yield from at_least(number, name, op.plain(name), 1)
    yield from value_count(number, "padding", op.plain("padding"), 4)
    yield from at_least(number, "padding", op.plain("padding"), 0)


def channel_violations(op: QnnOp, source: TensorType, kernel: TensorType) -> Iterator[str]:
    """Groups, and the channels that they divide."""
    groups, outputs, channels = op.plain("groups"), kernel.shape[0], kernel.shape[3]
    yield from at_least("C2", "groups", [groups], 1)
    if channels != DYNAMIC and not shapes.same_extent(source.shape[3], channels * groups):
        yield (
            f"(C3) input channels: got {source.shape[3]}, "
            f"expected {channels * groups} (filter's {channels} x {groups} groups)"
        )
    if outputs != DYNAMIC and outputs % groups:
        yield f"(C3) {outputs} output channels do not divide into {groups} groups"


def contraction_types(
    number: str, source: TensorType, kernel: TensorType, result: TensorType
) -> Iterator[str]:
    """Element types of input, filter and result."""
    yield from same_family(number, {"input": source, "filter": kernel, "result": result})
    if not source.is_quantized:
        return
    yield from per_tensor(number, "input", source)
    yield from per_tensor(number, "result", result)
    yield from stored_in(number, "input", source, ACTIVATIONS)
    filters = (*FILTER_STORAGES, "i16") if source.params.storage.name == "i16" else FILTER_STORAGES
    yield from stored_in(number, "filter", kernel, filters)
    yield from stored_in(number, "result", result, RESULT_STORAGES)
    params = kernel.params
    if params.axis not in (None, 0) or params.block_sizes:
        yield (
            f"({number}) filter must be quantized per-tensor or per-axis 0 (output channel), "
            f"got {element_name(kernel)}"
        )
    if params.axis == 0 and params.storage.signed and any(params.zero_points):
        yield f"({number}) zero points of a signed per-axis filter must be 0, got {list(params.zero_points)}"


def bias_violations(
    number: str, source: TensorType, kernel: TensorType, bias: list[TensorType]
) -> Iterator[str]:
    """The bias, if there is one: one value per output channel, in the accumulator's parameters."""
    if not bias:
        return
    (type_,) = bias
    yield from equal_shape(number, "bias", type_.shape, kernel.shape[:1])
    if not source.is_quantized:
        yield from element_type(number, "bias", type_, type_.element == "f32", "f32")
        return
    if type_.element == "i64" and source.params.storage.name == "i16":
        return  # quantized types hold 32 bits at most: the scale goes without saying
    fits = type_.is_quantized and type_.params.storage.name == "i32"
    yield from element_type(number, "bias", type_, fits, "quantized i32")
    yield from _bias_parameters(number, source, kernel, type_)


def _bias_parameters(number: str, source: TensorType, kernel: TensorType, bias: TensorType) -> Iterator[str]:
    if any(bias.params.zero_points):
        yield f"({number}) bias zero point must be 0, got {next(filter(None, bias.params.zero_points))}"
    got, filter_scales = bias.params.scales, kernel.params.scales
    if len(got) not in (1, len(filter_scales)) or bias.params.block_sizes:
        yield f"({number}) bias scales: got {len(got)}, expected {len(filter_scales)} (one per filter scale)"
    per_channel = got if len(got) > 1 else got * len(filter_scales)
    for channel, (scale, filter_scale) in enumerate(zip(per_channel, filter_scales, strict=True)):
        expected = source.params.scale * filter_scale
        if abs(scale - expected) > BIAS_SCALE_TOLERANCE * expected:
            where = f" of channel {channel}" if len(filter_scales) > 1 else ""
            yield (
                f"({number}) bias scale{where}: got {scale}, expected {expected} (input scale x filter scale)"
            )
