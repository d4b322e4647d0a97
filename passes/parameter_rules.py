"""What a target demands of the parameters of an op, on plain types: the one definition that legalize-params
makes true and verify-params checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..dialect.qnn.contraction import BIAS_SCALE_TOLERANCE
from ..dialect.types import QuantParams, Storage, TensorType
from ..targets import Rule, Target
from ..targets.operators import CONTRACTIONS, CONVERSIONS, OPERATORS

RESULT = -1
"""The place of the result; operands are counted from 0."""
INPUT, FILTER, BIAS = 0, 1, 2
"""Operands of a contraction."""
_ROUNDS = 4


@dataclass(frozen=True)
class Demand:
    """One thing that a rule says about one value of an op.

    ``place`` is an operand's index or ``RESULT``, ``got`` its parameters, ``expected`` what they have to be
    (None: there are none that would do, the op has to run in float), ``because`` what the expected ones
    are.
    """

    rule: Rule
    place: int
    got: QuantParams
    expected: QuantParams | None
    because: str
    is_met: bool


def rule_of(target: Target, op: str, inputs: Sequence[TensorType], result: TensorType) -> Rule | None:
    """The target's rule for one op (without ``qnn.``) on these types; None if none applies.

    None applies to float tensors, to conversions, and to ordinary integers.
    """
    if op in CONVERSIONS or op not in OPERATORS or not inputs or not inputs[0].is_quantized:
        return None
    source = inputs[0].params.storage.name
    storage = result.params.storage.name if result.is_quantized else source
    return target.rule(op, storage, source)


def demands(target: Target, op: str, inputs: Sequence[TensorType], result: TensorType) -> list[Demand]:
    """Everything ``target`` wants of the parameters of one op, met or not."""
    rule = rule_of(target, op, inputs, result)
    if rule is None:
        return []
    found: list[Demand] = []
    if rule.kind == "unsupported":
        place, got = (RESULT, result) if result.is_quantized else (INPUT, inputs[0])
        found.append(Demand(rule, place, got.params, None, "the op runs in float", False))
    elif not result.is_quantized:
        return found
    elif rule.kind == "same-as-input":
        first = inputs[0].params
        others = range(1, len(inputs)) if op == "concat" else ()
        found += [_equal(rule, i, inputs[i].params, first, "input 0's") for i in others]
        found.append(_equal(rule, RESULT, result.params, first, "input 0's" if others else "its input's"))
    elif rule.kind == "same-as-result":
        for index in data_inputs(op, inputs):
            found.append(_equal(rule, index, inputs[index].params, result.params, "the result's"))
    elif rule.kind == "fixed":
        found.append(_fixed(rule, result.params))
    elif rule.kind == "derived" and op in CONTRACTIONS:
        found.append(_derived(rule, RESULT, result.params, _accumulator(inputs, None)))
    if op in CONTRACTIONS and len(inputs) > BIAS and inputs[BIAS].is_quantized:
        bias = inputs[BIAS].params
        found.append(_derived(target.bias_rule(op), BIAS, bias, _accumulator(inputs, 0)))
    return found


def unmet(target: Target, op: str, inputs: Sequence[TensorType], result: TensorType) -> list[Demand]:
    """The demands that one op does not satisfy."""
    return [demand for demand in demands(target, op, inputs, result) if not demand.is_met]


def settle(
    target: Target, op: str, inputs: Sequence[TensorType], result: TensorType
) -> tuple[list[TensorType], TensorType]:
    """Types of operands and result as the rules want them, each changed as its own rule says.

    A change of storage type may bring another rule, which may want another change: this goes on until
    nothing is left to change, or an ``unsupported`` remains.
    """
    inputs = list(inputs)
    for _ in range(_ROUNDS):
        wanted = [d for d in unmet(target, op, inputs, result) if d.expected is not None]
        for demand in wanted:
            assert demand.expected is not None, "filtered above"
            if demand.place == RESULT:
                result = replace(result, element=demand.expected)
            else:
                inputs[demand.place] = replace(inputs[demand.place], element=demand.expected)
        if not wanted:
            break
    return inputs, result


def data_inputs(op: str, inputs: Sequence[TensorType]) -> list[int]:
    """The operands that ``same-as-result`` is about: all of them, but a filter, a bias, indices and
    conditions.
    """
    candidates = range(1 if op in CONTRACTIONS else len(inputs))
    return [index for index in candidates if inputs[index].is_quantized]


def message(target: Target, op: str, demand: Demand, called: str, in_float: bool = False) -> str:
    """A broken demand in words: op, rule, where the rule is written, both parameters, and the fix.

    ``called`` is the name or path that the target was given by; ``in_float`` says that the op can only run
    in float.
    """
    label = "result" if demand.place == RESULT else f"operand {demand.place}"
    head = (
        f"'qnn.{op}' op breaks rule '{demand.rule}' of target '{target.name}' ({demand.rule.origin}): "
        f"{label} has {params_text(demand.got)}, expected "
    )
    if demand.expected is None and demand.rule.kind == "unsupported":
        return head + f"float between dequantize and quantize; run isolate-unsupported{{target={called}}}"
    if demand.expected is None:
        fix = f"quantize the filter per-tensor, or run isolate-unsupported{{target={called}}}"
        return head + f"{demand.because}, which no per-tensor type has; {fix}"
    expected = f"{params_text(demand.expected)} ({demand.because})"
    if in_float:
        return head + f"{expected}, which it cannot have; run isolate-unsupported{{target={called}}}"
    side = "its result" if demand.place == RESULT else f"operand {demand.place}"
    fix = f"requantize {side}, as legalize-params{{target={called}}} does"
    return head + f"{expected}; {fix}"


def params_text(params: QuantParams) -> str:
    """``i8 scale 0.5 zero point 3``; of several scales only how many."""
    if params.is_per_tensor:
        return f"{params.storage} scale {params.scale:.9g} zero point {params.zero_point}"
    return f"{params.storage} with {len(params.scales)} scales"


def _equal(rule: Rule, place: int, got: QuantParams, expected: QuantParams, whose: str) -> Demand:
    return Demand(rule, place, got, expected, whose, got.same_values(expected))


def _fixed(rule: Rule, got: QuantParams) -> Demand:
    assert rule.scale is not None and rule.zero_point is not None, "a fixed rule has parameters"  # noqa: PT018
    storage = got.storage
    if not storage.minimum <= rule.zero_point <= storage.maximum:
        storage = Storage.of(storage.name)  # a narrowed range need not hold the rule's zero point
    expected = QuantParams(storage, (rule.scale,), (rule.zero_point,))
    return Demand(rule, RESULT, got, expected, "fixed", rule.accepts(got.scale, got.zero_point))


def _derived(rule: Rule, place: int, got: QuantParams, expected: QuantParams | None) -> Demand:
    """Within the error that the dialect allows for a bias: writers round the product, or do not."""
    is_met = expected is not None and not any(got.zero_points)
    if expected is not None:
        scales = got.scales * len(expected.scales) if len(got.scales) == 1 else got.scales
        have, want = np.asarray(scales), np.asarray(expected.scales)
        is_met = is_met and bool(np.all(np.abs(have - want) <= BIAS_SCALE_TOLERANCE * want))
    return Demand(rule, place, got, expected, "input scale x filter scale", is_met)


def _accumulator(inputs: Sequence[TensorType], axis: int | None) -> QuantParams | None:
    """Parameters of a contraction's accumulator, one scale per output channel along ``axis``.

    ``axis`` None asks for per-tensor ones, which do not exist for a filter of several scales.
    """
    kernel = inputs[FILTER].params
    with np.errstate(over="ignore", under="ignore"):
        products = (inputs[INPUT].params.scale * np.asarray(kernel.scales)).astype(np.float32)
    scales = tuple(products.tolist())
    if kernel.is_per_tensor or (axis is None and len(set(scales)) == 1):
        return QuantParams(Storage.of("i32"), scales[:1], (0,))
    if axis is None:
        return None
    return QuantParams(Storage.of("i32"), scales, (0,) * len(scales), axis)
