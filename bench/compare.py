"""One network, all contestants, interleaved: the measuring."""

from __future__ import annotations

import contextlib
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .contestants import JUDGE
from .network import Network
from .processes import Worker, WorkerError

Array = npt.NDArray[Any]

ROUND_SECONDS = 0.08
"""Long enough to be past what the others left in the caches, short enough that all see the same machine."""
LEAST = 3
"""Inferences per round of a slow network."""
LEAST_ROUNDS = 3
SETUP_TIMEOUT = 600.0


@dataclass
class Entry:
    """What was measured of one contestant on one network; times of inferences in nanoseconds."""

    contestant: str
    refused: str | None = None
    report: dict[str, Any] = field(default_factory=dict)
    rounds: list[list[int]] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)
    peak_kib: int | None = None
    outputs: list[Array] | None = None

    @property
    def minimum(self) -> float:
        """Milliseconds."""
        return min(min(times) for times in self.rounds) / 1e6

    @property
    def median(self) -> float:
        """Milliseconds; over all inferences of all rounds."""
        return statistics.median(time for times in self.rounds for time in times) / 1e6


def measure(
    network: Network,
    contestants: Sequence[str],
    *,
    threads: int,
    cpus: Sequence[int],
    seconds: float,
    round_seconds: float = ROUND_SECONDS,
    say: Callable[[str], None] = lambda text: None,
) -> list[Entry]:
    """Run ``contestants`` on ``network`` in processes on the cores ``cpus``, for about ``seconds`` in all.

    Rounds are interleaved: in each, every contestant runs for ``round_seconds`` while the others are stopped,
    in an order that rotates, so that none always follows the same one. The judge of the bits is run once and
    not timed. A contestant that refuses or dies has the reason in its entry.
    """
    entries = [Entry(name) for name in contestants]
    with tempfile.TemporaryDirectory(prefix="zeropoint-bench-") as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        np.savez(folder / "inputs.npz", *network.inputs)
        running: list[tuple[Entry, Worker]] = []
        for entry in entries:
            say(f"{network.name}: {entry.contestant} loads")
            timed = entry.contestant != JUDGE
            config: dict[str, Any] = {
                "contestant": entry.contestant,
                "model": str(network.path),
                "onnx": str(network.onnx) if network.onnx else None,
                "names": list(network.input_names),
                "inputs": str(folder / "inputs.npz"),
                "outputs": str(folder / f"{entry.contestant}.npz"),
                "threads": threads,
                "cpus": list(cpus),
                "rounds": timed,
            }
            try:
                worker = Worker(config, folder, SETUP_TIMEOUT)
            except WorkerError as error:
                entry.refused = str(error)
                continue
            stack.callback(worker.close)
            entry.report = worker.report
            with np.load(config["outputs"]) as archive:
                entry.outputs = [archive[f"arr_{i}"] for i in range(len(archive.files))]
            if timed:
                running.append((entry, worker))
            else:
                worker.close()
        _interleave(network, running, seconds, round_seconds, say)
    return entries


def _interleave(
    network: Network,
    running: Sequence[tuple[Entry, Worker]],
    seconds: float,
    round_seconds: float,
    say: Callable[[str], None],
) -> None:
    end = time.monotonic() + seconds
    done = 0
    while running and (done < LEAST_ROUNDS or time.monotonic() < end):
        say(f"{network.name}: round {done + 1}")
        first = done % len(running)
        for entry, worker in [*running[first:], *running[:first]]:
            try:
                answer = worker.round(round_seconds, LEAST, SETUP_TIMEOUT)
            except WorkerError as error:
                entry.refused = str(error)
                continue
            entry.rounds.append(answer["times"])
            entry.peak_kib = answer["peak_kib"]
            if answer["waited"] is not None:
                entry.waited.append(answer["waited"])
        running = [(entry, worker) for entry, worker in running if entry.refused is None]
        done += 1
