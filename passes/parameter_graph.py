"""Functions of qnn ops as the plain graphs that planning works on, and plans carried out on the functions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..dialect.attributes import from_attribute
from ..dialect.constants import elements_array
from ..dialect.fixed_point import round_half_away_array
from ..dialect.ir_types import to_ir_type, to_tensor_type
from ..dialect.mlir import ir
from ..dialect.qnn import create
from ..dialect.types import QuantParams, TensorType, broadcast_along
from ..targets import Target
from ..targets.operators import CONTRACTIONS
from .decisions import INSERTED_ATTRIBUTE
from .parameter_choices import Plan
from .parameter_rules import BIAS, unmet
from .requantize_placement import PlainGraph, PlainOp, Version

_SKIPPED = ("value", "operandSegmentSizes")


def function_blocks(module: Any) -> Iterator[Any]:
    """The bodies of all functions of a module."""
    for view in module.operation.regions[0].blocks[0].operations:
        operation = view.operation
        if operation.name == "func.func" and len(operation.regions[0].blocks) == 1:
            yield operation.regions[0].blocks[0]


@dataclass
class BlockGraph:
    """A function's body: MLIR's ops and values beside the plain graph, with equal numbers."""

    block: Any
    operations: list[Any] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    graph: PlainGraph = field(default_factory=lambda: PlainGraph((), ()))

    def __post_init__(self) -> None:
        numbers: dict[Any, int] = {}
        ops: list[PlainOp] = []
        for argument in self.block.arguments:
            numbers[argument] = len(self.values)
            self.values.append(argument)
        for view in self.block.operations:
            operation = view.operation
            for result in operation.results:
                numbers[result] = len(self.values)
                self.values.append(result)
            operands = tuple(numbers[operand] for operand in operation.operands)
            result = numbers[operation.results[0]] if len(operation.results) == 1 else None
            self.operations.append(operation)
            ops.append(PlainOp(operation.name.removeprefix("qnn."), operands, result, _attributes(operation)))
        self.graph = PlainGraph(tuple(_tensor_type(value.type) for value in self.values), tuple(ops))


def _attributes(operation: Any) -> dict[str, Any]:
    """The plain attributes of a qnn op, but for its data."""
    if not operation.name.startswith("qnn."):
        return {}
    names = [name for name in operation.attributes if "." not in name and name not in _SKIPPED]
    plain = {name: from_attribute(operation.attributes[name]) for name in names}
    if operation.name == "qnn.pad":
        plain["value"] = from_attribute(operation.attributes["value"])
    return plain


def _tensor_type(type_: Any) -> TensorType | None:
    try:
        return to_tensor_type(type_)
    except TypeError:
        return None


class Rewriter:
    """Carries out a plan on the function it was made for."""

    def __init__(self, source: BlockGraph, plan: Plan, target: Target) -> None:
        self.source, self.plan, self.forest, self.target = source, plan, plan.forest, target
        self.made: dict[tuple[int, Version], Any] = {}
        self.reused: set[int] = set()
        """Moving ops that have a place in the new function as they are."""
        self.last: dict[int, Any] = {}
        """Position -> the op behind which the next one for it goes (None: at the start of the block)."""
        self.changed_roots = {root for root, _ in self.forest.forced_by}

    def run(self) -> None:
        """Change the function: types of results first, then what every op reads."""
        ops = self.source.graph.ops
        for op, choice in zip(ops, self.plan.choices, strict=True):
            if choice.produced is not None and op.result is not None:
                self._set_type(op.result, choice.produced)
        for index, (op, choice) in enumerate(zip(ops, self.plan.choices, strict=True)):
            if choice.moves:
                continue
            for place, value in enumerate(op.operands):
                position, version = self.forest.place_of[value]
                if place in choice.inputs:
                    version = (version[0], (*version[1], choice.inputs[place]))
                self._set_operand(self.source.operations[index], place, self.value_at(position, version))
            self._rederive_bias(index, op)
        for index in reversed(range(len(ops))):
            operation = self.source.operations[index]
            if self.plan.choices[index].moves and index not in self.reused and _is_unused(operation):
                operation.erase()

    def value_at(self, position: int, version: Version) -> Any:
        """A version of a value at a position, built unless it is there."""
        key = (position, version)
        if key not in self.made:
            self.made[key] = self._build(position, version)
        return self.made[key]

    def _build(self, position: int, version: Version) -> Any:
        key = (position, version)
        if position == version[0] and not version[1]:
            return self.source.values[position]
        if key in self.forest.existing:
            operation = self.source.operations[self.forest.existing[key]]
            self._set_operand(operation, 0, self.value_at(position, (version[0], version[1][:-1])))
            if version[0] in self.changed_roots:
                self._put(position, operation)
            return operation.results[0]
        if key in self.plan.inserted:
            return self._requantize(position, version)
        source = self.value_at(self.forest.parent[position], version)
        index = self.forest.mover[position]
        params = self.forest.params(version)
        assert params is not None, "quantized values only"
        if index not in self.reused:
            self.reused.add(index)
            self._set_operand(self.source.operations[index], 0, source)
            self._set_type(position, params)
            return self.source.values[position]
        original = self.source.operations[index]
        return self._create(position, original.name, source, params, original.location, original.attributes)

    def _requantize(self, position: int, version: Version) -> Any:
        source = self.value_at(position, (version[0], version[1][:-1]))
        forced = self.plan.inserted[position, version]
        rule, operation = self.plan.choices[forced].rule, self.source.operations[forced]
        assert rule is not None, "something forced it"
        owner = self.source.values[position].owner
        location = operation.location if isinstance(owner, ir.Block) else owner.location  # the tensor's name
        with operation.context:
            attributes = {INSERTED_ATTRIBUTE: ir.StringAttr.get(rule.kind)}
        return self._create(position, "qnn.requantize", source, version[1][-1], location, attributes)

    def _create(
        self, position: int, name: str, operand: Any, params: QuantParams, location: Any, attributes: Any
    ) -> Any:
        """A new op behind a position, with the position's shape."""
        type_ = self.source.graph.types[position]
        assert type_ is not None, "positions are tensors"
        with location:
            operation = ir.Operation.create(
                name,
                results=[to_ir_type(replace(type_, element=params))],
                operands=[operand],
                attributes={key: attributes[key] for key in attributes},
                loc=location,
                ip=ir.InsertionPoint(self.source.block.operations[0]),
            )
        self._put(position, operation)
        return operation.results[0]

    def _put(self, position: int, operation: Any) -> None:
        """Move an op behind everything that belongs to a position."""
        owner = self.source.values[position].owner
        last = self.last.get(position, None if isinstance(owner, ir.Block) else owner)
        if last is not None:
            operation.move_after(last)
        elif operation != self.source.block.operations[0].operation:
            operation.move_before(self.source.block.operations[0].operation)
        self.last[position] = operation

    def _rederive_bias(self, index: int, op: PlainOp) -> None:
        """A constant bias in the parameters that follow from the input's new ones."""
        if op.name not in CONTRACTIONS or len(op.operands) <= BIAS or not self.plan.choices[index].inputs:
            return
        operation = self.source.operations[index]
        inputs = [to_tensor_type(operand.type) for operand in operation.operands]
        result = to_tensor_type(operation.results[0].type)
        for demand in unmet(self.target, op.name, inputs, result):
            if demand.place == BIAS and demand.expected is not None:
                constant = operation.operands[BIAS].owner
                array = elements_array(constant.attributes["value"])
                type_ = replace(inputs[BIAS], element=demand.expected)
                with operation.location:
                    value = _rescaled(array, inputs[BIAS], type_)
                    new = create("constant", [], [type_], {"value": value}, loc=constant.location,
                                 ip=ir.InsertionPoint(operation))  # fmt: skip
                operation.operands[BIAS] = new[0]

    def _set_operand(self, operation: Any, place: int, value: Any) -> None:
        if operation.operands[place] != value:
            operation.operands[place] = value

    def _set_type(self, value: int, params: QuantParams) -> None:
        type_ = self.source.graph.types[value]
        assert type_ is not None, "results are tensors"
        if type_.element != params:
            with self.source.values[value].context:
                self.source.values[value].set_type(to_ir_type(replace(type_, element=params)))


def _is_unused(operation: Any) -> bool:
    return all(next(iter(result.uses), None) is None for result in operation.results)


def _rescaled(array: Any, old: TensorType, new: TensorType) -> Any:
    """Stored biases in other scales: ``round_half_away(q * s_old / s_new)``, saturated."""
    before, after = (
        broadcast_along(t.params.scales, t.params, t.shape).astype(np.float64) for t in (old, new)
    )
    bounds = np.iinfo(np.int32)
    return np.clip(round_half_away_array(array * (before / after)), bounds.min, bounds.max).astype(np.int32)
