#!/usr/bin/env python3
"""Run model cases and whole networks on emulated AArch64 machines, and compare every bit with this machine's.

    python test/run_aarch64.py --cases ../shared/cases --models ../shared/models
    python test/run_aarch64.py --cases ../shared/cases --only 'tfl_conv_*' --targets aarch64-dotprod

Each model is compiled here, for each target, and saved. One emulated process per target (tools/aarch64) loads
and runs what was saved, on a CPU that has no more than the target needs. Its outputs must have the bits that
this machine's have; a case's must be the stored ones besides. Networks run several times in a row, so that
state is compared, too.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import zeropoint as zp
from zeropoint.codegen import cpu
from zeropoint.runtime.compiler import compile_ahead

CPUS = {"aarch64": "cortex-a53", "aarch64-dotprod": "neoverse-n1", "aarch64-i8mm": "max"}
"""qemu's CPU with what a target needs, and as little more as there is."""
WORKER = Path(__file__).with_name("aarch64_worker.py")
INVOCATIONS = 3
REFUSED = "refused"

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Subject:
    """A model with inputs: those of a case, or random ones."""

    name: str
    path: Path
    runs: tuple[tuple[Array, ...], ...]
    """The inputs of each invocation."""
    options: dict[str, Any]
    """Of ``zp.load``."""
    case: Path | None = None
    """The folder of a case, whose outputs are stored."""


@dataclass(frozen=True)
class Job:
    """What the worker reads: a saved network, and an ``.npz`` with each invocation's inputs and outputs, in
    their order.
    """

    name: str
    executable: str
    data: str
    case: str | None


def cases(folder: Path, only: str) -> Iterator[Subject]:
    """The TFLite cases that are meant to run."""
    for path in sorted(folder.glob("tfl_*/case.json")):
        case = json.loads(path.read_text())
        if not fnmatch.fnmatch(path.parent.name, only) or case["expect"] == "error":
            continue
        arrays = tuple(np.load(path.parent / each["file"]) for each in case["inputs"] if each.get("file"))
        options: dict[str, Any] = {"signature": case["signature"]} if case.get("signature") else {}
        if case.get("resize"):
            options["shapes"] = [array.shape for array in arrays]
        yield Subject(path.parent.name, path.parent / case["model"], (arrays,), options, path.parent)


def networks(folder: Path, only: str) -> Iterator[Subject]:
    """Whole networks, with random inputs."""
    for path in sorted(folder.glob("*.tflite")):
        if fnmatch.fnmatch(path.stem, only):
            inputs = zp.load(path).inputs
            rng = np.random.default_rng(0)
            runs = tuple(tuple(_random(rng, info) for info in inputs) for _ in range(INVOCATIONS))
            yield Subject(path.stem, path, runs, {})


def _random(rng: np.random.Generator, info: zp.TensorInfo) -> Array:
    dtype = np.dtype(info.dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, info.shape, dtype, endpoint=True)
    return rng.uniform(-1, 1, info.shape).astype(dtype)


def prepare(subject: Subject, target: str, folder: Path) -> Job | str:
    """Compile a model here and for a target; returns why that cannot be done, if it cannot."""
    try:
        model = zp.load(subject.path, **subject.options)
        there = compile_ahead(model, target)
        here = zp.compile(model)
        outputs = [here.run(*arrays) for arrays in subject.runs]
    except zp.ZeropointError as error:
        return f"{REFUSED}: {error}"
    except Exception as error:  # a bug of ours, which costs one model
        return f"{type(error).__name__}: {error}"
    job = Job(
        subject.name,
        str(folder / f"{subject.name}.zpx"),
        str(folder / f"{subject.name}.npz"),
        None if subject.case is None else str(subject.case),
    )
    there.save(job.executable)
    arrays = {
        f"{kind} {run} {i}": array
        for kind, every in (("input", subject.runs), ("output", outputs))
        for run, values in enumerate(every)
        for i, array in enumerate(values)
    }
    np.savez(job.data, **arrays)  # type: ignore[arg-type]
    return job


def emulate(jobs: Sequence[Job], target: str, folder: Path) -> dict[str, str]:
    """What is wrong with each job, empty if nothing is; a crash costs one job."""
    verdicts: dict[str, str] = {}
    while left := [job for job in jobs if job.name not in verdicts]:
        manifest = folder / "jobs.json"
        manifest.write_text(json.dumps([asdict(job) for job in left]))
        tool = [sys.executable, "-m", "zeropoint.tools.aarch64", "run", "--cpu", CPUS[target]]
        process = subprocess.run(
            [*tool, "python3", str(WORKER), str(manifest)], stdout=subprocess.PIPE, text=True, check=False
        )
        running = ""
        for line in process.stdout.splitlines():
            said = json.loads(line)
            running = said["name"] if "message" not in said else ""
            if "message" in said:
                verdicts[said["name"]] = said["message"]
        if process.returncode and not running:
            sys.exit(f"the emulated process failed (exit status {process.returncode})")
        if running:
            verdicts[running] = f"crashed, exit status {process.returncode}"
    return verdicts


def run(subjects: Sequence[Subject], target: str, folder: Path) -> tuple[int, int, int]:
    """Numbers of what passed, failed and was skipped; tells about the last two."""
    started = time.perf_counter()
    prepared = {subject.name: prepare(subject, target, folder) for subject in subjects}
    compiled = time.perf_counter()
    jobs = [job for job in prepared.values() if isinstance(job, Job)]
    verdicts = emulate(jobs, target, folder)
    passed = failed = skipped = 0
    for subject in subjects:
        job = prepared[subject.name]
        if isinstance(job, str):
            allowed = job.startswith(REFUSED) and subject.case is not None and _may_be_refused(subject.case)
            skipped, failed = skipped + allowed, failed + (not allowed)
            print(f"{'SKIP' if allowed else 'FAIL'} {target} {subject.name}: {job}", flush=True)
        elif verdicts[subject.name]:
            failed += 1
            print(f"FAIL {target} {subject.name}: {verdicts[subject.name]}", flush=True)
        else:
            passed += 1
    print(
        f"{target} on {CPUS[target]}: {passed} of {len(subjects)} have the same bits; compiled in "
        f"{compiled - started:.0f} s, run in {time.perf_counter() - compiled:.0f} s",
        flush=True,
    )
    return passed, failed, skipped


def _may_be_refused(case: Path) -> bool:
    return str(json.loads((case / "case.json").read_text())["expect"]).startswith("error")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=Path, help="a folder of cases; those of TFLite that run are taken")
    parser.add_argument("--models", type=Path, help="a folder of .tflite files")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="names of cases or models")
    parser.add_argument("--targets", nargs="+", choices=list(CPUS), default=list(CPUS))
    arguments = parser.parse_args()
    subjects: list[Subject] = []
    if arguments.cases:
        subjects += cases(arguments.cases.resolve(), arguments.only)
    if arguments.models:
        subjects += networks(arguments.models.resolve(), arguments.only)
    if not subjects:
        parser.error("no case and no model has such a name")
    print(f"{len(subjects)} models, compared with {cpu.architecture()}", flush=True)
    totals = np.zeros(3, int)
    for target in arguments.targets:
        with tempfile.TemporaryDirectory() as folder:
            totals += run(subjects, target, Path(folder))
    passed, failed, skipped = totals
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
