"""Which op of a model each op of its legalized copy comes from.

Every op has a number in its location, since passes keep locations: an attribute would keep equal ops apart.
The model's ops have those they are counted by, what passes insert gets the next ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from ..dialect.describe import OpRow, described_operations, location_name
from ..dialect.ir_types import to_tensor_type
from ..dialect.mlir import ir
from ..passes.decisions import INSERTED_ATTRIBUTE, Decision
from ..passes.parameter_rules import params_text

_NUMBER = re.compile(r'^loc\((?:"(?:[^"\\]|\\.)*"\()?fused<(\d+) : i32>')


def qnn_operations(module: Any) -> list[Any]:
    """The ops that ``describe`` has rows for, in its order."""
    return described_operations(module)


def number_in(location: Any) -> int | None:
    """The number in a location (or its text); None if none was put there."""
    found = _NUMBER.match(str(location))
    return int(found[1]) if found else None


class Origins:
    """Numbers the ops of ``module``, a copy of the model that ``before`` describes."""

    def __init__(self, module: Any, before: Sequence[OpRow]) -> None:
        self.module, self.before = module, before
        self.sources: list[int | None] = [row.index for row in before]
        """Of each number: the model's op that it is, or that made what an inserted one works on."""
        self.forced_by: list[int | None] = [None] * len(before)
        """Of each number: the model's op whose rule inserted it."""
        for number, op in enumerate(qnn_operations(module)):
            _put_number(op, number)

    def source_of(self, op: Any) -> int | None:
        number = number_in(op.location)
        return None if number is None else self.sources[number]

    def is_of_model(self, op: Any) -> bool:
        """Whether an op is one of the model's (or a copy of one), not inserted."""
        number = number_in(op.location)
        if number is None or number >= len(self.before) or INSERTED_ATTRIBUTE in op.attributes:
            return False
        return bool(op.name == f"qnn.{self.before[number].op}")

    def number_inserted(self, decisions: Iterable[Decision]) -> None:
        """Give new ops numbers of their own; ``decisions`` tell what they were inserted for."""
        for op in qnn_operations(self.module):
            number = number_in(op.location)
            if self.is_of_model(op) or (number is not None and number >= len(self.before)):
                continue
            source = self.source_of(op)
            if source is None:  # it stands behind an input of the model
                source = self._source_of_user(op)
            self.forced_by.append(self._forced_by(op, source, decisions))
            self.sources.append(source)
            _put_number(op, len(self.sources) - 1)

    def _source_of_user(self, op: Any) -> int | None:
        return min((s for s in self._sources_of_users(op) if s is not None), default=None)

    def _sources_of_users(self, op: Any) -> list[int | None]:
        return [self.source_of(use.owner.operation) for use in op.results[0].uses]

    def _forced_by(self, op: Any, source: int | None, decisions: Iterable[Decision]) -> int | None:
        """The op whose rule inserted this one."""
        if op.name == "qnn.dequantize":
            return self._source_of_user(op)
        if op.name != "qnn.requantize":
            return source
        before, after = (to_tensor_type(value.type).params for value in (op.operands[0], op.results[0]))
        change = f"requantize {params_text(before)} to {params_text(after)}:"
        forcing = [
            self.sources[number]
            for decision in decisions
            if decision.kind == "inserted" and decision.detail.startswith(change)
            if (number := number_in(decision.location)) is not None
        ]
        near = {source, *self._sources_of_users(op)}
        return next((by for by in forcing if by in near), forcing[0] if forcing else source)


def _put_number(op: Any, number: int) -> None:
    name, attribute = location_name(op.location), ir.IntegerAttr.get(ir.IntegerType.get_signless(32), number)
    new = ir.Location.fused([op.location], attribute)
    op.location = ir.Location.name(name, childLoc=new) if name else new
