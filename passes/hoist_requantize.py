"""Requantizes moved towards the inputs."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from ..dialect.model import module_numerics
from ..dialect.rescale import stored_value
from ..dialect.types import QuantParams
from . import graph
from .decisions import record
from .registry import ModulePass, no_match, register
from .result_parameters import first_violation, snapshot
from .stored_maps import Step, difference, follow, has_table
from .target_rules import TargetRules

COMMUTING = ("max_pool2d", "pad", "reshape", "resize_nearest", "slice", "transpose")
"""Ops with one input that only choose among its stored values (and pad's fill)."""

MAX_SPLIT = 64


@register
@dataclass(frozen=True)
class HoistRequantizePass(ModulePass):
    """Move requantizes above ops that only choose among values, where the tensor is no larger there or
    already requantized alike. Exact.

    ``requantize(reshape(x)) : T``  =>  ``reshape(requantize(x) : T)``; so transpose, slice, resize_nearest,
    pad (whose fill must become the same stored value) and max_pool2d (if larger values stay larger)

    The slices of a split that are requantized alike end as slices of one requantize, if they cover the
    tensor. ``larger=true`` also moves them to where the tensor is larger. Above concat one requantize
    would become several: see ``fold-concat-rescales``.
    """

    name: ClassVar[str] = "hoist-requantize"
    keeps_params: ClassVar[bool] = True

    larger: bool = False

    def run(self, module: Any) -> None:
        moves = Moves(module_numerics(module), TargetRules(module), self.larger)
        todo = deque(graph.ops_of(module, "requantize"))
        while todo:
            todo.extendleft(moves.hoist(todo.popleft()))


def _element(op: Any) -> Any:
    return op.results[0].type.element_type


class Moves:
    """Hoists requantizes, one step at a time."""

    def __init__(self, mode: str, rules: TargetRules, larger: bool) -> None:
        self.mode, self.rules, self.larger = mode, rules, larger
        self.waiting: dict[tuple[Any, Any], list[Any]] = {}
        """(value, element type) -> those that would be hoisted if there were a requantize of the value"""

    def hoist(self, op: Any) -> list[Any]:
        """``requantize(move(x)) : T``  =>  ``move(requantize(x) : T)``; gives those to look at next."""
        move = graph.producer(op.operands[0], *COMMUTING)
        refused = None if move is None else self._why_not(op, move)
        if move is None or refused is not None:
            no_match(op, refused or _what_is_before(op))
            return []
        (source,) = move.operands
        shared = self._requantized(source, op)
        lifted = shared or graph.build_requantize_before(move, source, op)
        undo, type_ = snapshot(move), graph.type_of(op.results[0])
        move.operands[0] = lifted.results[0]
        graph.retype(move.results[0], type_)
        refused = first_violation(move, self.rules)
        if refused:
            undo()
            graph.erase_if_unused(None if shared else lifted)
            no_match(op, refused)
            return []
        record("hoisted", op, f"above {move.name}", HoistRequantizePass.name)
        # Behind its operand it can serve every other user, too.
        graph.move_to_operand(lifted)
        if shared:
            graph.keep_mark_of_both(shared, op)
        graph.replace(op, move.results[0])
        if shared:
            return []
        return [lifted, *self.waiting.pop((source, _element(lifted)), [])]

    def _why_not(self, op: Any, move: Any) -> str | None:
        (source,), result = move.operands, move.results[0]
        if graph.type_of(source).element != graph.type_of(result).element:
            return f"{move.name} changes the parameters itself"
        if graph.sole_user(result) is None:
            return f"{move.name} has other users"
        if not self._pays(op, move):
            self.waiting.setdefault((source, _element(op)), []).append(op)
            return f"the input of {move.name} is larger than its result"
        params = graph.type_of(source).params
        return why_different(move, params, graph.type_of(op.results[0]).params, self.mode)

    def _pays(self, op: Any, move: Any) -> bool:
        """Whether no more elements are requantized above ``move`` than below."""
        above, below = graph.type_of(move.operands[0]), graph.type_of(move.results[0])
        if self.larger or self._requantized(move.operands[0], op):
            return True
        if not (above.is_static and below.is_static):
            return graph.name_of(move) in ("pad", "reshape", "transpose")
        elements = below.elements
        if elements < above.elements:
            users = [user for user in _users(move.operands[0]) if user != move]
            alike = [user for user in users if self._requantized_alike(user, op)]
            elements += sum(graph.type_of(user.results[0]).elements for user in alike)
        return elements >= above.elements

    def _requantized_alike(self, other: Any, op: Any) -> bool:
        if graph.name_of(other) not in COMMUTING:
            return False
        user = graph.sole_user(other.results[0])
        return user is not None and user.name == op.name and _element(user) == _element(op)

    def _requantized(self, source: Any, op: Any) -> Any | None:
        """A requantize of ``source`` to the same parameters, in the block where ``source`` is made."""
        block = source.owner if graph.producer(source) is None else source.owner.operation.block
        for user in _users(source):
            if user.name == op.name and _element(user) == _element(op) and user.block == block:
                return user
        return None


def _users(value: Any) -> list[Any]:
    """The first users of a value; more than a split has are not looked at, which keeps the pass linear."""
    return [use.owner.operation for use in islice(value.uses, MAX_SPLIT)]


def _what_is_before(op: Any) -> str:
    maker = graph.producer(op.operands[0])
    return "the input is an argument" if maker is None else f"{maker.name} does more than move values"


def why_different(move: Any, source: QuantParams, target: QuantParams, mode: str) -> str | None:
    """Why ``requantize(move(x))`` is not ``move(requantize(x))`` for an op of ``COMMUTING``, or None."""
    attributes = graph.attributes_of(move)
    name = graph.name_of(move)
    if name == "pad":
        return _why_other_fill(attributes["value"], source, target, mode)
    if name != "max_pool2d":
        return None
    if not (has_table(source) and has_table(target)):
        return "values are too many to see whether larger ones stay larger"
    table = follow(source, [Step("requantize", target)], mode)
    if np.any(np.diff(table) < 0):
        return "the requantize does not keep the order of values"
    clamp = attributes["clamp"]
    below = [Step("max_pool2d", source, clamp), Step("requantize", target)]
    above = [Step("requantize", target), Step("max_pool2d", target, clamp)]
    found = difference(source, below, above, mode)
    return f"the clamp of qnn.max_pool2d limits elsewhere: {found}" if found else None


def _why_other_fill(value: float, source: QuantParams, target: QuantParams, mode: str) -> str | None:
    if not has_table(source):
        return None if value == 0.0 else "the pad's value is not the zero point"
    fill = stored_value(source, value)
    table = follow(source, [Step("requantize", target)], mode)
    got, expected = int(table[fill - source.storage.minimum]), stored_value(target, value)
    return None if got == expected else f"the pad's value {value:g} would be stored as {expected}, not {got}"
