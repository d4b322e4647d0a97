"""Index and weight tables of resize_nearest and resize_bilinear, one axis at a time.

For an axis of ``size`` elements resized to ``result``; numpy arrays with one entry per result index.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from .fixed_point import Ints, round_half_away_array
from .numerics import Rounding, rule
from .types import TensorType


class Weights(Enum):
    """The weights of resize_bilinear. ``f`` is an axis's fraction, ``one - f`` the weight of its lower
    element.

    The sum over four elements is of ``q * (row weight) * (column weight)``; zero points play no part.
    """

    FLOAT32 = "float32"
    """float32, ``one = 1``: floats and uint8, which rounds ``trunc(sum + 0.5)``."""
    FRACTION_10 = "10-bit"
    """Integers, ``one = 2^10``: int8 and int16; ``sum / 2^20`` rounded half away from zero."""
    FRACTION_11 = "11-bit"
    """Integers, ``one = 2^11``: XNNPACK, 8-bit; ``(sum + 2^21) >> 22``."""

    @property
    def one(self) -> int:
        """The integer that stands for a weight of one."""
        return {"10-bit": 1024, "11-bit": 2048}.get(self.value, 1)


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


def bilinear_weights(source: TensorType, mode: str = "reference") -> Weights:
    """Which weights resize_bilinear of ``source`` has in a numerics mode."""
    if not source.is_quantized:
        return Weights.FLOAT32
    storage = source.params.storage
    if rule(mode, "resize_bilinear", storage.bits) is Rounding.SINGLE_HALF_UP:
        return Weights.FRACTION_11
    return Weights.FRACTION_10 if storage.signed else Weights.FLOAT32


def bilinear(weights: Weights, size: int, result: int, align_corners: bool, half_pixel_centers: bool) -> Axis:
    """The coordinates of one axis for :func:`bilinear_weights`' choice."""
    kinds = {Weights.FLOAT32: bilinear_float, Weights.FRACTION_10: bilinear_integer}
    return kinds.get(weights, bilinear_xnnpack)(size, result, align_corners, half_pixel_centers)


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
    scale: np.float32 = np.float32(size) / np.float32(result)
    return scale


def bilinear_integer(size: int, result: int, align_corners: bool, half_pixel_centers: bool) -> Axis:
    """Coordinates of resize_bilinear in 1024ths: on int8 and int16."""
    scale = (1024 * size + result // 2) // result
    if align_corners and result > 1:
        scale = (1024 * (size - 1) + (result - 1) // 2) // (result - 1)
    position = np.arange(result, dtype=np.int64) * scale
    if half_pixel_centers:
        position = position + scale // 2 - 512
    # A scale that is rounded up may lead to behind the last element, which the reference then reads.
    lower = np.clip(_divide(position, 1024), 0, size - 1)
    upper = np.minimum(_divide(position + 1023, 1024), size - 1)
    return Axis(lower, upper, position - 1024 * lower)


def bilinear_xnnpack(size: int, result: int, align_corners: bool, half_pixel_centers: bool) -> Axis:
    """Coordinates of resize_bilinear in float32, kept inside the input; the fraction in whole 2048ths."""
    scale = _float_scale(size, result, align_corners)
    position = np.arange(result, dtype=np.float32) * scale
    if half_pixel_centers and not align_corners:
        offset = np.float32(0.5) * scale - np.float32(0.5)
        position = np.clip(position + offset, np.float32(0), np.float32(size - 1))
    lower = position.astype(np.int64)
    fraction = np.rint((position - lower.astype(np.float32)) * np.float32(2048)).astype(np.int64)
    return Axis(lower, np.minimum(lower + 1, size - 1), fraction)


def _divide(x: Ints, divisor: int) -> Ints:
    """C's division, which truncates."""
    result: Ints = np.sign(x) * (np.abs(x) // divisor)
    return result
