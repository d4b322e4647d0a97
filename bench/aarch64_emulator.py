"""Runs the guest script under qemu-aarch64 with the counting plugin."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from zeropoint.codegen.cpu import architecture

from .aarch64_counts import Counts, read_counts
from .aarch64_decode import ToolError, run_tool

SOURCE = Path(__file__).with_name("aarch64_counter.c")
GUEST = Path(__file__).with_name("aarch64_guest.py")
_RUN = (sys.executable, "-m", "zeropoint.tools.aarch64", "run")
_COMPILER_FLAGS = ("-O2", "-fPIC", "-shared")
_LINES_OF_COMPLAINT = 1


@dataclass(frozen=True)
class Processor:
    """What is emulated, and what of ours is compiled for it."""

    cpu: str
    """As qemu's ``-cpu`` has it."""
    target: str


PROCESSORS = {
    "neon": Processor("cortex-a53", "aarch64"),
    "neon-a72": Processor("cortex-a72", "aarch64"),  # LiteRT has other kernels for it
    "dotprod": Processor("neoverse-n1", "aarch64-dotprod"),
    # Not all of `max`: LiteRT would use SME, which no processor with plain i8mm has.
    "i8mm": Processor("max,sve=off,sme=off", "aarch64-i8mm"),
}


@dataclass(frozen=True)
class Run:
    """One network on one emulated processor."""

    counts: Counts
    version: str
    """Of the system that ran it."""
    outputs: Sequence[npt.NDArray[Any]]


@dataclass(frozen=True)
class Emulator:
    """qemu-aarch64 with the counting plugin; :func:`emulator` makes it."""

    plugin: Path

    def run(self, system: str, model: Path, inputs: Sequence[npt.NDArray[Any]], processor: Processor) -> Run:
        """Run ``model``, a saved executable or a ``.tflite`` file, by ``system`` (``zeropoint``, ``litert``).

        Raises:
            ToolError: the program fails.
            CountsError: it ended without counts.
        """
        with tempfile.TemporaryDirectory(prefix="zeropoint-aarch64-") as name:
            folder = Path(name)
            files = {file: str(folder / f"{file}.npz") for file in ("inputs", "outputs")}
            files |= {"answer": str(folder / "answer.json"), "counts": str(folder / "counts.txt")}
            np.savez(files["inputs"], *inputs)
            task = folder / "task.json"
            task.write_text(json.dumps({"system": system, "model": str(model), **files}))
            command = [*_RUN, "--cpu", processor.cpu, "python3", str(GUEST), str(task)]
            environment = self._environment(files["counts"])
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            if done.returncode:
                complaint = "; ".join(done.stderr.strip().splitlines()[-_LINES_OF_COMPLAINT:])
                raise ToolError(f"{system} on {processor.cpu}: {complaint or f'exit {done.returncode}'}")
            with np.load(files["outputs"]) as archive:
                outputs = [archive[f"arr_{i}"] for i in range(len(archive.files))]
            version = json.loads(Path(files["answer"]).read_text())["version"]
            return Run(read_counts(Path(files["counts"])), version, outputs)

    def _environment(self, counts: str) -> dict[str, str]:
        one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # numpy's would disturb the counts
        return {
            **os.environ,
            **one_thread,
            "QEMU_PLUGIN": f"file={self.plugin},out={counts}",
            "PYTHONDONTWRITEBYTECODE": "1",
        }


@contextlib.contextmanager
def emulator() -> Iterator[Emulator]:
    """With the plugin compiled by this machine's C compiler.

    Raises:
        ToolError: there is no emulator or no compiler; the message says what to install.
    """
    if architecture() == "aarch64":
        raise ToolError("this machine runs AArch64 itself; counting needs an emulator, on another machine")
    if shutil.which("qemu-aarch64") is None:
        raise ToolError("qemu-aarch64 is not on the path; counting needs it (Debian: apt install qemu-user)")
    with tempfile.TemporaryDirectory(prefix="zeropoint-aarch64-") as name:
        yield Emulator(compile_plugin(Path(name)))


def compile_plugin(folder: Path) -> Path:
    """The counting plugin, compiled into ``folder``. Raises ToolError without a C compiler."""
    compiler = os.environ.get("CC") or shutil.which("cc")
    if not compiler:
        raise ToolError("no C compiler: the counting plugin needs one (Debian: apt install gcc, or set CC)")
    built = folder / "aarch64-counter.so"
    run_tool([compiler, *_COMPILER_FLAGS, "-o", str(built), str(SOURCE)])
    return built
