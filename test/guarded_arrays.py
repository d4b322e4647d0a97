"""Arrays next to memory that nobody may touch."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np


def before_a_gap(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy that ends where a page begins that nobody may read."""
    size, page = array.nbytes, mmap.PAGESIZE
    pages = mmap.mmap(-1, -(-size // page) * page + page)
    whole = np.frombuffer(pages, np.uint8)
    libc = ctypes.CDLL(None)
    assert (
        libc.mprotect(ctypes.c_void_p(whole.ctypes.data + whole.size - page), ctypes.c_size_t(page), 0) == 0
    )
    copy = whole[whole.size - page - size : whole.size - page].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy
