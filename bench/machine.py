"""What else was going on: the processor, its load, and the time that others took from this machine."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path

BUSY_LOAD = 0.5
"""Runnable processes of others before the measurement starts."""
STOLEN = 0.01
WAITED = 0.02


@dataclass(frozen=True)
class Moment:
    """The load average of the last minute, and the processor's time so far in ticks: in all, and stolen by
    the hypervisor for other machines. None where the system does not tell."""

    load: float | None
    ticks: int | None = None
    stolen: int | None = None


def now() -> Moment:
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    try:
        first = Path("/proc/stat").read_text().splitlines()[0].split()
        ticks = [int(word) for word in first[1:9]]  # user nice system idle iowait irq softirq steal
    except (OSError, IndexError, ValueError):
        return Moment(load)
    return Moment(load, sum(ticks), ticks[7])


def stolen_share(begin: Moment, end: Moment) -> float | None:
    """Of the processor's time between two moments, the share that the hypervisor gave to others."""
    if begin.ticks is None or end.ticks is None or begin.stolen is None or end.stolen is None:
        return None
    return (end.stolen - begin.stolen) / max(end.ticks - begin.ticks, 1)


def warnings(begin: Moment, end: Moment, waited: list[float]) -> list[str]:
    """Reasons to distrust the numbers; ``waited`` has the share of each contestant's time without a core."""
    found = []
    if begin.load is not None and begin.load > BUSY_LOAD:
        found.append(f"the load average was {begin.load:.1f} before this began: others were running")
    stolen = stolen_share(begin, end)
    if stolen is not None and stolen > STOLEN:
        found.append(f"the hypervisor took {stolen:.1%} of the processor's time")
    late = sum(share > WAITED for share in waited)
    if late:
        found.append(
            f"{late} of {len(waited)} rows waited for a core more than {WAITED:.0%} of the time; "
            "minima are better than medians then"
        )
    return found


def processor() -> str:
    """The processor's name as the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):  # x86; Linux on AArch64 gives numbers alone
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
