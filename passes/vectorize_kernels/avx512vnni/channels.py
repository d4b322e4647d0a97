"""Output channels in vectors of sixteen. The last vector of a width that is no multiple of sixteen overlaps
the one
before it: some channels are computed twice, and no store needs a mask.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .writer import LANES, Writer


class Channels:
    """``count`` channels in ``vectors`` vectors, which may be more than they need."""

    def __init__(self, count: int, vectors: int) -> None:
        self.count = count
        starts = np.arange(vectors) * LANES
        if count >= LANES:
            starts = np.minimum(starts, count - LANES)
        self.lanes = (starts[:, None] + np.arange(LANES)).reshape(-1)
        """The channel of each lane; at or above ``count`` in lanes that hold none."""

    def spread(self, values: npt.ArrayLike, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """One value or one per channel, as ``[vectors, 16]``; zero in lanes that hold no channel."""
        array = np.broadcast_to(np.asarray(values, dtype), (self.count,))
        picked = array[np.minimum(self.lanes, self.count - 1)]
        return np.where(self.lanes < self.count, picked, np.zeros((), dtype)).reshape(-1, LANES)

    def spread_rows(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """``[count, ...]`` as ``[vectors * 16, ...]``, in the same way."""
        picked = rows[np.minimum(self.lanes, self.count - 1)]
        inside = (self.lanes < self.count).reshape(-1, *[1] * (rows.ndim - 1))
        return np.where(inside, picked, np.zeros((), rows.dtype))

    def start(self, w: Writer, first: str, vectors: int, vector: int) -> str:
        """The first channel of vector ``first * vectors + vector``, where ``first`` is only known at run
        time."""
        start = w.plus(w.times(first, vectors * LANES), w.index(vector * LANES))
        return w.at_most(start, self.count - LANES) if self.count >= LANES else start


def as_bytes(array: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """``[vectors, n]`` of any dtype as bytes of the same rows."""
    contiguous = np.ascontiguousarray(array)
    return contiguous.view(np.uint8).reshape(contiguous.shape[0], -1)


def wrap_int32(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    """Modulo 2^32, as accumulators wrap."""
    return (values & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
