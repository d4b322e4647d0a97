"""In which parameters an op that breaks a rule is to run: the choices there are, and which one is taken."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..dialect.meaning import evaluate
from ..dialect.qnn.constraints import ACTIVATIONS
from ..dialect.types import QuantParams, TensorType
from ..targets import Target
from ..targets.operators import CONTRACTIONS
from .parameter_rules import BIAS, Demand, data_inputs, settle, unmet
from .requantize_placement import Choice, Forest, PlainGraph, PlainOp, Unplaceable, Version, grow, place

Array = npt.NDArray[Any]

EQUAL = ("same-as-input", "same-as-result")
"""Rules that one and the same type everywhere satisfies; they differ in who gives way."""
_MAX_COMBINATIONS = 256
_STORAGE_OF_ANY = ("reshape", "slice", "transpose")
_COMPARED = ("avg_pool2d", "clamp", "concat", "max_pool2d")
_ONE_ELEMENT = {"window": (1, 1), "strides": (1, 1), "padding": (0, 0, 0, 0), "axis": 0}


@dataclass(frozen=True)
class Plan:
    """A choice for each op, and what follows: the forest, and the requantizes to insert with who forced
    them.
    """

    choices: tuple[Choice, ...]
    forest: Forest
    inserted: dict[tuple[int, Version], int]


def make_plan(graph: PlainGraph, target: Target, mode: str) -> Plan:
    """The plan with the fewest requantizes among those that change the fewest numbers.

    For each op only the exact choices count, if it has any. Of these, all combinations are tried while they
    are few (256), else one op after the other, until nothing gets better.
    """
    allowed = _Allowed(graph, target)
    options = [_options(graph, op, target, mode) for op in graph.ops]
    while True:
        try:
            return _fewest(graph, options, allowed)
        except Unplaceable as refused:
            # In neither parameters: let the op do what its rule says, or, if that was it, nothing.
            op = graph.ops[refused.index]
            settled = [_settled(graph, op, target, unmet_of(graph, op, target))]
            options[refused.index] = [Choice()] if options[refused.index] == settled else settled


def unmet_of(graph: PlainGraph, op: PlainOp, target: Target) -> list[Demand]:
    """The demands that an op of the graph does not satisfy as it is."""
    if op.result is None:
        return []
    inputs, result = _types(graph, op)
    return unmet(target, op.name, inputs, result)


def needs_float(graph: PlainGraph, op: PlainOp, target: Target) -> Demand | None:
    """The demand for whose sake an op has to run in float; None if it can run in integers.

    That is ``unsupported``, of the op as it is or as its rule makes it (an i8 result becomes i16 as its input
    is, which the target lacks), and what the dialect has no types for: inputs in the i32 parameters of an
    accumulator, or another scale of the input above a bias that is computed.
    """
    broken = unmet_of(graph, op, target)
    if not broken:
        return None
    settled = unmet(target, op.name, *settle(target, op.name, *_types(graph, op)))
    hopeless = [demand for demand in (*broken, *settled) if demand.expected is None]
    if hopeless or settled:
        return (hopeless or settled)[0]
    moves = broken[0].rule.kind in EQUAL and is_mobile(op)
    return None if moves or _is_possible(graph, op, _settled(graph, op, target, broken)) else broken[0]


def _fewest(graph: PlainGraph, options: Sequence[Sequence[Choice]], allowed: _Allowed) -> Plan:
    open_ops = [index for index, choices in enumerate(options) if len(choices) > 1]
    best = _planned(graph, [choices[0] for choices in options], allowed)
    combinations = int(np.prod([float(len(options[index])) for index in open_ops]))
    if combinations <= _MAX_COMBINATIONS:
        for picked in itertools.product(*(options[index] for index in open_ops)):
            best = _better(best, dict(zip(open_ops, picked, strict=True)), allowed)
        return best
    while True:
        count = len(best.inserted)
        for index in open_ops:
            for choice in options[index]:
                best = _better(best, {index: choice}, allowed)
        if len(best.inserted) == count:
            return best


def _better(best: Plan, changes: dict[int, Choice], allowed: _Allowed) -> Plan:
    choices = [changes.get(index, choice) for index, choice in enumerate(best.choices)]
    plan = _planned(best.forest.graph, choices, allowed)
    return plan if len(plan.inserted) < len(best.inserted) else best


def _planned(graph: PlainGraph, choices: Sequence[Choice], allowed: _Allowed) -> Plan:
    forest = grow(graph, choices)
    return Plan(tuple(choices), forest, place(forest, allowed))


@dataclass(frozen=True)
class _Allowed:
    """Whether a moving op may run in some parameters: the target and the dialect must both take them."""

    graph: PlainGraph
    target: Target

    def __call__(self, index: int, params: QuantParams) -> bool:
        op = self.graph.ops[index]
        if op.name not in _STORAGE_OF_ANY and params.storage.name not in ACTIVATIONS:
            return False
        (source,), result = _types(self.graph, op)
        moved = replace(source, element=params), replace(result, element=params)
        return not unmet(self.target, op.name, [moved[0]], moved[1])


def _types(graph: PlainGraph, op: PlainOp) -> tuple[list[TensorType], TensorType]:
    types = [graph.types[value] for value in (*op.operands, op.result) if value is not None]
    assert all(type_ is not None for type_ in types), "qnn ops work on tensors"
    known = [type_ for type_ in types if type_ is not None]
    return known[:-1], known[-1]


def _options(graph: PlainGraph, op: PlainOp, target: Target, mode: str) -> list[Choice]:
    """What may be done with an op, the direction of its rule first; exact choices only, if there are any."""
    if op.result is None or not op.operands or any(graph.types[v] is None for v in (*op.operands, op.result)):
        return [Choice()]
    inputs, result = _types(graph, op)
    broken = unmet(target, op.name, inputs, result)
    if not broken:
        keeps = is_mobile(op) and result.is_quantized and result.element == inputs[0].element
        return [Choice(moves=keeps)]
    rule = broken[0].rule
    if rule.kind == "unsupported":
        return [Choice()]
    if rule.kind in EQUAL and is_mobile(op):
        return [Choice(moves=True, rule=rule)]
    settled = _settled(graph, op, target, broken)
    if not _is_possible(graph, op, settled):
        return [Choice()]
    if rule.kind not in EQUAL:
        return [settled]
    candidates = [
        choice
        for choice in (settled, _before(op, inputs, result, broken), _after(inputs, broken))
        if not _breaks(target, op, inputs, result, choice)
    ]
    exact = [choice for choice in candidates if is_exact(op, inputs, result, choice, mode)]
    return list(_unique(exact or [settled]))


def _settled(graph: PlainGraph, op: PlainOp, target: Target, broken: Sequence[Demand]) -> Choice:
    """What the rule says by itself. A bias is not requantized but derived anew, when its op is rewritten."""
    inputs, result = _types(graph, op)
    wanted, produced = settle(target, op.name, inputs, result)
    handed = {
        place: new.params
        for place, (new, old) in enumerate(zip(wanted, inputs, strict=True))
        if new.element != old.element and not (op.name in CONTRACTIONS and place == BIAS)
    }
    own = produced.element == result.element
    return Choice(handed, None if own else produced.params, False, broken[0].rule)


def _is_possible(graph: PlainGraph, op: PlainOp, choice: Choice) -> bool:
    """Whether the dialect takes an op as chosen: its storage types, and a bias that can be derived anew."""
    if choice == Choice({}, None, False, choice.rule):
        return False
    computes = op.name not in (*_STORAGE_OF_ANY, "concat", "pad")
    if computes and any(params.storage.name not in ACTIVATIONS for params in choice.inputs.values()):
        return False
    if op.name not in CONTRACTIONS or not choice.inputs or len(op.operands) <= BIAS:
        return True
    bias = op.operands[BIAS]
    if not _types(graph, op)[0][BIAS].is_quantized:
        return False  # an int64 bias has no scale of its own
    return any(other.name == "constant" and other.result == bias for other in graph.ops)


def _before(
    op: PlainOp, inputs: Sequence[TensorType], result: TensorType, broken: Sequence[Demand]
) -> Choice:
    """Every input is brought to the result's parameters."""
    places = data_inputs(op.name, inputs)
    differing = [i for i in places if not inputs[i].params.same_values(result.params)]
    return Choice(dict.fromkeys(differing, result.params), None, False, broken[0].rule)


