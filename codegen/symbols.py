"""Functions of this process that machine code may call: libc's and libm's."""

from __future__ import annotations

import ctypes
import sys
from functools import lru_cache


@lru_cache(maxsize=1)
def _libraries() -> tuple[ctypes.CDLL, ...]:
    """Where functions are looked for. A Python that links libm statically does not show its functions."""
    if sys.platform == "win32":
        return (ctypes.CDLL("ucrtbase"), ctypes.CDLL("kernel32"))
    if sys.platform == "darwin":
        return (ctypes.CDLL(None),)
    try:
        return (ctypes.CDLL("libm.so.6"), ctypes.CDLL(None))
    except OSError:  # not glibc
        from ctypes.util import find_library

        maths = find_library("m")
        return (*([ctypes.CDLL(maths)] if maths else []), ctypes.CDLL(None))


@lru_cache(maxsize=256)
def function_address(name: str) -> int | None:
    """The address of the C function ``name``; None if this process has none."""
    for library in _libraries():
        try:
            function = getattr(library, name)
        except AttributeError:
            continue
        return ctypes.cast(function, ctypes.c_void_p).value
    return None
