"""Profiles for people: the cells of the tables, and what is said below them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .aligned import aligned_lines

if TYPE_CHECKING:
    from .ceilings import Ceilings
    from .profile import KernelProfile, Profile, StepProfile, Work

_WORK = ("µs", "median", "share", "MMAC", "GMAC/s", "KB", "bound", "ceiling")
STEP_COLUMNS = ("#", "kernel", "isa", "tensor", *_WORK)
KERNEL_COLUMNS = ("kernel", "isa", "codes", "calls", *_WORK)
RIGHT = ("#", "codes", "calls", "µs", "median", "share", "MMAC", "GMAC/s", "KB", "ceiling")
SPARE = ("isa", "median", "codes", "KB", "MMAC", "bound")
"""What a narrow terminal can do without, first to last."""
_LISTED = 3
"""More steps than this with the same reason are told in one line."""
GENERIC = "generic: "
"""Before the name of a kernel that is no family's."""


def step_rows(profile: Profile, steps: Sequence[StepProfile]) -> list[tuple[str, ...]]:
    """The cells of ``steps`` below ``STEP_COLUMNS``."""
    names = short_names([step.tensors[-1] if step.tensors else "" for step in profile.steps])
    return [
        (
            str(step.index),
            _name(step),
            step.isa,
            names[step.index],
            *_work_cells(step.work),
        )
        for step in steps
    ]


def kernel_rows(kernels: Sequence[KernelProfile]) -> list[tuple[str, ...]]:
    """The cells of ``kernels`` below ``KERNEL_COLUMNS``."""
    return [
        (_name(kernel), kernel.isa, str(len(kernel.kernels)), str(kernel.calls), *_work_cells(kernel.work))
        for kernel in kernels
    ]


def without_empty(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    """``columns`` that any of ``rows`` has something in, and the cells in these."""
    used = [i for i in range(len(columns)) if any(row[i] for row in rows)]
    return [columns[i] for i in used], [[row[i] for i in used] for row in rows]


def plain_text(profile: Profile) -> str:
    """The table of all steps in program order and what there is to say about it."""
    table = aligned_lines(*without_empty(STEP_COLUMNS, step_rows(profile, profile.steps)), RIGHT)
    return "\n".join([*table, "", *summary(profile)])


def summary(profile: Profile) -> list[str]:
    """Totals, memory, the machine, and what no family took."""
    total = profile.total
    steps = "1 step" if len(profile.steps) == 1 else f"{len(profile.steps)} steps"
    line = f"{steps}: {_time(total.seconds)} on one core"
    if total.macs:
        line += f", {total.macs / 1e6:.1f} MMAC"
    if total.macs_per_second:
        line += f", {total.macs_per_second / 1e9:.1f} GMAC/s"
    lines = [line]
    if total.least_seconds is not None and total.ceiling_share is not None:
        lines.append(
            f"arithmetic and memory need at least {_time(total.least_seconds)}: "
            f"{_percent(total.ceiling_share)} of what this core can do"
        )
    threads = f"{profile.threads} thread{'s' if profile.threads > 1 else ''}"
    lines.append(
        f"a whole inference on {threads}: {_time(profile.run_seconds)}, median "
        f"{_time(profile.run_median_seconds)} ({profile.repeats} runs)"
    )
    lines.append(memory_line(profile.arena_bytes, profile.least_arena_bytes, profile.constant_bytes))
    lines += _machine_lines(profile.ceilings)
    return lines + _generic_lines(profile)


def memory_line(arena_bytes: int, least_arena_bytes: int, constant_bytes: int) -> str:
    """``memory: arena 1.6 MiB (1.5 MiB in use at one time), constants 3.7 MiB``."""
    least = f" ({size_text(least_arena_bytes)} in use at one time)" if least_arena_bytes else ""
    return f"memory: arena {size_text(arena_bytes)}{least}, constants {size_text(constant_bytes)}"


def size_text(size: int) -> str:
    return f"{size / 1024:.0f} KiB" if size < 1 << 20 else f"{size / (1 << 20):.1f} MiB"


def short_names(names: Sequence[str]) -> list[str]:
    """Names of tensors without the parts (between slashes) that most of them have.

    Of names that a converter has joined with ``;`` only the first is kept.
    """
    parts = [[part for part in name.split(";")[0].split("/") if part] for name in names]
    different = {tuple(path): set(path) for path in parts}
    counts = Counter(part for path in different.values() for part in path)
    common = {part for part, count in counts.items() if len(different) > 2 and count * 2 > len(different)}
    return ["/".join([part for part in path if part not in common] or path[-1:]) for path in parts]


def _machine_lines(ceilings: Ceilings) -> list[str]:
    said = []
    if ceilings.dot_product is not None:
        said.append(f"{ceilings.dot_product / 1e9:.0f} GMAC/s in int8")
    if ceilings.reads:
        (small, fast), (large, slow) = ceilings.reads[0], ceilings.reads[-1]
        said.append(
            f"reads {fast / 1e9:.0f} ({size_text(small)}) to {slow / 1e9:.0f} GB/s ({size_text(large)})"
        )
    return [f"one core: {', '.join(said)}"] if said else []


def _generic_lines(profile: Profile) -> list[str]:
    generic = profile.generic
    if not generic:
        return []
    share = sum(step.work.share for step in generic)
    lines = ["", f"no kernel family took these ({_percent(share)} of the time):"]
    of_reason: dict[str, list[StepProfile]] = {}
    for step in generic:
        of_reason.setdefault(step.reason or "no reason is known", []).append(step)
    for reason, steps in of_reason.items():
        if len(steps) > _LISTED:
            lines.append(f"  {', '.join(str(step.index) for step in steps)}: {reason}")
            continue
        for step in steps:
            name = step.tensors[-1].split(";")[0] if step.tensors else ""
            lines.append(f"  {step.index}  {step.label}{name and f' ({name})'}: {reason}")
    return lines


def _name(row: StepProfile | KernelProfile) -> str:
    return f"{GENERIC}{row.label}" if row.kind == "generic" else row.label


def _work_cells(work: Work) -> tuple[str, ...]:
    rate, ceiling = work.macs_per_second, work.ceiling_share
    return (
        _microseconds(work.seconds),
        _microseconds(work.median_seconds),
        _percent(work.share),
        f"{work.macs / 1e6:.{2 if work.macs >= 1e5 else 4}f}" if work.macs else "",
        f"{rate / 1e9:.1f}" if rate else "",
        "" if work.bytes is None else f"{work.bytes / 1e3:.1f}",
        work.bound or "",
        "" if ceiling is None else _percent(ceiling),
    )


def _microseconds(seconds: float) -> str:
    """With two digits where tenths would say nothing."""
    return f"{seconds * 1e6:.{1 if seconds >= 1e-5 else 2}f}"


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.3f} ms" if seconds >= 1e-4 else f"{seconds * 1e6:.1f} µs"


def _percent(share: float) -> str:
    return f"{share:.1%}" if share < 0.0995 else f"{share:.0%}"
