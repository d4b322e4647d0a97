"""Runs kernels of AArch64 on another machine, linked with a small C program, under QEMU's user mode."""

from __future__ import annotations

import atexit
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from zeropoint.codegen.machine import Machine
from zeropoint.kernels.instruction_set import INSTRUCTION_SETS

_DRIVER = Path(__file__).with_name("kernel_driver.c")
_TRIPLE = "aarch64-unknown-linux-gnu"
_EMULATOR, _COMPILER, _LINKER = "qemu-aarch64", "aarch64-linux-gnu-gcc", "aarch64-linux-gnu-ld"
_CPUS = {"neon": "cortex-a53", "dotprod": "neoverse-n1", "i8mm": "max"}
"""Emulated CPUs that have what code for an instruction set needs, and as little more as possible."""
_SECONDS = 120


def is_foreign(isa: str) -> bool:
    """Whether an instruction set is another architecture's than this machine's."""
    return INSTRUCTION_SETS[isa].architecture != {"AMD64": "x86_64"}.get(
        platform.machine(), platform.machine()
    )


def why_not(isa: str) -> str:
    """Why code for a foreign instruction set cannot be run here; empty if it can."""
    if isa not in _CPUS:
        return f"{isa} is not emulated"
    missing = [tool for tool in (_EMULATOR, _COMPILER, _LINKER) if not shutil.which(tool)]
    return f"no {' and no '.join(missing)}" if missing else ""


def machine(isa: str) -> Machine:
    """Of an instruction set alone."""
    return Machine(_TRIPLE, "generic", ",".join(sorted(INSTRUCTION_SETS[isa].features)))


def linked(object_file: bytes) -> Path:
    """A program that runs launches of the kernel in an object file, until this process ends."""
    folder = Path(tempfile.mkdtemp(dir=_folder()))
    (folder / "kernel.o").write_bytes(object_file)
    program = folder / "program"
    _run([_LINKER, "-z", "noexecstack", "-o", str(program), str(_driver()), str(folder / "kernel.o")])
    return program


def run(
    program: Path,
    isa: str,
    buffers: list[np.ndarray],
    results: list[np.ndarray],
    scalars: Sequence[int],
    units: int,
    step: int,
) -> None:
    """All units, ``step`` at a time, the last ones first. ``buffers`` are what they read, constants too;
    ``results`` are read as well, and written.
    """
    every = [*buffers, *results]
    head = [len(every), len(results), len(scalars), units, step]
    numbers = np.array([*head, *(array.nbytes for array in every), *scalars], np.int64)
    text = b"".join([numbers.tobytes(), *(array.tobytes() for array in every)])
    written = _run([_EMULATOR, "-cpu", _CPUS[isa], str(program)], text)
    for array in results:
        array[:] = np.frombuffer(written[: array.nbytes], np.uint8).reshape(array.shape)
        written = written[array.nbytes :]


def _run(command: list[str], text: bytes = b"") -> bytes:
    done = subprocess.run(command, input=text, capture_output=True, timeout=_SECONDS, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr.decode()}")
    return done.stdout


@lru_cache(maxsize=1)
def _folder() -> str:
    folder = tempfile.mkdtemp(prefix="kernels-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@lru_cache(maxsize=1)
def _driver() -> Path:
    target = Path(_folder()) / "driver.o"
    flags = ["-std=c11", "-O1", "-ffreestanding", "-Wall", "-Wextra", "-Werror"]
    _run([_COMPILER, *flags, "-c", str(_DRIVER), "-o", str(target)])
    return target
