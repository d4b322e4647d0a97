"""One step of recurrent layers on quantized tensors: what an LSTM computes between its products."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, Optional

from ..mlir import ext
from ..types import TensorType
from .constraints import clamp_bounds, equal_shape, has_rank, per_tensor, stored_in
from .core import QnnOp

SMALLEST_CELL_EXPONENT, LARGEST_CELL_EXPONENT = -15, -9
"""Of the scale of a cell state: it has 0 to 6 bits before its point."""


class LstmGateOp(QnnOp, name="lstm_gate", traits=[ext.Pure]):
    """What one gate of an LSTM is a function of: its sums, and with a peephole the cell state.

    ``result = input_sums + recurrent_sums + peephole * cell``

    Each operand is rescaled to the result's scale; the sum is saturated after each. ``lstm_cell`` and
    ``lstm_hidden`` do the first part by themselves, and read what this computes as sums of scale 2^-12.

    Example: ``"qnn.lstm_gate"(%x, %h, %c, %p) {operandSegmentSizes = array<i32: 1, 1, 1, 1>} :
    (tensor<1x2x!b>, tensor<1x2x!b>, tensor<1x2x!c>, tensor<1x2x!c>) -> tensor<1x2x!c>``
    """

    result: ext.Result[Any]
    input_sums: ext.Operand[Any]
    recurrent_sums: ext.Operand[Any]
    cell: Optional[ext.Operand[Any]] = None  # noqa: UP045 - the bindings match Optional
    peephole: Optional[ext.Operand[Any]] = None  # noqa: UP045 - the bindings match Optional

    def check(self) -> Iterator[str]:
        """(C1) all have one shape [B, U], and a cell state comes with a peephole.
        (C2) sums are quantized i32, per-tensor with zero point 0.
        (C3) the cell state is quantized i16, zero point 0, of a scale 2^-15 to 2^-9.
        (C4) the peephole is quantized i16, per-tensor with zero point 0.
        (C5) the result is quantized i16, per-tensor with zero point 0.
        """
        types, result = self.input_types, self.result_type
        yield from has_rank("C1", "result", result, 2)
        labels = ("input sums", "recurrent sums", "cell", "peephole")
        for label, type_ in zip(labels, types, strict=False):
            yield from equal_shape("C1", label, type_.shape, result.shape)
        if len(types) == 3:
            yield "(C1) the cell state comes without a peephole"
        for label, type_ in zip(labels[:2], types, strict=False):
            yield from _symmetric("C2", label, type_, "i32")
        if len(types) == 4:
            yield from _cell("C3", types[2])
            yield from _symmetric("C4", "peephole", types[3], "i16")
        yield from _symmetric("C5", "result", result, "i16")


class LstmNormalizationOp(QnnOp, name="lstm_normalization", traits=[ext.Pure]):
    """A gate of an LSTM with layer normalization.

    ``result = (gate - mean(gate)) / deviation(gate) * weights + bias``, mean and deviation over each row

    The bias is in steps of 2^-10 of the weights' scale, whatever its own scale says.

    Example: ``"qnn.lstm_normalization"(%g, %w, %b) : (tensor<1x2x!c>, tensor<2x!c>, tensor<2x!b>) ->
    tensor<1x2x!c>``
    """

    result: ext.Result[Any]
    gate: ext.Operand[Any]
    weights: ext.Operand[Any]
    bias: ext.Operand[Any]

    def check(self) -> Iterator[str]:
        """(C1) gate and result are [B, U], weights and bias [U].
        (C2) gate and weights are quantized i16, per-tensor with zero point 0.
        (C3) the bias is quantized i32, per-tensor with zero point 0.
        (C4) the result is quantized i16 of scale 2^-12 and zero point 0.
        """
        (gate, weights, bias), result = self.input_types, self.result_type
        yield from has_rank("C1", "gate", gate, 2)
        yield from equal_shape("C1", "result", result.shape, gate.shape)
        for label, type_ in (("weights", weights), ("bias", bias)):
            yield from equal_shape("C1", label, type_.shape, gate.shape[1:])
        for label, type_ in (("gate", gate), ("weights", weights)):
            yield from _symmetric("C2", label, type_, "i16")
        yield from _symmetric("C3", "bias", bias, "i32")
        yield from _symmetric("C4", "result", result, "i16")
        if result.params.scale != 2.0**-12:
            yield f"(C4) result scale: got {result.params.scale:g}, expected 2^-12"


class LstmCellOp(QnnOp, name="lstm_cell", traits=[ext.Pure]):
    """The cell state of an LSTM after one step.

    ``result = clamp(logistic(forget) * cell + logistic(input) * tanh(update))``

    The sums [B, gates x U] are what the gates are functions of, input x weights (and bias) and previous
    output x weights, gate after gate: input, forget, update, output; each has its own scale. Gates are added
    in i16 of scale 2^-12. Three gates have no input gate: that is 1 - logistic(forget).

    Example: ``"qnn.lstm_cell"(%x, %h, %c) {clamp = array<f32>} : (tensor<1x8x!b>, tensor<1x8x!b>,
    tensor<1x2x!c>) -> tensor<1x2x!c>``
    """

    result: ext.Result[Any]
    input_sums: ext.Operand[Any]
    recurrent_sums: ext.Operand[Any]
    cell: ext.Operand[Any]
    clamp: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) the cell state is [B, U], both sums are [B, 3 x U] or [B, 4 x U].
        (C2) sums are quantized i32 of zero point 0, per-tensor or with one scale per gate (blocks of U).
        (C3) the cell state is quantized i16, zero point 0, of a scale 2^-15 to 2^-9.
        (C4) the result has the cell state's type.
        (C5) clamp is empty or low <= high.
        """
        *sums, cell = self.input_types
        yield from _sums(sums, cell)
        yield from _cell("C3", cell)
        if self.result_type != cell:
            yield "(C4) the result's type differs from the cell state's"
        yield from clamp_bounds("C5", self.plain("clamp"))


