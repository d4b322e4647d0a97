"""Threads that help with a run: daemon threads of Python that are in the driver's code all the time.

They spin for some microseconds after each step, then sleep until there is work. A process that was forked has
none of them; its teams start anew when they are next asked for.
"""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections.abc import Callable
from typing import Any

from ..dialect.buffers import aligned_bytes
from .driver import DRIVER, STOP_TEAM, WORK
from .driver_team import TEAM_BYTES, WORKERS
from .loader import LoadedCode

_TEAMS: weakref.WeakSet[Team] = weakref.WeakSet()


class Team:
    """``threads - 1`` helpers of whoever runs. They end with this object."""

    def __init__(self, code: LoadedCode, threads: int) -> None:
        self._code = code
        self._helpers = threads - 1
        self._memory = aligned_bytes(TEAM_BYTES)
        self.address: int = self._memory.ctypes.data
        self._starting = threading.Lock()
        self._is_started = False
        self._work = _function(code, WORK)
        self._end = weakref.finalize(
            self, _stop, _function(code, STOP_TEAM), self.address, self._memory, code
        )
        _TEAMS.add(self)

    def start(self) -> None:
        """Start the helpers, if they do not run."""
        if not self._is_started:
            with self._starting:
                self._start_once()

    def _start_once(self) -> None:
        if not self._is_started:
            for i in range(self._helpers):
                # The thread owns what it works on: it may outlive this object for a moment.
                arguments = (self._work, self.address, self._memory, self._code)
                threading.Thread(target=_help, args=arguments, name=f"zeropoint-{i}", daemon=True).start()
            ctypes.c_int32.from_address(self.address + WORKERS).value = self._helpers
            self._is_started = True

    def forget_helpers(self) -> None:
        """In a forked process: none of the threads is here, whatever they were doing."""
        self._memory[:] = 0
        self._starting = threading.Lock()
        self._is_started = False


def _function(code: LoadedCode, symbol: str) -> Callable[[int], None]:
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address(DRIVER, symbol))


def _help(work: Callable[[int], None], address: int, *owned: Any) -> None:
    work(address)


def _stop(stop: Callable[[int], None], address: int, *owned: Any) -> None:
    stop(address)


def _after_fork() -> None:
    for team in list(_TEAMS):
        team.forget_helpers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
