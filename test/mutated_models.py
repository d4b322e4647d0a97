"""Damaged model files: whatever the bytes say, the answer is a result or a ZeropointError, soon and in
bounded memory.

``python test/mutated_models.py MODEL... --count 1000`` damages each model 1000 times and prints the outcomes;
what goes wrong can be had again by its model and seed (``damaged(data, seed)``). The files are loaded in
worker processes whose memory is limited, so that crashes, hangs and greed are seen and counted.
"""

from __future__ import annotations

import argparse
import collections
import faulthandler
import json
import os
import resource
import select
import struct
import subprocess
import sys
import time
import traceback
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tflite

MEMORY_LIMIT = 4 << 30
"""Bytes of address space that a worker may have."""

TENSOR_LIMIT = 64 << 20
"""``ZEROPOINT_TENSOR_LIMIT_BYTES`` of the workers."""

SECONDS = 60
"""What takes longer than this hangs."""

INTERESTING = (0, 1, 2, 3, 4, 7, 8, 127, 128, 255, 256, 32767, 65535, 65536, 1 << 24, (1 << 31) - 1, 1 << 31)
INTERESTING += ((1 << 32) - 1, (1 << 32) - 2, (1 << 32) - 128)
FLOATS = (0.0, -0.0, 1.0, -1.0, 1e-45, 1e-38, 1e-20, 1e20, 3.4e38, float("inf"), float("-inf"), float("nan"))


@dataclass(frozen=True)
class Outcome:
    """``status``: ok, refused (a ZeropointError), escaped (another exception), died, hung."""

    model: str
    seed: int
    status: str
    detail: str = ""
    peak: int = 0
    """The most bytes that the worker held so far."""


# -- damage ---------------------------------------------------------------------------------------


def field_places(data: bytes) -> list[list[int]]:
    """Where the fields of a model lie, by kind of table: places of scalars, offsets, and vectors' numbers."""
    model = tflite.Model.GetRootAs(data, 0)
    kinds: dict[str, list[int]] = collections.defaultdict(list)

    def table(kind: str, found: Any, *vectors: int) -> None:
        tab = found._tab
        vtable = tab.Pos - struct.unpack_from("<i", data, tab.Pos)[0]
        count = struct.unpack_from("<H", data, vtable)[0] // 2 - 2
        offsets = struct.unpack_from(f"<{count}H", data, vtable + 4)
        kinds[kind] += [tab.Pos + offset for offset in offsets if offset]
        kinds["vtable"] += range(vtable, vtable + 2 * count + 4, 2)
        for slot in vectors:
            offset = tab.Offset(4 + 2 * slot)
            if offset:
                length, start = tab.VectorLen(offset), tab.Vector(offset)
                kinds[kind] += [start - 4, *range(start, start + 4 * min(length, 16), 4)]

    table("model", model, 1, 2, 4)
    for i in range(model.OperatorCodesLength()):
        table("code", model.OperatorCodes(i))
    for i in range(model.BuffersLength()):
        table("buffer", model.Buffers(i))
    for g in range(model.SubgraphsLength()):
        graph = model.Subgraphs(g)
        table("graph", graph, 0, 1, 2, 3)
        for i in range(graph.TensorsLength()):
            tensor = graph.Tensors(i)
            table("tensor", tensor, 0, 3, 7)
            if tensor.Quantization():
                table("quantization", tensor.Quantization(), 2, 3)
        for i in range(graph.OperatorsLength()):
            operator = graph.Operators(i)
            table("operator", operator, 1, 2, 8)
            if operator.CustomOptionsLength():
                start = operator._tab.Vector(operator._tab.Offset(14))
                kinds["custom options"] += range(start, start + operator.CustomOptionsLength())
            if operator.BuiltinOptions():
                options = tflite.AddOptions()
                options.Init(operator.BuiltinOptions().Bytes, operator.BuiltinOptions().Pos)
                table("options", options)
    return [places for places in kinds.values() if places]


def damaged(data: bytes, seed: int, places: Sequence[Sequence[int]] = ()) -> bytes:
    """A damaged copy. ``places`` are :func:`field_places`, if they are known already."""
    rng = np.random.default_rng(seed)
    damage = DAMAGES[int(rng.choice(len(DAMAGES), p=_SHARES))]
    return damage(bytearray(data), rng, places or field_places(data))


