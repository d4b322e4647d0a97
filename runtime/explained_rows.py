"""The rows of an explanation: each op of a legalized module found again in the model it was made from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..dialect.describe import OpRow, describe
from ..dialect.ir_types import to_tensor_type
from ..dialect.model import find_main
from ..dialect.types import TensorType
from ..passes.decisions import Decision
from ..passes.parameter_choices import is_mobile
from ..passes.parameter_rules import params_text, rule_of, unmet
from ..passes.requantize_placement import PlainOp
from ..targets import Rule, Target
from .explanation import Note, Row, Status
from .op_origins import Origins, number_in, qnn_operations

_MIXING = ("avg_pool2d", "pad", "resize_bilinear")


class Rows:
    """Builds the rows of one legalized module."""

    def __init__(self, origins: Origins, target: Target, decisions: Sequence[Decision]) -> None:
        self.origins, self.target, self.decisions = origins, target, decisions
        self.module, self.before = origins.module, origins.before
        self.operations = qnn_operations(self.module)
        self.after = describe(self.module)
        self.position = {op.results[0]: index for index, op in enumerate(self.operations)}
        self.numbers = [number_in(op.location) for op in self.operations]
        self.sources = [origins.source_of(op) for op in self.operations]
        self.primary = self._primaries()

    def rows(self) -> list[Row]:
        """A row per op, then those of the model's ops that are gone."""
        used: dict[int | None, int] = defaultdict(int)
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
            if source is None or not self.origins.is_of_model(op):
                continue
            if source not in found or self.before[source].result == self.after[index].result:
                found[source] = index
        return set(found.values())

    def _row(self, index: int, used: dict[int | None, int]) -> Row:
        op, after, reads = self.operations[index], self.after[index], self._reads(self.operations[index])
        source = self.sources[index]
        if index in self.primary and source is not None:
            before = self.before[source]
            return Row(
                str(source), source, after.op, after.name, _status(before, after), self._rule(before), before,
                after, reads, unmet=self._unmet(op, after),
            )  # fmt: skip
        label = f"{'' if source is None else source}{_letters(used[source])}"
        used[source] += 1
        number = self.numbers[index]
        forced_by = source if number is None else self.origins.forced_by[number]
        forced_by = source if forced_by is None else forced_by
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

    def _with_notes(self, rows: list[Row]) -> list[Row]:
        """Each decision at its op; at the model's op that an inserted one comes from, if that is gone."""
        at_number = {number: i for i, number in enumerate(self.numbers) if i not in self.primary}
        primaries = {row.source: i for i, row in enumerate(rows) if row.before is not None}
        places: dict[tuple[int | None, str], list[int]] = defaultdict(list)
        for i, row in enumerate(rows):
            places[row.source, row.op].append(i)
        notes: dict[int, list[Note]] = defaultdict(list)
        for decision in self.decisions:
            number = number_in(decision.location)
            source = None if number is None else self.origins.sources[number]
            home = [primaries[source]] if source in primaries else []
            if number is not None and number >= len(self.before):
                at = [at_number[number]] if number in at_number else home
            elif decision.kind == "inserted":
                at = home
            else:
                at = places.get((source, decision.op.removeprefix("qnn."))) or home
            note = Note(decision.kind, decision.by, decision.detail)
            for i in at:
                if note not in notes[i]:
                    notes[i].append(note)
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
