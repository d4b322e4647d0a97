"""Quantizing floats at run time, row by row, by the range that each row has: LiteRT's "dynamic range".

A *row* is what has one scale: a row of a matrix, an image of a batch. Everything is float32 unless it says
otherwise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .fixed_point import Ints, round_half_away_array

SYMMETRIC_MAXIMUM = 127
ASYMMETRIC_RANGE = (-128, 127)

Floats = npt.NDArray[Any]


def quantize_rows(rows: Floats, asymmetric: bool) -> tuple[Ints, Floats]:
    """Stored values less their zero point, and the scale of each row, of float32 ``rows`` [R, K].

    NaN counts as the lowest value.
    """
    with np.errstate(all="ignore"):
        return _asymmetric(rows) if asymmetric else _symmetric(rows)


def _symmetric(rows: Floats) -> tuple[Ints, Floats]:
    """``q = clip(round_half_away(x * (127 / r)), -127, 127)``, scale ``r / 127``, ``r = max(abs(x))``; a row
    of zeros has the scale 1.
    """
    largest = _maximum(np.abs(rows))
    some = largest > 0
    scale = np.where(some, largest / np.float32(SYMMETRIC_MAXIMUM), np.float32(1))
    inverse = np.where(some, np.float32(SYMMETRIC_MAXIMUM) / largest, np.float32(1))
    stored = _rounded(rows * inverse[:, None], -SYMMETRIC_MAXIMUM, SYMMETRIC_MAXIMUM)
    return stored, scale


def _asymmetric(rows: Floats) -> tuple[Ints, Floats]:
    """``q = clip(round_half_away(x * (1 / s)) + z, -128, 127)``; see :func:`asymmetric_parameters`."""
    scale, zero_point = asymmetric_parameters(-_maximum(-rows), _maximum(rows))
    inverse = np.float32(1) / scale
    low, high = (end - zero_point[:, None] for end in ASYMMETRIC_RANGE)
    return _rounded(rows * inverse[:, None], low, high), scale


def asymmetric_parameters(smallest: Floats, largest: Floats) -> tuple[Floats, Ints]:
    """Scale (float32) and zero point of rows whose values lie between ``smallest <= 0`` and ``largest >= 0``.

    ``s = (largest - smallest) / 255``, the difference in float32. The zero point is that of the end that is
    met with the smaller error, in float64, rounded half away and limited. Rows of zeros have the scale 1 and
    the zero point 0.
    """
    low, high = ASYMMETRIC_RANGE
    minimum, maximum = smallest.astype(np.float64), largest.astype(np.float64)
    span = (largest - smallest).astype(np.float64)
    some = span > 0
    scale = np.where(some, span / (high - low), 1.0)
    from_low, from_high = low - minimum / scale, high - maximum / scale
    nearer = np.abs(minimum / scale) - low < np.abs(maximum / scale) + high
    point = np.clip(round_half_away_array(np.where(nearer, from_low, from_high)), low, high)
    return scale.astype(np.float32), np.where(some, point, 0).astype(np.int64)


def _maximum(rows: Floats) -> Floats:
    """The largest value of each row, zero if there is none above; NaN is no value."""
    largest: Floats = np.fmax.reduce(rows, axis=1, initial=np.float32(0))
    return largest


def _rounded(values: Floats, low: npt.ArrayLike, high: npt.ArrayLike) -> Ints:
    known = np.where(np.isnan(values), low, values)
    result: Ints = np.clip(round_half_away_array(known).astype(np.float64), low, high).astype(np.int64)
    return result
