"""Running a command in the emulated environment."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from ...codegen.cpu import architecture
from ...errors import ZeropointError
from . import emulated_cpus
from .environment import ROOT, Environment, qemu
from .setup import DEFAULT_CPU, set_up

_ELF, _AARCH64 = b"\x7fELF", 183


def run(environment: Environment, words: Sequence[str], cpu: str | None = None) -> NoReturn:
    """Become the command: ``python3``, ``pytest`` and ``zeropoint`` are the emulated ones, programs for
    AArch64 are emulated, others run as always, with those names in their ``PATH``.

    Raises:
        ZeropointError: no such command or CPU, or the environment cannot be set up.
    """
    if architecture() == "aarch64":
        _become(list(words), dict(os.environ))
    set_up(environment)
    cpu = cpu or os.environ.get("QEMU_CPU") or DEFAULT_CPU
    emulated_cpus.prepare(environment, cpu)
    variables = {**os.environ, "QEMU_CPU": cpu}
    variables["PATH"] = os.pathsep.join([str(environment.commands), os.environ.get("PATH", os.defpath)])
    paths = [os.environ.get("PYTHONPATH", ""), str(_package(environment))]
    variables["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    command = list(words)
    path = shutil.which(command[0], path=variables["PATH"])
    if path is not None and _is_for_aarch64(Path(path)):
        command = [qemu(), "-L", str(environment.prefix(cpu)), path, *command[1:]]
    _become(command, variables)


def _become(command: list[str], variables: dict[str, str]) -> NoReturn:
    path = shutil.which(command[0], path=variables.get("PATH"))
    if path is None:
        raise ZeropointError(f"no command '{command[0]}'")
    os.execve(path, command, variables)


def _is_for_aarch64(path: Path) -> bool:
    with path.open("rb") as file:
        start = file.read(20)
    return start.startswith(_ELF) and int.from_bytes(start[18:20], "little") == _AARCH64


def _package(environment: Environment) -> Path:
    """A folder in which this checkout is the package ``zeropoint``."""
    folder = environment.folder / "checkouts" / hashlib.sha256(str(ROOT).encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / "zeropoint"
    if not link.is_symlink():
        partial = folder / str(os.getpid())
        partial.symlink_to(ROOT)
        partial.replace(link)
    return folder
