"""IF, WHILE and CALL: subgraphs become regions of ``scf.if`` and ``scf.while``, or stand in the call's place.

A subgraph is imported on its own: its inputs are values of the caller, its constants are its own. Variables
that it assigns are further results (of a loop: values that it carries).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...dialect.ir_types import to_ir_type
from ...dialect.mlir import ir
from ...dialect.types import TensorType
from ...errors import ImportModelError, UnsupportedOpError
from .graph import Graph, Tensor, short
from .operator_import import OperatorImport, kind
from .registry import importer
from .variables import first_state, handle_name

if TYPE_CHECKING:
    from .graph_import import GraphImport

CALLED = {
    "IF": ("then_subgraph", "else_subgraph"),
    "WHILE": ("cond_subgraph", "body_subgraph"),
    "CALL": ("subgraph",),
}
"""Operators that run subgraphs, and the options that say which."""

NESTED_SUBGRAPHS = 64
"""So deep may subgraphs run each other: each level takes some of the stack, here and in every pass."""


class _TooDeepError(ImportModelError):
    """Told once, not level by level."""


@dataclass(frozen=True)
class _Value:
    """A value of the caller, or (``handle``) a variable's name."""

    value: Any
    type: TensorType | None
    handle: str = ""


@importer("CALL")
def call(op: OperatorImport) -> None:
    """The subgraph's operators, at this place."""
    inputs = [_argument(op, index) for index in range(len(op.operator.inputs))]
    child = _child(op, op.subgraph("subgraph"), inputs, op.graph.insertion_point)
    for index, result in enumerate(_outputs(op, child, len(op.operator.outputs))):
        _bind(op, index, result)
    _take_variables(op, child)


@importer("IF")
def if_(op: OperatorImport) -> None:
    """``scf.if`` on the first input; both branches get the others."""
    if not op.operator.inputs:
        op.fail("got no inputs, expected a condition")
    condition = _scalar(op, op.value(0), op.type(0), op.graph.insertion_point)
    inputs = [_argument(op, index) for index in range(1, len(op.operator.inputs))]
    graphs = [op.subgraph("then_subgraph"), op.subgraph("else_subgraph")]
    names = _load_variables(op, graphs, inputs)
    types = [op.result_type(op.output(k).shape, k) for k in range(len(op.operator.outputs))]
    types += [op.graph.variables.declared.types[name] for name in names]
    statement = _create(op, "scf.if", [condition], types, 2)
    for region, graph in zip(statement.regions, graphs, strict=True):
        block = region.blocks.append()
        child = _child(op, graph, inputs, ir.InsertionPoint(block))
        results = _outputs(op, child, len(op.operator.outputs))
        _yield(op, child, results, names, types, "scf.yield")
    _bind_results(op, statement, types, names)


@importer("WHILE")
def while_(op: OperatorImport) -> None:
    """``scf.while``: the condition's subgraph and the body get what the loop carries."""
    count = len(op.operator.inputs)
    if count != len(op.operator.outputs):
        op.fail(f"got {count} inputs and {len(op.operator.outputs)} outputs, expected as many")
    arguments = [_argument(op, index) for index in range(count)]
    graphs = [op.subgraph("cond_subgraph"), op.subgraph("body_subgraph")]
    names = _load_variables(op, graphs, arguments)
    carried = [a for a in arguments if not a.handle]
    types = [a.type for a in carried if a.type is not None]
    types += [op.graph.variables.declared.types[name] for name in names]
    first = [a.value for a in carried] + [op.graph.variables.held[name] for name in names]
    loop = _create(op, "scf.while", first, types, 2)
    for number, (region, graph) in enumerate(zip(loop.regions, graphs, strict=True)):
        block = region.blocks.append(
            *[to_ir_type(type_) for type_ in types], arg_locs=[op.location] * len(types)
        )
        values = iter(zip(block.arguments, types, strict=False))
        inputs = [a if a.handle else _Value(*next(values)) for a in arguments]
        held = dict(zip(names, list(block.arguments)[len(carried) :], strict=True))
        child = _child(op, graph, inputs, ir.InsertionPoint(block), held)
        if number == 0:
            (result,) = _outputs(op, child, 1)
            assert result.type is not None, "a condition is no handle"
            again = _scalar(op, result.value, result.type, child.insertion_point)
            _terminate(op, "scf.condition", [again, *block.arguments], child)
        else:
            results = [r for r in _outputs(op, child, count) if not r.handle]
            _yield(op, child, results, names, types, "scf.yield")
    _bind_results(op, loop, types, names)


def _argument(op: OperatorImport, index: int) -> _Value:
    tensor = op.graph.tensors[op.operator.inputs[index]] if op.has(index) else None
    if tensor is not None and tensor.index in op.graph.variables.handles:
        return _Value(None, None, op.graph.variables.handles[tensor.index])
    return _Value(op.value(index), op.type(index))


