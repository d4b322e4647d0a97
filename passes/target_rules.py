"""The parameter rules of the target that a module was legalized for, asked for one op at a time.

Passes that change the parameters of an op try the change, ask, and take it back if it breaks a rule that
legalization has established.
"""

from __future__ import annotations

from typing import Any

from ..targets import Target, load_target
from . import graph
from .parameter_rules import params_text, unmet
from .target_attribute import remembered_target


class TargetRules:
    """Rules of ``module``'s target; a module without one has none."""

    def __init__(self, module: Any) -> None:
        name = remembered_target(module)
        self.target: Target | None = load_target(name) if name else None

    def violation(self, op: Any) -> str | None:
        """Which rule the op breaks as it is now, or None."""
        if self.target is None:
            return None
        name, inputs = graph.name_of(op), [graph.type_of(operand) for operand in op.operands]
        for demand in unmet(self.target, name, inputs, graph.type_of(op.results[0])):
            wanted = params_text(demand.expected) if demand.expected else demand.because
            return (
                f"rule '{demand.rule}' of target {self.target.name} ({demand.rule.origin}) wants "
                f"{wanted} for qnn.{name}, not {params_text(demand.got)}"
            )
        return None
