"""Where the time of an inference goes, as plain data: made by ``Executable.profile``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..errors import ZeropointError
from ..kernels.launch import Code
from . import profile_formats
from .ceilings import Bound, Ceilings

Kind = Literal["family", "generic", "copy"]
"""Whose code a kernel is: a family's; that of loops, which LLVM vectorizes as it can; or a plain copy."""


@dataclass(frozen=True)
class Work:
    """What one step, or several, do and take. Seconds are of one core and one inference.

    ``bytes`` are those of all buffers read and written, of which ``constant_bytes`` are constants; None if
    only a part of them is touched. ``least_seconds`` is what the machine would need at best for the
    ``bound``, arithmetic or memory, whichever takes longer; None if it is not known.
    """

    seconds: float
    median_seconds: float
    share: float
    """Of the time of all steps, 0 to 1."""
    macs: int
    bytes: int | None
    constant_bytes: int
    least_seconds: float | None
    bound: Bound | None

    @property
    def macs_per_second(self) -> float | None:
        """None if it does no multiply-accumulates, or was too short for the clock."""
        return self.macs / self.seconds if self.macs and self.seconds else None

    @property
    def ceiling_share(self) -> float | None:
        """How near it comes to what the machine can do: 1 is as fast as possible. None if not known."""
        return self.least_seconds / self.seconds if self.least_seconds and self.seconds else None


@dataclass(frozen=True)
class StepProfile:
    """One step of the network: one call of a kernel."""

    index: int
    kernel: str
    """Which machine code: steps with the same one share it."""
    label: str
    """The kernel for people: its family and main options."""
    kind: Kind
    work: Work
    code: Code | None
    """Family, instruction set and all options, if it is a family's."""
    units: int
    """Pieces that it can be cut into for several threads."""
    tensors: tuple[str, ...]
    """Names of the model's tensors that it computes."""
    reason: str
    """Why no kernel family took it, if it is generic and that is known."""

    @property
    def isa(self) -> str:
        """The instruction set it is written for; empty if it is no family's."""
        return self.code.isa if self.code is not None else ""


@dataclass(frozen=True)
class KernelProfile:
    """All steps of kernels that are called the same: they differ in details of their code at most."""

    label: str
    isa: str
    """Empty if it is no family's."""
    kind: Kind
    kernels: tuple[str, ...]
    """Which machine code: one or more kernels."""
    calls: int
    work: Work


@dataclass(frozen=True)
class Profile:
    """One network on one machine. ``print(profile)`` shows the table of its steps.

    ``run_seconds`` (least and median) are whole inferences on ``threads``, measured between those that the
    steps were timed in. ``least_arena_bytes`` is the largest sum of buffers that are needed at one time: an
    arena cannot be smaller.
    """

    network: str
    instructions: tuple[str, ...]
    threads: int
    repeats: int
    run_seconds: float
    run_median_seconds: float
    arena_bytes: int
    least_arena_bytes: int
    constant_bytes: int
    ceilings: Ceilings
    steps: tuple[StepProfile, ...]

    @property
    def total(self) -> Work:
        """The sum over all steps."""
        return total_of([step.work for step in self.steps])

    @property
    def generic(self) -> list[StepProfile]:
        """The steps that no kernel family took."""
        return [step for step in self.steps if step.kind == "generic"]

    def slowest(self, count: int | None = None) -> list[StepProfile]:
        """The steps by time, the longest first; ``count`` of them if given."""
        return sorted(self.steps, key=lambda step: (-step.work.seconds, step.index))[:count]

    def by_kernel(self) -> list[KernelProfile]:
        """The kernels by the time of all their steps, the longest first."""
        steps: dict[tuple[str, str, Kind], list[StepProfile]] = {}
        for step in self.steps:
            steps.setdefault((step.label, step.isa, step.kind), []).append(step)
        rows = [
            KernelProfile(
                label,
                isa,
                kind,
                tuple(dict.fromkeys(step.kernel for step in own)),
                len(own),
                total_of([step.work for step in own]),
            )
            for (label, isa, kind), own in steps.items()
        ]
        return sorted(rows, key=lambda row: -row.work.seconds)

    def to_json(self) -> dict[str, Any]:
        """Everything, for ``json.dumps``; docs/profile.md says what is in it."""
        return profile_formats.document(self)

    def to_csv(self) -> str:
        """A line per step, below a line of names."""
        return profile_formats.csv_text(self)

    def to_trace(self) -> dict[str, Any]:
        """The steps one after the other as Chrome's trace viewer and Perfetto read them."""
        return profile_formats.trace(self)

    def save_csv(self, path: str | os.PathLike[str]) -> None:
        """Write :meth:`to_csv` to a file. Raises ZeropointError if that cannot be."""
        _write(path, self.to_csv())

    def save_trace(self, path: str | os.PathLike[str]) -> None:
        """Write :meth:`to_trace` to a file that chrome://tracing and https://ui.perfetto.dev open.

        Raises:
            ZeropointError: the file cannot be written.
        """
        _write(path, profile_formats.json_text(self.to_trace()))

    def __str__(self) -> str:
        from .profile_text import plain_text

        return plain_text(self)


def total_of(works: Sequence[Work]) -> Work:
    """The sum. It is bound by what most of its least time is needed for; a part whose least time is not known
    adds nothing to it.
    """
    known: dict[Bound, float] = {}
    for work in works:
        bound, least = work.bound, work.least_seconds
        if bound is not None and least is not None:
            known[bound] = known.get(bound, 0.0) + least
    sizes = [work.bytes for work in works if work.bytes is not None]
    return Work(
        sum(work.seconds for work in works),
        sum(work.median_seconds for work in works),
        sum(work.share for work in works),
        sum(work.macs for work in works),
        sum(sizes) if sizes else None,
        sum(work.constant_bytes for work in works),
        sum(known.values()) if known else None,
        max(known.items(), key=lambda item: item[1])[0] if known else None,
    )


def _write(path: str | os.PathLike[str], text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ZeropointError(f"{os.fspath(path)}: cannot be written: {error.strerror or error}") from error
