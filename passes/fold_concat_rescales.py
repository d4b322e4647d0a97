"""Inputs of concat that are brought to its parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..dialect.constants import has_data
from ..dialect.meaning import evaluate
from ..dialect.model import module_numerics
from . import graph
from .decisions import record
from .fold_requantize_into_constant import fold_constant, stored_array
from .fold_requantize_into_producer import fold_into_producer
from .registry import ModulePass, no_match, register
from .result_constants import Change
from .result_parameters import give_result
from .target_rules import TargetRules


@register
@dataclass(frozen=True)
class FoldConcatRescalesPass(ModulePass):
    """Let the producers of concat's inputs give concat's parameters, so that concat only moves bytes. Exact
    for constants; else a rounding step less, so only where a requantize marked ``qnn.inserted`` stands
    between or with ``allow-inexact=true``.

    ``concat(requantize(f(x) : T) : U, g(y) : V) : U``  =>  ``concat(f(x) : U, g(y) : U) : U``

    As ``fold-requantize-into-producer``: a producer with other users, one that cannot rescale, one whose
    limits would be lost and one that a rule of the target binds are left alone.
    """

    name: ClassVar[str] = "fold-concat-rescales"
    keeps_params: ClassVar[bool] = True

    allow_inexact: bool = False

    def run(self, module: Any) -> None:
        mode, rules = module_numerics(module), TargetRules(module)
        for op in graph.ops_of(module, "concat"):
            if graph.params_of(op.results[0]) is None:
                no_match(op, "a concat that is not quantized has nothing to rescale")
                continue
            for index in range(len(op.operands)):
                fold_rescale(op, index, mode, rules, self.allow_inexact)


def fold_rescale(op: Any, index: int, mode: str, rules: TargetRules, allow_inexact: bool) -> bool | None:
    """``concat(.., f(x) : T, ..) : U``  =>  ``concat(.., f(x) : U, ..) : U``; a requantize to U may be
    between
    """
    value, target = op.operands[index], graph.type_of(op.results[0]).params
    producer = graph.producer(value)
    if producer is None:
        return no_match(op, f"input {index} is an argument")
    if graph.type_of(value).params.same_values(target):
        if graph.name_of(producer) != "requantize":
            return no_match(op, f"input {index} is not rescaled")
        if graph.producer(producer.operands[0], "constant"):
            return fold_constant(producer, mode)
        return fold_into_producer(producer, mode, rules, allow_inexact)
    if graph.name_of(producer) == "constant":
        return _rescale_constant(op, index, producer, mode)
    if graph.sole_user(value) is None:
        return no_match(op, f"input {index}: {producer.name} has other users")
    refused = give_result(Change(producer, target, mode, allow_inexact, after="concat"), rules)
    if refused:
        return no_match(op, f"input {index}: {refused}")
    record("folded", op, f"the rescale of input {index} into {producer.name}", "fold-concat-rescales")
    return None


def _rescale_constant(op: Any, index: int, constant: Any, mode: str) -> bool | None:
    """Convert a constant as concat would."""
    if not has_data(constant.attributes["value"]):
        return no_match(op, f"input {index}: the constant's data is not there")
    source = graph.type_of(constant.results[0])
    type_ = graph.shape_with(constant.results[0], graph.type_of(op.results[0]).params)
    attributes = {"axis": graph.attributes_of(op)["axis"]}
    (array,) = evaluate("concat", [stored_array(constant)], [source], [type_], attributes, mode)
    record("folded", op, f"the rescale of input {index} into a constant", "fold-concat-rescales")
    op.operands[index] = graph.build_before(op, "constant", [], type_, {"value": array}).results[0]
    graph.erase_if_unused(constant)
    return None
