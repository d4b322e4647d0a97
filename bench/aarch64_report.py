"""The tables of ``python -m bench.aarch64``: on a terminal, and as Markdown for the documentation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zeropoint.tools.tables import print_table

from .aarch64_mca import PROCESSORS as MODELS
from .aarch64_rows import Row, by_kernel
from .report import percent, ratio

NETWORKS = (
    *("network", "processor", "MMAC", "Minstr", "LiteRT Minstr", "ratio", "per MAC", "LiteRT per MAC"),
    *("dot", "LiteRT dot", "bits"),
)
KERNELS = ("kernel", "steps", "MMAC", "Minstr", "share", "per MAC", "dot", "mul", "loop", "loop dot", *MODELS)
LOOPS = ("system", "share", "loop", "MAC", "dot", "mul", *MODELS)
_LOOPS_SHOWN = 2
_SMALL = 0.01
"""Kernels with a smaller share of the instructions are one line together."""


def network_cells(row: Row) -> tuple[str, ...]:
    ours, litert = row["zeropoint"], row["litert"]
    both = (ours, litert)
    return (
        row["network"],
        row["processor"],
        millions(row["macs"]),
        *(millions(system.get("instructions")) for system in both),
        ratio(row["ratio"]),
        *(per_mac(system.get("instructions_per_mac")) for system in both),
        *(percent(system.get("dot_share")) for system in both),
        row["bits"],
    )


def kernel_cells(entry: Row) -> tuple[str, ...]:
    loop = entry["loop"]
    return (
        entry["kernel"],
        str(entry.get("steps", "")),
        millions(entry["macs"]) if entry["macs"] else "-",
        millions(entry["instructions"]),
        percent(entry.get("share")),
        per_mac(entry["instructions_per_mac"]),
        percent(entry["dot_share"]),
        percent(entry["product_share"]),
        "-" if loop is None else str(loop["instructions"]),
        "-" if loop is None else percent(loop["dot_share"]),
        *_speeds(loop),
    )


def loop_cells(system: str, loop: Row) -> tuple[str, ...]:
    size = (
        str(loop["instructions"]),
        str(loop["macs"]),
        percent(loop["dot_share"]),
        percent(loop["product_share"]),
    )
    return (system, percent(loop["share"]), *size, *_speeds(loop))


def _speeds(loop: Row | None) -> list[str]:
    """MACs of a cycle on each model; a dash if the loop has none, or cycles were not asked for."""
    found = []
    for model in MODELS:
        cycles = loop["cycles"].get(model) if loop is not None else None
        found.append(f"{loop['macs'] / cycles:.1f}" if loop is not None and cycles and loop["macs"] else "-")
    return found


def millions(value: float | None) -> str:
    """With three digits or more."""
    if value is None:
        return "-"
    value /= 1e6
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.3f}"


def per_mac(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def print_report(rows: Sequence[Row], steps: bool, markdown: bool) -> None:
    """Everything, on stdout; ``steps``: every step of ours instead of one line per kernel."""
    show = print_markdown if markdown else _print_plain
    show(NETWORKS, [network_cells(row) for row in rows], NETWORKS[2:10], "")
    for row in rows:
        name = f"{row['network']}, {row['processor']}"
        found = row["zeropoint"].get("steps", [])
        entries = by_kernel(found, _SMALL)
        if steps:
            loops = [{**step, "loop": next(iter(step["loops"]), None)} for step in found]
            entries = [{**step, "steps": step["step"], "share": _share(step, found)} for step in loops]
        if entries:
            title = f"{name}: Zeropoint by {'step' if steps else 'kernel'}; MAC per cycle of its hottest loop"
            show(KERNELS, [kernel_cells(entry) for entry in entries], KERNELS[1:], title)
        hottest = [
            loop_cells(system, loop)
            for system in ("zeropoint", "litert")
            for loop in row[system].get("loops", [])[:_LOOPS_SHOWN]
        ]
        if hottest:
            show(LOOPS, hottest, LOOPS[1:], f"{name}: hottest innermost loops; MAC per cycle")
    for row in rows:
        for system in ("zeropoint", "litert"):
            if reason := row[system].get("refused"):
                print(f"{row['network']}, {row['processor']}: {system}: {reason}")


def _share(step: Row, steps: Sequence[Row]) -> float:
    return float(step["instructions"] / max(sum(other["instructions"] for other in steps), 1))


def _print_plain(
    columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str], title: str
) -> None:
    if title:
        print()
    print_table(columns, rows, right=right, title=title, shorten=("network",))


def print_markdown(
    columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str], title: str = ""
) -> None:
    if title:
        print(f"\n{title}:\n")
    print(f"| {' | '.join(columns)} |")
    print(f"|{'|'.join('---:' if column in right else '---' for column in columns)}|")
    for row in rows:
        print(f"| {' | '.join(row)} |")


def document(rows: Sequence[Row], date: str, llvm: str, qemu: str) -> dict[str, Any]:
    """For JSON: the rows, and what they were measured with."""
    return {"date": date, "llvm": llvm, "qemu": qemu, "models": list(MODELS), "rows": list(rows)}
