"""Variables: VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE, CALL_ONCE, and the state tensors of recurrent
operators.

A graph is imported with the present value of each variable at hand; ``@main`` loads a variable before its
first use and stores what was assigned at its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...dialect import variables as ir_variables
from ...dialect.context import new_context
from ...dialect.evaluate import evaluate_module
from ...dialect.mlir import ir
from ...dialect.model import DEFAULT_NUMERICS
from ...dialect.types import QuantParams, TensorType
from ...errors import UnsupportedOpError
from .graph import OPTIONAL, Graph, ModelFile, Operator, Tensor, short
from .operator_import import ConsequenceError, OperatorImport
from .registry import importer
from .topology import STATEFUL, describe

if TYPE_CHECKING:
    from .graph_import import GraphImport

Array = npt.NDArray[np.generic]


@dataclass
class Declared:
    """The variables of a whole import: their types, and the values that the file gives them at first."""

    types: dict[str, TensorType] = field(default_factory=dict)
    initial: dict[str, Array] = field(default_factory=dict)
    states: dict[tuple[int, int], str] = field(default_factory=dict)
    """(a graph's identity, tensor index) -> the name of the state tensor's variable."""
    handles: frozenset[str] = frozenset()
    """What VAR_HANDLE names anywhere in the file."""

    def state_name(self, graph: Graph, tensor: Tensor) -> str:
        """A state tensor's name; with a number behind it, if another variable has that."""
        key = (id(graph), tensor.index)
        if key not in self.states:
            taken = {*self.handles, *self.types, *self.initial, *self.states.values()}
            name, count = tensor.name, 1
            while name in taken:
                name, count = f"{tensor.name}:{count}", count + 1
            self.states[key] = name
        return self.states[key]

    def declare(self, module: Any, location: Any) -> None:
        """Add a global for each to ``module``."""
        for name, type_ in reversed(self.types.items()):
            value = self.initial.get(name)
            if value is None:
                value = np.zeros(type_.shape, type_.dtype)
            ir_variables.declare(module, name, type_, value, location)


class Variables:
    """The variables of one graph that is imported: what they hold at this point."""

    def __init__(self, graph: GraphImport, declared: Declared | None, caller: GraphImport | None) -> None:
        outer = caller.variables if caller else None
        self.declared: Declared = outer.declared if outer else declared or Declared()
        self.handles: dict[int, str] = {}
        """Tensor index of a resource -> the variable's name."""
        self.held: dict[str, Any] = dict(outer.held) if outer else {}
        self.assigned: dict[str, None] = {}
        self._graph = graph

    def name_of(self, tensor: Tensor) -> str:
        """The variable that a resource stands for."""
        name = self.handles.get(tensor.index)
        if name is None:
            raise ConsequenceError(f"reads '{short(tensor.name)}', a handle that is not known")
        return name

    def read(self, name: str, type_: TensorType, location: Any) -> tuple[Any, TensorType]:
        """The present value, and its type; ``type_`` is whose it is if nothing is known of the variable."""
        type_ = self.declared.types.setdefault(name, type_)
        if name not in self.held:
            self.held[name] = ir_variables.load(name, type_, location, self._graph.insertion_point)
        return self.held[name], type_

    def assign(self, name: str, value: Any) -> None:
        self.held[name] = value
        self.assigned[name] = None

    def store(self, location: Any) -> None:
        """Store what was assigned, at the end of ``@main``."""
        for name in self.assigned:
            ir_variables.store(name, self.held[name], location, self._graph.insertion_point)


def declared_by(model: ModelFile, limit_bytes: int) -> Declared:
    """The variables that a file gives a first value; ``limit_bytes`` is for what computes them."""
    declared = Declared(handles=_handle_names(model))
    for name, type_, value in initial_values(model, limit_bytes):
        declared.types.setdefault(name, type_)
        declared.initial.setdefault(name, value)
    return declared


def _handle_names(model: ModelFile) -> frozenset[str]:
    """What VAR_HANDLE names; no two variables may come to the same name."""
    found: dict[str, tuple[str, str]] = {}
    for operator in (operator for graph in model.graphs for operator in graph.operators):
        if operator.name == "VAR_HANDLE":
            parts = operator.options["container"], operator.options["shared_name"]
            if found.setdefault(handle_name(operator), parts) != parts:
                fault = f"two variables are named '{short(handle_name(operator))}', in different containers"
                raise UnsupportedOpError(model.name, [fault])
    return frozenset(found)


def initial_values(model: ModelFile, limit_bytes: int) -> Iterator[tuple[str, TensorType, Array]]:
    """What the subgraphs that CALL_ONCE names assign; those that are not :func:`_is_pure` are refused where
    CALL_ONCE is imported.
    """
    for graph in model.graphs:
        for operator in graph.operators:
            if operator.name == "CALL_ONCE" and 0 <= operator.options["init_subgraph"] < len(model.graphs):
                once = model.graphs[operator.options["init_subgraph"]]
                yield from _assigned(model, once, limit_bytes)


def _assigned(model: ModelFile, graph: Graph, limit_bytes: int) -> Iterator[tuple[str, TensorType, Array]]:
    names = {
        op.outputs[0]: handle_name(op) for op in graph.operators if op.name == "VAR_HANDLE" and op.outputs
    }
    assigned = [
        (names[op.inputs[0]], graph.tensors[op.inputs[1]])
        for op in graph.operators
        if op.name == "ASSIGN_VARIABLE" and len(op.inputs) == 2 and op.inputs[0] in names
    ]
    computed = [tensor for _, tensor in assigned if tensor.data is None]
    values = _computed(model, graph, computed, limit_bytes) if computed and _is_pure(graph) else {}
    for name, tensor in assigned:
        if tensor.data is not None and not tensor.obstacle:
            yield name, tensor.type, tensor.data
        elif tensor.index in values:
            yield name, *values[tensor.index]


def _is_pure(graph: Graph) -> bool:
    """Whether what a subgraph assigns depends on nothing but constants."""
    return not graph.inputs and not any(
        op.name in STATEFUL and op.name != "ASSIGN_VARIABLE" for op in graph.operators
    )


def _computed(
    model: ModelFile, graph: Graph, tensors: Sequence[Tensor], limit_bytes: int
) -> dict[int, tuple[TensorType, Array]]:
    """What the operators of a subgraph compute, by tensor: an import of its own, evaluated at once."""
    from .graph_import import GraphImport  # imports this module

    outputs = tuple(dict.fromkeys(tensor.index for tensor in tensors))
    operators = tuple(op for op in graph.operators if op.name not in ("VAR_HANDLE", "ASSIGN_VARIABLE"))
    alone = Graph(graph.name, graph.tensors, operators, (), outputs)
    with new_context(), ir.Location.unknown():
        graph_import = GraphImport(replace(model, graphs=(alone,)), alone, None, limit_bytes)
        module = graph_import.build(DEFAULT_NUMERICS, None)
        for index in graph_import.lengths:
            name = short(graph.tensors[index].name)
            fault = f"subgraph '{short(graph.name)}': the first value of a variable, '{name}', whose length"
            raise UnsupportedOpError(model.name, [f"{fault} only a run can tell"])
        arrays = evaluate_module(module, [])
    types = [graph_import.type_of(graph.tensors[index]) for index in outputs]
    return {
        index: (type_, np.array(array)) for index, type_, array in zip(outputs, types, arrays, strict=True)
    }


def handle_name(operator: Operator) -> str:
    """The name of the variable that a VAR_HANDLE stands for."""
    container, name = operator.options["container"], operator.options["shared_name"]
    return f"{container}/{name}" if container else str(name)


@importer("VAR_HANDLE")
def var_handle(op: OperatorImport) -> None:
    """Nothing: the handle's name is all there is."""
    op.demand_counts((0,))
    op.graph.variables.handles[op.operator.outputs[0]] = handle_name(op.operator)


@importer("READ_VARIABLE")
def read_variable(op: OperatorImport) -> None:
    """The variable's present value."""
    op.demand_counts((1,))
    wanted = op.output().type
    value, type_ = op.graph.variables.read(_handle(op), wanted, op.location)
    if type_.shape != wanted.shape:
        op.fail(f"declares output shape {list(wanted.shape)}, but the variable has {list(type_.shape)}")
    op.bind(op.relabel(value, type_, wanted), wanted)


@importer("ASSIGN_VARIABLE")
def assign_variable(op: OperatorImport) -> None:
    """From here on the variable is the input."""
    op.demand_counts((2,), outputs=0)
    name, given = _handle(op), op.type(1)
    type_ = op.graph.variables.declared.types.setdefault(name, given)
    if type_.shape != given.shape:
        op.unsupported(f"a variable that changes its shape from {list(type_.shape)} to {list(given.shape)}")
    op.graph.variables.assign(name, op.relabel(op.value(1), given, type_))


@importer("CALL_ONCE")
def call_once(op: OperatorImport) -> None:
    """Nothing: what it assigns is what the variables hold at first."""
    op.demand_counts((0,), outputs=0)
    graph = op.subgraph("init_subgraph")
    for operator in graph.operators:
        if operator.name in STATEFUL and operator.name != "ASSIGN_VARIABLE":
            op.unsupported(f"variables that are initialized by {operator.name}")
        if operator.name != "ASSIGN_VARIABLE":
            continue
        if len(operator.inputs) != 2 or OPTIONAL in operator.inputs:
            op.fail(f"{describe(operator, graph.tensors)}: got inputs {list(operator.inputs)}, expected two")
    if graph.inputs:
        op.unsupported("variables that are initialized by a subgraph with inputs")


def _handle(op: OperatorImport) -> str:
    if not op.has(0):
        op.fail("input 0, the variable, is missing")
    return op.graph.variables.name_of(op.graph.tensors[op.operator.inputs[0]])


def state_value(op: OperatorImport, index: int) -> tuple[Any, TensorType]:
    """The present value of a state tensor, an input of a recurrent operator; at first a real zero."""
    tensor = op.graph.tensors[op.operator.inputs[index]] if op.has(index) else None
    if tensor is None or not tensor.is_variable:
        op.fail(f"input {index} must be a variable tensor")
    if tensor.obstacle:
        op.unsupported(f"input '{short(tensor.name)}' has {tensor.obstacle}")
    if tensor.index in op.graph.graph.inputs:
        op.unsupported(f"the state tensor '{short(tensor.name)}', which is an input of its graph")
    if tensor.data is not None:
        op.fail(f"the state tensor '{short(tensor.name)}' has constant data")
    variables, type_ = op.graph.variables, tensor.type
    name = variables.declared.state_name(op.graph.graph, tensor)
    variables.declared.initial.setdefault(name, first_state(type_))
    return variables.read(name, type_, op.location)


def first_state(type_: TensorType) -> Array:
    """A real zero. Only int8 state starts at its zero point; other types have 0 there."""
    zero = type_.element.zero_point if isinstance(type_.element, QuantParams) else 0
    return np.full(type_.shape, zero, type_.dtype)


def assign_state(op: OperatorImport, index: int, value: Any) -> None:
    """What the state tensor ``index`` becomes."""
    variables, tensor = op.graph.variables, op.graph.tensors[op.operator.inputs[index]]
    variables.assign(variables.declared.state_name(op.graph.graph, tensor), value)