def _after(inputs: Sequence[TensorType], broken: Sequence[Demand]) -> Choice:
    """The result is made in the first input's parameters."""
    return Choice({}, inputs[0].params, False, broken[0].rule)


def _breaks(
    target: Target, op: PlainOp, inputs: Sequence[TensorType], result: TensorType, choice: Choice
) -> bool:
    changed = [replace(t, element=choice.inputs.get(i, t.element)) for i, t in enumerate(inputs)]
    made = replace(result, element=choice.produced or result.element)
    return bool(unmet(target, op.name, changed, made))


def _unique(choices: Sequence[Choice]) -> list[Choice]:
    found: list[Choice] = []
    for choice in choices:
        if choice not in found:
            found.append(choice)
    return found


def is_mobile(op: PlainOp) -> bool:
    """Whether an op only moves values: changing parameters before it or after it gives equal integers.

    The largest stored value stays the largest under a monotone change, so a max_pool without a clamp is
    one. A pad is one if it fills with the zero point, which every change of parameters maps to the other
    zero point.
    """
    if op.name == "max_pool2d":
        return not op.attributes["clamp"]
    if op.name == "pad":
        return float(op.attributes["value"]) == 0.0
    return op.name in ("reshape", "resize_nearest", "slice", "transpose")


def is_exact(
    op: PlainOp, inputs: Sequence[TensorType], result: TensorType, choice: Choice, mode: str
) -> bool:
    """Whether the op, run as chosen, gives the stored integers that it gives as it is.

    Ops that pool or mix compute in the input's parameters and change them at the end, so a change after
    them is what they do anyway; the clamp and the last rounding are the same for each stored value alone,
    and are compared over all of them.
    """
    if choice.produced is not None and op.name in ("pad", "resize_bilinear"):
        return not choice.inputs and choice.produced == inputs[0].params
    if op.name not in _COMPARED or (op.name == "avg_pool2d" and choice.inputs):
        return False
    if choice.produced is not None and len({t.element for t in inputs}) > 1:
        return False  # a concat in the first input's parameters would round the others twice
    produced = choice.produced or result.params
    return all(
        _unchanged_by(op, t.params, result.params, choice.inputs.get(i, t.params), produced, mode)
        for i, t in enumerate(inputs)
    )


def _unchanged_by(
    op: PlainOp,
    source: QuantParams,
    result: QuantParams,
    handed: QuantParams,
    produced: QuantParams,
    mode: str,
) -> bool:
    """Whether each stored value of ``source`` comes out alike if the op gets it in ``handed`` and makes
    ``produced``.

    The op's window is one element here.
    """
    if source.storage.bits > 16:
        return False
    attributes = {name: _ONE_ELEMENT.get(name, value) for name, value in op.attributes.items()}
    values = np.arange(source.storage.minimum, source.storage.maximum + 1).astype(source.storage.dtype)
    shape = (1, 1, values.size, 1)

    def run(name: str, x: Array, before: QuantParams, after: QuantParams) -> Array:
        if name == "requantize" and before == after:
            return x
        types = [TensorType(shape, before)], [TensorType(shape, after)]
        return evaluate(name, [x], *types, attributes if name == op.name else {}, mode)[0]

    array = values.reshape(shape)
    expected = run(op.name, array, source, result)
    made = run(op.name, run("requantize", array, source, handed), handed, produced)
    return bool(np.array_equal(expected, run("requantize", made, produced, result)))
