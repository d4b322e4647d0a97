"""The rows of an explanation: each op of a legalized module found again in the model it was made from.

Before legalization the number of each op is put into its location; passes keep locations, and so every op
that is there afterwards, and every decision of a pass, says which op of the model it comes from.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..dialect.describe import OpRow, describe, location_name
from ..dialect.ir_types import to_tensor_type
from ..dialect.mlir import ir
from ..dialect.model import find_main
from ..dialect.types import TensorType
from ..passes.decisions import INSERTED_ATTRIBUTE, Decision
from ..passes.parameter_choices import is_mobile
from ..passes.parameter_rules import params_text, rule_of, unmet
from ..passes.requantize_placement import PlainOp
from ..targets import Rule, Target
from .explanation import Note, Row, Status

_MIXING = ("avg_pool2d", "pad", "resize_bilinear")
_SOURCE = re.compile(r'^loc\((?:"(?:[^"\\]|\\.)*"\()?fused<(\d+) : i32>')


def qnn_operations(module: Any) -> list[Any]:
    """The ops of ``@main`` that ``describe`` has rows for, in its order."""
    block = find_main(module).operation.regions[0].blocks[0]
    operations = [view.operation for view in block.operations]
    return [op for op in operations if op.name.startswith("qnn.") and op.name != "qnn.constant"]


def mark_sources(module: Any) -> None:
    """Note in each op's location which one it is: an attribute would keep equal ops apart."""
    number = ir.IntegerType.get_signless(32)
    for index, op in enumerate(qnn_operations(module)):
        name, old = location_name(op.location), op.location
        new = ir.Location.fused([old], ir.IntegerAttr.get(number, index))
        op.location = ir.Location.name(name, childLoc=new) if name else new


def _source(location: str) -> int | None:
    """The number that :func:`mark_sources` left in a location."""
    found = _SOURCE.match(location)
    return int(found[1]) if found else None


Noted = tuple[int | None, str, Note]
"""The number of the op that was decided about, its name (without ``qnn.``), and what."""


def to_noted(decision: Decision) -> Noted:
    """A decision, by the number of the op it is about."""
    note = Note(decision.kind, decision.by, decision.detail)
    return _source(decision.location), decision.op.removeprefix("qnn."), note


