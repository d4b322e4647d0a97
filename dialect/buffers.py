"""Memory for buffers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

ALIGNMENT = 64
"""Bytes, of every buffer and constant: a cache line, and the widest vector."""


def aligned_bytes(size: int) -> npt.NDArray[np.uint8]:
    """``size`` zero bytes that start on a boundary of :data:`ALIGNMENT`."""
    raw = np.zeros(size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size]
