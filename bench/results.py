"""From what was measured to what is reported: ratios, shares of the ceilings, whose bits."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from zeropoint.runtime.ceilings import Ceilings

from .compare import Array, Entry
from .contestants import JUDGE, PEERS
from .network import Network


def peers_that_ran(entries: Sequence[Entry]) -> list[Entry]:
    return [e for e in entries if e.contestant in PEERS and e.refused is None and e.rounds]


def best_peer(entries: Sequence[Entry]) -> Entry | None:
    """The peer with the least minimum; None when none ran."""
    return min(peers_that_ran(entries), key=lambda entry: entry.minimum, default=None)


def paired_ratio(entry: Entry, other: Entry) -> float:
    """Median over the rounds of the ratio of the two minima of a round: both saw the same machine then."""
    pairs = zip(entry.rounds, other.rounds, strict=False)
    return statistics.median(min(mine) / min(theirs) for mine, theirs in pairs)


def agreement(entry: Entry, entries: Sequence[Entry]) -> str:
    """Whose bits the outputs are: LiteRT's reference kernels', its default kernels', both, or how far off."""
    if entry.outputs is None:
        return "-"
    judges: Mapping[str, Entry] = {
        label: found
        for label, name in (("reference", JUDGE), ("default", "litert"))
        for found in entries
        if found.contestant == name and found.outputs is not None
    }
    differing = {label: _differing(entry.outputs, judge.outputs or []) for label, judge in judges.items()}
    equal = [label for label, (count, _) in differing.items() if count == 0]
    if equal:
        return "=" + "=".join(equal)
    if not differing:
        return "-"
    count, total = next(iter(differing.values()))
    return "other type" if count is None else f"{count} of {total} differ"


def _differing(mine: Sequence[Array], theirs: Sequence[Array]) -> tuple[int | None, int]:
    """How many output values differ (None when the types or sizes do), and of how many."""
    total = sum(array.size for array in theirs)
    if [(a.dtype, a.size) for a in mine] != [(a.dtype, a.size) for a in theirs]:
        return None, total
    pairs = zip(mine, theirs, strict=True)
    return sum(int(np.count_nonzero(a.reshape(-1) != b.reshape(-1))) for a, b in pairs), total


def row(
    network: Network, threads: int, entry: Entry, entries: Sequence[Entry], ceilings: Ceilings
) -> dict[str, Any]:
    """What the report says of one contestant on one network, for a table or for JSON. Times in ms.

    A contestant that did not run has the reason under ``refused``, and no numbers.
    """
    found: dict[str, Any] = {"network": network.name, "threads": threads, "contestant": entry.contestant}
    if entry.refused is not None or not entry.rounds:
        return {**found, "refused": entry.refused}
    peer, report = best_peer(entries), entry.report
    least = ceilings.least_seconds(network.macs, network.weight_bytes, threads)
    return found | {
        "version": report["version"],
        "min_ms": entry.minimum,
        "median_ms": entry.median,
        "rounds": len(entry.rounds),
        "inferences": sum(map(len, entry.rounds)),
        "best_peer": peer.contestant if peer else None,
        "ratio_of_minima": entry.minimum / peer.minimum if peer else None,
        "median_paired_ratio": paired_ratio(entry, peer) if peer else None,
        "ratio_to": {other.contestant: entry.minimum / other.minimum for other in peers_that_ran(entries)},
        "load_ms": _milliseconds(report["load_seconds"]),
        "compile_ms": _milliseconds(report["compile_seconds"]),
        "recompile_ms": _milliseconds(report["recompile_seconds"]),
        "first_inference_ms": _milliseconds(report["first_seconds"]),
        "peak_memory_mib": entry.peak_kib and entry.peak_kib / 1024,
        "memory_before_mib": report["base_kib"] and report["base_kib"] / 1024,
        "gmac_per_second": network.macs / entry.minimum / 1e6,
        "ceiling_share": None if least is None else least * 1e3 / entry.minimum,
        "waited_share": statistics.mean(entry.waited) if entry.waited else None,
        "bits": agreement(entry, entries),
    }


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3