class Rows:
    """Builds the rows of one legalized module."""

    def __init__(
        self,
        module: Any,
        target: Target,
        before: Sequence[OpRow],
        noted: Sequence[Noted],
        tried: Sequence[Noted],
    ) -> None:
        self.module, self.target, self.before = module, target, before
        self.noted, self.tried = noted, tried
        self.operations = qnn_operations(module)
        self.after = describe(module)
        self.position = {op.results[0]: index for index, op in enumerate(self.operations)}
        self.sources = [_source(str(op.location)) for op in self.operations]
        self.primary = self._primaries()

    def rows(self) -> list[Row]:
        """A row per op, then those of the model's ops that are gone."""
        used: dict[int, int] = defaultdict(int)
        rows = [self._row(index, used) for index in range(len(self.operations))]
        there = {row.source for row in rows if row.before is not None}
        gone = [
            Row(str(old.index), old.index, old.op, old.name, "gone", self._rule(old), old, None)
            for old in self.before
            if old.index not in there
        ]
        return self._with_notes([*rows, *gone])

    def returns(self) -> tuple[int, ...]:
        block = find_main(self.module).operation.regions[0].blocks[0]
        return self._reads(block.operations[len(block.operations) - 1].operation)

    def _primaries(self) -> set[int]:
        """Positions of the ops that are the model's, not inserted.

        Legalization may copy an op that moves values, to have them in two parameters: one of them counts as
        the model's, if possible one in the parameters it had.
        """
        found: dict[int, int] = {}
        for index, (op, source) in enumerate(zip(self.operations, self.sources, strict=True)):
            if source is None or INSERTED_ATTRIBUTE in op.attributes:
                continue
            before, after = self.before[source], self.after[index]
            if before.op == after.op and (source not in found or before.result == after.result):
                found[source] = index
        return set(found.values())

    def _row(self, index: int, used: dict[int, int]) -> Row:
        op, after, reads = self.operations[index], self.after[index], self._reads(self.operations[index])
        source = self.sources[index]
        if source is None:
            source = self._source_of_user(index)
        if index in self.primary and source is not None:
            before = self.before[source]
            return Row(
                str(source), source, after.op, after.name, _status(before, after), self._rule(before), before,
                after, reads, unmet=self._unmet(op, after),
            )  # fmt: skip
        label = f"{'' if source is None else source}{_letters(used[-1 if source is None else source])}"
        used[-1 if source is None else source] += 1
        forced_by = self._forced_by(index, source)
        rule = None if forced_by is None else self._rule(self.before[forced_by])
        notes = () if forced_by is None else self._was_within(op, self.before[forced_by], after)
        return Row(
            label, source, after.op, after.name, "inserted", rule, None, after, reads, forced_by, notes
        )

    def _was_within(self, op: Any, forcing: OpRow, inserted: OpRow) -> tuple[Note, ...]:
        """Whether the op that forced a requantize did just that by itself: then it costs no accuracy."""
        if inserted.op != "requantize" or not forcing.inputs or not inserted.inputs:
            return ()
        change = inserted.inputs[0].element, inserted.result.element
        behind = self._reads(op)[0] in self.primary and self.sources[self._reads(op)[0]] == forcing.index
        if (forcing.inputs[0].element, forcing.result.element) != change or not _rescales_last(
            forcing, behind
        ):
            return ()
        return (Note("explicit", "", f"op {forcing.index} did this within before, so no number changes"),)

    def _reads(self, op: Any) -> tuple[int, ...]:
        arguments = {argument: -1 - i for i, argument in enumerate(op.block.arguments)}
        found = [self.position.get(operand, arguments.get(operand)) for operand in op.operands]
        return tuple(position for position in found if position is not None)

    def _rule(self, row: OpRow) -> Rule | None:
        return rule_of(self.target, row.op, row.inputs, row.result) if row.inputs else None

    def _unmet(self, op: Any, after: OpRow) -> str:
        types = _operand_types(op)
        return "; ".join(
            f"{params_text(demand.got)}, expected "
            + (params_text(demand.expected) if demand.expected else demand.because)
            for demand in unmet(self.target, after.op, types, after.result)
        )

    def _users(self, index: int) -> list[int]:
        users = (use.owner.operation for use in self.operations[index].results[0].uses)
        return sorted(
            self.position[u.results[0]] for u in users if len(u.results) and u.results[0] in self.position
        )

    def _source_of_user(self, index: int) -> int | None:
        return next((s for s in (self.sources[user] for user in self._users(index)) if s is not None), None)

    def _forced_by(self, index: int, source: int | None) -> int | None:
        """The op whose rule inserted this one."""
        row = self.after[index]
        if row.op == "dequantize":
            return self._source_of_user(index)
        if row.op == "requantize" and row.inputs:
            change = f"requantize {params_text(row.inputs[0].params)} to {params_text(row.result.params)}:"
            forcing = [
                by for by, _, note in self.noted if note.kind == "inserted" and note.detail.startswith(change)
            ]
            near = {source, *(self.sources[user] for user in self._users(index))}
            return next((by for by in forcing if by in near), forcing[0] if forcing else source)
        return source

    def _with_notes(self, rows: list[Row]) -> list[Row]:
        """Each decision at its op; those about a requantize at the one that was inserted there, if it is."""
        places: dict[tuple[int | None, str], list[int]] = defaultdict(list)
        primaries = {row.source: i for i, row in enumerate(rows) if row.before is not None}
        for i, row in enumerate(rows):
            places[row.source, row.op].append(i)
        notes: dict[int, list[Note]] = defaultdict(list)
        for source, op, note in self.noted:
            home = [primaries[source]] if source in primaries else []
            at = home if note.kind == "inserted" else places.get((source, op)) or home
            for i in at:
                if note not in notes[i]:
                    notes[i].append(note)
        for number, op, note in self.tried:
            if number is not None and rows[number].op == op and note not in notes[number]:
                notes[number].append(note)
        return [replace(row, notes=(*row.notes, *notes[i])) for i, row in enumerate(rows)]


def _operand_types(op: Any) -> list[TensorType]:
    return [to_tensor_type(operand.type) for operand in op.operands]


def _rescales_last(row: OpRow, behind: bool) -> bool:
    """Whether an op is one that works in its input's parameters and requantizes then: in any place if it only
    moves values, else ``behind`` it and without a clamp.
    """
    plain = PlainOp(row.op, (), None, dict(row.attributes))
    return is_mobile(plain) or (behind and row.op in _MIXING and not row.attributes.get("clamp"))


def _status(before: OpRow, after: OpRow) -> Status:
    if before.inputs and before.inputs[0].is_quantized and not after.inputs[0].is_quantized:
        return "float"
    same = (before.inputs, before.result, before.multipliers, before.shifts, before.scales) == (
        after.inputs,
        after.result,
        after.multipliers,
        after.shifts,
        after.scales,
    )
    return "kept" if same else "changed"


def _letters(count: int) -> str:
    """``a``, ``b`` ... ``z``, ``aa`` ..."""
    text = ""
    count += 1
    while count:
        count, digit = divmod(count - 1, 26)
        text = chr(ord("a") + digit) + text
    return text
