"""Whether the tests run under an emulator (``python -m zeropoint.tools.aarch64 run pytest ...``)."""

from __future__ import annotations

import os
import platform

import pytest

IS_EMULATED = platform.machine() == "aarch64" and "QEMU_CPU" in os.environ
needs_fork = pytest.mark.skipif(
    IS_EMULATED, reason="qemu cannot start threads in a process that was forked from one with threads"
)
