"""Memory for buffers of compiled code."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

ALIGNMENT = 64
"""Bytes, of every buffer and constant: a cache line, and the widest vector."""
OVERREAD_BYTES = 128
"""How far past the end of a buffer code may read; what it finds there changes no result."""


def aligned_bytes(size: int) -> npt.NDArray[np.uint8]:
    """``size`` zero bytes that start on a boundary of :data:`ALIGNMENT`; :data:`OVERREAD_BYTES` follow."""
    raw = np.zeros(ALIGNMENT + size + OVERREAD_BYTES, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size]
