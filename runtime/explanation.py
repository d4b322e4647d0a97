"""What a target makes of a model, op by op, as plain data: rules, what they force, and what that costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..dialect.describe import OpRow
from ..targets import Rule, Target
from ..targets.operators import CONVERSIONS
from .conversion_costs import Cost, OutputChange

Status = Literal["kept", "changed", "float", "inserted", "gone"]
"""Of an op: as it was; other parameters or multipliers; runs in float; new; no longer there."""


@dataclass(frozen=True)
class Note:
    """A decision about an op: of a kind of ``passes/decisions.py``, or ``explicit``: the op that it was
    inserted for did the same within.
    """

    kind: str
    by: str
    detail: str


@dataclass(frozen=True)
class Row:
    """An op of the legalized model, or one of the original that is gone.

    ``label`` is the number of the op in the model; inserted ones have a letter as well: ``9a`` follows what
    op 9 made. ``reads`` are positions in ``Explanation.rows``, -1 - i for input i of the model. ``forced_by``
    is the number of the op whose rule inserted it.
    """

    label: str
    source: int | None
    op: str
    tensor: str
    status: Status
    rule: Rule | None
    before: OpRow | None
    after: OpRow | None
    reads: tuple[int, ...] = ()
    forced_by: int | None = None
    notes: tuple[Note, ...] = ()
    unmet: str = ""
    """How the legalized op still breaks its rule; empty if it does not."""
    cost: Cost | None = None
    """Of an inserted op."""
    no_family: str = ""
    """Why no kernel family computes the legalized op; empty if one does."""

    @property
    def is_copy(self) -> bool:
        """Whether it is another one of an op that moves values, in other parameters."""
        return self.status == "inserted" and self.op not in (*CONVERSIONS, "clamp")


@dataclass(frozen=True)
class Totals:
    """Counts over a model. ``bytes`` and ``macs`` are those of the inserted ops of one inference."""

    ops_before: int
    ops_after: int
    inserted: int
    folded: int
    shared: int
    moved: int
    float_ops: int
    float_islands: int
    unmet: int
    bytes: int
    macs: int


@dataclass(frozen=True)
class Explanation:
    """The rows in the order of the legalized model, and what changes at its outputs.

    ``returns`` are the rows that the outputs come from (-1 - i: input i). ``outputs`` is empty if nothing was
    measured or nothing was changed.
    """

    model: str
    numerics: str
    target: Target
    inputs: tuple[str, ...]
    output_names: tuple[str, ...]
    rows: tuple[Row, ...]
    returns: tuple[int, ...]
    outputs: tuple[OutputChange, ...]
    samples: int
    isa: str = ""
    """The instruction set whose kernel families were asked; empty if there are none."""

    @property
    def is_unchanged(self) -> bool:
        """Whether the target leaves every op as it is, but for those that nothing needs."""
        return is_unchanged(self.rows) and not any(row.unmet for row in self.rows)

    @property
    def totals(self) -> Totals:
        rows = self.rows
        kinds = [note.kind for row in rows for note in row.notes]
        inserted = [row for row in rows if row.status == "inserted"]
        return Totals(
            ops_before=sum(row.before is not None for row in rows),
            ops_after=sum(row.after is not None for row in rows),
            inserted=len(inserted),
            folded=kinds.count("folded"),
            shared=kinds.count("shared"),
            moved=kinds.count("hoisted") + kinds.count("sunk"),
            float_ops=sum(row.status == "float" for row in rows),
            float_islands=_count_islands(rows),
            unmet=sum(bool(row.unmet) for row in rows),
            bytes=sum(row.cost.bytes for row in inserted if row.cost),
            macs=sum(row.cost.macs for row in inserted if row.cost),
        )


def is_unchanged(rows: Sequence[Row]) -> bool:
    """Whether all ops are as they were, or gone because nothing needs them."""
    return all(row.status in ("kept", "gone") for row in rows)


def _count_islands(rows: Sequence[Row]) -> int:
    """Groups of ops that run in float because the target lacks them, connected by float values."""
    members = {i for i, row in enumerate(rows) if row.status == "float" or _is_within_island(row)}
    group = {i: i for i in members}

    def root(i: int) -> int:
        while group[i] != i:
            group[i] = group[group[i]]
            i = group[i]
        return i

    for i in members:
        for read in rows[i].reads:
            if read in members:
                group[root(i)] = root(read)
    return len({root(i) for i in members})


def _is_within_island(row: Row) -> bool:
    """Whether an op was inserted between two that run in float."""
    is_float = row.after is not None and row.after.result.is_float
    return row.status == "inserted" and row.op not in CONVERSIONS and is_float
