"""The LSTM of 8-bit activations with a 16-bit cell state: one product of weights with all inputs, then step
by step over time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...dialect.types import QuantParams, Storage, TensorType
from .operator_import import OperatorImport, kind
from .raw_integers import (
    as_integers,
    float32_product,
    float32_quotient,
    integers,
    rescaled,
    weights_as_integers,
)
from .sequences import Steps, part_of, run_over_time
from .variables import assign_state, state_value

_INPUT = 0
_INPUT_WEIGHTS, _RECURRENT_WEIGHTS = (1, 2, 3, 4), (5, 6, 7, 8)
_PEEPHOLES, _BIASES = {0: 9, 1: 10, 3: 11}, (12, 13, 14, 15)
_PROJECTION, _PROJECTION_BIAS = 16, 17
_OUTPUT_STATE, _CELL_STATE = 18, 19
_NORMALIZATION = (20, 21, 22, 23)
_HIDDEN = 4
"""Which of the intermediates has the parameters of what a step computes; those before it have the gates'."""
_Q12 = QuantParams(Storage.of("i16"), (2.0**-12,), (0,))


class IntegerLstm:
    """The LSTM of 8-bit activations."""

    def __init__(self, op: OperatorImport, steps: Steps) -> None:
        self.op, self.steps = op, steps
        self.x = op.type(_INPUT)
        self.gates = [number for number in range(4) if number or op.has(_INPUT_WEIGHTS[0])]
        op.demand_rank(op.type(_INPUT_WEIGHTS[1]), 2, "weights")
        self.units = op.type(_INPUT_WEIGHTS[1]).shape[0]
        self.states = [state_value(op, _OUTPUT_STATE), state_value(op, _CELL_STATE)]
        self.output_type, self.cell_type = (type_ for _, type_ in self.states)
        self.hidden = self._hidden_params()
        self.normalized, self.peepholes = op.has(_NORMALIZATION[1]), op.has(_PEEPHOLES[3])
        self._check()

    def run(self) -> None:
        op = self.op
        y = op.result_type((*self.steps.leading, self.output_type.shape[1]))
        op.demand_kind(y, {"quantized i8"}, "result")
        self.cell_clamp = self._clamp()
        rows = TensorType((self.steps.rows, self.steps.depth), self.x.element)
        x = self.steps.rows_of(op, op.value(_INPUT), self.x)
        projected = self._products(x, rows, _INPUT_WEIGHTS, [] if self.normalized else self._bias())
        element = integers((), "i32").element
        result = TensorType(y.shape, self.output_type.element)
        step = self._step_by_gates if self.normalized or self.peepholes else self._step
        value, last = run_over_time(op, self.steps, projected, element, step, self.states)
        for place, state in zip((_OUTPUT_STATE, _CELL_STATE), last, strict=True):
            assign_state(op, place, state)
        op.bind(op.relabel(value, result, y), y)

    def _step(self, sums: Any, states: Sequence[Any]) -> list[Any]:
        """``lstm_cell`` and ``lstm_hidden`` add up the gates' sums."""
        op, state = self.op, self.output_type
        output, cell = states
        recurrent = self._products(output, state, _RECURRENT_WEIGHTS, [])
        recurrent = self._scaled(recurrent, _RECURRENT_WEIGHTS, state)
        sums = self._scaled(sums, _INPUT_WEIGHTS, self.x)
        cell = op.build("lstm_cell", [sums, recurrent, cell], self.cell_type, {"clamp": self.cell_clamp})
        return [self._output(sums, recurrent, cell), cell]

    def _step_by_gates(self, sums: Any, states: Sequence[Any]) -> list[Any]:
        """Gates see the cell state or are normalized: they come to ``lstm_cell`` ready, as sums of scale
        2^-12 with nothing to add; the output gate sees the new cell state.
        """
        op = self.op
        output, cell = states
        recurrent = self._products(output, self.output_type, _RECURRENT_WEIGHTS, [])
        ready = [self._gate(sums, recurrent, gate, cell) for gate in self.gates[:-1]]
        zeros, type_ = self._nothing()
        before = op.build("concat", [*ready, ready[-1]], type_, {"axis": 1})
        cell = op.build("lstm_cell", [before, zeros, cell], self.cell_type, {"clamp": self.cell_clamp})
        last = self._gate(sums, recurrent, 3, cell)
        after = op.build("concat", [last] * len(self.gates), type_, {"axis": 1})
        return [self._output(after, zeros, cell), cell]

    def _nothing(self) -> tuple[Any, TensorType]:
        """Sums of zeros."""
        shape = (self.steps.batch, len(self.gates) * self.units)
        type_ = TensorType(shape, replace(_Q12, storage=Storage.of("i32")))
        tensor = self.op.tensor(_INPUT_WEIGHTS[1])
        return self.op.constant_value(tensor, np.zeros(shape, np.int32), type_, "nothing"), type_

    def _gate(self, sums: Any, recurrent: Any, gate: int, cell: Any) -> Any:
        """What a gate is a function of, as sums of scale 2^-12."""
        op, shape = self.op, (self.steps.batch, self.units)
        scale = self._gate_scale(gate)
        operands = []
        for value, inputs, source in (
            (sums, _INPUT_WEIGHTS, self.x),
            (recurrent, _RECURRENT_WEIGHTS, self.output_type),
        ):
            first = self.gates.index(gate) * self.units
            part = part_of(op, value, integers((), "i32").element, (0, first), shape)
            product = float32_product(op.type(inputs[gate]).params.scale, source.params.scale)
            operands.append(op.relabel(part, integers(shape, "i32"), integers(shape, "i32", scale=product)))
        if gate in _PEEPHOLES and op.has(_PEEPHOLES[gate]):
            operands += [cell, self._peephole(gate)]
        value = op.build("lstm_gate", operands, integers(shape, "i16", scale=scale), {})
        q12 = TensorType(shape, _Q12)
        if self.normalized:
            value = op.build("lstm_normalization", [value, *self._normalization(gate)], q12, {})
        narrow, wide = (TensorType(shape, element) for element in ("i16", "i32"))
        value = op.build("cast", [op.relabel(value, q12, narrow)], wide, {})
        return op.relabel(value, wide, integers(shape, "i32", scale=2.0**-12))

    def _peephole(self, gate: int) -> Any:
        """Weights as [batch, units]. LiteRT goes through the cell states that it has at a time - all of them,
        or of one batch if that comes first - in rows of outputs, not of units: with a projection to fewer of
        them, the last cells see nothing.
        """
        op, index = self.op, _PEEPHOLES[gate]
        type_, outputs = op.type(index), self.output_type.shape[1]
        together = self.steps.batch if self.steps.time_major else 1
        rows = np.zeros((self.steps.batch // together, together * self.units), np.int16)
        rows[:, : together * outputs] = np.tile(op.constant(index, "weights").reshape(-1)[:outputs], together)
        plain = TensorType((self.steps.batch, self.units), type_.element)
        return op.constant_value(op.tensor(index), rows.reshape(plain.shape), plain, "rows")

    def _normalization(self, gate: int) -> list[Any]:
        """The operands of a gate's normalization: weights and bias."""
        op, index = self.op, _BIASES[gate]
        scale = op.type(_NORMALIZATION[gate]).params.scale
        data = self._bias_of(gate)
        type_ = integers(data.shape, "i32", scale=scale * 2.0**-10)
        return [op.value(_NORMALIZATION[gate]), op.constant_value(op.tensor(index), data, type_, "normal")]

    def _gate_scale(self, gate: int) -> float:
        if not self.normalized:
            return _Q12.scale
        params = self._intermediate(gate).element
        if not isinstance(params, QuantParams) or not params.is_per_tensor:
            self.op.fail(f"the intermediate tensor of gate {gate} must have one scale")
        return params.scale

    def _output(self, sums: Any, recurrent: Any, cell: Any) -> Any:
        hidden = TensorType(self.cell_type.shape, self.hidden)
        value = self.op.build("lstm_hidden", [sums, recurrent, cell], hidden, {})
        return self._projected(value, hidden)

    def _projected(self, value: Any, hidden: TensorType) -> Any:
        op, target = self.op, self.output_type
        if not op.has(_PROJECTION):
            return op.relabel(value, hidden, target)
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
        result = rescaled(op, acc, target.shape, float32_quotient(product, target.params.scale), target)
        return self._clipped(result)

    def _clipped(self, value: Any) -> Any:
        """The clip of the projection: of stored integers, whatever the zero point; LiteRT truncates it to an
        int8, of the result's scale.
        """
        op, target = self.op, self.output_type
        clip, scale = op.option("projection_clip"), op.output().type.params.scale
        steps = int(min(max(np.float32(clip) / np.float32(scale), -128.0), 127.0)) if clip > 0 else 0
        if steps <= 0:
            return value
        plain = integers(target.shape, "i8")
        bounds = {"clamp": (float(-steps), float(steps))}
        value = op.build("clamp", [op.relabel(value, target, plain)], plain, bounds)
        return op.relabel(value, plain, target)

    def _products(self, value: Any, type_: TensorType, inputs: Sequence[int], bias: list[Any]) -> Any:
        """The sums of all gates as integers, [rows, gates x units]."""
        op = self.op
        w = np.concatenate([op.constant(inputs[gate], "weights") for gate in self.gates])
        weights = op.constant_value(op.tensor(inputs[1]), w, integers(w.shape, "i8"), "gates")
        source, _ = as_integers(op, value, type_)
        acc = integers((type_.shape[0], w.shape[0]), "i32")
        return op.build("fully_connected", [source, weights, *bias], acc, {"clamp": ()})

    def _scaled(self, sums: Any, inputs: Sequence[int], source: TensorType) -> Any:
        """Sums of one step, each gate with the scale of its products."""
        op, shape = self.op, (self.steps.batch, len(self.gates) * self.units)
        scales = tuple(
            float32_product(op.type(inputs[gate]).params.scale, source.params.scale) for gate in self.gates
        )
        blocks = ((1, self.units),)
        element = QuantParams(Storage.of("i32"), scales, (0,) * len(scales), block_sizes=blocks)
        return op.relabel(sums, integers(shape, "i32"), TensorType(shape, element))

    def _bias(self) -> list[Any]:
        joined = np.concatenate([self._bias_of(gate) for gate in self.gates])
        type_ = integers(joined.shape, "i32")
        return [self.op.constant_value(self.op.tensor(_BIASES[1]), joined, type_, "gates")]

    def _bias_of(self, gate: int) -> npt.NDArray[np.generic]:
        data = self.op.constant(_BIASES[gate], "biases").reshape(-1)
        if data.dtype != np.int32 or data.size != self.units:
            self.op.fail(f"biases: got {data.size} values of {data.dtype}, expected one INT32 per unit")
        return data

    def _clamp(self) -> tuple[float, ...]:
        """The clip of the cell state, in whole steps: LiteRT truncates it to an int16."""
        clip, scale = self.op.option("cell_clip"), self.cell_type.params.scale
        steps = int(min(max(np.float32(clip) / np.float32(scale), -32768.0), 32767.0))
        return (-steps * scale, steps * scale) if steps > 0 else ()

    def _intermediate(self, number: int) -> TensorType:
        op = self.op
        if len(op.operator.intermediates) <= number:
            op.fail(f"got {len(op.operator.intermediates)} intermediate tensors, expected {_HIDDEN + 1}")
        index = op.operator.intermediates[number]
        if not 0 <= index < len(op.graph.tensors):
            op.fail(f"intermediate tensor {index} does not exist, the graph has {len(op.graph.tensors)}")
        return op.graph.tensors[index].type

    def _hidden_params(self) -> QuantParams:
        params = self._intermediate(_HIDDEN).element
        if not isinstance(params, QuantParams) or params.storage.name != "i8" or not params.is_per_tensor:
            self.op.fail("the intermediate tensor of the hidden state must be quantized INT8")
        if self.op.has(_PROJECTION):
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
        if self.peepholes and outputs > units:
            op.unsupported("peepholes with a projection to more outputs than units: LiteRT reads beyond them")
        vectors = [_NORMALIZATION[gate] for gate in self.gates] if self.normalized else []
        vectors += [_PEEPHOLES[gate] for gate in self.gates if self.peepholes and gate in _PEEPHOLES]
        for index in vectors:
            type_ = op.type(index)
            op.demand_kind(type_, {"quantized i16"}, "weights of a gate")
            if type_.shape != (units,) or not type_.params.is_per_tensor or type_.params.zero_point:
                op.fail(f"input {index} of shape {list(type_.shape)}, expected {[units]} with zero point 0")