class LstmHiddenOp(QnnOp, name="lstm_hidden", traits=[ext.Pure]):
    """The output of an LSTM after one step, from the cell state after it.

    ``result = logistic(output) * tanh(cell)``

    Sums as in ``lstm_cell``, of which the last gate is read.

    Example: ``"qnn.lstm_hidden"(%x, %h, %c) : (tensor<1x8x!b>, tensor<1x8x!b>, tensor<1x2x!c>) ->
    tensor<1x2x!q>``
    """

    result: ext.Result[Any]
    input_sums: ext.Operand[Any]
    recurrent_sums: ext.Operand[Any]
    cell: ext.Operand[Any]

    def check(self) -> Iterator[str]:
        """(C1) the cell state is [B, U], both sums are [B, 3 x U] or [B, 4 x U].
        (C2) sums are quantized i32 of zero point 0, per-tensor or with one scale per gate (blocks of U).
        (C3) the cell state is quantized i16, zero point 0, of a scale 2^-15 to 2^-9.
        (C4) the result has the cell state's shape, and is quantized per-tensor in i8.
        """
        *sums, cell = self.input_types
        yield from _sums(sums, cell)
        yield from _cell("C3", cell)
        yield from equal_shape("C4", "result", self.result_type.shape, cell.shape)
        yield from _quantized_in("C4", "result", self.result_type, "i8")


def _sums(sums: Sequence[TensorType], cell: TensorType) -> Iterator[str]:
    yield from has_rank("C1", "cell", cell, 2)
    batch, units = cell.shape
    for label, type_ in zip(("input sums", "recurrent sums"), sums, strict=True):
        yield from has_rank("C1", label, type_, 2)
        if type_.shape not in ((batch, 3 * units), (batch, 4 * units)) or type_.shape != sums[0].shape:
            yield (
                f"(C1) {label} shape: got {list(type_.shape)}, expected {[batch, 4 * units]} or, "
                f"without an input gate, {[batch, 3 * units]}"
            )
        if not type_.is_quantized or type_.params.storage.name != "i32" or any(type_.params.zero_points):
            yield f"(C2) {label} must be quantized i32 with zero point 0"
        if type_.params.axis is not None or type_.params.block_sizes not in ((), ((1, units),)):
            yield f"(C2) {label} must have one scale, or one per {units} values along axis 1"


def _cell(number: str, type_: TensorType) -> Iterator[str]:
    yield from _quantized_in(number, "cell", type_, "i16")
    significand, exponent = math.frexp(type_.params.scale)
    if type_.params.zero_point or significand != 0.5:
        yield f"({number}) cell must have zero point 0 and a power of two as its scale"
    if not SMALLEST_CELL_EXPONENT <= exponent - 1 <= LARGEST_CELL_EXPONENT:
        yield f"({number}) cell scale: got 2^{exponent - 1}, expected 2^-15 to 2^-9"


def _quantized_in(number: str, label: str, type_: TensorType, storage: str) -> Iterator[str]:
    if not type_.is_quantized:
        yield f"({number}) {label} must be quantized"
    yield from per_tensor(number, label, type_)
    yield from stored_in(number, label, type_, (storage,))


def _symmetric(number: str, label: str, type_: TensorType, storage: str) -> Iterator[str]:
    yield from _quantized_in(number, label, type_, storage)
    if type_.params.zero_point:
        yield f"({number}) {label} zero point: got {type_.params.zero_point}, expected 0"
