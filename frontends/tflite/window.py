"""Windows that slide over height and width: strides, dilations and explicit padding from the options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...dialect.qnn.shapes import same_padding_2d
from ...dialect.types import TensorType
from .operator_import import OperatorImport


@dataclass(frozen=True)
class Window:
    """Attributes of a conv2d or pool op."""

    strides: tuple[int, int]
    dilations: tuple[int, int]
    padding: tuple[int, int, int, int]


def window_of(
    op: OperatorImport, x: TensorType, extents: Sequence[int], dilations: tuple[int, int] = (1, 1)
) -> Window:
    """The window [h, w] of ``extents`` on the NHWC input ``x``; SAME padding becomes explicit."""
    strides = (op.option("stride_h"), op.option("stride_w"))
    op.demand_positive(
        stride_h=strides[0],
        stride_w=strides[1],
        dilation_h=dilations[0],
        dilation_w=dilations[1],
        window_height=extents[0],
        window_width=extents[1],
    )
    if op.option("padding") == "VALID":
        return Window(strides, dilations, (0, 0, 0, 0))
    height, width = x.shape[1:3]
    top, bottom, left, right = padding = same_padding_2d((height, width), extents, strides, dilations)
    # A dilation of millions is a window of millions: the padded input must fit into memory.
    op.demand_memory((x.shape[0], height + top + bottom, width + left + right, x.shape[3]), x)
    return Window(strides, dilations, padding)
