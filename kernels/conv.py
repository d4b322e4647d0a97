"""What a convolution computes, as plain numbers.

Stored bytes are described as they lie in memory: where an i8 tensor is kept as u8 (``q + 128``), its zero
point and its bounds here are 128 higher.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..dialect.op_constants import Rescale, ShiftSum, Sum
from .image import Image


@dataclass(frozen=True)
class Residual:
    """What is added to a convolution's result before it is stored: ``add(conv, other)``, or ``add(other,
    conv)`` if ``conv_is_rhs``. The convolution's own result is rounded and clamped first, as if it were
    stored.
    """

    other: Image
    other_signed: bool
    constants: Sum | ShiftSum
    conv_is_rhs: bool
    result_signed: bool


@dataclass(frozen=True)
class Conv:
    """A contraction of 8-bit values with its rescale: ``rescale(sum x * (w - filter_zero_point) + bias)``.

    Output ``y, x`` reads the input at ``y * strides[0] - padding[0] + i * dilations[0]``, and columns alike,
    for tap ``i, j``. The input's border is wide enough for all of that and holds the zero point. ``bias``
    holds the input's zero point already: kernels multiply stored bytes.

    A fully connected layer of ``[M, K]`` and ``[N, K]`` is a 1x1 convolution of one row: ``width = M``.
    """

    kind: Literal["conv2d", "depthwise_conv2d"]
    """``conv2d``: groups of ``in_channels / groups`` channels. ``depthwise_conv2d``: output channel ``c *
    multiplier + m`` reads input channel ``c`` alone.
    """
    input: Image
    output: Image
    """Of the convolution; with a residual of the sum, whose image it is."""
    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    padding: tuple[int, int]
    """Rows above, columns to the left."""
    groups: int
    input_signed: bool
    filter_signed: bool
    filter_zero_points: tuple[int, ...]
    """One number, or one per output channel."""
    result_signed: bool
    rescale: Rescale
    """One entry, or one per output channel; ``low`` and ``high`` fit the result's storage."""
    filter: npt.NDArray[Any]
    """int8 or uint8 as ``filter_signed`` says, ``[out_channels, kernel_height, kernel_width, in_channels /
    groups]``.
    """
    bias: npt.NDArray[np.int32]
    """``[out_channels]``, the input's zero point folded in."""
    residual: Residual | None = None


@dataclass(frozen=True)
class Sums:
    """The sums themselves, in i32."""


@dataclass(frozen=True, eq=False)
class Reals:
    """Float32, of numbers that were quantized row by row at run time (:mod:`.quantize_rows`):

    ``clamp(acc * (s * w[c]) + b[c])``, where ``s`` is the row's scale, ``w`` the channel's, and ``acc`` the
    sum of the row's numbers less its zero point, times the filter. Unless ``scales_first`` the product is
    ``(acc * w[c]) * s``.

    Of a filter in blocks ``acc * w[c]`` is the sum of that over the blocks, from the first on.
    """

    scales: npt.NDArray[np.float32]
    """``[blocks, channels]``: the taps of a channel are cut into so many equal parts."""
    bias: npt.NDArray[np.float32] | None
    clamp: tuple[float, float] | None
    asymmetric: bool
    """Whether rows have zero points of their own; else all have the number of zero."""
    scales_first: bool
    is_blocked: bool
    per_pixel: bool
    """Whether a row is a pixel; else it is an image."""
    rows_start: int
    """The byte in the input's buffer where the rows' parameters are."""


@dataclass(frozen=True)
class WideConv(Conv):
    """A contraction whose results are four bytes each; its ``rescale`` has no meaning. With :class:`Reals`
    the ``bias`` is that of the input's number of zero, where all rows have the same.
    """

    ending: Sums | Reals = field(default_factory=Sums)
