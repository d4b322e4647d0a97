"""The tables: every contestant in full, then one line per network with what counts."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from zeropoint.tools.tables import print_table

from .contestants import OURS, PEERS

Row = Mapping[str, Any]

COLUMNS = (
    "network",
    "threads",
    "system",
    "min ms",
    "median ms",
    "to best peer",
    "paired",
    "GMAC/s",
    "of ceiling",
    "load ms",
    "compile ms",
    "again ms",
    "peak MiB",
    "bits",
)
RIGHT = COLUMNS[3:13]
SPARE = ("again ms", "load ms", "paired", "median ms", "GMAC/s", "peak MiB", "compile ms", "of ceiling")
"""What a narrow terminal can do without, first to last."""
REASON_WIDTH = 160


def number(value: float | None, digits: int = 3) -> str:
    """Significant digits, without exponents; a dash for None."""
    if value is None:
        return "-"
    size = f"{value:.{digits}g}"
    return f"{value:.0f}" if "e" in size or abs(value) >= 10**digits else size


def ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"


def print_report(rows: Sequence[Row]) -> None:
    """Both tables and the reasons of those who refused, on stdout."""
    cells = [_cells(row) for row in rows]
    print_table(COLUMNS, cells, right=RIGHT, shorten=("network",), spare=SPARE)
    _print_refusals(rows)
    print()
    columns = ["network", "threads", "best peer"]
    columns += [f"{ours} / {peer}" for ours in OURS for peer in (*PEERS, "best")]
    lines = [_summary(group) for group in groups(rows)]
    short = [c.replace("zeropoint-xnnpack", "xnnpack").replace("zeropoint /", "reference /") for c in columns]
    print("ratio of minima, below 1 Zeropoint is faster:")
    print_table(short, lines, right=short[3:], shorten=("network",), spare=short[3:6] + short[7:10])


def groups(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of one network and number of threads together, in order."""
    found: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        found.setdefault((row["network"], row["threads"]), []).append(row)
    return list(found.values())


def _cells(row: Row) -> tuple[str, ...]:
    head = (row["network"], str(row["threads"]), row["contestant"])
    if "refused" in row:
        return (*head, *["-"] * (len(COLUMNS) - len(head)))
    return (
        *head,
        number(row["min_ms"]),
        number(row["median_ms"]),
        ratio(row["ratio_of_minima"]),
        ratio(row["median_paired_ratio"]),
        number(row["gmac_per_second"]),
        percent(row["ceiling_share"]),
        number(row["load_ms"]),
        number(row["compile_ms"]),
        number(row["recompile_ms"]),
        number(row["peak_memory_mib"]),
        row["bits"],
    )


def _summary(group: Sequence[Row]) -> tuple[str, ...]:
    by_name = {row["contestant"]: row for row in group}
    best = next((row["best_peer"] for row in group if row.get("best_peer")), None)
    cells = [group[0]["network"], str(group[0]["threads"]), best or "-"]
    for ours in OURS:
        row = by_name.get(ours, {})
        ratios = row.get("ratio_to", {})
        cells += [ratio(ratios.get(peer)) for peer in PEERS]
        cells.append(ratio(row.get("ratio_of_minima")))
    return tuple(cells)


def _print_refusals(rows: Sequence[Row]) -> None:
    """Each reason once, with the networks it holds for."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if "refused" in row:
            reason = textwrap.shorten(row["refused"] or "no round was run", REASON_WIDTH, placeholder=" ...")
            names = found.setdefault((row["contestant"], reason), [])
            if row["network"] not in names:
                names.append(row["network"])
    if found:
        print("\nwithout numbers:")
    for (contestant, reason), networks in found.items():
        print(f"  {contestant}: {', '.join(networks)}: {reason}")
