"""UNIDIRECTIONAL_SEQUENCE_LSTM and BIDIRECTIONAL_SEQUENCE_LSTM: which of their kinds is which."""

from __future__ import annotations

from .float_lstm import Auxiliary, Places, lstm_sequence
from .integer_lstm import IntegerLstm
from .operator_import import FLOAT, OperatorImport, kind
from .registry import importer
from .rnn import auxiliary_role, bind_both
from .sequences import Steps

_INPUT = 0
_FORWARDS = Places(1, 5, 9, 12, 16, 17, 18, 19, normalization=20)
_FORWARDS_OF_BOTH = Places(1, 5, 9, 12, 16, 17, 35, 36)
_BACKWARDS = Places(18, 22, 26, 29, 33, 34, 37, 38)
_AUXILIARY, _AUXILIARY_WEIGHTS = 39, (40, 44)


@importer("UNIDIRECTIONAL_SEQUENCE_LSTM")
def unidirectional_sequence_lstm(op: OperatorImport) -> None:
    """8-bit activations with a 16-bit cell state, or floats, on weights of floats or integers."""
    op.demand_counts((20, 24))
    x = op.type(_INPUT)
    if kind(x) in FLOAT:
        steps = Steps.of(op, x)
        value = lstm_sequence(op, steps, _FORWARDS)
        op.bind(value, op.result_type(tuple(value.type.shape)))
    elif kind(x) == kind(op.type(2)) == "quantized i8":
        IntegerLstm(op, Steps.of(op, x)).run()
    else:
        op.unsupported(f"{kind(x)} input with {kind(op.type(2))} weights")


@importer("BIDIRECTIONAL_SEQUENCE_LSTM")
def bidirectional_sequence_lstm(op: OperatorImport) -> None:
    """One LSTM forwards and one backwards in time, on floats; their outputs are two, or one beside the
    other. An auxiliary input has weights of its own, or is what the LSTM backwards reads.
    """
    merged = op.option("merge_outputs")
    op.demand_counts((39, 48), outputs=1 if merged else 2)
    x = op.type(_INPUT)
    op.demand_kind(x, FLOAT)
    steps = Steps.of(op, x)
    source, weighted = auxiliary_role(op, _AUXILIARY, [first + 1 for first in _AUXILIARY_WEIGHTS])
    seen = [Auxiliary(_AUXILIARY, first) if weighted else None for first in _AUXILIARY_WEIGHTS]
    forwards = lstm_sequence(op, steps, _FORWARDS_OF_BOTH, auxiliary=seen[0])
    backwards = lstm_sequence(op, steps, _BACKWARDS, source, seen[1], backwards=True)
    bind_both(op, steps, forwards, backwards, merged)
