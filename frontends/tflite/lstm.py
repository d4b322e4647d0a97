"""UNIDIRECTIONAL_SEQUENCE_LSTM: one product of weights with all inputs, then step by step over time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
from .registry import importer
from .variables import assign_state, state_value

_INPUT = 0
_INPUT_WEIGHTS, _RECURRENT_WEIGHTS = (1, 2, 3, 4), (5, 6, 7, 8)
_PEEPHOLES, _BIASES = (9, 10, 11), (12, 13, 14, 15)
_PROJECTION, _PROJECTION_BIAS = 16, 17
_OUTPUT_STATE, _CELL_STATE = 18, 19
_LAYER_NORM = (20, 21, 22, 23)
_HIDDEN = 4
"""Which of the intermediates has the parameters of what a step computes."""

Array = npt.NDArray[np.generic]


@dataclass(frozen=True)
class Sequence3:
    """The shape of a sequence: [batch, time, depth], or time first."""

    batch: int
    time: int
    depth: int
    time_major: bool

    @property
    def leading(self) -> tuple[int, int]:
        return (self.time, self.batch) if self.time_major else (self.batch, self.time)

    @property
    def time_axis(self) -> int:
        return 0 if self.time_major else 1


def sequence_of(op: OperatorImport, shape: Sequence[int]) -> Sequence3:
    time_major = op.option("time_major")
    first, second, depth = shape
    batch, time = (second, first) if time_major else (first, second)
    return Sequence3(batch, time, depth, time_major)


def run_over_time(
    op: OperatorImport,
    sequence: Sequence3,
    projected: Any,
    element: str | QuantParams,
    step: Callable[[Any], Any],
    result: TensorType,
    backwards: bool = False,
) -> Any:
    """``step`` of what the input contributes at each time, [batch, width], in order; the results as a
    sequence.

    ``projected`` is [batch x time (in the sequence's order), width] of ``element``; a step gives [batch,
    units] in the element type of ``result``.
    """
    width = projected.type.shape[1]
    axis = sequence.time_axis
    whole = TensorType((*sequence.leading, width), element)
    value = op.build("reshape", [projected], whole, {})
    units = result.shape[2]
    outputs = []
    sizes = [*sequence.leading, width]
    sizes[axis] = 1
    order = range(sequence.time)
    for time in reversed(order) if backwards else order:
        offsets = [0, 0, 0]
        offsets[axis] = time
        attributes = {"offsets": tuple(offsets), "sizes": tuple(sizes), "strides": (1, 1, 1)}
        part = op.build("slice", [value], TensorType(tuple(sizes), element), attributes)
        part = op.build("reshape", [part], TensorType((sequence.batch, width), element), {})
        shape = [sequence.batch, 1, units] if axis == 1 else [1, sequence.batch, units]
        outputs.append(op.build("reshape", [step(part)], TensorType(tuple(shape), result.element), {}))
    if backwards:
        outputs.reverse()
    if len(outputs) == 1:
        return outputs[0]
    return op.build("concat", outputs, result, {"axis": axis})


@importer("UNIDIRECTIONAL_SEQUENCE_LSTM")
def unidirectional_sequence_lstm(op: OperatorImport) -> None:
    """8-bit activations with a 16-bit cell state, or all in float."""
    op.demand_counts((20, 24))
    x = op.type(_INPUT)
    op.demand_rank(x, 3)
    for indices, what in ((_PEEPHOLES, "peepholes"), (_LAYER_NORM, "layer normalization")):
        if any(op.has(index) for index in indices):
            op.unsupported(what)
    if kind(x) == "quantized i8" and kind(op.type(2)) == "quantized i8":
        _Integer(op).run()
    else:
        op.unsupported(f"{kind(x)} input with {kind(op.type(2))} weights")


class _Integer:
    """The LSTM of 8-bit activations."""

    def __init__(self, op: OperatorImport) -> None:
        self.op = op
        self.x = op.type(_INPUT)
        self.sequence = sequence_of(op, self.x.shape)
        self.gates = [number for number in range(4) if number or op.has(_INPUT_WEIGHTS[0])]
        self.units = op.type(_INPUT_WEIGHTS[1]).shape[0]
        self.output, self.output_type = state_value(op, _OUTPUT_STATE)
        self.cell, self.cell_type = state_value(op, _CELL_STATE)
        self.hidden = self._hidden_params()
        self._check()

    def run(self) -> None:
        op = self.op
        y = op.result_type((*self.sequence.leading, self.output_type.shape[1]))
        op.demand_kind(y, {"quantized i8"}, "result")
        self.cell_clamp = self._clamp()
        rows = (self.sequence.batch * self.sequence.time, self.sequence.depth)
        projected = self._products(op.value(_INPUT), self.x, rows, _INPUT_WEIGHTS, self._bias())
        element = integers((), "i32").element
        result = TensorType(y.shape, self.output_type.element)
        value = run_over_time(op, self.sequence, projected, element, self._step, result)
        assign_state(op, _OUTPUT_STATE, self.output)
        assign_state(op, _CELL_STATE, self.cell)
        op.bind(op.relabel(value, result, y), y)

    def _step(self, sums: Any) -> Any:
        op = self.op
        state = self.output_type
        recurrent = self._products(self.output, state, state.shape, _RECURRENT_WEIGHTS, [])
        recurrent = self._gates(recurrent, _RECURRENT_WEIGHTS, state)
        sums = self._gates(sums, _INPUT_WEIGHTS, self.x)
        self.cell = op.build(
            "lstm_cell", [sums, recurrent, self.cell], self.cell_type, {"clamp": self.cell_clamp}
        )
        hidden = TensorType(self.cell_type.shape, self.hidden)
        value = op.build("lstm_hidden", [sums, recurrent, self.cell], hidden, {})
        self.output = self._projected(value, hidden)
        return self.output

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

    def _products(
        self, value: Any, type_: TensorType, rows: Sequence[int], inputs: Sequence[int], bias: list[Any]
    ) -> Any:
        """The sums of all gates as integers, [rows, gates x units]."""
        op = self.op
        w = np.concatenate([op.constant(inputs[gate], "weights") for gate in self.gates])
        weights = op.constant_value(op.tensor(inputs[1]), w, integers(w.shape, "i8"), "gates")
        source, source_type = as_integers(op, value, type_)
        source = op.build("reshape", [source], TensorType(tuple(rows), source_type.element), {})
        acc = integers((rows[0], w.shape[0]), "i32")
        return op.build("fully_connected", [source, weights, *bias], acc, {"clamp": ()})

    def _gates(self, sums: Any, inputs: Sequence[int], source: TensorType) -> Any:
        """Sums of one step, each gate with the scale of its products."""
        op, shape = self.op, (self.sequence.batch, len(self.gates) * self.units)
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
        outputs, batch = self.output_type.shape[-1], self.sequence.batch
        for inputs, depth in ((_INPUT_WEIGHTS, self.sequence.depth), (_RECURRENT_WEIGHTS, outputs)):
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
