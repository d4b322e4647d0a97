"""What an importer function works with: one operator's tensors, values and options, and the ops it builds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from ...dialect import qnn
from ...dialect.ir_types import to_ir_type
from ...dialect.meaning import evaluate
from ...dialect.mlir import MLIRError, ir
from ...dialect.qnn.shapes import same_shape
from ...dialect.types import QuantParams, TensorType
from .graph import OPTIONAL, Graph, Operator, Tensor, short
from .topology import describe

if TYPE_CHECKING:
    from .graph_import import GraphImport

CLAMPS: dict[str, tuple[float, ...]] = {
    "NONE": (),
    "RELU": (0.0, float("inf")),
    "RELU_N1_TO_1": (-1.0, 1.0),
    "RELU6": (0.0, 6.0),
}
"""Fused activations as the ``clamp`` attribute: bounds in real values."""

Q8 = frozenset({"quantized i8", "quantized u8"})
Q16 = frozenset({"quantized i16"})
Q32 = frozenset({"quantized i32"})
FLOAT = frozenset({"f32"})
PLAIN = frozenset({"i32", "i64"})

ORDINARY = frozenset({"i1", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"})
"""Integers that are no one's scale, and booleans."""
MOVABLE = frozenset({"f16", "f32", "f64"}) | ORDINARY | Q8 | Q16 | Q32
"""What an operator takes that only moves values."""


class UnsupportedError(Exception):
    """This operator is valid but cannot be imported; collected, so that all of them are reported at once.

    The message says what about it; none, if the operator itself is not known.
    """


class ConsequenceError(UnsupportedError):
    """What is wrong follows from an unsupported operator before this one, which is reported already."""


def kind(type_: TensorType) -> str:
    """``quantized i8``, ``f32``, ``i32`` ...: what decides whether an operator takes a tensor."""
    element = type_.element
    return f"quantized {element.storage.name}" if isinstance(element, QuantParams) else element


