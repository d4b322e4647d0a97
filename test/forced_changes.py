"""How far a legalized graph may be from the graph it was made of, checked op by op.

Both graphs are run side by side. Whenever the legalized one has made a tensor of the original in the
original's own type, the two are compared, and the original's values go on: so each difference is that of
one op, and of the requantizes that its own rule forced.

The bound. A kernel's result is within ``KERNEL_STEPS`` steps (scales of its type) of the real result r,
limited to the type's range. Where no rule forced an inexact change, the difference is 0. Else

* an op that now makes its result in parameters F, brought to its own type T by the inserted requantize: the
op is within KERNEL_STEPS * s_F of r, the requantize adds KERNEL_STEPS * s_T, and the original was within
KERNEL_STEPS * s_T of r; * an op whose inputs were brought to Q: each is off by KERNEL_STEPS * s_Q, which
the op (slope 1 at most) hands on, and both results are within KERNEL_STEPS * s_T of r; * further changes of
parameters of the same values, to U, round both sides: 2 * KERNEL_STEPS * s_U each.

A value outside of F's range becomes the end of that range, which is no rounding: the original is limited to
it before it is compared. Inputs outside of Q's range make the comparison void.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from zeropoint.dialect.describe import location_name
from zeropoint.dialect.evaluate import evaluate_module, evaluate_operation
from zeropoint.dialect.ir_types import to_tensor_type
from zeropoint.dialect.model import find_main
from zeropoint.dialect.types import QuantParams
from zeropoint.passes.decisions import INSERTED_ATTRIBUTE
from zeropoint.passes.parameter_choices import is_exact, make_plan, unmet_of
from zeropoint.passes.parameter_graph import BlockGraph, function_blocks
from zeropoint.targets import Target

Array = npt.NDArray[Any]
KERNEL_STEPS = 0.75
"""A rounding of a rounding (half a step, and a half of a half), the worst of the numerics rules."""


@dataclass
class Expected:
    """An original tensor: its stored values, their parameters, how far they may be missed (in reals), and
    between which reals a forced change of parameters keeps them.
    """

    values: Array
    params: QuantParams
    bound: float
    low: float = -np.inf
    high: float = np.inf
    is_void: bool = False


def reals(array: Array, params: QuantParams) -> Array:
    return (array.astype(np.float64) - params.zero_point) * params.scale


def span(params: QuantParams) -> tuple[float, float]:
    ends = np.array([params.storage.minimum, params.storage.maximum])
    low, high = reals(ends, params)
    return float(low), float(high)


def expectations(module: Any, inputs: list[Array], target: Target, mode: str) -> dict[str, Expected]:
    """What each named tensor of the original may become."""
    (block,) = function_blocks(module)
    source = BlockGraph(block)
    plan = make_plan(source.graph, target, mode)
    arrays: dict[int, Array] = dict(enumerate(inputs))
    found: dict[str, Expected] = {}
    bounds: dict[int, Expected] = {}

    def keep(operation: Any, results: list[Array]) -> None:
        index = source.operations.index(operation)
        op, choice = source.graph.ops[index], plan.choices[index]
        assert op.result is not None
        arrays[op.result] = results[0]
        params = source.graph.params(op.result)
        if op.name == "constant" or params is None:
            return
        expected = Expected(results[0], params, 0.0)
        step = KERNEL_STEPS * params.scale
        moved = bounds.get(op.operands[0]) if (choice.moves or op.name == "requantize") else None
        if moved is not None:  # the same values, further on
            expected.low, expected.high, expected.is_void = moved.low, moved.high, moved.is_void
            changes = source.graph.params(op.operands[0]) != params
            expected.bound = moved.bound + (2 * step if moved.bound and changes else 0.0)
        elif choice.rule is not None and not choice.moves:
            types = [source.graph.types[v] for v in op.operands]
            if not is_exact(op, types, source.graph.types[op.result], choice, mode):  # type: ignore[arg-type]
                _loosen(expected, choice, [(arrays[v], source.graph.params(v)) for v in op.operands], step)
        bounds[op.result] = expected
        found[location_name(operation.location)] = expected

    evaluate_module(module, inputs, mode, keep)
    return found


def _loosen(
    expected: Expected, choice: Any, operands: list[tuple[Array, QuantParams | None]], step: float
) -> None:
    expected.bound = 2 * step
    if choice.produced is not None:
        expected.bound += KERNEL_STEPS * choice.produced.scale
        expected.low, expected.high = span(choice.produced)
    for place, wanted in choice.inputs.items():
        array, params = operands[place]
        assert params is not None
        expected.bound += KERNEL_STEPS * wanted.scale
        low, high = span(wanted)
        values = reals(array, params)
        expected.is_void |= bool((values < low).any() or (values > high).any())


def check_values(legalized: Any, inputs: list[Array], expected: dict[str, Expected], mode: str) -> float:
    """Run the legalized graph on the original's values; the largest difference as a part of its bound.

    Raises AssertionError where a bound is missed.
    """
    block = find_main(legalized).operation.regions[0].blocks[0]
    values = dict(zip(block.arguments, inputs, strict=True))
    made = Counter(
        (location_name(view.operation.location), to_tensor_type(result.type))
        for view in block.operations
        for result in view.operation.results
    )
    arguments, worst = set(block.arguments), 0.0
    for view in block.operations:
        operation = view.operation
        if operation.name == "func.return":
            break
        (result,) = evaluate_operation(operation, [values[o] for o in operation.operands], mode)
        name, type_ = location_name(operation.location), to_tensor_type(operation.results[0].type)
        original = expected.get(name)
        if operation.name == "qnn.requantize" and operation.operands[0] in arguments:
            arguments.add(operation.results[0])
            if INSERTED_ATTRIBUTE in operation.attributes:
                original = None  # a version of the argument, named after the op that forced it
        if original is not None and type_.element == original.params:
            if made[name, type_] > 1:  # i16 -> i8 -> i16 again: which of the two it is, only the plan knows
                return worst
            part = _difference(result, original)
            assert part <= 1.0, f"{name}: {operation}: {part} of the bound {original.bound}"
            worst, result = max(worst, part), original.values
        values[operation.results[0]] = result
    return worst


def _difference(got: Array, original: Expected) -> float:
    if original.is_void:
        return 0.0
    if original.bound == 0.0:
        return 0.0 if np.array_equal(got, original.values) else np.inf
    values, got_reals = reals(original.values, original.params), reals(got, original.params)
    limited = np.clip(np.clip(values, original.low, original.high), *span(original.params))
    # Behind the tensor whose values were replaced by the original's, nothing is limited any more.
    off = np.minimum(np.abs(got_reals - limited), np.abs(got_reals - values))
    return float(off.max() / original.bound)


def broken(module: Any, target: Target) -> list[str]:
    """Names of the ops that break a rule."""
    return [
        op.name for block in function_blocks(module) for source in [BlockGraph(block)]
        for op in source.graph.ops if unmet_of(source.graph, op, target)
    ]  # fmt: skip
