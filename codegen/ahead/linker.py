"""Shared libraries, through the linker of the target."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ...errors import TargetError
from ..machine import Machine, host

_MEMORY_FUNCTIONS = frozenset({"memcpy", "memset", "memmove"})
_PACKAGES = {
    "aarch64": "gcc-aarch64-linux-gnu",
    "riscv64": "gcc-riscv64-linux-gnu",
    "x86_64": "gcc-x86-64-linux-gnu",
}
"""Debian's packages with compilers for other machines."""


def shared_library(name: str, code: bytes, machine: Machine, needs: Sequence[str]) -> bytes:
    """Link an object file to a library that exports what the header declares.

    ``needs``: functions that it calls; those that are libm's make it depend on libm.

    Raises:
        TargetError: no linker for the machine is installed, or it fails.
    """
    command = require_linker(machine)
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, f"{name}.o"), Path(folder, f"{name}.so")
        source.write_bytes(code)
        libraries = [] if set(needs) <= _MEMORY_FUNCTIONS else ["-lm"]
        done = subprocess.run(
            [
                command,
                "-shared",
                "-nostdlib",
                "-Wl,--build-id=none",
                f"-Wl,-soname,{name}.so",
                "-o",
                target.name,
                source.name,
                *libraries,
            ],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise TargetError(f"{command}: cannot link {name}.so: {done.stderr.strip()}")
        return target.read_bytes()


def require_linker(machine: Machine) -> str:
    """The C compiler for a machine that is installed here, by which we call its linker.

    Raises:
        TargetError: there is none, or the machine has no operating system that loads libraries.
    """
    if not machine.has_system:
        raise TargetError(
            f"kind 'shared': {machine.triple} has no operating system that loads libraries; take 'static'"
        )
    names = [f"{machine.architecture}-linux-gnu-gcc"]
    if machine.architecture == host().architecture and sys.platform.startswith("linux"):
        names = ["cc", "gcc", "clang", *names]
    found = next((name for name in names if shutil.which(name)), None)
    if found is None:
        package = _PACKAGES.get(machine.architecture, f"a C compiler for {machine.triple}")
        raise TargetError(
            f"kind 'shared' needs a linker for {machine.triple}, and none of {', '.join(names)} is here; "
            f"install {package}, or take kind 'object' or 'static'"
        )
    return found
