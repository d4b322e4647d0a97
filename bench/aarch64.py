"""``python -m bench.aarch64``: see docs/benchmarks.md."""

from __future__ import annotations

import argparse
import datetime
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import zeropoint as zp

from . import aarch64_mca
from .aarch64_counts import CountsError
from .aarch64_decode import ToolError, run_tool
from .aarch64_emulator import PROCESSORS, Emulator, emulator
from .aarch64_measure import Measured, measure_litert, measure_ours
from .aarch64_report import document, print_report
from .aarch64_rows import network_row, predict_cycles
from .network import Network, load_network
from .networks import find_models, networks_folder
from .progress import say

DESCRIPTION = """\
Networks x emulated AArch64 processors: the instructions of one inference by Zeropoint and by LiteRT
(XNNPACK), one thread, as a plugin of qemu-aarch64 counts them; which of them multiply; and how long the
hottest inner loops would take on real processors by LLVM's models (llvm-mca).
"""
DEFAULT = ("mobilenetv1_224_int8", "mobilenetv2_224_int8", "resnet50_224_int8")
SYSTEMS = ("zeropoint", "litert")


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser().parse_args(argv)
    try:
        return measure(arguments)
    except (FileNotFoundError, ToolError) as error:
        print(f"bench.aarch64: error: {error}", file=sys.stderr)
        return 1


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(prog="python -m bench.aarch64", description=DESCRIPTION)
    found.add_argument(
        "models",
        nargs="*",
        metavar="MODEL",
        help=f".tflite files, folders of them, or built networks; default: {', '.join(DEFAULT)}",
    )
    found.add_argument("--processors", nargs="+", choices=PROCESSORS, default=list(PROCESSORS))
    found.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    found.add_argument("--numerics", choices=("reference", "xnnpack"), default="reference", help="ours")
    found.add_argument("--networks-dir", type=Path, default=networks_folder(), help="default: %(default)s")
    found.add_argument("--steps", action="store_true", help="a line per step instead of one per kernel")
    found.add_argument("--no-cycles", action="store_true", help="no llvm-mca")
    found.add_argument("--no-bits", action="store_true", help="do not compare outputs with this machine's")
    shape = found.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="everything as JSON on stdout")
    shape.add_argument("--markdown", action="store_true", help="tables for documentation")
    return found


def measure(arguments: argparse.Namespace) -> int:
    models = find_models(arguments.models or DEFAULT, arguments.networks_dir)
    rows: list[dict[str, Any]] = []
    with emulator() as machine:
        llvm = aarch64_mca.version()
        for path in models:
            try:
                network = load_network(path, arguments.networks_dir)
            except zp.ZeropointError as error:
                print(f"{path.name}: left out: {str(error).splitlines()[0]}", file=sys.stderr)
                continue
            expected = None if arguments.no_bits else _outputs_here(network, arguments.numerics)
            for name in arguments.processors:
                say(f"{network.name}, {name}")
                rows.append(_measure_one(network, name, machine, arguments, expected))
    say("")
    if not arguments.no_cycles:
        predict_cycles(rows)
    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="minutes")
    qemu = run_tool(["qemu-aarch64", "--version"]).splitlines()[0].split()[2]
    if arguments.json:
        print(json.dumps(document(rows, date, llvm, qemu), indent=1))
    elif rows:
        print_report(rows, arguments.steps, arguments.markdown)
        print(f"\n{date}, qemu {qemu}, LLVM {llvm}, {_versions(rows)}")
        _print_warnings(rows)
    return 0 if rows and not any(map(_is_wrong, rows)) else 1


def _outputs_here(network: Network, numerics: str) -> list[Any] | None:
    """What Zeropoint computes on this machine; None if it cannot."""
    try:
        executable = zp.compile(zp.load(network.path, numerics=numerics), threads=1)
    except zp.ZeropointError:
        return None
    step = executable.bind(*network.inputs)
    step()
    step()  # as the guest: networks with variables go on from what the run before left
    return [array.copy() for array in step()]


def _measure_one(
    network: Network,
    name: str,
    machine: Emulator,
    arguments: argparse.Namespace,
    expected: list[Any] | None,
) -> dict[str, Any]:
    processor = PROCESSORS[name]
    found: dict[str, Measured | str] = dict.fromkeys(SYSTEMS, "")
    how: dict[str, Callable[[], Measured]] = {
        "zeropoint": lambda: measure_ours(network, arguments.numerics, processor, machine),
        "litert": lambda: measure_litert(network, processor, machine),
    }
    for system in arguments.systems:
        try:
            found[system] = how[system]()
        except (ToolError, CountsError, zp.ZeropointError) as error:
            found[system] = str(error).splitlines()[0]
    bits = _bits(found["zeropoint"], expected)
    return network_row(network.name, network.macs, name, found["zeropoint"], found["litert"], bits)


def _bits(ours: Measured | str, expected: Sequence[Any] | None) -> str:
    if isinstance(ours, str) or expected is None:
        return "-"
    pairs = zip(ours.outputs, expected, strict=True)
    differ = sum(int(np.count_nonzero(one.view(np.uint8) != other.view(np.uint8))) for one, other in pairs)
    return f"{differ} differ" if differ else "same"


def _is_wrong(row: dict[str, Any]) -> bool:
    """Whether Zeropoint failed, or computed other bits than here. LiteRT may refuse what it likes."""
    return bool(row["zeropoint"].get("refused")) or row["bits"].endswith("differ")


def _versions(rows: Sequence[dict[str, Any]]) -> str:
    found = {s: row[s]["version"] for row in rows for s in SYSTEMS if "version" in row[s]}
    return ", ".join(f"{name} {version}" for name, version in found.items())


def _print_warnings(rows: Sequence[dict[str, Any]]) -> None:
    for row in rows:
        for system in SYSTEMS:
            found = row[system]
            name = f"{row['network']}, {row['processor']}: {system}"
            if found.get("varies_by"):
                print(f"warning: {name}: a second inference differed by {found['varies_by']} instructions")
            if found.get("threads", 1) > 1:
                print(f"warning: {name}: {found['threads']} threads: counts may be too low")


if __name__ == "__main__":
    sys.exit(main())
