"""Ops that multiply activations with weights and accumulate in i32: conv2d and fully_connected."""

from collections.abc import Iterator
from typing import Any, Optional

from ..mlir import ext
from ..types import DYNAMIC
from .core import QnnOp
from .shapes import conv_output_extent, same_shape

BIAS_SCALE_TOLERANCE = 1e-5
"""A bias scale is the product of two float32 scales, stored by some writers rounded to float32: 2^-23 each way, with room."""


class Conv2dOp(QnnOp, name="conv2d", traits=[ext.Pure]):
    """2-D convolution of an NHWC input; ``groups`` = channels makes it depthwise.

    ``result[n,y,x,o] = clamp(bias[o] + sum(input[n, y*sh + i*dh - top, x*sw + j*dw - left, c] * filter[o,i,j,c]))``

    The filter is laid out [O, KH, KW, I/groups]; padding is [top, bottom, left, right] and pads with real zeros;
    ``clamp`` is empty or [low, high] in real values.
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
        """(C1) ranks are 4. (C2) strides, dilations and groups are positive, padding is not negative.
        (C3) input channels = filter channels x groups, output channels divide by groups. (C4) the result's shape
        follows. (C5) bias parameters are input x filter."""
        input_type, filter_type, *rest = self.input_types
        result = self.result_type
        if not (len(input_type.shape) == len(filter_type.shape) == len(result.shape) == 4):
            yield "(C1) input, filter and result must have rank 4"
            return
        strides, dilations, padding = self.plain("strides"), self.plain("dilations"), self.plain("padding")
        groups = self.plain("groups")
        if len(strides) != 2 or len(dilations) != 2 or len(padding) != 4:
            yield f"(C2) strides, dilations and padding need 2, 2 and 4 values, got {len(strides)}, {len(dilations)} and {len(padding)}"
            return
        if min(*strides, *dilations, groups) < 1 or min(padding) < 0:
            yield (
                f"(C2) strides {list(strides)}, dilations {list(dilations)} and groups {groups} must be positive, "
                f"padding {list(padding)} not negative"
            )
            return
        channels = input_type.shape[3]
        if channels != DYNAMIC and channels != filter_type.shape[3] * groups:
            yield f"(C3) input has {channels} channels, expected {filter_type.shape[3] * groups} (filter's {filter_type.shape[3]} x {groups} groups)"
        if filter_type.shape[0] % groups:
            yield f"(C3) {filter_type.shape[0]} output channels do not divide into {groups} groups"
        expected = (
            input_type.shape[0],
            conv_output_extent(input_type.shape[1], filter_type.shape[1], strides[0], dilations[0], padding[:2]),
            conv_output_extent(input_type.shape[2], filter_type.shape[2], strides[1], dilations[1], padding[2:]),
            filter_type.shape[0],
        )
        if not same_shape(result.shape, expected):
            yield f"(C4) result shape {list(result.shape)} differs from {list(expected)}"


class FullyConnectedOp(QnnOp, name="fully_connected", traits=[ext.Pure]):
    """Matrix product with a constant filter [N, K], bias included."""

    result: ext.Result[Any]
    input: ext.Operand[Any]
    filter: ext.Operand[Any]
    bias: Optional[ext.Operand[Any]] = None  # noqa: UP045 - the bindings match Optional
    clamp: Any = ext.attribute(kw_only=True)
