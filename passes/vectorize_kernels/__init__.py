"""vectorize-kernels: hand-written vector code in place of a contraction with its rescale.

``match.py`` describes a kernel as plain numbers (``spec.py``), a family (``families.py``) writes the code for
it, ``rewrite.py`` puts that in its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ...dialect.mlir import ir
from ...errors import PipelineError, did_you_mean
from ..entry import entry_function, functions, symbol
from ..plan_memory import ARENA_SLACK
from ..registry import ModulePass, no_match, register
from .families import FAMILIES, Family
from .match import Match, Surroundings, contraction_in, match_call, surroundings
from .rewrite import Rewriter
from .spec import INPUT_SLACK_BYTES
from .window import NoMatchError


@register
@dataclass(frozen=True)
class VectorizeKernelsPass(ModulePass):
    """Replace kernels of a contraction and its rescale by vector code of the instruction set ``isa``.

    To be run on buffers, before constants leave the module: a kernel's filter and bias become two constants
    in the order its code reads them, and the accumulator disappears. Without ``isa`` nothing changes.
    """

    name: ClassVar[str] = "vectorize-kernels"
    isa: str = ""

    def run(self, module: Any) -> None:
        if self.isa and self.isa not in FAMILIES:
            raise PipelineError(
                f"pass '{self.name}': unknown instruction set '{self.isa}'{did_you_mean(self.isa, FAMILIES)}"
            )
        entry = entry_function(module)
        families = FAMILIES.get(self.isa, [])
        if entry is None or not families:
            return
        kernels = {symbol(function): function for function in functions(module)}
        around = surroundings(module, entry)
        rewriter = Rewriter(module, self.isa)
        slack = 0
        for call in list(entry.regions[0].blocks[0].operations):
            kernel = kernels.get(_callee(call))
            if kernel is None or contraction_in(kernel) is None:
                continue
            found = _choose(call, kernel, around, families)
            if found is not None:
                match, family = found
                rewriter.replace(call, kernel, match, family)
                slack = max(slack, INPUT_SLACK_BYTES * match.spec.input_slack)
        _erase_uncalled(entry, kernels)
        _erase_unused(entry)
        _erase_unread(entry, around)
        if slack:
            module.attributes[ARENA_SLACK] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), slack)


def _callee(op: Any) -> str:
    if op.operation.name != "func.call":
        return ""
    return str(ir.FlatSymbolRefAttr(op.operation.attributes["callee"]).value)


def _choose(
    call: Any, kernel: Any, around: Surroundings, families: Sequence[Family]
) -> tuple[Match, Family] | None:
    """What ``call`` computes and the first family that writes code for it; None if there is none."""
    try:
        match = match_call(call.operation, kernel, around)
    except NoMatchError as error:
        no_match(call.operation, str(error))
        return None
    reasons = []
    for family in families:
        reason = family.supports(match.spec)
        if reason is None:
            return match, family
        reasons.append(reason)
    no_match(call.operation, "; ".join(reasons))
    return None


def _erase_unused(entry: Any) -> None:
    """Erase the constants and allocations, and views of them, that have lost their last reader."""
    for op in reversed(list(entry.regions[0].blocks[0].operations)):
        results = op.operation.results
        unused = not any(True for result in results for _ in result.uses)
        if op.operation.name.startswith("memref.") and len(results) and unused:
            op.operation.erase()


def _erase_uncalled(entry: Any, kernels: Mapping[str, Any]) -> None:
    called = {_callee(op) for op in entry.regions[0].blocks[0].operations}
    for name, kernel in kernels.items():
        if name not in called and kernel.operation != entry.operation:
            kernel.operation.erase()


def _erase_unread(entry: Any, around: Surroundings) -> None:
    """Erase the globals that nobody gets any more: those are left that are read, or are not constants."""
    read = {
        ir.FlatSymbolRefAttr(op.operation.attributes["name"]).value
        for op in entry.regions[0].blocks[0].operations
        if op.operation.name == "memref.get_global"
    }
    for name, op in around.globals.items():
        if name not in read:
            op.erase()
