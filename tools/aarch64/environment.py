"""Where the parts of the emulated environment lie, and how to call the programs that make them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import ZeropointError
from ...runtime.cache import folder as cache_folder

FOLDER_VARIABLE = "ZEROPOINT_AARCH64_DIR"
ROOT = Path(__file__).resolve().parents[2]
"""The checkout, which is the package."""


def default_folder() -> Path:
    """``$ZEROPOINT_AARCH64_DIR``, or ``aarch64`` in Zeropoint's cache."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen) if chosen else cache_folder() / "aarch64"


@dataclass(frozen=True)
class Environment:
    """One folder with everything; parts appear under their final names only when they are complete."""

    folder: Path

    @property
    def root(self) -> Path:
        """Debian's packages, unpacked."""
        return self.folder / "root"

    @property
    def site(self) -> Path:
        """The wheels, unpacked."""
        return self.folder / "site"

    @property
    def commands(self) -> Path:
        """Scripts under the names of commands: ``python3``, ``pytest``, ``zeropoint`` ..."""
        return self.folder / "bin"

    @property
    def launcher(self) -> Path:
        """What the emulated Python takes for itself: a script that starts it. It lies where the library is
        found from.
        """
        return self.root / "usr" / "bin" / "python"

    def prefix(self, cpu: str) -> Path:
        """What programs on an emulated CPU see as the root of the file system, before this machine's."""
        return self.folder / "cpus" / cpu


def say(text: str) -> None:
    """Progress, on stderr."""
    print(f"aarch64: {text}", file=sys.stderr, flush=True)


def tool(name: str, package: str, *others: str) -> str:
    """The path of a program under the first of its names that is there.

    Raises:
        ZeropointError: it is missing; the message names Debian's package.
    """
    for candidate in (name, *others):
        if path := shutil.which(candidate):
            return path
    raise ZeropointError(f"{name} is missing; install it: apt-get install {package}")


def qemu() -> str:
    """The emulator of AArch64 programs."""
    return tool("qemu-aarch64", "qemu-user", "qemu-aarch64-static")


def call(what: str, command: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    """Run a program and return what it prints.

    Raises:
        ZeropointError: it fails; the message has what it said last.
    """
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **(environment or {})},
        check=False,
    )
    if done.returncode:
        last = "\n  ".join((done.stderr or done.stdout).strip().splitlines()[-8:])
        raise ZeropointError(
            f"{what} failed ({Path(command[0]).name}, exit status {done.returncode}):\n  {last}"
        )
    return done.stdout
