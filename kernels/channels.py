"""Channels in vectors: which channel each lane holds.

By default the last vector of a width that is no multiple of the lanes overlaps the one before it: some
channels are computed twice, and no store needs a mask.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .launch import Bytes

Indices = npt.NDArray[np.intp]


class Channels:
    """``count`` channels in ``vectors`` vectors of ``width`` lanes, which may be more than they need."""

    def __init__(self, count: int, vectors: int, width: int, lanes: Indices | None = None) -> None:
        """``lanes``: the channel of each lane, if not by default; ``count`` in lanes that hold none."""
        self.count = count
        self.width = width
        starts = np.arange(vectors) * width
        if count >= width:
            starts = np.minimum(starts, count - width)
        self.starts = starts
        """The first channel of each vector, in the default order."""
        self.lanes = (starts[:, None] + np.arange(width)).reshape(-1) if lanes is None else lanes
        """The channel of each lane; at or above ``count`` in lanes that hold none."""

    def spread(self, values: npt.ArrayLike, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """One value or one per channel, as ``[vectors, lanes]``; zero in lanes that hold no channel."""
        array = np.broadcast_to(np.asarray(values, dtype), (self.count,))
        picked = array[np.minimum(self.lanes, self.count - 1)]
        return np.where(self.lanes < self.count, picked, np.zeros((), dtype)).reshape(-1, self.width)

    def spread_rows(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """``[count, ...]`` as ``[vectors * lanes, ...]``, in the same way."""
        picked = rows[np.minimum(self.lanes, self.count - 1)]
        inside = (self.lanes < self.count).reshape(-1, *[1] * (rows.ndim - 1))
        return np.where(inside, picked, np.zeros((), rows.dtype))


def as_bytes(array: npt.NDArray[Any]) -> Bytes:
    """``[n, ...]`` of any dtype as bytes of the same rows."""
    contiguous = np.ascontiguousarray(array)
    return contiguous.view(np.uint8).reshape(contiguous.shape[0], -1)


def wrap_int32(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    """Modulo 2^32, as accumulators wrap."""
    return (values & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