class OperatorImport:
    """One operator being imported. Inputs and outputs are numbered as in the file's operator."""

    def __init__(self, graph: GraphImport, operator: Operator) -> None:
        self.graph = graph
        self.operator = operator
        self.name = operator.name
        self.where = describe(operator, graph.tensors)
        self.location = graph.location(operator)
        self._folds = count()

    # -- faults ------------------------------------------------------------------------------------

    def fail(self, what: str) -> NoReturn:
        """The file is wrong."""
        self.graph.fail(f"{self.where}: {what}")

    def unsupported(self, what: str) -> NoReturn:
        """The file is right, but we cannot import this."""
        raise UnsupportedError(what)

    def infer(self, function: Callable[..., tuple[int, ...]], *arguments: Any) -> tuple[int, ...]:
        """A shape from one of the functions of ``qnn.shapes``; shapes that do not fit together are the
        file's fault.
        """
        try:
            return function(*arguments)
        except ValueError as error:
            self.fail(str(error))

    # -- what the file says ------------------------------------------------------------------------

    def option(self, name: str) -> Any:
        return self.operator.options[name]

    def clamp(self) -> tuple[float, ...]:
        """The fused activation as a ``clamp`` attribute."""
        activation: str = self.option("activation")
        if activation not in CLAMPS:
            self.unsupported(f"a fused {activation} activation")
        return CLAMPS[activation]

    def has(self, index: int) -> bool:
        """Whether the optional input is there."""
        inputs = self.operator.inputs
        return index < len(inputs) and inputs[index] != OPTIONAL

    def tensor(self, index: int) -> Tensor:
        """A required input."""
        if not self.has(index):
            self.fail(f"input {index} is missing, got {list(self.operator.inputs)}")
        tensor = self.graph.tensors[self.operator.inputs[index]]
        if tensor.is_variable:
            self.unsupported(f"input '{short(tensor.name)}' is a variable")
        if tensor.index in self.graph.lengths:
            self.unsupported(f"input '{short(tensor.name)}', whose length only a run can tell")
        self._demand_usable(tensor, "input")
        return tensor

    def _demand_usable(self, tensor: Tensor, what: str) -> None:
        if tensor.obstacle:
            self.unsupported(f"{what} '{short(tensor.name)}' has {tensor.obstacle}")

    def type(self, index: int) -> TensorType:
        """An input's type, with the shape it has in this import (which ``shapes`` may have changed)."""
        return self.graph.type_of(self.tensor(index))

    @property
    def input_types(self) -> list[TensorType]:
        return [self.type(i) for i in range(len(self.operator.inputs))]

    def is_constant(self, index: int) -> bool:
        """Whether the input's values are known at import."""
        return self.graph.data_of(self.tensor(index)) is not None

    def constant(self, index: int, what: str) -> npt.NDArray[np.generic]:
        """The stored values of an input that must be a constant."""
        tensor = self.tensor(index)
        data = self.graph.data_of(tensor)
        if data is None and self.graph.is_stand_in(tensor):
            raise ConsequenceError(f"{what} come from an unsupported operator")
        if data is None:
            self.unsupported(f"{what} that are computed at run time")
        return data

    def integers(self, index: int, what: str) -> tuple[int, ...]:
        """A constant input of i32 or i64, flattened."""
        data = self.constant(index, what)
        if data.dtype not in (np.int32, np.int64):
            self.fail(f"{what} have type {self.tensor(index).type_name}, expected INT32 or INT64")
        return tuple(int(v) for v in data.reshape(-1))

    def axis(self, axis: int, rank: int) -> int:
        """An axis counted from the front; negative ones count from the end."""
        if not -rank <= axis < rank:
            self.fail(f"axis {axis} does not exist in a tensor of rank {rank}")
        return axis % rank

    def output(self, index: int = 0) -> Tensor:
        if index >= len(self.operator.outputs):
            self.fail(f"output {index} is missing, got {len(self.operator.outputs)} outputs")
        tensor = self.graph.tensors[self.operator.outputs[index]]
        self._demand_usable(tensor, "output")
        if tensor.is_variable:
            self.unsupported(f"output '{short(tensor.name)}' is a variable")
        return tensor

    def subgraph(self, option: str) -> Graph:
        """The subgraph that an option names."""
        number: int = self.option(option)
        graphs = self.graph.model.graphs
        if not 0 <= number < len(graphs):
            self.fail(f"subgraph {number} does not exist, the file has {len(graphs)}")
        return graphs[number]

    # -- what an importer demands ------------------------------------------------------------------

    def demand_counts(self, inputs: Collection[int], outputs: int = 1) -> None:
        """The operator has one of these numbers of inputs, and this number of outputs."""
        count, found = len(self.operator.inputs), len(self.operator.outputs)
        if count not in inputs:
            self.fail(f"got {count} inputs, expected {' or '.join(map(str, sorted(inputs)))}")
        if found != outputs:
            self.fail(f"got {found} outputs, expected {outputs}")

    def demand_kind(self, type_: TensorType, allowed: Collection[str], what: str = "input") -> str:
        """The type is one that the operator takes; returns its kind."""
        found = kind(type_)
        if found not in allowed:
            self.unsupported(f"{what} of type {found}")
        return found

    def demand_same_kind(self, allowed: Collection[str], inputs: Collection[int] = (0,)) -> str:
        """These inputs and all outputs are of one kind, one of ``allowed``; returns it."""
        found = self.demand_kind(self.type(min(inputs)), allowed)
        others = [self.type(i) for i in inputs]
        others += [self.output(k).type for k in range(len(self.operator.outputs))]
        for other in others:
            if kind(other) != found:
                self.unsupported(f"{found} mixed with {kind(other)}")
        return found

    def demand_rank(self, type_: TensorType, rank: int, what: str = "input") -> None:
        if len(type_.shape) != rank:
            self.fail(f"{what} has shape {list(type_.shape)}, expected rank {rank}")

    def demand_positive(self, **values: int) -> None:
        """Extents, strides and the like are at least 1."""
        for name, value in values.items():
            if value < 1:
                self.fail(f"{name.replace('_', ' ')} must be positive, got {value}")

    # -- building ----------------------------------------------------------------------------------

    def value(self, index: int) -> Any:
        """An input's value; constants are materialized as they are stored."""
        return self.graph.value_of(self.tensor(index), self.operator)

    def constant_value(
        self, tensor: Tensor, array: npt.NDArray[np.generic], type_: TensorType, variant: Hashable = None
    ) -> Any:
        """A constant made from a constant tensor, in another layout or with other parameters.

        ``variant`` tells apart uses of one type whose values differ.
        """
        return self.graph.constant_value(tensor, array, type_, self.operator, variant)

    def result_type(self, shape: Sequence[int], index: int = 0, element: str = "") -> TensorType:
        """An output's type with the inferred shape.

        That must be the declared one where the signature does not leave it open, unless inputs were given
        other shapes.
        """
        tensor = self.output(index)
        inferred = tuple(shape)
        known = tensor.has_rank and not self.graph.reshaped
        if known and not same_shape(inferred, tensor.shape_signature):
            self.fail(
                f"declares output shape {list(tensor.shape_signature)}, "
                f"but its inputs and options give {list(inferred)}"
            )
        type_ = TensorType(inferred, element or tensor.element)
        self.demand_memory(inferred, type_)
        if 0 in inferred:
            self.unsupported(f"a result without elements, {list(inferred)}")
        return self._demand_per_tensor(type_)

    def _demand_per_tensor(self, type_: TensorType) -> TensorType:
        if isinstance(type_.element, QuantParams) and not type_.element.is_per_tensor:
            self.unsupported("per-channel parameters on an activation")
        return type_

    def demand_memory(self, shape: Sequence[int], type_: TensorType) -> None:
        """A tensor of this shape stays within the memory limit."""
        size, limit = (
            TensorType(tuple(shape), type_.element).elements * type_.dtype.itemsize,
            self.graph.limit_bytes,
        )
        if size > limit:
            self.fail(f"shape {list(shape)} needs {size} bytes, more than the limit of {limit}")

    def build(
        self, op: str, operands: Sequence[Any], type_: TensorType, attributes: Mapping[str, Any]
    ) -> Any:
        """An op whose result is not one of the operator's outputs. Shapes computed from constants fold."""
        known = self.graph.known(operands)
        if known and is_folded(op, [t for _, t in known], type_):
            array = folded(op, known, type_, attributes)
            if array is not None:
                return self.constant_value(self.output(), array, type_, next(self._folds))
        try:
            return qnn.create(
                op, operands, [type_], attributes, loc=self.location, ip=self.graph.insertion_point
            )[0]
        except MLIRError as error:
            self.fail(f"{first_line(error)}")

    def emit(
        self,
        op: str,
        operands: Sequence[Any],
        shape: Sequence[int],
        attributes: Mapping[str, Any] | None = None,
        *,
        output: int = 0,
        element: str = "",
    ) -> None:
        """The op that computes an output. Its type is the declared one with the inferred ``shape``."""
        type_ = self.result_type(shape, output, element)
        self.bind(self.build(op, operands, type_, attributes or {}), type_, output)

    def emit_constant(self, array: npt.NDArray[np.generic], output: int = 0) -> None:
        """The output is a constant known at import."""
        type_ = self.result_type(array.shape, output)
        self.bind(self.constant_value(self.output(output), array, type_, next(self._folds)), type_, output)

    def relabel(self, value: Any, type_: TensorType, wanted: TensorType) -> Any:
        """The same stored integers as another type of their storage, as if bytes were copied."""
        if type_ == wanted:
            return value
        if type_.dtype != wanted.dtype or type_.shape != wanted.shape:
            self.unsupported(f"{kind(type_)}{list(type_.shape)} as {kind(wanted)}{list(wanted.shape)}")
        for step in (storage_type(type_), wanted):
            value = self._cast(value, step)
        return value

    def _cast(self, value: Any, type_: TensorType) -> Any:
        wanted = to_ir_type(type_)
        if value.type == wanted:
            return value
        return ir.Operation.create(
            "quant.scast",
            results=[wanted],
            operands=[value],
            loc=self.location,
            ip=self.graph.insertion_point,
        ).results[0]

    def bind(self, value: Any, type_: TensorType, output: int = 0) -> None:
        """``value`` is an output of the operator."""
        self.graph.bind(self.output(output), value, type_)

    def bind_counted(self, value: Any, type_: TensorType, count: Any, output: int = 0) -> None:
        """``value`` has as many elements of its first extent as ``count``, an i64, says at run time. Such a
        tensor can be an output of the graph, but no operator's input.
        """
        self.bind(value, type_, output)
        self.graph.lengths[self.output(output).index] = count


