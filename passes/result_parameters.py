"""Let an op give its result other parameters than it does: what "fold a requantize into its producer" means.

``requantize(op(x) : T) : U``  =>  ``op(x) : U``, if that is legal. Two things must not go wrong:

* *A rounding step may not vanish unasked.* The rewrite is exact when the tables of both ways agree
  (:mod:`.stored_maps`), or when the op's constants only move by the distance of the zero points (an i8 -> u8
  relabelling). Else it needs the caller's leave.
* *A saturation may not vanish.* T's storage range limits the values before the requantize. Where U reaches
  further, the old limits become the op's fused clamp; an op that has none is left alone, unless its
  values cannot get there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..dialect import rescale
from ..dialect.activation_tables import natural_params
from ..dialect.numerics import rule
from ..dialect.types import QuantParams
from . import graph
from .result_constants import Change, constants_of, distance_of, limits, moved, wraps
from .stored_maps import MOVES, Step, difference, follow, has_table, relabels
from .target_rules import TargetRules

TABLED = (
    *MOVES,
    *("avg_pool2d", "clamp", "concat", "logistic", "max_pool2d", "requantize", "resize_bilinear", "tanh"),
)
"""Ops whose change of parameters maps one stored value to one."""

COPYING = (*MOVES, "concat", "max_pool2d")
"""Ops that compute nothing unless they change parameters: such a change is for ``hoist-requantize``."""

COMPUTED = ("add", "conv2d", "fully_connected", "mean", "mul", "quantize", "softmax", "sub")
"""Ops that round a wide intermediate result to the result's parameters."""


def give_result(change: Change, rules: TargetRules) -> str | None:
    """Change the type of the op's result in place; returns why not, in which case nothing has changed.

    The caller deals with the users of the result.
    """
    refused, clamp = _plan(change)
    if refused:
        return refused
    new_type = replace(graph.type_of(change.op.results[0]), element=change.target)
    undo = snapshot(change.op)
    if clamp != change.clamp:
        graph.set_attribute(change.op, "clamp", clamp)
    graph.retype(change.op.results[0], new_type)
    refused = first_violation(change.op, rules)
    if refused:
        undo()
    return refused


def snapshot(op: Any) -> Callable[[], None]:
    """A function that puts the op's result type, operands and clamp back as they are now."""
    value, operands, attributes = op.results[0], list(op.operands), op.attributes
    type_, clamp = value.type, attributes["clamp"] if graph.has_attribute(op, "clamp") else None

    def undo() -> None:
        value.set_type(type_)
        for index, operand in enumerate(operands):
            op.operands[index] = operand
        if clamp is not None:
            op.attributes["clamp"] = clamp

    return undo


def first_violation(op: Any, rules: TargetRules) -> str | None:
    """The first constraint of the dialect, or rule of the target, that an op breaks as it now is."""
    for message in op.opview.check():
        return str(message)
    return rules.violation(op)


def _plan(change: Change) -> tuple[str | None, tuple[float, ...]]:
    """Why not, or None and the clamp that the op gets."""
    if not (change.present.is_per_tensor and change.target.is_per_tensor):
        return "the parameters are not per-tensor", ()
    if change.name in COPYING and all(t.params.same_values(change.present) for t in change.types()):
        return f"qnn.{change.name} only copies values", ()
    if change.name in TABLED:
        return _plan_tabled(change)
    if change.name in COMPUTED:
        return _plan_computed(change)
    return f"qnn.{change.name} cannot rescale its result", ()


_ROUNDING = "the result would lose a rounding step: the requantize is not marked qnn.inserted"


def _plan_tabled(change: Change) -> tuple[str | None, tuple[float, ...]]:
    """Compare both ways for every stored value of each input."""
    clamp, largest = change.clamp, 0
    sources = [type_.params for type_ in change.types() if type_.is_quantized]
    if not all(map(has_table, [*sources, change.present])):
        return "values of more than 16 bits are too many to compare", ()
    if graph.has_attribute(change.op, "clamp"):
        clamp = _tabled_clamp(change, sources)
    for source in sources:
        before = [Step(change.name, change.present, change.clamp), Step(change.after, change.target)]
        found = difference(source, before, [Step(change.name, change.target, clamp)], change.mode)
        if found and not change.may_round:
            return f"{_ROUNDING}, and {found}", ()
        largest = max(largest, found.largest)
    if largest > _rounding_steps(change):
        return f"the present result saturates values that {_range_text(change.target)} would keep", ()
    return None, clamp


def _tabled_clamp(change: Change, sources: list[QuantParams]) -> tuple[float, ...]:
    """The op's clamp, narrowed to what it gives now where it would give more."""
    before = [Step(change.name, change.present, change.clamp), Step(change.after, change.target)]
    after = [Step(change.name, change.target, change.clamp)]
    now, then = (
        np.concatenate([follow(s, steps, change.mode) for s in sources]) for steps in (before, after)
    )
    ends = (int(now.min()), int(now.max())), (int(then.min()), int(then.max()))
    return _narrowed(change, *ends)


