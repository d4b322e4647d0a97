"""LSTM sequences on floats, forwards or in both directions: the formulas spelled out in ops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .float_products import (
    activated,
    add,
    floats,
    logistic,
    multiply,
    normalized,
    product,
    scaled_vector,
    subtract,
)
from .operator_import import OperatorImport
from .sequences import Steps, part_of, run_over_time
from .variables import assign_state, state_value

_ONE = np.ones(1, np.float32)


@dataclass(frozen=True)
class Places:
    """Which inputs of an operator an LSTM reads; four gates: input, forget, update, output."""

    weights: int
    recurrent: int
    peepholes: int
    biases: int
    projection: int
    projection_bias: int
    output: int
    cell: int
    normalization: int | None = None


@dataclass(frozen=True)
class Auxiliary:
    """An input besides the sequence, of its leading shape, with weights of its own for the four gates."""

    input: int
    weights: int


def lstm_sequence(
    op: OperatorImport,
    steps: Steps,
    places: Places,
    source: int = 0,
    auxiliary: Auxiliary | None = None,
    *,
    backwards: bool = False,
) -> Any:
    """The outputs of an LSTM over time of the operator's input ``source``, [batch, time, outputs] or time
    first; its states move on.
    """
    lstm = _Lstm(op, places, steps)
    rows = steps.rows_of(op, op.value(source), op.type(source))
    weights = [places.weights + gate for gate in lstm.gates]
    # A normalized gate gets its bias after that.
    biases = [] if lstm.is_normalized else [places.biases + gate for gate in lstm.gates]
    projected = product(op, rows, weights, biases)
    if auxiliary is not None:
        rows = steps.rows_of(op, op.value(auxiliary.input), op.type(auxiliary.input))
        seen = product(op, rows, [auxiliary.weights + gate for gate in lstm.gates])
        projected = add(op, projected, seen)
    value, last = run_over_time(op, steps, projected, "f32", lstm.step, lstm.states, backwards)
    for place, state in zip((places.output, places.cell), last, strict=True):
        assign_state(op, place, state)
    return value


class _Lstm:
    """What a step computes, and the first states: output and cell."""

    def __init__(self, op: OperatorImport, places: Places, steps: Steps) -> None:
        self._op, self._places = op, places
        self.gates = [gate for gate in range(4) if gate or op.has(places.weights)]
        op.demand_rank(op.type(places.weights + 1), 2, "weights")
        self._units = op.type(places.weights + 1).shape[0]
        self.states = [state_value(op, places.output), state_value(op, places.cell)]
        recurrent = [op.type(places.recurrent + gate).shape for gate in self.gates]
        # A vector is the diagonal of a matrix.
        outputs = next((shape[1] for shape in recurrent if len(shape) == 2), self._units)
        if any(shape not in ((self._units, outputs), (outputs,)) for shape in recurrent):
            op.fail(f"recurrent weights of shapes {', '.join(str(list(shape)) for shape in recurrent)}")
        for (_, type_), width in zip(self.states, (outputs, self._units), strict=True):
            if type_ != floats(steps.batch, width):
                op.fail(f"a state of shape {list(type_.shape)}, expected {[steps.batch, width]} in float")
        if not op.has(places.projection) and outputs != self._units:
            op.fail(f"{outputs} outputs of {self._units} units need a projection")
        self.is_normalized = places.normalization is not None and op.has(places.normalization + 1)

    def step(self, contribution: Any, states: Sequence[Any]) -> list[Any]:
        """``c = f * c + i * g``, ``h = o * act(c)``; without an input gate ``i = 1 - f``."""
        op = self._op
        output, cell = states
        sums = add(op, contribution, self._recurrent(output))
        forget = logistic(op, self._gate(sums, 1, cell, peephole=1))
        update = activated(op, self._gate(sums, 2))
        coupled = 0 not in self.gates
        opened = self._one_minus(forget) if coupled else logistic(op, self._gate(sums, 0, cell, peephole=0))
        kept, added = multiply(op, forget, cell), multiply(op, opened, update)
        cell = add(op, kept, added, _clip(op.option("cell_clip")))
        out = logistic(op, self._gate(sums, 3, cell, peephole=2))
        return [self._projected(multiply(op, out, activated(op, cell))), cell]

    def _recurrent(self, output: Any) -> Any:
        """The products of all gates with the output before."""
        op = self._op
        indices = [self._places.recurrent + gate for gate in self.gates]
        if all(len(op.type(index).shape) == 2 for index in indices):
            return product(op, output, indices)
        parts = [
            product(op, output, [index])
            if len(op.type(index).shape) == 2
            else multiply(op, output, scaled_vector(op, index, self._units))
            for index in indices
        ]
        batch = output.type.shape[0]
        return op.build("concat", parts, floats(batch, len(parts) * self._units), {"axis": 1})

    def _gate(self, sums: Any, gate: int, cell: Any = None, peephole: int | None = None) -> Any:
        """A gate's sums, with what it sees of the cell state; normalized, if the LSTM is."""
        op, places = self._op, self._places
        batch, first = sums.type.shape[0], self.gates.index(gate) * self._units
        value = part_of(op, sums, "f32", (0, first), (batch, self._units))
        if peephole is not None and op.has(places.peepholes + peephole):
            weights = scaled_vector(op, places.peepholes + peephole, self._units)
            value = add(op, value, multiply(op, cell, weights))
        if not self.is_normalized:
            return value
        assert places.normalization is not None
        factors, bias = (
            scaled_vector(op, first + gate, self._units) for first in (places.normalization, places.biases)
        )
        return add(op, multiply(op, normalized(op, value), factors), bias)

    def _one_minus(self, value: Any) -> Any:
        op = self._op
        ones = op.constant_value(op.tensor(self._places.weights + 1), _ONE, floats(1), "one")
        return subtract(op, ones, value, value.type.shape)

    def _projected(self, value: Any) -> Any:
        op, places = self._op, self._places
        if not op.has(places.projection):
            return value
        biases = [places.projection_bias] if op.has(places.projection_bias) else []
        result = product(op, value, [places.projection], biases)
        clip = _clip(op.option("projection_clip"))
        return op.build("clamp", [result], floats(*result.type.shape), {"clamp": clip}) if clip else result


def _clip(bound: float) -> tuple[float, ...]:
    return (-bound, bound) if bound > 0 else ()
