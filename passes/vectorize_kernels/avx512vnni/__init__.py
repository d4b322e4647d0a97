"""Kernels for x86-64 with AVX512-VNNI: dot products of four bytes into each of sixteen i32 lanes.

``vpdpbusd`` multiplies unsigned with signed bytes. Inputs are read as unsigned and filters held as signed:
an i8 input
is flipped (``x ^ 0x80`` is ``x + 128``), a u8 filter is stored less 128, and both shifts are undone exactly,
by the bias
and by the sum of the input under the filter.
"""

from . import conv2d, depthwise_conv2d

FAMILIES = [conv2d, depthwise_conv2d]

__all__ = ["FAMILIES", "conv2d", "depthwise_conv2d"]