def _rounding_steps(change: Change) -> int:
    """How far both ways may be apart if only rounding is left out: half a step of the present result, and one
    of the target's, with room for multipliers of few bits.
    """
    return math.floor(1.5 + change.present.scale / (2 * change.target.scale))


def _plan_computed(change: Change) -> tuple[str | None, tuple[float, ...]]:
    exact, clamp = _only_moves(change)
    if exact:
        return None, clamp
    if not change.may_round:
        return _ROUNDING, ()
    refused = wraps(change)
    if refused:
        return refused, ()
    return _keep_saturation(change)


def _only_moves(change: Change) -> tuple[bool, tuple[float, ...]]:
    """Whether the op's constants for both results differ by the distance of the zero points alone, which the
    conversion after it would add; and the clamp that makes it so.
    """
    present, target, distance = change.present, change.target, distance_of(change.present, change.target)
    if present.scale != target.scale:
        return False, ()
    if change.name == "quantize":
        bits = present.storage.bits, target.storage.bits
        same = rule(change.mode, "quantize", bits[0]) is rule(change.mode, "quantize", bits[1])
        return same and relabels(present, target) and _adds(change, distance), change.clamp
    if change.name == "softmax":
        return False, ()
    low, high = limits(change, present, change.clamp)
    then = limits(change, target, change.clamp)
    clamp = change.clamp
    if graph.has_attribute(change.op, "clamp"):
        clamp = _narrowed(change, (low + distance, high + distance), then)
    now, new = constants_of(change, present, change.clamp), constants_of(change, target, clamp)
    return moved(now, distance) == new and _adds(change, distance), clamp


def _adds(change: Change, distance: int) -> bool:
    """Whether the conversion after the op adds ``distance`` to all values that the op can give."""
    low, high = limits(change, change.present, change.clamp)
    if not has_table(change.present):
        ends = [low, change.present.zero_point, high]
        return change.after == "requantize" and change.later(ends) == [v + distance for v in ends]
    stored = list(range(low, high + 1))
    return change.later(stored) == [value + distance for value in stored]


def _narrowed(change: Change, now: tuple[int, int], then: tuple[int, int]) -> tuple[float, ...]:
    """The clamp under which stored values of the target stay within ``now`` where ``then`` is wider.

    A side that a real clamp limits already, not the storage, keeps its bound: [0, 6] stays [0, 6].
    """
    target, storage = change.target, change.present.storage
    low, high = change.clamp or (-math.inf, math.inf)
    present_low, present_high = rescale.clamp_bounds(change.present, change.clamp)
    if then[0] < now[0] and (present_low == storage.minimum or change.present.scale == target.scale):
        low = (now[0] - target.zero_point) * target.scale
    if then[1] > now[1] and (present_high == storage.maximum or change.present.scale == target.scale):
        high = (now[1] - target.zero_point) * target.scale
    return change.clamp if (low, high) == (change.clamp or (-math.inf, math.inf)) else (low, high)


def _keep_saturation(change: Change) -> tuple[str | None, tuple[float, ...]]:
    """The clamp with which no value passes that the present result saturates."""
    then = limits(change, change.target, change.clamp)
    if not has_table(change.present):
        return None, change.clamp  # 32 bits hold every accumulator
    low, high = change.later(list(limits(change, change.present, change.clamp)))
    if graph.has_attribute(change.op, "clamp"):
        clamp = _narrowed(change, (low, high), then)
        got = limits(change, change.target, clamp)
        if got[0] < low - 1 or got[1] > high + 1:
            return f"the clamp cannot say [{low}, {high}] in stored values of the target", ()
        return None, clamp
    if (low <= then[0] and high >= then[1]) or _cannot_saturate(change):
        return None, ()
    return (
        f"the present result saturates at {_range_text(change.present)}, which is less than "
        f"{_range_text(change.target)}, and qnn.{change.name} has no clamp to say so",
        (),
    )


def _cannot_saturate(change: Change) -> bool:
    """Whether all values lie inside the present result's range anyway (give or take its rounding)."""
    if change.name == "softmax":
        inner = natural_params("softmax", change.present.storage, change.types()[0].params.storage)
    elif change.name == "mean":
        inner = change.types()[0].params
    else:
        return False
    low, high = _real_range(inner)
    least, most = _real_range(change.present)
    half = change.present.scale / 2
    return low >= least - half and high <= most + half


def _real_range(params: QuantParams) -> tuple[float, float]:
    ends = params.storage.minimum, params.storage.maximum
    low, high = ((end - params.zero_point) * params.scale for end in ends)
    return low, high


def _range_text(params: QuantParams) -> str:
    low, high = _real_range(params)
    return f"[{low:g}, {high:g}]"
