"""Why no kernel family took a step: what ``form-kernels`` said, found again by the tensors' names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from ..codegen.program import COPY, Program
from ..passes.decisions import Decision

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
