"""What a vector kernel depends on besides its data, as plain numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ...dialect.op_constants import Rescale

Kind: TypeAlias = Literal["conv2d", "depthwise_conv2d", "matmul"]

INPUT_SLACK_BYTES = 64
"""How far past the end of its input a kernel may read where :attr:`ConvSpec.input_slack` says so."""


@dataclass(frozen=True)
class ConvSpec:
    """A contraction of 8-bit values with its epilogue: ``rescale(sum x * (w - filter_zero_point) + bias)``.

    Every array is dense, row-major and static: input ``[batch, in_height, in_width, in_channels]`` (padded
    already), result ``[batch, out_height, out_width, out_channels]``. Output ``y, x`` reads the input at
    ``y * strides[0] + i * dilations[0], x * strides[1] + j * dilations[1]`` for tap ``i, j``, so the input
    may have rows and columns that nobody reads.

    A ``matmul`` of ``[M, K]`` and ``[N, K]`` is the 1x1 convolution of one row: ``in_height = out_height =
    1``, ``in_width = out_width = M``, ``in_channels = K``, ``out_channels = N``.

    The bias holds the input's zero point already: kernels multiply the stored input.
    """

    kind: Kind
    batch: int
    in_height: int
    in_width: int
    in_channels: int
    out_height: int
    out_width: int
    out_channels: int
    """A depthwise convolution has ``in_channels * multiplier`` of them: output ``c * multiplier + m`` reads
    input channel ``c``.
    """
    kernel_height: int
    kernel_width: int
    strides: tuple[int, int]
    dilations: tuple[int, int]
    input_signed: bool
    """Whether the stored bytes of the input are read as int8 (else uint8)."""
    filter_signed: bool
    filter_zero_points: tuple[int, ...]
    """What is subtracted from the filter: one number, or one per output channel."""
    result_signed: bool
    rescale: Rescale
    """One entry, or one per output channel; ``low`` and ``high`` fit the result's storage."""
    input_slack: bool
    """Whether reading up to :data:`INPUT_SLACK_BYTES` past the input's end is harmless (the bytes are
    arbitrary).
    """
    result_bits: int = 8
