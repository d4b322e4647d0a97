"""legalize-params: every op's parameters as the target's rules want them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..dialect.model import module_numerics
from ..targets import Target
from .decisions import Kind, record
from .parameter_choices import Plan, make_plan, unmet_of
from .parameter_graph import BlockGraph, Rewriter, function_blocks
from .parameter_rules import Demand, params_text
from .registry import ModulePass, register
from .target_attribute import chosen_target, remember_target

_ROUNDS = 4
"""A change may bring an op under the rule of another storage type; more rounds than storage types help
nobody.
"""


@register
@dataclass(frozen=True)
class LegalizeParamsPass(ModulePass):
    """Insert the fewest ``qnn.requantize`` ops that make every op satisfy the target's parameter rules.

    An op that satisfies its rule stays as it is. Where a rule can be satisfied without changing a number,
    no number changes. Unsupported ops are left to ``isolate-unsupported``. See docs/legalization.md.
    """

    name: ClassVar[str] = "legalize-params"
    keeps_params: ClassVar[bool] = True
    target: str | None = None

    def run(self, module: Any) -> None:
        name, target = chosen_target(module, self.target, self.name)
        mode = module_numerics(module)
        for block in function_blocks(module):
            for _ in range(_ROUNDS):
                if not _legalize(block, target, mode):
                    break
        remember_target(module, name)


def _legalize(block: Any, target: Target, mode: str) -> bool:
    """Plan and rewrite one function; whether anything changed."""
    source = BlockGraph(block)
    broken = [unmet_of(source.graph, op, target) for op in source.graph.ops]
    if any(demand.expected is not None for demands in broken for demand in demands):
        plan = make_plan(source.graph, target, mode)
        if plan.forest.sharers:
            _record_plan(source, plan, target)
            Rewriter(source, plan, target).run()
            return True
    for operation, demands in zip(source.operations, broken, strict=True):
        for demand in demands:
            rule = f"rule '{demand.rule}' of target '{target.name}' ({demand.rule.origin})"
            record("refused", operation, f"{rule}: {_why_not(demand)}", _BY)
    return False


def _why_not(demand: Demand) -> str:
    """Why legalization cannot satisfy a demand."""
    if demand.rule.kind == "unsupported":
        return "left to isolate-unsupported"
    if demand.expected is None:
        return f"{demand.because}, which no per-tensor type has"
    return f"{params_text(demand.expected)} would need another storage type, or a bias that is a constant"


def _record_plan(source: BlockGraph, plan: Plan, target: Target) -> None:
    """What was inserted for whom, and where it went if not beside that op."""
    for (position, version), index in plan.inserted.items():
        op, rule = source.operations[index], plan.choices[index].rule
        before, after = plan.forest.params((version[0], version[1][:-1])), version[1][-1]
        assert before is not None and rule is not None, "a rule forced a change of parameters"  # noqa: PT018
        where = f"rule '{rule}' of target '{target.name}' ({rule.origin})"
        record("inserted", op, f"requantize {params_text(before)} to {params_text(after)}: {where}", _BY)
        _record_move(source, plan, position, index)
        sharers = plan.forest.sharers.get(version, [])
        if len(sharers) > 1:
            names = ", ".join(source.operations[i].name for i in sharers)
            record("shared", op, f"one requantize serves {len(sharers)} ops: {names}", _BY)


def _record_move(source: BlockGraph, plan: Plan, position: int, index: int) -> None:
    """Say if a requantize did not go beside the op that forced it."""
    op, choice = source.graph.ops[index], plan.choices[index]
    if choice.moves or choice.produced is not None:
        assert op.result is not None, "it has a result"
        beside = op.result
    else:
        beside = next(plan.forest.place_of[op.operands[place]][0] for place in choice.inputs)
    ways: tuple[tuple[Kind, int, int, str], ...] = (
        ("hoisted", beside, position, "above"),
        ("sunk", position, beside, "below"),
    )
    for kind, start, end, way in ways:
        path = list(plan.forest.path_up(start))
        if end in path[1:]:
            passed = [source.operations[plan.forest.mover[p]].name for p in path[: path.index(end)]]
            record(kind, source.operations[index], f"its requantize went {way} {', '.join(passed)}", _BY)


_BY = LegalizeParamsPass.name