def _child(
    op: OperatorImport,
    graph: Graph,
    inputs: Sequence[_Value],
    point: Any,
    held: dict[str, Any] | None = None,
) -> GraphImport:
    """A subgraph imported at ``point``, with the caller's variables."""
    parent = op.graph
    if any(graph is running for running in parent.callers):
        op.fail(f"runs itself: {' in '.join(repr(g.name) for g in (*parent.callers, graph))}")
    if len(parent.callers) > NESTED_SUBGRAPHS:
        names = ", ".join(f"'{short(g.name)}'" for g in parent.callers[:3])
        raise _TooDeepError(
            f"{parent.model.name}: error: subgraphs run each other more than {NESTED_SUBGRAPHS} levels deep: "
            f"{names} ..."
        )
    if len(inputs) != len(graph.inputs):
        op.fail(
            f"passes {len(inputs)} values to subgraph '{short(graph.name)}', "
            f"which has {len(graph.inputs)} inputs"
        )
    child = type(parent)(parent.model, graph, [()] * len(inputs), parent.limit_bytes, parent)
    child.insertion_point = point
    child.variables.held.update(held or {})
    for index, given in zip(graph.inputs, inputs, strict=True):
        tensor = graph.tensors[index]
        if given.type is None:
            child.variables.handles[index] = given.handle
            continue
        wanted = _input_type(op, tensor, given.type)
        child.bind(tensor, child_relabel(op, child, given.value, given.type, wanted), wanted)
    try:
        child.import_operators()
    except _TooDeepError:
        raise
    except (UnsupportedOpError, ImportModelError) as error:
        where = f"subgraph '{short(graph.name)}'"
        if isinstance(error, UnsupportedOpError):
            op.unsupported(f"{where}: " + "; ".join(error.faults))
        op.fail(f"{where}: " + str(error).partition("error: ")[2])
    return child


def child_relabel(
    op: OperatorImport, child: GraphImport, value: Any, type_: TensorType, wanted: TensorType
) -> Any:
    """``OperatorImport.relabel`` at the place of a subgraph."""
    before, op.graph.insertion_point = op.graph.insertion_point, child.insertion_point
    try:
        return op.relabel(value, type_, wanted)
    finally:
        op.graph.insertion_point = before


def _input_type(op: OperatorImport, tensor: Tensor, given: TensorType) -> TensorType:
    """What a subgraph's input is: of the caller's shape, and of the parameters that the subgraph says."""
    if tensor.obstacle:
        op.unsupported(f"'{short(tensor.name)}' has {tensor.obstacle}")
    if tensor.type.dtype != given.dtype:
        op.fail(f"passes {kind(given)} to '{short(tensor.name)}', which is {kind(tensor.type)}")
    return TensorType(given.shape, tensor.element)


def _outputs(op: OperatorImport, child: GraphImport, count: int) -> list[_Value]:
    graph = child.graph
    if len(graph.outputs) != count:
        op.fail(
            f"takes {count} values from subgraph '{short(graph.name)}', "
            f"which has {len(graph.outputs)} outputs"
        )
    values = []
    for index in graph.outputs:
        tensor = graph.tensors[index]
        if index in child.lengths:
            op.unsupported(f"a subgraph's result '{short(tensor.name)}' whose length only a run can tell")
        if index in child.variables.handles:
            values.append(_Value(None, None, child.variables.handles[index]))
        elif graph.tensors[index].is_variable:
            # LiteRT lets it share memory with the caller's tensor, where it is not reset.
            op.unsupported(f"the state tensor '{short(graph.tensors[index].name)}' as a subgraph's result")
        else:
            values.append(_Value(child.value_of(tensor, None), child.type_of(tensor)))
    return values


def _yield(
    op: OperatorImport,
    child: GraphImport,
    results: Sequence[_Value],
    names: Sequence[str],
    types: Sequence[TensorType],
    terminator: str,
) -> None:
    """End a region with results (in the types of the statement's) and what variables hold."""
    values = []
    for result, type_ in zip(results, types, strict=False):
        if result.type is None:
            op.unsupported("a variable as a result")
        values.append(child_relabel(op, child, result.value, result.type, type_))
    values += [child.variables.held[name] for name in names]
    _terminate(op, terminator, values, child)


def _terminate(op: OperatorImport, name: str, values: Sequence[Any], child: GraphImport) -> None:
    ir.Operation.create(name, operands=list(values), loc=op.location, ip=child.insertion_point)


def _create(
    op: OperatorImport, name: str, operands: Sequence[Any], types: Sequence[TensorType], regions: int
) -> Any:
    return ir.Operation.create(
        name,
        results=[to_ir_type(type_) for type_ in types],
        operands=list(operands),
        regions=regions,
        loc=op.location,
        ip=op.graph.insertion_point,
    )


def _bind_results(
    op: OperatorImport, statement: Any, types: Sequence[TensorType], names: Sequence[str]
) -> None:
    results = iter(zip(statement.results, types, strict=True))
    for index in range(len(op.operator.outputs)):
        tensor = op.graph.tensors[op.operator.outputs[index]]
        if op.name == "WHILE" and tensor.type_name == "RESOURCE":
            op.graph.variables.handles[tensor.index] = _argument(op, index).handle
            continue
        value, type_ = next(results)
        wanted = TensorType(type_.shape, tensor.element)
        op.bind(op.relabel(value, type_, wanted), wanted, index)
    for name, (value, _) in zip(names, results, strict=True):
        op.graph.variables.assign(name, value)


