"""RNN, UNIDIRECTIONAL_SEQUENCE_RNN and BIDIRECTIONAL_SEQUENCE_RNN, on floats: h = f(w x + r h + b)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .float_products import activated, add, floats, product
from .operator_import import FLOAT, OperatorImport
from .registry import importer
from .sequences import Steps, run_over_time
from .variables import assign_state, state_value


@importer("RNN")
def rnn(op: OperatorImport) -> None:
    """One step."""
    op.demand_counts((5,))
    x = op.type(0)
    op.demand_rank(x, 2)
    op.demand_kind(x, FLOAT)
    op.demand_rank(op.type(1), 2, "weights")
    y = op.result_type((x.shape[0], op.type(1).shape[0]))
    cell = _Cell(op, (1, 2, 3, 4), x.shape[0])
    (value,) = cell.step(product(op, op.value(0), [1], [3]), [cell.state[0]])
    assign_state(op, 4, value)
    op.bind(value, y)


@importer("UNIDIRECTIONAL_SEQUENCE_RNN")
def unidirectional_sequence_rnn(op: OperatorImport) -> None:
    """Step by step over time."""
    op.demand_counts((5,))
    x = op.type(0)
    op.demand_kind(x, FLOAT)
    steps = Steps.of(op, x)
    op.demand_rank(op.type(1), 2, "weights")
    y = op.result_type((*steps.leading, op.type(1).shape[0]))
    op.bind(_sequence(op, steps, (1, 2, 3, 4), backwards=False), y)


@importer("BIDIRECTIONAL_SEQUENCE_RNN")
def bidirectional_sequence_rnn(op: OperatorImport) -> None:
    """One RNN forwards and one backwards in time; their outputs are two, or one beside the other."""
    merged = op.option("merge_outputs")
    op.demand_counts((9, 12), outputs=1 if merged else 2)
    if any(op.has(index) for index in range(9, 12)):
        op.unsupported("an auxiliary input")
    x = op.type(0)
    op.demand_kind(x, FLOAT)
    steps = Steps.of(op, x)
    for index in (1, 5):
        op.demand_rank(op.type(index), 2, "weights")
    forwards = _sequence(op, steps, (1, 2, 3, 4), backwards=False)
    backwards = _sequence(op, steps, (5, 6, 7, 8), backwards=True)
    bind_both(op, steps, forwards, backwards, merged)


def bind_both(op: OperatorImport, steps: Steps, forwards: Any, backwards: Any, merged: bool) -> None:
    """The outputs of a bidirectional operator."""
    if merged:
        width = forwards.type.shape[2] + backwards.type.shape[2]
        op.emit("concat", [forwards, backwards], (*steps.leading, width), {"axis": 2})
        return
    for index, value in enumerate((forwards, backwards)):
        op.bind(value, op.result_type(tuple(value.type.shape), index), index)


def _sequence(op: OperatorImport, steps: Steps, places: Sequence[int], *, backwards: bool) -> Any:
    """``places`` are the inputs weights, recurrent weights, bias and state."""
    cell = _Cell(op, places, steps.batch)
    rows = steps.rows_of(op, op.value(0), op.type(0))
    projected = product(op, rows, [places[0]], [places[2]])
    value, (state,) = run_over_time(op, steps, projected, "f32", cell.step, [cell.state], backwards)
    assign_state(op, places[3], state)
    return value


class _Cell:
    """What a step computes, and its first state."""

    def __init__(self, op: OperatorImport, places: Sequence[int], batch: int) -> None:
        self._op, self._recurrent = op, places[1]
        self.state = state_value(op, places[3])
        type_, expected = self.state[1], floats(batch, op.type(places[0]).shape[0])
        if type_ != expected:
            op.fail(f"a state of shape {list(type_.shape)}, expected {list(expected.shape)} in float")

    def step(self, contribution: Any, states: Sequence[Any]) -> list[Any]:
        op = self._op
        return [activated(op, add(op, contribution, product(op, states[0], [self._recurrent])))]
