"""Requantized constants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..dialect.constants import elements_array, has_data
from ..dialect.evaluate import evaluate_operation
from ..dialect.model import module_numerics
from . import graph
from .decisions import record
from .registry import ModulePass, no_match, register


@register
@dataclass(frozen=True)
class FoldRequantizeIntoConstantPass(ModulePass):
    """Compute the requantize of a constant now. Exact.

    ``requantize(constant) : T``  =>  ``constant : T``; a constant with other users is left for them
    """

    name: ClassVar[str] = "fold-requantize-into-constant"
    keeps_params: ClassVar[bool] = True

    def run(self, module: Any) -> None:
        mode = module_numerics(module)
        for op in graph.ops_of(module, "requantize"):
            fold_constant(op, mode)


def fold_constant(op: Any, mode: str) -> bool | None:
    """``requantize(constant) : T``  =>  ``constant : T``"""
    constant = graph.producer(op.operands[0], "constant")
    if constant is None:
        return no_match(op, "the input is no constant")
    if not has_data(constant.attributes["value"]):
        return no_match(op, "the constant's data is not there")
    (array,) = evaluate_operation(op, [stored_array(constant)], mode)
    record("folded", op, "into a constant", FoldRequantizeIntoConstantPass.name)
    folded = graph.build_before(op, "constant", [], graph.type_of(op.results[0]), {"value": array})
    graph.replace(op, folded.results[0])
    graph.erase_if_unused(constant)
    return None


def stored_array(constant: Any) -> Any:
    """The values of a ``qnn.constant`` in the dtype of its type (the attribute's integers are signless)."""
    return elements_array(constant.attributes["value"]).view(graph.type_of(constant.results[0]).dtype)
