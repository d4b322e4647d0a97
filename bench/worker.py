"""One contestant with one network in a process of its own: ``python -m bench.worker TASK.json``.

Talks in lines of JSON: first what loading took (or why it was refused); then, for every line
``SECONDS LEAST`` it reads, the times of the inferences it ran: for about so many seconds, but at least so
many. Between rounds the parent stops the process with SIGSTOP, so that no thread pool spins while another
contestant is timed.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from .contestants import RefusedError, Task, open_session

CALIBRATED = 3
"""Inferences before the first round: caches, lazy allocations, threads that have to start."""
HIGHEST = -20
PR_SET_PDEATHSIG = 1


def memory_kib(field: str) -> int | None:
    """``VmHWM`` (the peak) or ``VmRSS`` of this process in KiB; None where there is no /proc."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1])
    except OSError:
        pass
    return None


def waited_seconds() -> float | None:
    """How long the main thread was ready to run but had no core; None where the kernel does not tell."""
    try:
        return int(Path("/proc/self/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError):
        return None


def take_precedence() -> None:
    """As much of the core as the system gives to this process before others; it may give nothing.

    A slow network is rarely left alone for a whole inference on a machine that others use. Linux weighs the
    processes of a session among themselves, and sessions by their own nice value.
    """
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, HIGHEST)
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(HIGHEST))


def die_with_parent() -> None:
    """A stopped process would outlive a parent that is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def timed_round(run: Any, seconds: float, least: int) -> dict[str, Any]:
    """Times in nanoseconds of the inferences of one round, the first (cold) one left out."""
    clock = time.perf_counter_ns
    run()
    times: list[int] = []
    waited = waited_seconds()
    begin = clock()
    end = begin + int(seconds * 1e9)
    while True:
        start = clock()
        run()
        now = clock()
        times.append(now - start)
        if now >= end and len(times) >= least:
            break
    after = waited_seconds()
    share = None if waited is None or after is None else (after - waited) / ((now - begin) / 1e9)
    return {"times": times, "waited": share, "peak_kib": memory_kib("VmHWM")}


def set_up(config: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The session, and what loading it took. Raises what the contestant raises."""
    with np.load(config["inputs"]) as archive:
        inputs = [archive[f"arr_{i}"] for i in range(len(config["names"]))]
    task = Task(
        Path(config["model"]),
        Path(config["onnx"]) if config["onnx"] else None,
        config["names"],
        inputs,
        config["threads"],
    )
    base = memory_kib("VmHWM")
    session = open_session(config["contestant"], task)
    start = time.perf_counter()
    session.run()
    first = time.perf_counter() - start
    np.savez(config["outputs"], *session.outputs())
    return session, {
        "load_seconds": session.load_seconds,
        "compile_seconds": session.compile_seconds,
        "recompile_seconds": session.recompile_seconds,
        "first_seconds": first,
        "base_kib": base,
        "version": session.version,
    }


def main() -> int:
    die_with_parent()
    config = json.loads(Path(sys.argv[1]).read_text())
    # Libraries print to stdout as they like: they get stderr, and the answers a pipe of their own.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    os.sched_setaffinity(0, config["cpus"])
    take_precedence()

    def answer(document: dict[str, Any]) -> None:
        answers.write(json.dumps(document) + "\n")
        answers.flush()

    try:
        session, report = set_up(config)
    except RefusedError as error:
        answer({"refused": str(error)})
        return 0
    except Exception as error:  # whatever a library raises is its reason
        answer({"refused": f"{type(error).__name__}: {error}"})
        return 0
    if config["rounds"]:
        for _ in range(CALIBRATED):
            session.run()
    answer(report)
    for line in sys.stdin:
        seconds, least = line.split()
        answer(timed_round(session.run, float(seconds), int(least)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
