"""Setting up the emulated environment, step by step; each is skipped when its result is there."""

from __future__ import annotations

import fcntl
import shlex
from collections.abc import Iterator
from contextlib import contextmanager

from ...errors import ZeropointError
from . import debian, emulated_cpus, wheels
from .environment import Environment, call, qemu, say

DEFAULT_CPU = "max"
_OLDEST_PYTHON = (3, 10)
_MODULES = {"pytest": "pytest", "zeropoint": "zeropoint.tools.cli", "qopt": "zeropoint.tools.qopt"}
"""Command -> module."""
_ASK = "import os, sys; print(*sys.version_info[:2], os.confstr('CS_GNU_LIBC_VERSION').split('.')[-1])"


def set_up(environment: Environment) -> None:
    """Make what is missing.

    Raises:
        ZeropointError: a program is missing or fails; the message says which package to install, or what it
            said.
    """
    emulator = qemu()
    with _alone(environment):
        if not environment.root.exists():
            debian.unpack(environment)
        if not environment.launcher.exists():
            _write_launcher(environment, emulator)
        emulated_cpus.prepare(environment, DEFAULT_CPU)
        wanted = wheels.requirements()
        if not wheels.is_current(environment, wanted):
            major, minor, glibc = map(
                int, call("the emulated Python", [str(environment.launcher), "-c", _ASK]).split()
            )
            if (major, minor) < _OLDEST_PYTHON:
                raise ZeropointError(
                    f"Debian's Python is {major}.{minor}, Zeropoint needs 3.10 or newer: use a newer Debian"
                )
            wheels.unpack(environment, wanted, (major, minor), glibc)
            say("compiling Python's library")
            library = environment.root / "usr" / "lib" / f"python{major}.{minor}"
            call(
                "compiling Python's library",
                [str(environment.launcher), "-m", "compileall", "-q", str(library)],
            )
            say(f"ready: {environment.folder}")


@contextmanager
def _alone(environment: Environment) -> Iterator[None]:
    """No other process sets up the same folder meanwhile."""
    environment.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (environment.folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _write_launcher(environment: Environment, emulator: str) -> None:
    """The scripts that start the emulated Python, and where it finds the wheels."""
    folder, launcher = shlex.quote(str(environment.folder)), environment.launcher
    packages = environment.root / "usr" / "lib" / "python3" / "dist-packages"
    packages.mkdir(parents=True, exist_ok=True)
    (packages / "zeropoint-wheels.pth").write_text(f"{environment.site}\n")
    environment.commands.mkdir(exist_ok=True)
    script = f"""\
#!/bin/sh
# Python under qemu. -0 makes this script sys.executable, so that child processes are emulated, too.
folder={folder}
prefix=$folder/cpus/${{QEMU_CPU:-{DEFAULT_CPU}}}
[ -d "$prefix" ] || prefix=$folder/root
unset PYTHONHOME
exec {shlex.quote(emulator)} -0 "$folder/root/usr/bin/python" -L "$prefix" "$folder/root/usr/bin/python3" "$@"
"""
    for name in ("python", "python3"):
        _write_script(environment, name, f'#!/bin/sh\nexec {shlex.quote(str(launcher))} "$@"\n')
    for name, module in _MODULES.items():
        _write_script(environment, name, f'#!/bin/sh\nexec {shlex.quote(str(launcher))} -m {module} "$@"\n')
    launcher.write_text(script)
    launcher.chmod(0o755)


def _write_script(environment: Environment, name: str, text: str) -> None:
    path = environment.commands / name
    path.write_text(text)
    path.chmod(0o755)
