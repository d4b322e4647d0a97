"""``python -m bench compare``: see docs/benchmarks.md."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import zeropoint as zp
from zeropoint.runtime.ceilings import Ceilings
from zeropoint.tools.cli_arguments import whole_number
from zeropoint.tools.cli_bench import positive_seconds

from . import machine
from .ceilings import measure_on
from .compare import measure
from .contestants import JUDGE, OURS, PEERS, TUNED
from .network import load_network
from .networks import RECIPES, find_models, networks_folder
from .plot import to_svg
from .progress import say
from .report import print_report
from .results import row

DESCRIPTION = """\
Every network x (Zeropoint in both numerics modes, LiteRT, ONNX Runtime, OpenVINO), each in a process of its
own, in short interleaved rounds on the same cores while the others are stopped. One row each: the least and
the median time, the ratio to the best peer (of the minima; the median over rounds of the ratio of a round's
minima), GMAC/s and the share of this core's measured ceiling, times to load and to compile (with an empty
cache; again with a full one), peak memory of the process, and whose bits the outputs are.
"""


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser().parse_args(argv)
    if not sys.platform.startswith("linux"):
        print("bench: error: the comparison pins and stops processes as Linux does", file=sys.stderr)
        return 1
    try:
        return compare(arguments)
    except FileNotFoundError as error:
        print(f"bench: error: {error}", file=sys.stderr)
        return 1


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m bench", description="Zeropoint and its peers, measured.")
    commands = top.add_subparsers(dest="command", required=True)
    command = commands.add_parser(
        "compare", help="all systems on the same networks, interleaved", description=DESCRIPTION
    )
    command.add_argument(
        "models",
        nargs="*",
        metavar="MODEL",
        help=f".tflite files, folders of them, or built networks ({', '.join(RECIPES)}); default: all built",
    )
    command.add_argument("--threads", nargs="+", type=whole_number(1), default=[1], metavar="N")
    command.add_argument(
        "--seconds", type=positive_seconds, default=5.0, help="per network and number of threads"
    )
    command.add_argument(
        "--systems",
        nargs="+",
        choices=(*OURS, *TUNED, *PEERS),
        default=[*OURS, *PEERS],
        metavar="SYSTEM",
        help="of %(choices)s; default all but the tuned (docs/tuning.md)",
    )
    command.add_argument(
        "--cpus", nargs="+", type=whole_number(0), help="cores to use; default the last ones"
    )
    command.add_argument("--networks-dir", type=Path, default=networks_folder(), help="default: %(default)s")
    command.add_argument("--no-bits", action="store_true", help="do not run the reference kernels once")
    command.add_argument("--json", action="store_true", help="everything as JSON on stdout")
    command.add_argument(
        "--plot", type=Path, metavar="FILE.svg", help="bars of the times, relative to the best peer"
    )
    return top


def compare(arguments: argparse.Namespace) -> int:
    allowed = sorted(os.sched_getaffinity(0))
    cpus = arguments.cpus or allowed
    if missing := sorted(set(cpus) - set(allowed)):
        raise FileNotFoundError(f"core {missing[0]}: this process may use {', '.join(map(str, allowed))}")
    models = find_models(arguments.models, arguments.networks_dir)
    begin = machine.now()
    ceilings = measure_on(cpus[-1])
    rows: list[dict[str, Any]] = []
    status = 0
    try:
        for threads in arguments.threads:
            for path in models:
                rows += _measure_one(path, threads, cpus, ceilings, arguments)
    except KeyboardInterrupt:  # what has been measured is worth showing
        status = 130
    say("")
    document = _document(rows, arguments, cpus, ceilings, begin, machine.now())
    if arguments.json:
        print(json.dumps(document, indent=1))
    elif rows:
        print_report(rows)
        _print_circumstances(document)
    if arguments.plot:
        arguments.plot.write_text(to_svg(rows), encoding="utf-8")
    return status or (0 if rows else 1)


def _measure_one(
    path: Path, threads: int, cpus: Sequence[int], ceilings: Ceilings, arguments: argparse.Namespace
) -> list[dict[str, Any]]:
    try:
        network = load_network(path, arguments.networks_dir)
    except zp.ZeropointError as error:
        say("")
        print(f"{path.name}: left out: {str(error).splitlines()[0]}", file=sys.stderr)
        return []
    contestants = [*arguments.systems, *([] if arguments.no_bits else [JUDGE])]
    entries = measure(
        network, contestants, threads=threads, cpus=cpus[-threads:], seconds=arguments.seconds, say=say
    )
    return [row(network, threads, e, entries, ceilings) for e in entries if e.contestant != JUDGE]


def _document(
    rows: Sequence[dict[str, Any]],
    arguments: argparse.Namespace,
    cpus: Sequence[int],
    ceilings: Ceilings,
    begin: machine.Moment,
    end: machine.Moment,
) -> dict[str, Any]:
    waited = [row["waited_share"] for row in rows if row.get("waited_share") is not None]
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="minutes"),
        "processor": machine.processor(),
        "cpus": list(cpus),
        "seconds": arguments.seconds,
        "load_average": [begin.load, end.load],
        "stolen_share": machine.stolen_share(begin, end),
        "warnings": machine.warnings(begin, end, waited),
        "dot_product_gmac_per_second": ceilings.dot_product and ceilings.dot_product / 1e9,
        "read_gb_per_second": {size: speed / 1e9 for size, speed in ceilings.reads},
        "versions": {row["contestant"]: row["version"] for row in rows if "version" in row},
        "rows": list(rows),
    }


def _print_circumstances(document: dict[str, Any]) -> None:
    print(f"\n{document['date']}, {document['processor']}")
    print(", ".join(f"{name} {version}" for name, version in document["versions"].items()))
    peak = document["dot_product_gmac_per_second"]
    if peak is None:
        print("no ceilings: they are measured on x86-64 and AArch64")
    else:
        reads = ", ".join(f"{s >> 10} KiB {v:.0f}" for s, v in document["read_gb_per_second"].items())
        print(f"ceilings of one core: {peak:.0f} GMAC/s in int8 dot products; reading (GB/s): {reads}")
    begin, end = document["load_average"]
    if begin is not None:
        print(f"load average {begin:.2f} before, {end:.2f} after")
    for warning in document["warnings"]:
        print(f"warning: {warning}")


if __name__ == "__main__":
    sys.exit(main())
