"""``python -m bench compare MODEL...``: one inference of Zeropoint and of LiteRT, interleaved, as a ratio.

Both run in this process on one thread and on the same input. A round times one inference of each, so both
see the same
machine; the minimum and the median over all rounds are shown. An absolute time on a shared machine means
nothing.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import zeropoint as zp
from zeropoint.tools.tables import print_table


def random_input(info: Any, random: np.random.Generator) -> Any:
    if info.dtype == np.float32:
        return random.uniform(-1, 1, info.shape).astype(np.float32)
    bounds = np.iinfo(info.dtype)
    return random.integers(bounds.min, bounds.max, info.shape, dtype=info.dtype, endpoint=True)


def contestants(path: Path, numerics: str, pipeline: str) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """One inference of each, inputs set."""
    from ai_edge_litert.interpreter import Interpreter

    model = zp.load(path, numerics=numerics)
    random = np.random.default_rng(0)
    inputs = [random_input(info, random) for info in model.inputs]
    step = zp.compile(model, pipeline=pipeline).bind(*inputs)
    interpreter = Interpreter(str(path), num_threads=1)
    interpreter.allocate_tensors()
    for detail, value in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(detail["index"], value)
    return step, interpreter.invoke


def measure(runs: Sequence[Callable[[], Any]], seconds: float) -> list[list[float]]:
    """Times in milliseconds of each run, one of each per round, for about ``seconds``."""
    times: list[list[float]] = [[] for _ in runs]
    for run in runs:
        run()  # caches and lazy allocations
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[0]) < 5:
        for run, found in zip(runs, times, strict=True):
            start = time.perf_counter()
            run()
            found.append((time.perf_counter() - start) * 1e3)
    return times


def compare(arguments: argparse.Namespace) -> int:
    rows = []
    for path in arguments.models:
        try:
            runs = contestants(path, arguments.numerics, arguments.pipeline)
        except (zp.ZeropointError, ValueError, RuntimeError) as error:  # the latter two are LiteRT's
            reason = textwrap.shorten(str(error), 120, placeholder=" ...")
            print(f"{path.name}: left out: {reason}", file=sys.stderr)
            continue
        ours, theirs = measure(runs, arguments.seconds)
        pairs = [a / b for a, b in zip(ours, theirs, strict=True)]
        rows.append(
            {
                "network": path.stem,
                "rounds": len(ours),
                "zeropoint_min_ms": min(ours),
                "zeropoint_median_ms": statistics.median(ours),
                "litert_min_ms": min(theirs),
                "litert_median_ms": statistics.median(theirs),
                "ratio_of_minima": min(ours) / min(theirs),
                "median_paired_ratio": statistics.median(pairs),
            }
        )
    if arguments.json or not rows:
        print(json.dumps(rows, indent=1))
        return 0 if rows else 1
    columns = tuple(rows[0])
    cells = [tuple(f"{v:.3f}" if isinstance(v, float) else str(v) for v in row.values()) for row in rows]
    print_table(columns, cells, right=columns[1:])
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("compare", help="Zeropoint and LiteRT on the same models, interleaved")
    command.add_argument("models", nargs="+", type=Path, metavar="MODEL.tflite")
    command.add_argument("--numerics", default="reference", choices=("reference", "xnnpack"))
    command.add_argument("--pipeline", default="optimized", choices=sorted(("optimized", "reference")))
    command.add_argument("--seconds", type=float, default=5.0, help="per model (default 5)")
    command.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    return compare(arguments)


if __name__ == "__main__":
    sys.exit(main())
