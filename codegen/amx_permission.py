"""Permission to use AMX: Linux gives a process the tile registers' state only when it asks, once, before the
first tile instruction; without it that instruction kills the process.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
import threading

from ..errors import TargetError
from .machine import host

FEATURES = frozenset({"+amx-tile", "+amx-int8"})

_SYS_ARCH_PRCTL = 158
_ARCH_REQ_XCOMP_PERM = 0x1023
_XFEATURE_XTILEDATA = 18
_LOCK = threading.Lock()
_granted: set[int] = set()
"""The ids of processes that have asked with success: this one, and those it was forked from."""


def request() -> None:
    """Ask the operating system for the tile registers, for all threads of this process. Call it before code
    for the instruction set ``amx`` runs; asking again costs nothing.

    Raises:
        TargetError: the CPU has no AMX, or the system does not give it to us.
    """
    reason = why_not()
    if reason is not None:
        raise TargetError(f"this process cannot run AMX code: {reason}")


def why_not() -> str | None:
    """None if this process may run AMX code (it asks for that), else the reason why not."""
    missing = sorted(FEATURES - set(host().features.split(",")))
    if missing:
        return f"the CPU or the system has no {', '.join(name[1:] for name in missing)}"
    if not sys.platform.startswith("linux") or platform.machine() != "x86_64":
        return "asking the system for the tile registers is implemented for Linux on x86-64 only"
    with _LOCK:
        if os.getpid() not in _granted:
            fault = _ask()
            if fault is not None:
                return fault
            _granted.add(os.getpid())
    return None


def _ask() -> str | None:
    """The system call; None or why it failed."""
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    call.argtypes = [ctypes.c_long] * 3
    if call(_SYS_ARCH_PRCTL, _ARCH_REQ_XCOMP_PERM, _XFEATURE_XTILEDATA) == 0:
        return None
    return f"the system refuses the tile registers: {os.strerror(ctypes.get_errno())}"
