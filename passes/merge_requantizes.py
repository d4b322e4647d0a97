"""Chains of requantizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..dialect.model import module_numerics
from ..dialect.types import QuantParams
from . import graph
from .decisions import record
from .registry import ModulePass, no_match, register
from .stored_maps import Step, difference, has_table, relabels_after


@register
@dataclass(frozen=True)
class MergeRequantizesPass(ModulePass):
    """Merge a requantize of a requantize into one. Exact (every stored value is tried), unless
    ``allow-inexact=true``.

    ``requantize(requantize(x) : T) : U``  =>  ``requantize(x) : U``, or ``x`` if that is of type U

    Exact are chains whose first step loses nothing (i8 -> u8 with the same scale and zero points 128 apart,
    widening to i16) and those whose second step is such a relabelling. A first step that rounds or saturates
    is kept: leaving it out would change numbers.
    """

    name: ClassVar[str] = "merge-requantizes"
    keeps_params: ClassVar[bool] = True

    allow_inexact: bool = False

    def run(self, module: Any) -> None:
        mode = module_numerics(module)
        for op in graph.ops_of(module, "requantize"):
            merge_chain(op, mode, self.allow_inexact)


def merge_chain(op: Any, mode: str, allow_inexact: bool) -> bool | None:
    """``requantize(requantize(x) : T) : U``  =>  ``requantize(x) : U``"""
    first = graph.producer(op.operands[0], "requantize")
    if first is None:
        return no_match(op, "the input is no requantize")
    source = first.operands[0]
    via, target = graph.type_of(first.results[0]).params, graph.type_of(op.results[0]).params
    why = _inexact(graph.type_of(source).params, via, target, mode)
    if why and not allow_inexact:
        return no_match(op, why)
    record(
        "folded", op, f"a chain of two requantizes{', inexactly: ' + why if why else ''}", "merge-requantizes"
    )
    if source.type == op.results[0].type:
        graph.replace(op, source)
    else:
        op.operands[0] = source
        graph.keep_mark_of_both(op, first)
    graph.erase_if_unused(first)
    return None


def _inexact(source: QuantParams, via: QuantParams, target: QuantParams, mode: str) -> str | None:
    """Why the direct way would give other numbers, or None."""
    if relabels_after(source, via, target, mode):
        return None
    if not (has_table(source) and has_table(via)):
        return f"values in {source.storage.name} and {via.storage.name} are too many to compare"
    found = difference(
        source, [Step("requantize", via), Step("requantize", target)], [Step("requantize", target)], mode
    )
    return str(found) if found else None
