"""Requantizes moved towards the results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..dialect.model import module_numerics
from . import graph
from .decisions import record
from .hoist_requantize import COMMUTING, why_different
from .registry import ModulePass, no_match, register
from .result_parameters import first_violation, snapshot
from .target_rules import TargetRules


@register
@dataclass(frozen=True)
class SinkRequantizePass(ModulePass):
    """Move requantizes below ops that only choose among values, where the tensor is no larger there. Exact.

    ``reshape(requantize(x) : T) : T``  =>  ``requantize(reshape(x)) : T``; so transpose, slice, pad,
    max_pool2d and resize_nearest as for ``hoist-requantize``, and ``concat(requantize(x), requantize(y)) :
    T``  =>  ``requantize(concat(x, y)) : T`` for x, y of one type
    """

    name: ClassVar[str] = "sink-requantize"
    keeps_params: ClassVar[bool] = True

    larger: bool = False

    def run(self, module: Any) -> None:
        mode, rules = module_numerics(module), TargetRules(module)
        # In program order, so that a requantize that has come down is seen by the next op.
        for move in graph.ops_of(module, "concat", *COMMUTING):
            sink(move, mode, rules, self.larger)


def sink(move: Any, mode: str, rules: TargetRules, larger: bool) -> bool | None:
    """``move(requantize(x) : T) : T``  =>  ``requantize(move(x)) : T``"""
    found = [graph.producer(operand, "requantize") for operand in move.operands]
    requantizes = [requantize for requantize in found if requantize is not None]
    if len(requantizes) < len(found):
        return no_match(move, "an input is no requantize")
    refused = _why_not(move, requantizes, mode, larger)
    if refused:
        return no_match(move, refused)
    undo, result = snapshot(move), move.results[0]
    wanted, first = graph.type_of(result), requantizes[0]
    for index, requantize in enumerate(requantizes):
        move.operands[index] = requantize.operands[0]
    graph.retype(result, graph.shape_with(result, graph.type_of(first.operands[0]).params))
    refused = first_violation(move, rules)
    if refused:
        undo()
        return no_match(move, refused)
    for requantize in requantizes:
        record("sunk", requantize, f"below {move.name}", SinkRequantizePass.name)
    lowered = graph.build_after(move, "requantize", [result], wanted, first.location)
    result.replace_all_uses_except(lowered.results[0], lowered)
    graph.copy_mark(first, lowered)
    for requantize in requantizes:
        graph.keep_mark_of_both(lowered, requantize)
    graph.erase_if_unused(*requantizes)
    return None


def _why_not(move: Any, requantizes: list[Any], mode: str, larger: bool) -> str | None:
    result, sources = graph.type_of(move.results[0]), [r.operands[0] for r in requantizes]
    kinds = {graph.type_of(source).element for source in sources}
    if len(kinds) > 1:
        return "the inputs have different parameters before they are requantized"
    if any(graph.type_of(operand).element != result.element for operand in move.operands):
        return "it changes the parameters itself"
    if any(graph.sole_user(operand) is None for operand in move.operands):
        return "a requantized input has other users"
    if not larger and _grows(move):
        return "the result is larger than the input"
    if graph.name_of(move) == "concat":
        return None
    return why_different(move, graph.type_of(sources[0]).params, result.params, mode)


def _grows(move: Any) -> bool:
    """Whether the op has, or may have, a larger result than inputs."""
    inputs, result = [graph.type_of(operand) for operand in move.operands], graph.type_of(move.results[0])
    if all(type_.is_static for type_ in (*inputs, result)):
        return result.elements > sum(type_.elements for type_ in inputs)
    return graph.name_of(move) in ("pad", "resize_nearest")
