"""What no kernel family takes, and why: what ``form-kernels`` says, found again at ops and steps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..codegen.program import COPY, Program
from ..dialect.model import find_main
from ..passes.decisions import Decision, collect
from ..passes.pass_manager import run_pipeline
from ..passes.pipelines import passes_to

FORM_KERNELS = "form-kernels"
NO_FAMILIES = "compiled without kernel families"


def with_reasons(program: Program, passes: Sequence[str], decisions: Sequence[Decision]) -> Program:
    """``program``, each step that no family took with the reason why, as far as the ``decisions`` of the
    ``passes`` that led to it say one.
    """
    reasons: dict[str, dict[str, None]] = defaultdict(dict)
    for decision in decisions:
        if decision.kind == "refused" and decision.by == FORM_KERNELS:
            reasons[decision.tensor][f"{decision.op.removeprefix('qnn.')}: {decision.detail}"] = None
    formed = any(name.startswith(FORM_KERNELS) for name in passes)
    steps = list(program.steps)
    for number, step in enumerate(steps):
        if step.kernel != COPY and step.kernel not in program.codes:
            said = dict.fromkeys(reason for name in step.source for reason in reasons.get(name, ()))
            steps[number] = replace(step, reason="; ".join(said) if formed else NO_FAMILIES)
    return replace(program, steps=tuple(steps))


def refused_ops(module: Any, isa: str) -> dict[tuple[str, str], str]:
    """The ops of a legalized module that the families of an instruction set leave as they are: name and
    location -> the reason. Empty if there are no families. The module is left alone.
    """
    if not isa:
        return {}
    formed = module.clone()
    with collect() as decisions:
        run_pipeline(formed, passes_to("formed", start="legalized", isa=isa))
    block = find_main(formed).operation.regions[0].blocks[0]
    left = {(view.operation.name, str(view.operation.location)) for view in block.operations}
    said = {(d.op, d.location): d.detail for d in decisions if d.by == FORM_KERNELS and d.kind == "refused"}
    return {op: reason for op, reason in said.items() if op in left}
