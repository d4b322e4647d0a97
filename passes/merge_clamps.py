"""Activations behind activations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from ..dialect import rescale
from ..dialect.model import module_numerics
from ..dialect.numerics import rule
from ..dialect.types import QuantParams
from . import graph
from .decisions import record
from .registry import ModulePass, no_match, register
from .result_constants import Change, limits
from .result_parameters import first_violation
from .stored_maps import Step, difference, has_table
from .target_rules import TargetRules

Bounds = tuple[float, ...]

TABLED = ("avg_pool2d", "clamp", "max_pool2d")
"""Ops with a clamp that map one stored value to one."""


@register
@dataclass(frozen=True)
class MergeClampsPass(ModulePass):
    """Fuse a clamp into the clamp of the op before it, and drop clamps that do nothing. Exact.

    ``clamp(conv2d(x) {clamp = [-inf, inf]}) {clamp = [0, 6]}``  =>  ``conv2d(x) {clamp = [0, 6]}``; so for
    every op that has the attribute, a clamp among them, where nothing else uses the value between

    A clamp that changes the parameters, too, is only merged with another clamp or a pool, and only if every
    stored value ends the same.
    """

    name: ClassVar[str] = "merge-clamps"
    keeps_params: ClassVar[bool] = True

    def run(self, module: Any) -> None:
        mode, rules = module_numerics(module), TargetRules(module)
        for op in graph.ops_of(module, "clamp"):
            if drop_idle(op, mode):
                merge(op, mode, rules)


def drop_idle(op: Any, mode: str) -> bool | None:
    """``clamp(x) : T``  =>  ``x``, if x is of type T and no value of T lies outside the bounds"""
    source, result = graph.type_of(op.operands[0]), graph.type_of(op.results[0])
    bounds = _bounds(op)
    if op.operands[0].type != op.results[0].type:
        return no_match(op, "the type changes")
    if result.is_float and bounds and bounds != (-math.inf, math.inf):
        return no_match(op, "it limits floats")
    if result.is_quantized:
        if not has_table(source.params):
            return no_match(op, "values are too many to compare")
        if difference(source.params, [Step("clamp", source.params, bounds)], [], mode):
            return no_match(op, "it limits some stored values")
    record("folded", op, "it limits nothing", MergeClampsPass.name)
    graph.replace(op, op.operands[0])
    return None


def merge(op: Any, mode: str, rules: TargetRules) -> bool | None:
    """``clamp(f(x) {clamp = [a, b]}) {clamp = [c, d]}``  =>  ``f(x) {clamp = [a, b] within [c, d]}``"""
    first = graph.producer(op.operands[0])
    if first is None or graph.name_of(first) not in _WITH_CLAMP:
        return no_match(op, "the op before has no clamp")
    if graph.sole_user(first.results[0]) is None:
        return no_match(op, f"{first.name} has other users")
    bounds = within(_bounds(first), _bounds(op))
    why = _different(first, op, bounds, mode)
    if why:
        return no_match(op, why)
    old, type_ = _bounds(first), graph.type_of(first.results[0])
    graph.set_attribute(first, "clamp", bounds)
    graph.retype(first.results[0], graph.type_of(op.results[0]))
    why = first_violation(first, rules)
    if why:
        graph.set_attribute(first, "clamp", old)
        graph.retype(first.results[0], type_)
        return no_match(op, why)
    record("folded", op, f"into the clamp of {first.name}", MergeClampsPass.name)
    graph.replace(op, first.results[0])
    return None


_WITH_CLAMP = ("add", "avg_pool2d", "clamp", "conv2d", "fully_connected", "max_pool2d", "mul", "sub")


def _bounds(op: Any) -> Bounds:
    return tuple(graph.attributes_of(op)["clamp"])


def within(inner: Bounds, outer: Bounds) -> Bounds:
    """The bounds of ``outer(inner(x))``; where they do not overlap, outer's nearest bound twice."""
    if not inner or not outer:
        return inner or outer
    low, high = (min(max(bound, outer[0]), outer[1]) for bound in inner)
    return low, high


def _different(first: Any, op: Any, bounds: Bounds, mode: str) -> str | None:
    """Why ``first`` with ``bounds`` would not give what ``op`` makes of its result, or None."""
    between, result = graph.type_of(first.results[0]), graph.type_of(op.results[0])
    if not between.is_quantized:
        return None
    middle, last = between.params, result.params
    inputs = [graph.type_of(operand) for operand in first.operands]
    if not (has_table(middle) and has_table(last)):
        return "values are too many to compare"
    if graph.name_of(first) in TABLED:
        if not has_table(inputs[0].params):
            return "values are too many to compare"
        one = [Step(graph.name_of(first), middle, _bounds(first)), Step("clamp", last, _bounds(op))]
        found = difference(inputs[0].params, one, [Step(graph.name_of(first), last, bounds)], mode)
        return str(found) if found else None
    if middle != last:
        return f"it changes the parameters, and {first.name} rounds before it does"
    return _different_limits(first, op, middle, bounds, mode)


def _different_limits(first: Any, op: Any, params: QuantParams, bounds: Bounds, mode: str) -> str | None:
    """Compare the stored bounds: those of ``first``, then ``op``'s, and both in one."""
    change = Change(first, params, mode, may_round=False)
    before, got = (_ordered(limits(change, params, clamp)) for clamp in (_bounds(first), bounds))
    after = _ordered(rescale.clamp_bounds(params, _bounds(op), rule(mode, "clamp", params.storage.bits)))
    expected = tuple(min(max(bound, after[0]), after[1]) for bound in before)
    if got == expected:
        return None
    return f"{first.name} would store the bounds as {list(got)}, not {list(expected)}"


def _ordered(bounds: tuple[int, int]) -> tuple[int, int]:
    """Bounds that both lie outside the storage range come in the wrong order; the upper one wins."""
    return min(bounds), bounds[1]
