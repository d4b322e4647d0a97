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
    op.bind(_sequence(op, steps, (1, 2, 3, 4)), y)


@importer("BIDIRECTIONAL_SEQUENCE_RNN")
def bidirectional_sequence_rnn(op: OperatorImport) -> None:
    """One RNN forwards and one backwards in time; their outputs are two, or one beside the other. An
    auxiliary input has weights of its own, or is what the RNN backwards reads.
    """
    merged = op.option("merge_outputs")
    op.demand_counts((9, 12), outputs=1 if merged else 2)
    x = op.type(0)
    op.demand_kind(x, FLOAT)
    steps = Steps.of(op, x)
    for index in (1, 5):
        op.demand_rank(op.type(index), 2, "weights")
    source, weighted = auxiliary_role(op, 9, (10, 11))
    seen = [(9, weights) if weighted else None for weights in (10, 11)]
    forwards = _sequence(op, steps, (1, 2, 3, 4), auxiliary=seen[0])
    backwards = _sequence(op, steps, (5, 6, 7, 8), source, seen[1], backwards=True)
    bind_both(op, steps, forwards, backwards, merged)


def auxiliary_role(op: OperatorImport, index: int, weights: Sequence[int]) -> tuple[int, bool]:
    """What the input ``index`` of a bidirectional operator is for: which input is read backwards, and whether
    both directions see it through ``weights`` of its own.
    """
    given = [op.has(weight) for weight in weights]
    if not op.has(index):
        if any(given):
            op.fail("weights of an auxiliary input, but no such input")
        return 0, False
    if any(given) and not all(given):
        op.fail("an auxiliary input needs weights for both directions, or for none")
    x, auxiliary = op.type(0), op.type(index)
    op.demand_kind(auxiliary, FLOAT, "auxiliary input")
    # LiteRT steps through it by the input's depth.
    if auxiliary.shape != x.shape:
        op.fail(f"an auxiliary input of shape {list(auxiliary.shape)}, expected {list(x.shape)}")
    return (0, True) if all(given) else (index, False)


def bind_both(op: OperatorImport, steps: Steps, forwards: Any, backwards: Any, merged: bool) -> None:
    """The outputs of a bidirectional operator."""
    if merged:
        width = forwards.type.shape[2] + backwards.type.shape[2]
        op.emit("concat", [forwards, backwards], (*steps.leading, width), {"axis": 2})
        return
    for index, value in enumerate((forwards, backwards)):
        op.bind(value, op.result_type(tuple(value.type.shape), index), index)


def _sequence(
    op: OperatorImport,
    steps: Steps,
    places: Sequence[int],
    source: int = 0,
    auxiliary: tuple[int, int] | None = None,
    *,
    backwards: bool = False,
) -> Any:
    """``places`` are the inputs weights, recurrent weights, bias and state; ``auxiliary`` an input beside
    ``source``, and its weights.
    """
    cell = _Cell(op, places, steps.batch)
    projected = product(op, steps.rows_of(op, op.value(source), op.type(source)), [places[0]], [places[2]])
    if auxiliary is not None:
        index, weights = auxiliary
        rows = steps.rows_of(op, op.value(index), op.type(index))
        projected = add(op, projected, product(op, rows, [weights]))
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