MOVES = frozenset(
    {"broadcast", "cast", "concat", "gather", "pad", "reshape", "reverse", "select", "slice", "transpose"}
)
FEW = 1 << 10
MANY = 1 << 16


def is_folded(op: str, inputs: Sequence[TensorType], result: TensorType) -> bool:
    """Whether an op on constants is computed at import, so that shapes that a graph computes are known.

    Weights are, if they are only dequantized or moved. Never if it makes a large constant of small ones.
    """
    if op == "dequantize":
        return True
    if result.elements > max(MANY, *(type_.elements for type_ in inputs), 0):
        return False
    if result.is_quantized or any(type_.is_quantized for type_ in inputs):
        return op in MOVES and all(t.element == result.element for t in inputs if t.is_quantized)
    return op in MOVES or not result.is_float or result.elements <= FEW


def storage_type(type_: TensorType) -> TensorType:
    """The type of plain integers that a quantized tensor is stored as; other types are themselves."""
    if not type_.is_quantized:
        return type_
    return TensorType(type_.shape, f"i{max(8, type_.params.storage.bits)}")


def folded(
    op: str,
    operands: Sequence[tuple[npt.NDArray[np.generic], TensorType]],
    result: TensorType,
    attributes: Mapping[str, Any],
) -> npt.NDArray[np.generic] | None:
    """What an op on constants gives; None if they do not fit together: the op's verifier says how."""
    arrays, types = zip(*operands, strict=True)
    try:
        with np.errstate(all="ignore"):
            return evaluate(op, arrays, types, [result], attributes)[0]
    except (ValueError, IndexError):
        return None


def first_line(error: MLIRError) -> str:
    """What MLIR says is wrong, on one line."""
    return next((d.message for d in error.error_diagnostics), str(error)).splitlines()[0]
