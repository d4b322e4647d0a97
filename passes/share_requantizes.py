"""Equal requantizes of one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from . import graph
from .decisions import record
from .registry import ModulePass, no_match, register


@register
@dataclass(frozen=True)
class ShareRequantizesPass(ModulePass):
    """Let requantizes of one value to one type be one op. Exact.

    ``a = requantize(x) : T; b = requantize(x) : T``  =>  ``a``, for ``b`` as well
    """

    name: ClassVar[str] = "share-requantizes"
    keeps_params: ClassVar[bool] = True

    def run(self, module: Any) -> None:
        first: dict[tuple[Any, Any], Any] = {}
        for op in graph.ops_of(module, "requantize"):
            share(op, first)


def share(op: Any, first: dict[tuple[Any, Any], Any]) -> bool | None:
    """``b = requantize(x) : T``  =>  ``a``, if ``a`` is an earlier requantize of x to T; else remember it."""
    # Blocks count: what is first in one does not dominate what is in another.
    key = (op.operands[0], op.results[0].type)
    earlier = first.setdefault(key, op)
    if earlier == op:
        return True  # nothing that a user need hear of
    if earlier.block != op.block:
        return no_match(op, "its like is in another block")
    record("shared", op, "requantized to the same type before", ShareRequantizesPass.name)
    graph.keep_mark_of_both(earlier, op)
    graph.replace(op, earlier.results[0])
    return None