def _bind(op: OperatorImport, index: int, result: _Value) -> None:
    tensor = op.graph.tensors[op.operator.outputs[index]]
    if result.type is None:
        op.graph.variables.handles[tensor.index] = result.handle
        return
    wanted = TensorType(result.type.shape, op.output(index).element)
    op.bind(op.relabel(result.value, result.type, wanted), wanted, index)


def _take_variables(op: OperatorImport, child: GraphImport) -> None:
    op.graph.variables.held.update(child.variables.held)
    op.graph.variables.assigned.update(child.variables.assigned)


def _scalar(op: OperatorImport, value: Any, type_: TensorType, point: Any) -> Any:
    """The i1 of a condition, a tensor of one element."""
    if type_.element != "i1" or type_.elements != 1:
        op.fail(f"the condition is {kind(type_)}{list(type_.shape)}, expected one BOOL")
    index = ir.IndexType.get()
    zeros = [
        ir.Operation.create(
            "arith.constant",
            results=[index],
            attributes={"value": ir.IntegerAttr.get(index, 0)},
            loc=op.location,
            ip=point,
        ).results[0]
        for _ in type_.shape
    ]
    return ir.Operation.create(
        "tensor.extract",
        results=[ir.IntegerType.get_signless(1)],
        operands=[value, *zeros],
        loc=op.location,
        ip=point,
    ).results[0]


def _load_variables(op: OperatorImport, graphs: Sequence[Graph], inputs: Sequence[_Value]) -> list[str]:
    """Load, before the statement, every variable that the subgraphs use; gives those that they may assign.

    State tensors of the subgraphs' operators do not outlive the statement: LiteRT allocates a subgraph anew
    whenever IF or WHILE runs, so they start as they do in a model.
    """
    found = _Uses()
    for graph in graphs:
        handles = {i: a.handle for i, a in zip(graph.inputs, inputs, strict=False) if a.handle}
        waiting = [(graph, handles)]
        while waiting:  # no recursion: how deep they run each other is told where they are imported
            waiting += _scan(op.graph, *waiting.pop(), found)
    for name, type_ in found.used.items():
        op.graph.variables.read(name, type_, op.location)
    for name, tensor in found.states.items():
        first = first_state(tensor.type)
        op.graph.variables.declared.initial.setdefault(name, first)
        op.graph.variables.held[name] = op.graph.constant_value(
            tensor, first, tensor.type, op.operator, ("first state", name)
        )
    return list(found.assigned)


@dataclass
class _Uses:
    """The variables that graphs use, with their types, and those that they assign."""

    used: dict[str, TensorType] = field(default_factory=dict)
    assigned: dict[str, None] = field(default_factory=dict)
    states: dict[str, Tensor] = field(default_factory=dict)
    seen: set[tuple[int, frozenset[tuple[int, str]]]] = field(default_factory=set)
    """Graphs by identity, with the variables that they were given."""


def _scan(
    importing: GraphImport, graph: Graph, handles: dict[int, str], found: _Uses
) -> list[tuple[Graph, dict[int, str]]]:
    """Add what a graph uses; the graphs it runs, with the variables that they are given. One that runs itself
    is an error, which is told where it is imported.
    """
    key = (id(graph), frozenset(handles.items()))
    if key in found.seen:
        return []
    found.seen.add(key)
    used, assigned = found.used, found.assigned
    inside: list[tuple[Graph, dict[int, str]]] = []
    for operator in graph.operators:
        tensors = [graph.tensors[i] for i in operator.inputs if i >= 0]
        for tensor in tensors:
            if tensor.is_variable:
                name = importing.variables.declared.state_name(graph, tensor)
                used.setdefault(name, tensor.type)
                assigned[name] = None
                found.states[name] = tensor
        if operator.name == "VAR_HANDLE" and operator.outputs:
            handles[operator.outputs[0]] = handle_name(operator)
        elif operator.name in ("READ_VARIABLE", "ASSIGN_VARIABLE"):
            ends = [*tensors, *(graph.tensors[i] for i in operator.outputs)]
            if len(ends) != 2 or ends[0].index not in handles:
                continue  # an error, too
            name = handles[ends[0].index]
            used.setdefault(name, ends[1].type)
            if operator.name == "ASSIGN_VARIABLE":
                assigned[name] = None
        for option in CALLED.get(operator.name, ()):
            number = operator.options[option]
            if not 0 <= number < len(importing.model.graphs):
                continue
            inner = importing.model.graphs[number]
            given = operator.inputs[1:] if operator.name == "IF" else operator.inputs
            passed = {i: handles[g] for i, g in zip(inner.inputs, given, strict=False) if g in handles}
            inside.append((inner, passed))
    return inside
