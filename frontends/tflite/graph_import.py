"""A checked graph to an MLIR module: runs every operator's importer and builds @main."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import chain, count
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from ...dialect import qnn
from ...dialect.constants import elements_attribute
from ...dialect.ir_types import to_ir_type
from ...dialect.mlir import MLIRError, func, ir
from ...dialect.model import LENGTH_ATTRIBUTE, NAME_ATTRIBUTE, NUMERICS_ATTRIBUTE
from ...dialect.types import QuantParams, TensorType
from ...errors import ImportModelError, UnsupportedOpError
from .graph import Graph, ModelFile, Operator, Signature, Tensor, short
from .operator_import import ConsequenceError, OperatorImport, UnsupportedError, first_line
from .registry import CUSTOM_IMPORTERS, IMPORTERS
from .topology import describe
from .variables import Variables, declared_by

Shape = tuple[int, ...]
REPEATED_OPERATORS = 10_000
"""So many operators may an import make of subgraphs that are run from several places, besides twice those in
the file: with a subgraph on both sides of a branch in a subgraph on both sides of a branch ... their number
doubles at every level.
"""


class _Expansion:
    """How many more operators one import may make."""

    def __init__(self, model: ModelFile) -> None:
        self.limit = REPEATED_OPERATORS + 2 * sum(len(graph.operators) for graph in model.graphs)
        self.left = self.limit


class GraphImport:
    """Builds @main of one graph in ``context``. ``shapes`` (one per graph input) replace the declared ones
    and all that follows.
    """

    def __init__(
        self,
        model: ModelFile,
        graph: Graph,
        shapes: Sequence[Shape] | None,
        limit_bytes: int,
        caller: GraphImport | None = None,
    ) -> None:
        self.model = model
        self.graph = graph
        self.tensors = graph.tensors
        self.reshaped: bool = shapes is not None if caller is None else caller.reshaped
        self.callers: tuple[Graph, ...] = (graph,) if caller is None else (*caller.callers, graph)
        """This graph, and those that run it."""
        self.limit_bytes = limit_bytes
        self._expansion: _Expansion = _Expansion(model) if caller is None else caller._expansion
        self.insertion_point: Any = None
        self.constants_point: Any = None
        """Where constants are made, if not there: those of a loop's body stand in front of the loop."""
        self._input_shapes = shapes or [self.tensors[i].shape for i in graph.inputs]
        self._values: dict[int, Any] = {}
        self._types: dict[int, TensorType] = {}
        self.lengths: dict[int, Any] = {}
        """Tensor index -> how many elements of the first extent there are, an i64, if only a run can tell."""
        self._constants: dict[tuple[int, TensorType, Hashable], Any] = {}
        self._known: dict[Any, tuple[npt.NDArray[np.generic], TensorType]] = {}
        self.variables: Variables = Variables(
            self, declared_by(model, limit_bytes) if caller is None else None, caller
        )
        self._faults: list[str] = []
        self._stand_ins: set[int] = set()

    def fail(self, what: str) -> NoReturn:
        raise ImportModelError(f"{self.model.name}: error: {what}")

    # -- values ------------------------------------------------------------------------------------

    def type_of(self, tensor: Tensor) -> TensorType:
        """The tensor's type in this import: shapes may differ from the declared ones."""
        return self._types.get(tensor.index, tensor.type)

    def value_of(self, tensor: Tensor, operator: Operator | None) -> Any:
        """The value of a graph input, an operator's output or a constant as stored.

        ``operator`` is the one that reads it: the location of a constant that is read for the first time.
        """
        if tensor.data is not None and tensor.index not in self._values:
            return self.constant_value(tensor, tensor.data, tensor.type, operator)
        if tensor.index not in self._values:
            raise ConsequenceError(f"reads '{short(tensor.name)}', which could not be imported")
        return self._values[tensor.index]

    def data_of(self, tensor: Tensor) -> npt.NDArray[np.generic] | None:
        """The stored values of a constant, also of one that was computed from constants; else None."""
        value = self._values.get(tensor.index)
        known = None if value is None else self._known.get(value)
        return known[0] if known else tensor.data

    def known(self, values: Sequence[Any]) -> list[tuple[npt.NDArray[np.generic], TensorType]] | None:
        """Arrays and types of values that are all constants; else None."""
        found = [self._known[value] for value in values if value in self._known]
        return found if len(found) == len(values) else None

    def is_stand_in(self, tensor: Tensor) -> bool:
        """Whether the tensor comes from an operator that could not be imported."""
        return tensor.index in self._stand_ins

    def bind(self, tensor: Tensor, value: Any, type_: TensorType) -> None:
        self._values[tensor.index] = value
        self._types[tensor.index] = type_

    def constant_value(
        self,
        tensor: Tensor,
        array: npt.NDArray[np.generic],
        type_: TensorType,
        operator: Operator | None,
        variant: Hashable = None,
    ) -> Any:
        """A qnn.constant, made once per tensor, type and ``variant``: another layout or other parameters
        get their own.
        """
        key = (tensor.index, type_, variant)
        if key not in self._constants:
            array, usable = without_dead_channels(array, type_)
            location = ir.Location.name(tensor.name, childLoc=self.file_location(operator))
            value = elements_attribute(np.require(array, requirements=["C"]), tensor.name)
            try:
                (constant,) = qnn.create(
                    "constant",
                    [],
                    [usable],
                    {"value": value},
                    loc=location,
                    ip=self.constants_point or self.insertion_point,
                )
            except MLIRError as error:
                self.fail(f"constant '{short(tensor.name)}': {first_line(error)}")
            self._constants[key] = constant
            self._known[constant] = (array, usable)
        return self._constants[key]

    @property
    def declared_bytes(self) -> int:
        """What the tensors bound so far need, as if none shared memory."""
        return sum(type_.elements * type_.dtype.itemsize for type_ in self._types.values())

    # -- the module --------------------------------------------------------------------------------

    def file_location(self, operator: Operator | None) -> Any:
        """(model file, operator index)."""
        return ir.Location.file(self.model.name, operator.index if operator else 0, 0)

    def location(self, operator: Operator) -> Any:
        """The output's name at (model file, operator index)."""
        file = self.file_location(operator)
        if not operator.outputs:
            return file
        return ir.Location.name(self.tensors[operator.outputs[0]].name, childLoc=file)

    def build(self, numerics: str, signature: Signature | None) -> Any:
        """The verified module. A signature's names, if one is given, replace those of the tensors.

        Raises:
            ImportModelError: an operator is wrong.
            UnsupportedOpError: operators cannot be imported; all of them are listed.
        """
        file = self.file_location(None)
        module = ir.Module.create(loc=file)
        module.operation.attributes[NUMERICS_ATTRIBUTE] = ir.StringAttr.get(numerics)
        argument_types = [
            self._argument_type(i, shape)
            for i, shape in zip(self.graph.inputs, self._input_shapes, strict=True)
        ]
        with ir.InsertionPoint(module.body), file:
            main = func.FuncOp("main", (argument_types, []))
        block = main.add_entry_block(
            arg_locs=[ir.Location.name(self.tensors[i].name, childLoc=file) for i in self.graph.inputs]
        )
        self.insertion_point = ir.InsertionPoint(block)
        for index, argument in zip(self.graph.inputs, block.arguments, strict=True):
            self._values[index] = argument
        self.import_operators()
        self._finish(main, argument_types, signature, file)
        self.variables.declared.declare(module, file)
        try:
            module.operation.verify()
        except MLIRError as error:
            self.fail(f"the graph is not valid: {first_line(error)}")
        return module

    def _argument_type(self, index: int, shape: Shape) -> Any:
        tensor = self.tensors[index]
        what = f"graph input '{short(tensor.name)}'"
        if tensor.obstacle:
            raise UnsupportedOpError(self.model.name, [f"{what} has {tensor.obstacle}"])
        if isinstance(tensor.element, QuantParams) and not tensor.element.is_per_tensor:
            raise UnsupportedOpError(self.model.name, [f"{what} has per-channel parameters"])
        type_ = TensorType(tuple(shape), tensor.element)
        size = type_.elements * type_.dtype.itemsize
        if not 0 < size <= self.limit_bytes:
            self.fail(f"{what} of shape {list(shape)} needs {size} bytes, expected 1 to {self.limit_bytes}")
        self._types[index] = type_
        return to_ir_type(type_)

    def import_operators(self) -> None:
        """Every operator of the graph, in order.

        Raises:
            ImportModelError: an operator is wrong.
            UnsupportedOpError: operators cannot be imported; all of them are listed.
        """
        self._expansion.left -= len(self.graph.operators)
        if self._expansion.left < 0:
            self.fail(
                f"subgraph '{short(self.graph.name)}': subgraphs are run from so many places that more than "
                f"{self._expansion.limit} operators would have to be imported"
            )
        for operator in self.graph.operators:
            try:
                self._import_operator(operator)
            except UnsupportedError as reason:
                if not isinstance(reason, ConsequenceError):
                    what = describe(operator, self.tensors)
                    self._faults.append(f"{what}: {reason}" if str(reason) else what)
                self._stand_in(operator)
            except ImportModelError:
                # Behind an operator that could not be imported shapes are only the declared ones, which may
                # be stale: what then looks wrong may not be.
                if not self._faults:
                    raise
                self._stand_in(operator)
        if self._faults:
            raise UnsupportedOpError(self.model.name, self._faults)

    def _import_operator(self, operator: Operator) -> None:
        custom = operator.name == "CUSTOM"
        function = CUSTOM_IMPORTERS.get(operator.custom_code) if custom else IMPORTERS.get(operator.name)
        if function is None:
            raise UnsupportedError
        function(OperatorImport(self, operator))

    def _stand_in(self, operator: Operator) -> None:
        """Values of the declared types, so that the operators behind an unsupported one can still be
        checked.
        """
        for index in operator.outputs:
            tensor = self.tensors[index]
            self._stand_ins.add(index)
            if tensor.obstacle:
                continue
            with contextlib.suppress(MLIRError):
                stand_in = ir.Operation.create(
                    "builtin.unrealized_conversion_cast",
                    results=[to_ir_type(tensor.type)],
                    loc=ir.Location.unknown(),
                    ip=self.insertion_point,
                )
                self._values[index] = stand_in.results[0]

    def _finish(self, main: Any, argument_types: list[Any], signature: Signature | None, file: Any) -> None:
        """Return the outputs; give arguments and results their names."""
        tensors = [self.tensors[i] for i in self.graph.outputs]
        for tensor in tensors:
            if tensor.obstacle:
                raise UnsupportedOpError(
                    self.model.name, [f"graph output '{short(tensor.name)}' has {tensor.obstacle}"]
                )
        results = [self.output_value(tensor, file) for tensor in tensors]
        counted = [index for index in dict.fromkeys(self.graph.outputs) if index in self.lengths]
        results += [self.lengths[index] for index in counted]
        self.variables.store(file)
        func.ReturnOp(results, loc=file, ip=self.insertion_point)
        self._drop_unread_constants()
        main.attributes["function_type"] = ir.TypeAttr.get(
            ir.FunctionType.get(argument_types, [value.type for value in results])
        )
        input_names = [(name, index) for index, name in signature.inputs.items()] if signature else []
        output_names = list(signature.outputs.items()) if signature else []
        main.attributes["arg_attrs"] = self._names(self.graph.inputs, input_names)
        main.attributes["res_attrs"] = self._names(self.graph.outputs, output_names, counted)

    def output_value(self, tensor: Tensor, location: Any) -> Any:
        """What the graph returns: of a state tensor, what it is in the end."""
        if not tensor.is_variable or tensor.index in self._values:
            return self.value_of(tensor, None)
        name = self.variables.declared.state_name(self.graph, tensor)
        return self.variables.read(name, tensor.type, location)[0]

    def _drop_unread_constants(self) -> None:
        """Shapes that are known now, and stored values whose only reader made others of them."""
        for constant in self._constants.values():
            if not any(True for _ in constant.uses):
                constant.owner.erase()
        self._constants.clear()
        self._known.clear()

    def _names(
        self, indices: Sequence[int], names: Sequence[tuple[str, int]], counted: Sequence[int] = ()
    ) -> Any:
        """One dictionary with ``qnn.name`` per index, and one for the length of each that is ``counted``.

        ``names`` (with their tensors) come first; where a tensor stands several times, its names follow each
        other. What has none keeps the tensor's name; one that is taken gets a number: callers go by name.
        """
        taken = {name for name, _ in names}
        waiting: dict[int, list[str]] = {}
        for name, index in names:
            waiting.setdefault(index, []).append(name)

        def free(base: str) -> str:
            candidates = chain([base], (f"{base}:{number}" for number in count(1)))
            name = next(name for name in candidates if name not in taken)
            taken.add(name)
            return name

        own = [
            waiting[index].pop(0) if waiting.get(index) else free(self.tensors[index].name)
            for index in indices
        ]
        lengths = {index: free(f"{own[list(indices).index(index)]}:length") for index in counted}
        attributes = []
        for index, name in zip(indices, own, strict=True):
            entry = {NAME_ATTRIBUTE: ir.StringAttr.get(name)}
            if index in lengths:
                entry[LENGTH_ATTRIBUTE] = ir.StringAttr.get(lengths[index])
            attributes.append(ir.DictAttr.get(entry))
        attributes += [ir.DictAttr.get({NAME_ATTRIBUTE: ir.StringAttr.get(n)}) for n in lengths.values()]
        return ir.ArrayAttr.get(attributes)


def without_dead_channels(
    array: npt.NDArray[np.generic], type_: TensorType
) -> tuple[npt.NDArray[np.generic], TensorType]:
    """A channel of scale 0 holds real zeros whatever is stored: store zeros, with scale 1, which our types
    can say.
    """
    params = type_.element
    if not isinstance(params, QuantParams) or params.axis is None or 0.0 not in params.scales:
        return array, type_
    alive = np.asarray(params.scales) != 0.0
    shape = [1] * len(type_.shape)
    shape[params.axis] = alive.size
    zeroed = np.where(alive.reshape(shape), array, array.dtype.type(0))
    scales = tuple(scale or 1.0 for scale in params.scales)
    return zeroed, TensorType(type_.shape, replace(params, scales=scales))
