"""UNIDIRECTIONAL_SEQUENCE_LSTM and BIDIRECTIONAL_SEQUENCE_LSTM: one product of weights with all inputs, then
step by step over time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...dialect.types import QuantParams, Storage, TensorType
from .float_lstm import Places, lstm_sequence
from .operator_import import FLOAT, OperatorImport, kind
from .raw_integers import (
    as_integers,
    float32_product,
    float32_quotient,
    integers,
    rescaled,
    weights_as_integers,
)
from .registry import importer
from .rnn import bind_both
from .sequences import Steps, run_over_time
from .variables import assign_state, state_value

_INPUT = 0
_INPUT_WEIGHTS, _RECURRENT_WEIGHTS = (1, 2, 3, 4), (5, 6, 7, 8)
_PEEPHOLES, _BIASES = (9, 10, 11), (12, 13, 14, 15)
_PROJECTION, _PROJECTION_BIAS = 16, 17
_OUTPUT_STATE, _CELL_STATE = 18, 19
_LAYER_NORM = (20, 21, 22, 23)
_HIDDEN = 4
"""Which of the intermediates has the parameters of what a step computes."""

_FORWARDS = Places(1, 5, 9, 12, 16, 17, 18, 19)
_FORWARDS_OF_BOTH = Places(1, 5, 9, 12, 16, 17, 35, 36)
_BACKWARDS = Places(18, 22, 26, 29, 33, 34, 37, 38)


@importer("UNIDIRECTIONAL_SEQUENCE_LSTM")
def unidirectional_sequence_lstm(op: OperatorImport) -> None:
    """8-bit activations with a 16-bit cell state, or floats, on weights of floats or integers."""
    op.demand_counts((20, 24))
    x = op.type(_INPUT)
    if any(op.has(index) for index in _LAYER_NORM):
        op.unsupported("layer normalization")
    if kind(x) in FLOAT:
        steps = Steps.of(op, x)
        value = lstm_sequence(op, steps, _FORWARDS)
        op.bind(value, op.result_type(tuple(value.type.shape)))
    elif kind(x) == kind(op.type(2)) == "quantized i8":
        if any(op.has(index) for index in _PEEPHOLES):
            op.unsupported("peepholes")
        _Integer(op).run()
    else:
        op.unsupported(f"{kind(x)} input with {kind(op.type(2))} weights")


@importer("BIDIRECTIONAL_SEQUENCE_LSTM")
def bidirectional_sequence_lstm(op: OperatorImport) -> None:
    """One LSTM forwards and one backwards in time, on floats; their outputs are two, or one beside the
    other.
    """
    merged = op.option("merge_outputs")
    op.demand_counts((39, 48), outputs=1 if merged else 2)
    if any(op.has(index) for index in range(39, 48)):
        op.unsupported("an auxiliary input")
    op.demand_kind(op.type(_INPUT), FLOAT)
    steps = Steps.of(op, op.type(_INPUT))
    forwards = lstm_sequence(op, steps, _FORWARDS_OF_BOTH)
    backwards = lstm_sequence(op, steps, _BACKWARDS, backwards=True)
    bind_both(op, steps, forwards, backwards, merged)


class _Integer:
    """The LSTM of 8-bit activations."""

    def __init__(self, op: OperatorImport) -> None:
        self.op = op
        self.x = op.type(_INPUT)
        self.steps = Steps.of(op, self.x)
        self.gates = [number for number in range(4) if number or op.has(_INPUT_WEIGHTS[0])]
        op.demand_rank(op.type(_INPUT_WEIGHTS[1]), 2, "weights")
        self.units = op.type(_INPUT_WEIGHTS[1]).shape[0]
        self.states = [state_value(op, _OUTPUT_STATE), state_value(op, _CELL_STATE)]
        self.output_type, self.cell_type = (type_ for _, type_ in self.states)
        self.hidden = self._hidden_params()
        self._check()

    def run(self) -> None:
        op = self.op
        y = op.result_type((*self.steps.leading, self.output_type.shape[1]))
        op.demand_kind(y, {"quantized i8"}, "result")
        self.cell_clamp = self._clamp()
        rows = TensorType((self.steps.rows, self.steps.depth), self.x.element)
        x = self.steps.rows_of(op, op.value(_INPUT), self.x)
        projected = self._products(x, rows, _INPUT_WEIGHTS, self._bias())
        element = integers((), "i32").element
        result = TensorType(y.shape, self.output_type.element)
        value, last = run_over_time(op, self.steps, projected, element, self._step, self.states)
        for place, state in zip((_OUTPUT_STATE, _CELL_STATE), last, strict=True):
            assign_state(op, place, state)
        op.bind(op.relabel(value, result, y), y)

    def _step(self, sums: Any, states: Sequence[Any]) -> list[Any]:
        op, state = self.op, self.output_type
        output, cell = states
        recurrent = self._products(output, state, _RECURRENT_WEIGHTS, [])
        recurrent = self._gates(recurrent, _RECURRENT_WEIGHTS, state)
        sums = self._gates(sums, _INPUT_WEIGHTS, self.x)
        cell = op.build("lstm_cell", [sums, recurrent, cell], self.cell_type, {"clamp": self.cell_clamp})
        hidden = TensorType(self.cell_type.shape, self.hidden)
        value = op.build("lstm_hidden", [sums, recurrent, cell], hidden, {})
        return [self._projected(value, hidden), cell]

    def _projected(self, value: Any, hidden: TensorType) -> Any:
        op, target = self.op, self.output_type
        if not op.has(_PROJECTION):
            return op.relabel(value, hidden, target)
        if op.option("projection_clip"):
            op.unsupported("a clip of the projection")
        weights = op.type(_PROJECTION)
        w = weights_as_integers(op, _PROJECTION, op.constant(_PROJECTION, "weights"), weights.shape)
        source, _ = as_integers(op, value, hidden)
        operands = [source, w]
        if op.has(_PROJECTION_BIAS):
            data = op.constant(_PROJECTION_BIAS, "biases").reshape(-1)
            type_ = integers(data.shape, "i32")
            operands.append(op.constant_value(op.tensor(_PROJECTION_BIAS), data, type_, "integers"))
        acc = op.build("fully_connected", operands, integers(target.shape, "i32"), {"clamp": ()})
        product = float32_product(weights.params.scale, hidden.params.scale)
        return rescaled(op, acc, target.shape, float32_quotient(product, target.params.scale), target)

    def _products(self, value: Any, type_: TensorType, inputs: Sequence[int], bias: list[Any]) -> Any:
        """The sums of all gates as integers, [rows, gates x units]."""
        op = self.op
        w = np.concatenate([op.constant(inputs[gate], "weights") for gate in self.gates])
        weights = op.constant_value(op.tensor(inputs[1]), w, integers(w.shape, "i8"), "gates")
        source, _ = as_integers(op, value, type_)
        acc = integers((type_.shape[0], w.shape[0]), "i32")
        return op.build("fully_connected", [source, weights, *bias], acc, {"clamp": ()})

    def _gates(self, sums: Any, inputs: Sequence[int], source: TensorType) -> Any:
        """Sums of one step, each gate with the scale of its products."""
        op, shape = self.op, (self.steps.batch, len(self.gates) * self.units)
        scales = tuple(
            float32_product(op.type(inputs[gate]).params.scale, source.params.scale) for gate in self.gates
        )
        blocks = ((1, self.units),)
        element = QuantParams(Storage.of("i32"), scales, (0,) * len(scales), block_sizes=blocks)
        return op.relabel(sums, integers(shape, "i32"), TensorType(shape, element))

    def _bias(self) -> list[Any]:
        op = self.op
        data = [op.constant(_BIASES[gate], "biases").reshape(-1) for gate in self.gates]
        joined = np.concatenate(data)
        if joined.dtype != np.int32 or joined.size != len(self.gates) * self.units:
            op.fail(
                f"biases: got {joined.size} values of {joined.dtype}, expected one INT32 per unit and gate"
            )
        return [op.constant_value(op.tensor(_BIASES[1]), joined, integers(joined.shape, "i32"), "gates")]

    def _clamp(self) -> tuple[float, ...]:
        """The clip of the cell state, in whole steps: LiteRT truncates it to an int16."""
        clip, scale = self.op.option("cell_clip"), self.cell_type.params.scale
        steps = int(min(max(np.float32(clip) / np.float32(scale), -32768.0), 32767.0))
        return (-steps * scale, steps * scale) if steps > 0 else ()

    def _hidden_params(self) -> QuantParams:
        op = self.op
        if len(op.operator.intermediates) <= _HIDDEN:
            op.fail(f"got {len(op.operator.intermediates)} intermediate tensors, expected {_HIDDEN + 1}")
        index = op.operator.intermediates[_HIDDEN]
        if not 0 <= index < len(op.graph.tensors):
            op.fail(f"intermediate tensor {index} does not exist, the graph has {len(op.graph.tensors)}")
        params = op.graph.tensors[index].element
        if not isinstance(params, QuantParams) or params.storage.name != "i8" or not params.is_per_tensor:
            op.fail("the intermediate tensor of the hidden state must be quantized INT8")
        if op.has(_PROJECTION):
            # LiteRT negates the zero point of what it projects, so that is where values saturate.
            zero_point = min(max(-params.zero_point, -128), 127)
            return replace(params, zero_points=(zero_point,))
        return params

    def _check(self) -> None:
        """Weights, biases and states fit together, and are of the types that the kernel takes."""
        op, units = self.op, self.units
        op.demand_rank(self.output_type, 2, "state")
        outputs, batch = self.output_type.shape[1], self.steps.batch
        for inputs, depth in ((_INPUT_WEIGHTS, self.steps.depth), (_RECURRENT_WEIGHTS, outputs)):
            for gate in self.gates:
                type_ = op.type(inputs[gate])
                op.demand_kind(type_, {"quantized i8"}, "weights")
                if type_.shape != (units, depth) or not type_.params.is_per_tensor:
                    op.fail(f"weights of shape {list(type_.shape)}, expected {[units, depth]} with one scale")
        for type_, shape, storage in (
            (self.output_type, (batch, outputs), "i8"),
            (self.cell_type, (batch, units), "i16"),
        ):
            if type_.shape != shape or not type_.is_quantized or type_.params.storage.name != storage:
                op.fail(f"a state of type {kind(type_)}{list(type_.shape)}, expected {storage}{list(shape)}")
        if math.frexp(self.cell_type.params.scale)[0] != 0.5 or self.cell_type.params.zero_point:
            op.fail("the cell state's scale must be a power of two, and its zero point 0")
        if not op.has(_PROJECTION) and outputs != units:
            op.fail(f"{outputs} outputs of {units} units need a projection")
