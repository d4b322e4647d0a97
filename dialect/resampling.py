"""Index and weight tables of resize_nearest and resize_bilinear, one axis at a time.

For an axis of ``size`` elements resized to ``result``; numpy arrays with one entry per result index.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .fixed_point import Ints, round_half_away_array


@dataclass(frozen=True)
class Axis:
    """Each result index mixes elements ``lower`` and ``upper`` of the input; ``fraction`` is the weight of
    ``upper``.

    ``fraction`` is a float32 in ``[0, 1]``, or an integer in 1024ths (which half-pixel centers may push below
    zero, at the border, where ``lower == upper``).
    """

    lower: Ints
    upper: Ints
    fraction: npt.NDArray[Any]


def nearest(size: int, result: int, align_corners: bool, half_pixel_centers: bool) -> Ints:
    """Source indices of resize_nearest: ``floor((i + offset) * scale)`` (``round`` if corners are aligned),
    in float32.
    """
    scale = _float_scale(size, result, align_corners)
    position = (np.arange(result, dtype=np.float32) + np.float32(0.5 if half_pixel_centers else 0.0)) * scale
    index = round_half_away_array(position) if align_corners else np.floor(position)
    return np.clip(index.astype(np.int64), 0, size - 1)


def bilinear_float(size: int, result: int, align_corners: bool, half_pixel_centers: bool) -> Axis:
    """Coordinates of resize_bilinear in float32: on floats and uint8."""
    scale = _float_scale(size, result, align_corners)
    position = np.arange(result, dtype=np.float32)
    position = (
        (position + np.float32(0.5)) * scale - np.float32(0.5) if half_pixel_centers else position * scale
    )
    lower = np.maximum(np.floor(position).astype(np.int64), 0)
    upper = np.minimum(np.ceil(position).astype(np.int64), size - 1)
    return Axis(lower, upper, position - lower.astype(np.float32))


def _float_scale(size: int, result: int, align_corners: bool) -> np.float32:
    if align_corners and result > 1:
        size, result = size - 1, result - 1
    return np.float32(np.float32(size) / np.float32(result))


def bilinear_integer(size: int, result: int, align_corners: bool, half_pixel_centers: bool) -> Axis:
    """Coordinates of resize_bilinear in 1024ths: on int8 and int16."""
    scale = (1024 * size + result // 2) // result
    if align_corners and result > 1:
        scale = (1024 * (size - 1) + (result - 1) // 2) // (result - 1)
    position = np.arange(result, dtype=np.int64) * scale
    if half_pixel_centers:
        position = position + scale // 2 - 512
    lower = np.maximum(_divide(position, 1024), 0)
    upper = np.minimum(_divide(position + 1023, 1024), size - 1)
    return Axis(lower, upper, position - 1024 * lower)


def _divide(x: Ints, divisor: int) -> Ints:
    """C's division, which truncates."""
    result: Ints = np.sign(x) * (np.abs(x) // divisor)
    return result
