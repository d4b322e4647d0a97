"""verify-params: the target's parameter rules as an invariant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from .parameter_choices import needs_float, unmet_of
from .parameter_graph import BlockGraph, function_blocks
from .parameter_rules import message
from .pipeline_text import Step, quoted
from .registry import ModulePass, register
from .target_attribute import chosen_target


@register
@dataclass(frozen=True)
class VerifyParamsPass(ModulePass):
    """Fail with an error at every op whose parameters break a rule of the target.

    Changes nothing. ``after`` is the pass that is to blame, for the message. An unsupported op is an error
    unless it runs in float. Modules below the qnn level have nothing to check.
    """

    name: ClassVar[str] = "verify-params"
    keeps_params: ClassVar[bool] = True
    target: str | None = None
    after: str | None = None

    def run(self, module: Any) -> None:
        called, target = chosen_target(module, self.target, self.name)
        blame = f" (after pass '{self.after}')" if self.after else ""
        for block in function_blocks(module):
            source = BlockGraph(block)
            for operation, op in zip(source.operations, source.graph.ops, strict=True):
                broken = unmet_of(source.graph, op, target)
                in_float = bool(broken) and needs_float(source.graph, op, target) is not None
                for demand in broken:
                    text = message(target, op.name, demand, called, in_float)
                    operation.location.emit_error(text + blame)


LEGALIZES = "legalize-params"
LEAVES_QNN = "convert-qnn-to-linalg"


def with_verification(steps: Sequence[Step], target: str | None) -> list[Step]:
    """``steps`` with a ``verify-params`` behind each one from legalization on, up to the end of the qnn
    level.

    Without a ``legalize-params`` among them the module is taken for legal as it is, and checked from the
    start. ``target`` None is the one that the module remembers.
    """
    names = [step.name for step in steps]
    first = names.index(LEGALIZES) if LEGALIZES in names else 0
    last = names.index(LEAVES_QNN) if LEAVES_QNN in names else len(names)
    checked: list[Step] = []
    for index, step in enumerate(steps):
        if index == 0 and LEGALIZES not in names:
            checked.append(_check(target, None))
        checked.append(step)
        if first <= index < last and step.name != VerifyParamsPass.name:
            checked.append(_check(target, step.name))
    return checked


def _check(target: str | None, after: str | None) -> Step:
    options = {"target": target, "after": after}
    text = " ".join(f"{key}={quoted(value)}" for key, value in options.items() if value is not None)
    return Step(VerifyParamsPass.name, text)