def _flip(data: bytearray, rng: np.random.Generator, places: Sequence[Sequence[int]]) -> bytes:
    """A few bits anywhere."""
    for place in rng.integers(0, len(data), rng.integers(1, 9)):
        data[place] ^= 1 << int(rng.integers(0, 8))
    return bytes(data)


def _truncate(data: bytearray, rng: np.random.Generator, places: Sequence[Sequence[int]]) -> bytes:
    """The beginning; one in four times with zeros for the rest."""
    kept = int(rng.integers(0, len(data)))
    return bytes(data[:kept]) + bytes(len(data) - kept if rng.random() < 0.25 else 0)


def _cut(data: bytearray, rng: np.random.Generator, places: Sequence[Sequence[int]]) -> bytes:
    """Some bytes are missing, or are there twice."""
    start, count = int(rng.integers(0, len(data))), int(rng.integers(1, 65))
    return bytes(
        data[: start + count * int(rng.integers(0, 2))] + data[start + count * int(rng.integers(0, 2)) :]
    )


def _place(rng: np.random.Generator, places: Sequence[Sequence[int]]) -> int:
    """One kind of table is as likely as another."""
    kind = places[int(rng.integers(0, len(places)))]
    return int(kind[int(rng.integers(0, len(kind)))])


def _edit(data: bytearray, rng: np.random.Generator, places: Sequence[Sequence[int]]) -> bytes:
    """A field or a few get another value."""
    for _ in range(int(rng.choice([1, 1, 1, 2, 4]))):
        place, width = _place(rng, places), int(rng.choice([1, 2, 4, 4, 8]))
        choice = rng.random()
        if choice < 0.5:
            value = struct.pack("<q", INTERESTING[int(rng.integers(0, len(INTERESTING)))])
        elif choice < 0.7:
            value = struct.pack("<f", FLOATS[int(rng.integers(0, len(FLOATS)))]) + bytes(4)
        elif choice < 0.9:
            value = struct.pack("<q", int(rng.integers(-2, 140)))
        else:
            value = rng.bytes(8)
        data[place : place + width] = value[: len(data[place : place + width])][:width]
    return bytes(data)


def _copy(data: bytearray, rng: np.random.Generator, places: Sequence[Sequence[int]]) -> bytes:
    """One field's bytes over another's: values that make sense elsewhere."""
    kind = places[int(rng.integers(0, len(places)))]
    source, target = (int(v) for v in rng.choice(kind, 2))
    if rng.random() < 0.5:
        target = _place(rng, places)
    width = int(rng.choice([1, 4, 4, 8, 32]))
    piece = data[source : source + width]
    data[target : target + len(piece)] = piece
    return bytes(data)


DAMAGES: tuple[Callable[[bytearray, np.random.Generator, Sequence[Sequence[int]]], bytes], ...] = (
    _flip,
    _truncate,
    _cut,
    _edit,
    _copy,
)
_SHARES = (0.1, 0.05, 0.05, 0.6, 0.2)


# -- a worker -------------------------------------------------------------------------------------


def try_file(data: bytes, how: str) -> tuple[str, str]:
    """(status, detail) of a file: loaded, and (``how``) "run" by its meaning or "compile"d and run."""
    import zeropoint
    from zeropoint.dialect.evaluate import evaluate_module
    from zeropoint.frontends import load_bytes

    try:
        model = load_bytes(data, name="m.tflite")
        if how == "load":
            return "ok", ""
        arrays = [np.zeros([max(n, 1) for n in t.shape], t.dtype) for t in model.inputs]
        if how == "run":
            evaluate_module(model.module, arrays)
        else:
            zeropoint.compile(model).run(*arrays)
    except zeropoint.ZeropointError as error:
        return "refused", str(error).partition("error: ")[2][:200] or str(error)[:200]
    except Exception:
        return "escaped", "\n".join(traceback.format_exc().splitlines()[-7:])
    return "ok", ""


