"""Identity requantizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from . import graph
from .decisions import record
from .registry import ModulePass, no_match, register


@register
@dataclass(frozen=True)
class FoldRequantizePass(ModulePass):
    """Drop requantizes that do not change the type. Exact.

    ``requantize(x) : T``  =>  ``x``, if x is of type T
    """

    name: ClassVar[str] = "fold-requantize"
    keeps_params: ClassVar[bool] = True

    def run(self, module: Any) -> None:
        for op in graph.ops_of(module, "requantize"):
            fold_identity(op)


def fold_identity(op: Any) -> bool | None:
    """``requantize(x) : T``  =>  ``x``, if x is of type T"""
    (value,) = op.operands
    if value.type != op.results[0].type:
        return no_match(op, "the type changes")
    record("folded", op, "the type does not change", FoldRequantizePass.name)
    graph.replace(op, value)
    return None
