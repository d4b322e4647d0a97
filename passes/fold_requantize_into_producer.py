"""Requantizes that the op before them can do itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..dialect.model import module_numerics
from . import graph
from .decisions import record
from .registry import ModulePass, no_match, register
from .result_constants import Change
from .result_parameters import give_result
from .target_rules import TargetRules


@register
@dataclass(frozen=True)
class FoldRequantizeIntoProducerPass(ModulePass):
    """Let the op before a requantize give the requantized result itself. One rounding step less, so only
    for requantizes marked ``qnn.inserted`` or with ``allow-inexact=true``; exact ones always.

    ``requantize(op(x) : T) : U``  =>  ``op(x) : U``, where nothing else uses ``op(x) : T``

    T's storage range must not be lost as a limit: where U reaches further, the op's clamp takes it over; an
    op without one is left alone unless its values cannot get there. Rules of the module's target are kept.
    """

    name: ClassVar[str] = "fold-requantize-into-producer"
    keeps_params: ClassVar[bool] = True

    allow_inexact: bool = False

    def run(self, module: Any) -> None:
        mode, rules = module_numerics(module), TargetRules(module)
        for op in graph.ops_of(module, "requantize"):
            fold_into_producer(op, mode, rules, self.allow_inexact)


def fold_into_producer(op: Any, mode: str, rules: TargetRules, allow_inexact: bool) -> bool | None:
    """``requantize(op(x) : T) : U``  =>  ``op(x) : U``"""
    value = op.operands[0]
    producer = graph.producer(value)
    if producer is None:
        return no_match(op, "the input is an argument")
    if graph.name_of(producer) == "constant":
        return no_match(op, "the input is a constant: see fold-requantize-into-constant")
    if graph.sole_user(value) is None:
        return no_match(op, f"{producer.name} has other users")
    target = graph.type_of(op.results[0]).params
    change = Change(producer, target, mode, may_round=allow_inexact or graph.is_inserted(op))
    refused = give_result(change, rules)
    if refused:
        return no_match(op, refused)
    record("folded", op, f"into {producer.name}", "fold-requantize-into-producer")
    if graph.name_of(producer) == "requantize":
        graph.keep_mark_of_both(producer, op)
    graph.replace(op, producer.results[0])
    return None