def work() -> None:
    """Answer lines of (model, seed, how) with outcomes, until there are no more."""
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    files: dict[str, tuple[bytes, list[list[int]]]] = {}
    for line in sys.stdin:
        name, seed, how = json.loads(line)
        if name not in files:
            content = Path(name).read_bytes()
            files[name] = (content, field_places(content))
        status, detail = try_file(damaged(files[name][0], seed, files[name][1]), how)
        print(json.dumps([status, detail, peak_bytes()]), flush=True)


def peak_bytes() -> int:
    """The most memory that this process has had. Linux's ``ru_maxrss`` would also count the process that
    started it: that of the tests, which may be large.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


# -- the workers' master --------------------------------------------------------------------------


class Worker:
    """A process that tries damaged files one after another; a new one takes its place when it dies."""

    def __init__(self, environment: dict[str, str] | None = None) -> None:
        self.environment = {**os.environ, **(environment or {})}
        self.environment.setdefault("ZEROPOINT_TENSOR_LIMIT_BYTES", str(TENSOR_LIMIT))
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, job: tuple[str, int, str]) -> None:
        """Give it a file to try."""
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, __file__, "--worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=self.environment,
            )
        self.job, self.since = job, time.monotonic()
        assert self.process.stdin is not None
        self.process.stdin.write((json.dumps(job) + "\n").encode())
        self.process.stdin.flush()

    def outcome(self) -> Outcome:
        """What became of the file, once there is something to read or time is over."""
        assert self.process is not None
        assert self.process.stdout is not None
        left = max(0.0, self.since + SECONDS - time.monotonic())
        ready, _, _ = select.select([self.process.stdout], [], [], left)
        model, seed, _ = self.job
        line = self.process.stdout.readline() if ready else b""
        if line:
            status, detail, peak = json.loads(line)
            return Outcome(model, seed, status, detail, peak)
        hung = not ready
        self.stop()
        return Outcome(model, seed, "hung" if hung else "died")

    def stop(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def try_files(
    jobs: Iterable[tuple[str, int, str]], workers: int = 1, environment: dict[str, str] | None = None
) -> Iterator[Outcome]:
    """The outcome of each (model file, seed, "load" or "run" or "compile"), as they come."""
    pool = [Worker(environment) for _ in range(workers)]
    rest, busy = iter(jobs), []
    try:
        for worker, job in zip(pool, rest, strict=False):
            worker.start(job)
            busy.append(worker)
        while busy:
            ready, _, _ = select.select([w.process.stdout for w in busy if w.process], [], [], 0.5)
            late = [w for w in busy if time.monotonic() > w.since + SECONDS]
            for worker in [w for w in busy if w.process and w.process.stdout in ready] or late:
                yield worker.outcome()
                job = next(rest, None)
                if job is None:
                    busy.remove(worker)
                else:
                    worker.start(job)
    finally:
        for worker in pool:
            worker.stop()


def seed_of(model: str, number: int) -> int:
    """Seeds that differ between models."""
    return zlib.crc32(Path(model).name.encode()) + number


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="*")
    parser.add_argument("--count", type=int, default=100, help="damaged copies of each model")
    parser.add_argument("--first", type=int, default=0, help="number of the first copy")
    parser.add_argument("--how", choices=["load", "run", "compile"], default="load")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work()
        return
    numbers = range(options.first, options.first + options.count)
    jobs = [(model, seed_of(model, number), options.how) for number in numbers for model in options.models]
    counts: collections.Counter[str] = collections.Counter()
    seen: set[str] = set()
    peak, started = 0, time.monotonic()
    for outcome in try_files(jobs, options.workers):
        counts[outcome.status] += 1
        peak = max(peak, outcome.peak)
        last = outcome.detail.splitlines()[-3:]
        if outcome.status not in ("ok", "refused") and str(last) not in seen:
            seen.add(str(last))
            print(f"{outcome.status}: {outcome.model} seed {outcome.seed}\n{outcome.detail}", flush=True)
    total, seconds = sum(counts.values()), time.monotonic() - started
    outcomes = ", ".join(f"{count} {status}" for status, count in counts.most_common())
    print(f"{total} files in {seconds:.0f} s: {outcomes}; at most {peak >> 20} MiB")


if __name__ == "__main__":
    main()
