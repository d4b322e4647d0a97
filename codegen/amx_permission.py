"""Permission to use AMX: Linux gives a process the tile registers' state only when it asks, once, before the
first tile instruction; without it that instruction kills the process.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from functools import lru_cache

from ..errors import TargetError

_SYS_ARCH_PRCTL = 158
_ARCH_REQ_XCOMP_PERM = 0x1023
_XFEATURE_XTILEDATA = 18


def request() -> None:
    """Ask the system for the tile registers, for all threads of this process and its forks. Call it before
    code for the instruction set ``amx`` runs; asking again costs nothing.

    Raises:
        TargetError: the CPU has no AMX, or the system does not give it to us.
    """
    reason = why_not()
    if reason is not None:
        raise TargetError(f"this process cannot run AMX code: {reason}")


@lru_cache(maxsize=1)
def why_not() -> str | None:
    """None if this process may use tile registers (it asks for them), else the reason why not.

    What the CPU can do with tiles is another matter: its features say that.
    """
    if not sys.platform.startswith("linux") or platform.machine() != "x86_64":
        return "asking for the tile registers is implemented for Linux on x86-64 only"
    error = _ask()
    if error is None:
        return None
    return f"the system has no tile registers for it ({os.strerror(error)})"


def _ask() -> int | None:
    """The system call; None or the number of its error."""
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    call.argtypes = [ctypes.c_long] * 3
    refused = call(_SYS_ARCH_PRCTL, _ARCH_REQ_XCOMP_PERM, _XFEATURE_XTILEDATA)
    return ctypes.get_errno() if refused else None
