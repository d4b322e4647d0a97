"""LSTM: one step of the sequence operator's kinds ("full"), or with all weights in one matrix ("basic")."""

from __future__ import annotations

from typing import Any

from ...dialect.types import TensorType
from .float_lstm import Places, lstm_sequence
from .float_products import add, floats, logistic, multiply
from .integer_lstm import IntegerLstm
from .operator_import import FLOAT, OperatorImport, kind
from .registry import importer
from .sequences import Steps, part_of
from .variables import assign_state, state_value

_PLACES = Places(1, 5, 9, 12, 16, 17, 18, 19, normalization=20)
_INPUT, _ACTIVATION, _WEIGHTS, _BIAS, _STATE = range(5)
_INTERMEDIATES_OF_8_BITS = 12


@importer("LSTM")
def lstm(op: OperatorImport) -> None:
    """On floats with weights of floats or integers, or (full) on 8-bit activations with 16-bit cells."""
    if op.option("kernel_type") == "BASIC":
        _basic(op)
        return
    op.demand_counts((20, 24))
    x = op.type(_INPUT)
    steps = Steps.one(op, x)
    if kind(x) in FLOAT:
        value = lstm_sequence(op, steps, _PLACES)
        op.bind(value, op.result_type(tuple(value.type.shape)))
    elif len(op.operator.intermediates) == _INTERMEDIATES_OF_8_BITS:
        op.unsupported("sums of gates in 8 bits (12 intermediate tensors, where cells of 16 bits have 5)")
    elif kind(x) == kind(op.type(2)) == "quantized i8":
        IntegerLstm(op, steps).run()
    else:
        op.unsupported(f"{kind(x)} input with {kind(op.type(2))} weights")


def _basic(op: OperatorImport) -> None:
    """``c = sigmoid(f) * c + sigmoid(i) * tanh(g)``, ``h = sigmoid(o) * tanh(c)`` of the products of one
    matrix with input and previous output, in the order i, g, f, o.
    """
    op.demand_counts((5,), outputs=4)
    x = op.type(_INPUT)
    if kind(x) not in FLOAT:
        op.unsupported(f"{kind(x)} input of the basic kernel, whose roundings are those of no op")
    op.demand_rank(x, 2)
    before, cell = _held(op, _ACTIVATION), _held(op, _STATE)
    batch, units = cell[1].shape if len(cell[1].shape) == 2 else (0, 0)
    depth = x.shape[1] + units
    expected = {_WEIGHTS: floats(4 * units, depth), _BIAS: floats(4 * units)}
    for index, type_ in expected.items():
        if op.type(index) != type_:
            op.fail(f"input {index} of shape {list(op.type(index).shape)}, expected {list(type_.shape)}")
    if before[1] != floats(x.shape[0], units) or batch != x.shape[0]:
        op.fail(f"an activation of shape {list(before[1].shape)} and a state of {list(cell[1].shape)}")
    both = op.build("concat", [op.value(_INPUT), before[0]], floats(batch, depth), {"axis": 1})
    operands = [both, op.value(_WEIGHTS), op.value(_BIAS)]
    sums = op.build("fully_connected", operands, floats(batch, 4 * units), {"clamp": ()})
    gates = [part_of(op, sums, "f32", (0, k * units), (batch, units)) for k in range(4)]
    opened, forget, out = (logistic(op, gates[k]) for k in (0, 2, 3))
    added = multiply(op, opened, _tanh(op, gates[1]))
    state = add(op, added, multiply(op, forget, cell[0]))
    output = multiply(op, out, _tanh(op, state))
    for index, value in ((_ACTIVATION, output), (_STATE, state)):
        if op.graph.tensors[op.operator.inputs[index]].is_variable:
            assign_state(op, index, value)
    for index, value in enumerate((output, state, both, sums)):
        op.bind(value, op.result_type(tuple(value.type.shape), index), index)


def _held(op: OperatorImport, index: int) -> tuple[Any, TensorType]:
    """A state tensor, or a value that the graph computes or is given at every run."""
    if op.has(index) and op.graph.tensors[op.operator.inputs[index]].is_variable:
        return state_value(op, index)
    return op.value(index), op.type(index)


def _tanh(op: OperatorImport, value: Any) -> Any:
    return op.build("tanh", [value], floats(*value.type.shape), {})
