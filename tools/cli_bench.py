"""``zeropoint bench``: how long one inference of a model takes, as percentiles."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..passes.pipelines import PIPELINES
from ..runtime.profile_text import memory_line, size_text
from .cli_arguments import add_model_arguments, load_model, whole_number
from .cli_run import read_inputs
from .cli_tuning import add_tune_argument, print_tuning
from .progress import ProgressLine
from .tables import print_table

PERCENTILES = (50, 90, 99)
WARM_UP_SECONDS = 0.2
LEAST_RUNS = 5


def positive_seconds(text: str) -> float:
    """An argparse type."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"got {text}, expected a positive number of seconds")
    return value


def register(commands: Any) -> None:
    """Add the subcommand to ``commands`` (argparse's subparsers)."""
    command: argparse.ArgumentParser = commands.add_parser(
        "bench",
        help="time one inference of a model",
        description="Compile a model for this machine, run it again and again, and show how long one "
        "inference takes: the least time, percentiles, inferences per second; how long loading and compiling "
        "took, and memory. Inputs are random unless they are given. On a machine that others use, the least "
        "time says most; `python -m bench compare` of the source tree compares with other systems.",
    )
    add_model_arguments(command)
    command.add_argument(
        "--input", action="append", default=[], metavar="[NAME=]FILE", help="an input (repeatable)"
    )
    command.add_argument(
        "--quantize", action="store_true", help="float .npy inputs hold real values: quantize them"
    )
    command.add_argument("--seed", type=whole_number(0), default=0, help="of random inputs (default 0)")
    command.add_argument(
        "--threads", type=whole_number(1), default=1, metavar="N", help="for one inference (default 1)"
    )
    command.add_argument(
        "--seconds", type=positive_seconds, default=3.0, metavar="S", help="how long to measure (default 3)"
    )
    command.add_argument("--pipeline", choices=sorted(PIPELINES), default="optimized", help="how to compile")
    command.add_argument(
        "--no-cache", action="store_true", help="compile everything, whatever the cache on disk holds"
    )
    add_tune_argument(command)
    command.add_argument("--json", action="store_true", help="the numbers as JSON, for scripts")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from ..runtime import compile

    start = time.perf_counter()
    model = load_model(arguments)
    inputs = read_inputs(model, arguments)
    loaded = time.perf_counter()
    with ProgressLine() as progress:
        executable = compile(
            model,
            pipeline=arguments.pipeline,
            threads=arguments.threads,
            cache=not arguments.no_cache,
            tune=arguments.tune,
            progress=progress.show,
        )
    step = executable.bind(*inputs)
    compiled = time.perf_counter()
    step()
    first = time.perf_counter()
    document = {
        "model": arguments.model,
        "threads": arguments.threads,
        "load_ms": (loaded - start) * 1e3,
        "compile_ms": (compiled - loaded) * 1e3,
        "first_ms": (first - compiled) * 1e3,
        **statistics(timed(step, arguments.seconds)),
        "arena_bytes": executable.arena_bytes,
        "least_arena_bytes": executable.least_arena_bytes,
        "constant_bytes": executable.constant_bytes,
        "peak_memory_bytes": peak_memory(),
    }
    if arguments.json:
        if executable.tuning is not None:
            document["tuning"] = executable.tuning.to_json()
        print(json.dumps(document, indent=1))
    else:
        _print(document)
        print_tuning(executable.tuning)
    return 0


def timed(step: Callable[[], Any], seconds: float) -> list[float]:
    """Seconds of each call of ``step``, for about ``seconds`` after a short warm-up."""
    clock = time.perf_counter
    end = clock() + min(WARM_UP_SECONDS, seconds)
    while clock() < end:
        step()
    times: list[float] = []
    end = clock() + seconds
    now = clock()
    while now < end or len(times) < LEAST_RUNS:
        start = clock()
        step()
        now = clock()
        times.append(now - start)
    return times


def statistics(times: Sequence[float]) -> dict[str, float | int]:
    """The least, percentiles and the largest of ``times`` in ms, and how many fit into a second."""
    milliseconds = np.asarray(times) * 1e3
    found: dict[str, float | int] = {"inferences": len(times), "min_ms": float(milliseconds.min())}
    for percentile in PERCENTILES:
        found[f"p{percentile}_ms"] = float(np.percentile(milliseconds, percentile))
    found["max_ms"] = float(milliseconds.max())
    found["per_second"] = len(times) / float(np.sum(times))
    return found


def peak_memory() -> int | None:
    """The most memory this process has held, compiler included, in bytes; None where there is no /proc."""
    try:
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def _print(document: dict[str, Any]) -> None:
    columns = ("min", *(f"p{percentile}" for percentile in PERCENTILES), "max")
    row = tuple(f"{document[f'{column}_ms']:.4f}" for column in columns)
    print_table(columns, [row], right=columns, title="milliseconds of one inference")
    threads = document["threads"]
    print(
        f"\n{document['inferences']} inferences, {document['per_second']:.1f} per second, "
        f"{threads} thread{'s' if threads > 1 else ''}\n"
        f"loaded in {document['load_ms']:.0f} ms, compiled in {document['compile_ms']:.0f} ms, the first "
        f"inference took {document['first_ms']:.2f} ms"
    )
    memory = memory_line(document["arena_bytes"], document["least_arena_bytes"], document["constant_bytes"])
    if document["peak_memory_bytes"] is not None:
        memory += f"; this process, with the compiler: at most {size_text(document['peak_memory_bytes'])}"
    print(memory)
