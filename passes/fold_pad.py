"""Pads that the op behind them can do itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from ..dialect.rescale import stored_value
from ..dialect.types import TensorType
from . import graph
from .decisions import record
from .registry import ModulePass, no_match, register
from .result_parameters import first_violation
from .target_rules import TargetRules


@register
@dataclass(frozen=True)
class FoldPadPass(ModulePass):
    """Make a pad the padding attribute of the convolution or max_pool behind it. Exact.

    ``conv2d(pad(x) {low = [0, t, l, 0], high = [0, b, r, 0], value = 0.0})``  =>  ``conv2d(x) {padding +=
    [t, b, l, r]}``; max_pool2d: if the pad's value is the lowest that there is

    A convolution pads with real zeros, so a pad whose stored value is not the zero point stays. So does one
    before avg_pool2d, which would divide by another number of taps. A pad of nothing is dropped before any
    op.
    """

    name: ClassVar[str] = "fold-pad"
    keeps_params: ClassVar[bool] = True

    def run(self, module: Any) -> None:
        rules = TargetRules(module)
        for op in graph.ops_of(module, "pad"):
            if drop_empty(op):
                for use in list(op.results[0].uses):
                    fold_into_user(op, use.owner.operation, rules)
                graph.erase_if_unused(op)


def drop_empty(op: Any) -> bool | None:
    """``pad(x) {low = [0, ...], high = [0, ...]} : T``  =>  ``x``, if x is of type T"""
    attributes = graph.attributes_of(op)
    if any(attributes["low"]) or any(attributes["high"]):
        return no_match(op, "it pads")
    if op.operands[0].type != op.results[0].type:
        return no_match(op, "the type changes")
    record("folded", op, "it pads nothing", FoldPadPass.name)
    graph.replace(op, op.operands[0])
    return None


def fold_into_user(op: Any, user: Any, rules: TargetRules) -> bool | None:
    """``conv2d(pad(x))``  =>  ``conv2d(x)`` with more padding"""
    refused = _why_not(op, user)
    if refused:
        return no_match(op, refused)
    low, high = (graph.attributes_of(op)[name] for name in ("low", "high"))
    old = graph.attributes_of(user)["padding"]
    more = (low[1], high[1], low[2], high[2])
    graph.set_attribute(user, "padding", tuple(a + b for a, b in zip(old, more, strict=True)))
    user.operands[0] = op.operands[0]
    refused = first_violation(user, rules)
    if refused:
        graph.set_attribute(user, "padding", old)
        user.operands[0] = op.results[0]
        return no_match(op, refused)
    record("folded", op, f"into the padding of {user.name}", FoldPadPass.name)
    return None


def _why_not(op: Any, user: Any) -> str | None:
    name, attributes = graph.name_of(user), graph.attributes_of(op)
    if name == "avg_pool2d":
        return "qnn.avg_pool2d does not count its padding: it would divide by another number of taps"
    if name not in ("conv2d", "max_pool2d"):
        return f"{user.name} has no padding"
    if user.operands[0] != op.results[0]:
        return f"it is not the input of {user.name}"
    source = graph.type_of(op.operands[0])
    if source.element != graph.type_of(op.results[0]).element:
        return "it changes the parameters, too"
    low, high = attributes["low"], attributes["high"]
    if any(low[d] or high[d] for d in (0, 3)):
        return "it pads batch or channels"
    if name == "conv2d":
        return None if _is_zero(attributes["value"], source) else "its value is not the zero point"
    return None if _is_lowest(attributes["value"], source) else "its value is not the lowest one"


def _is_zero(value: float, type_: TensorType) -> bool:
    """Whether a pad of that value is what a convolution pads with."""
    if type_.is_quantized:
        return stored_value(type_.params, value) == type_.params.zero_point
    return value == 0.0


def _is_lowest(value: float, type_: TensorType) -> bool:
    """Whether no value is lower, so that it never wins."""
    if type_.is_quantized:
        return stored_value(type_.params, value) == type_.params.storage.minimum
    return value == -math.inf
