"""The tables that a resize kernel reads: which rows and columns are mixed, with which weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..dialect.resampling import Axis, Weights
from .launch import Bytes

SUM_BITS = {"words": 8, "integers": 22}
"""Of the two fractions together, by the kind of a sum; scaled up to that where they have fewer."""
ROW_BYTES, SEGMENT_BYTES, COLUMN_BYTES = 32, 32, 8
"""Of an entry."""
_EXACT_FLOAT_BITS = 14
"""With the 8 bits of an element, and a sign bit of each fraction, they fit into a float32."""


def weights_of(weights: Weights | None, rows: Axis, columns: Axis, offset: int) -> tuple[str, Bytes, Bytes]:
    """The kind of the sums; the weights of lower and upper elements: of rows ``[rows, 16]``, of columns
    ``[columns, 8]``. After a row's stand two integers: what a column's weights add up to, and what brings a
    rounded sum below zero if it stood for a negative number.
    """
    if weights is None:
        return "copy", _packed(rows.fraction, 1, 0, 0), _packed(columns.fraction, 1)
    fractions = [axis.fraction / np.float64(weights.one) for axis in (rows, columns)]
    bits, column_bits = (_fraction_bits(fraction) for fraction in fractions)
    if weights is Weights.FLOAT32 and bits + column_bits > _EXACT_FLOAT_BITS:
        one = np.float32(1)
        return "float32", _packed(rows.fraction, one, 0, 0), _packed(columns.fraction, one)
    kind = "words" if bits + column_bits <= SUM_BITS["words"] else "integers"
    down, right = 1 << bits, 1 << (SUM_BITS[kind] - bits)
    lower, left = (
        np.rint(fraction * one).astype(np.int32)
        for fraction, one in zip(fractions, (down, right), strict=True)
    )
    lead = -(offset << SUM_BITS[kind]) - (1 << (SUM_BITS[kind] - 1))
    return kind, _packed(lower, down, right, lead), _packed(left, right)


def row_table(axis: Axis, pitch: int, weights: Bytes) -> Bytes:
    """``[rows * 32]``: bytes to the lower and to the upper row, then their weights."""
    offsets = np.stack([axis.lower, axis.upper], 1).astype(np.int64) * pitch
    return np.concatenate([offsets.view(np.uint8), weights], 1).reshape(-1)


def segments_of(axis: Axis, pitch: int) -> Bytes:
    """``[segments * 32]``: bytes to the lower and to the upper column, first output column and end."""
    changes = (np.diff(axis.lower) != 0) | (np.diff(axis.upper) != 0)
    begins = np.concatenate([[0], np.flatnonzero(changes) + 1])
    ends = np.append(begins[1:], axis.lower.size)
    columns = [axis.lower[begins] * pitch, axis.upper[begins] * pitch, begins, ends]
    return np.stack(columns, 1).astype(np.int64).view(np.uint8).reshape(-1)


def _packed(upper: npt.NDArray[Any], one: int | np.float32, *others: int) -> Bytes:
    """Four bytes a number: ``one - upper``, ``upper``, and others that are the same in every entry."""
    numbers = [one - upper, upper, *(np.full_like(upper, other) for other in others)]
    return np.stack(numbers, 1).astype(np.float32 if upper.dtype == np.float32 else np.int32).view(np.uint8)


def _fraction_bits(fraction: npt.NDArray[np.float64]) -> int:
    """How many binary digits fractions of float32 have after the point, or one more than can matter."""
    for bits in range(_EXACT_FLOAT_BITS + 1):
        scaled = fraction * (1 << bits)
        if np.array_equal(scaled, np.rint(scaled)):
            return bits
    return _EXACT_FLOAT_BITS + 1
