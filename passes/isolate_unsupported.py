"""isolate-unsupported: ops that a target lacks run in float, in islands as large as they can be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..dialect import qnn
from ..dialect.attributes import from_attribute, to_attribute
from ..dialect.constants import elements_array
from ..dialect.ir_types import to_ir_type, to_tensor_type
from ..dialect.meaning import evaluate
from ..dialect.mlir import ir
from ..dialect.types import QuantParams, Storage, TensorType
from ..errors import TargetError
from ..targets import Target
from ..targets.operators import CONTRACTIONS
from .decisions import INSERTED_ATTRIBUTE, record
from .entry import functions
from .graph import name_of
from .parameter_choices import needs_float
from .parameter_graph import BlockGraph
from .parameter_rules import BIAS, RESULT, Demand, params_text
from .registry import ModulePass, register
from .target_attribute import chosen_target

MOVES = frozenset({"broadcast", "concat", "pad", "reshape", "reverse", "slice", "transpose"})
"""Ops that only move values: between two ops in float they move floats."""
_OF_INTEGERS = frozenset({"lstm_cell", "lstm_gate", "lstm_hidden", "lstm_normalization"})
"""Ops that mean arithmetic of integers and nothing else."""


@register
@dataclass(frozen=True)
class IsolateUnsupportedPass(ModulePass):
    """Let ops whose rule is ``unsupported`` run in float, between ``qnn.dequantize`` and ``qnn.quantize``. So
    do ops whose rule cannot be obeyed in integers. Steps of an LSTM have no float form: that is an error.

    ``conv(x, w, b) : q``  =>  ``quantize(conv(dequantize(x), w', b'))`` with weights and bias made float at
    compile time. The float ops are compiled like any other.

    With ``merge`` (the default) neighbours share an island: where one reads what the other gives, the value
    stays float. The rounding to 8 bits in between is dropped, which is half a step at most; the
    saturation is not: it becomes a clamp to the reals that the quantized type can hold (a network may
    use it as its activation function). Ops that only move values between islands move floats.
    """

    name: ClassVar[str] = "isolate-unsupported"
    keeps_params: ClassVar[bool] = True
    target: str | None = None
    merge: bool = True

    def run(self, module: Any) -> None:
        _, target = chosen_target(module, self.target, self.name)
        for function in functions(module):
            _Islands(function, target, self.merge).run()


class _Islands:
    """The ops of one function that run in float, known by their results: hashes of ops change."""

    def __init__(self, function: Any, target: Target, merge: bool) -> None:
        self.block = function.regions[0].blocks[0]
        self.operations = [
            view.operation for view in self.block.operations if view.operation.name.startswith("qnn.")
        ]
        self.target, self.merge = target, merge
        self.members: dict[Any, str] = {}
        """Results of the ops that run in float, each with the reason."""
        self.floats: dict[Any, Any] = {}
        """Quantized values to what stands for them inside of islands."""

    def run(self) -> None:
        source = BlockGraph(self.block)
        for operation, op in zip(source.operations, source.graph.ops, strict=True):
            demand = needs_float(source.graph, op, self.target)
            if demand is not None and name_of(operation) in _OF_INTEGERS:
                raise TargetError(
                    f"{operation.location}: error: '{operation.name}': {_reason(self.target, demand)}, and "
                    "there is no such op in float: compile for a target that has it, or for none"
                )
            if demand is not None:
                self.members[operation.results[0]] = _reason(self.target, demand)
        if self.merge:
            self.members.update(dict.fromkeys(self._movers(), "it moves values between ops in float"))
        isolated = [op for op in self.operations if op.results[0] in self.members]
        for op in isolated:
            self._isolate(op)
        for op in reversed(isolated):
            _erase_with_constants(op)

    def _movers(self) -> set[Any]:
        """The largest set of moving ops that read and are read by float ops (or each other) alone."""
        movers = {op.results[0] for op in self.operations if _moves_quantized(op)}
        while outside := {result for result in movers if not self._is_surrounded(result, movers)}:
            movers -= outside
        return movers

    def _is_surrounded(self, result: Any, movers: set[Any]) -> bool:
        read = [operand for operand in result.owner.operation.operands if not _is_constant(operand)]
        given = [_result(use.owner) for use in result.uses]
        return bool(read and given) and all(v in self.members or v in movers for v in (*read, *given))

    def _is_member(self, op: Any) -> bool:
        return _result(op) in self.members

    def _isolate(self, op: Any) -> None:
        """Build the op in float behind the original, and let the users of its result read from it."""
        old = op.results[0]
        type_ = to_tensor_type(old.type)
        operands = [
            self._as_float(operand, _bias_type(op, index)) for index, operand in enumerate(op.operands)
        ]
        record("isolated", op, self.members[old], IsolateUnsupportedPass.name)
        result = replace(type_, element="f32") if type_.is_quantized else type_
        attributes = {name: op.attributes[name] for name in op.attributes}
        inside = [self._is_member(use.owner) for use in old.uses]
        saturated = type_.is_quantized and self.merge and any(inside) and not _keeps_range(op)
        if saturated and "clamp" in attributes:
            attributes["clamp"] = to_attribute("clamp", _narrowed(op, _range(type_.params)))
        new = _build(op, op.name, operands, result, attributes)
        if not type_.is_quantized:
            old.replace_all_uses_with(new)
            return
        if saturated and "clamp" not in attributes:
            new = _marked(op, "clamp", new, result, {"clamp": _range(type_.params)})
        if self.merge:
            self.floats[old] = new
        if not (self.merge and inside and all(inside)):
            self._leave(op, old, new, type_)

    def _leave(self, op: Any, old: Any, new: Any, type_: TensorType) -> None:
        """Quantize the result for the users outside (without merging: for all)."""
        quantized = _marked(op, "quantize", new, type_)
        uses = [(use.owner.operation, use.operand_number) for use in old.uses]
        for user, index in uses:
            if not (self.merge and self._is_member(user)):
                user.operands[index] = quantized

    def _as_float(self, value: Any, known: TensorType | None) -> Any:
        """What an op inside an island reads for ``value`` (of the type ``known``, if that says more than its
        own); made once.
        """
        type_ = known or to_tensor_type(value.type)
        if not type_.is_quantized:
            return value
        if value not in self.floats:
            make = _float_constant if _is_constant(value) else _dequantize
            self.floats[value] = make(value, type_)
        return self.floats[value]


def _reason(target: Target, demand: Demand) -> str:
    """Why an op runs in float."""
    rule = f"'{demand.rule}' ({demand.rule.origin})"
    if demand.rule.kind == "unsupported":
        return f"target {target.name} says {rule}"
    label = "its result" if demand.place == RESULT else f"operand {demand.place}"
    wanted = demand.because if demand.expected is None else params_text(demand.expected)
    return f"target {target.name} says {rule}, but {label} cannot have {wanted}"


def _maker(value: Any) -> Any | None:
    """The op that gives ``value``; None for a block argument."""
    return None if isinstance(value.owner, ir.Block) else value.owner.operation


def _bias_type(op: Any, index: int) -> TensorType | None:
    """The type of an int64 bias, which holds no scale, with the scale that it means."""
    if name_of(op) not in CONTRACTIONS or index != BIAS:
        return None
    source, kernel, bias = (to_tensor_type(operand.type) for operand in op.operands)
    if bias.element != "i64":
        return None
    scales = tuple(source.params.scale * scale for scale in kernel.params.scales)
    params = QuantParams(Storage.of("i64"), scales, (0,) * len(scales), kernel.params.axis)
    return replace(bias, element=params)


def _is_constant(value: Any) -> bool:
    maker = _maker(value)
    return maker is not None and maker.name == "qnn.constant"


def _result(op: Any) -> Any | None:
    """What an op gives; None if that is nothing, or several values."""
    results = op.operation.results
    return results[0] if len(results) == 1 else None


def _moves_quantized(op: Any) -> bool:
    return name_of(op) in MOVES and to_tensor_type(op.results[0].type).is_quantized


def _keeps_range(op: Any) -> bool:
    """Whether the result cannot leave the range of its type, since the values are those of its inputs."""
    if name_of(op) not in MOVES:
        return False
    result = to_tensor_type(op.results[0].type).params
    if any(to_tensor_type(operand.type).element != result for operand in op.operands):
        return False
    low, high = _range(result)
    return name_of(op) != "pad" or low <= from_attribute(op.attributes["value"]) <= high


def _range(params: QuantParams) -> tuple[float, float]:
    """The lowest and highest real that a quantized type holds."""
    storage = params.storage
    low, high = ((q - params.zero_point) * params.scale for q in (storage.minimum, storage.maximum))
    return float(np.float32(low)), float(np.float32(high))


def _narrowed(op: Any, bounds: tuple[float, float]) -> tuple[float, ...]:
    """The op's fused clamp inside ``bounds``."""
    clamp = from_attribute(op.attributes["clamp"]) or bounds
    return tuple(min(max(value, bounds[0]), bounds[1]) for value in clamp)


def _build(op: Any, name: str, operands: list[Any], result: TensorType, attributes: Mapping[str, Any]) -> Any:
    """An op with the attributes of MLIR given, right before ``op`` and at its location."""
    created = ir.Operation.create(
        name,
        results=[to_ir_type(result)],
        operands=operands,
        attributes=dict(attributes),
        loc=op.location,
        ip=ir.InsertionPoint(op),
    )
    return created.results[0]


def _marked(
    op: Any, name: str, value: Any, result: TensorType, attributes: Mapping[str, Any] | None = None
) -> Any:
    """A conversion of ``value`` right before ``op``, marked as inserted for its sake."""
    point = ir.InsertionPoint(op)
    (new,) = qnn.create(name, [value], [result], attributes, loc=op.location, ip=point)
    return _mark(new)


def _mark(value: Any) -> Any:
    value.owner.operation.attributes[INSERTED_ATTRIBUTE] = ir.StringAttr.get("unsupported")
    return value


def _dequantize(value: Any, type_: TensorType) -> Any:
    """The reals of ``value``, right behind its definition."""
    maker = _maker(value)
    point = ir.InsertionPoint.at_block_begin(value.owner) if maker is None else ir.InsertionPoint.after(maker)
    location = value.location if maker is None else maker.location
    result = replace(type_, element="f32")
    (new,) = qnn.create("dequantize", [value], [result], loc=location, ip=point)
    return _mark(new)


def _float_constant(value: Any, type_: TensorType) -> Any:
    """The reals of a constant, computed now."""
    constant = value.owner.operation
    stored = elements_array(constant.attributes["value"]).view(type_.dtype)
    result = replace(type_, element="f32")
    reals = np.asarray(evaluate("dequantize", [stored], [type_], [result], {})[0])
    point = ir.InsertionPoint(constant)
    (new,) = qnn.create("constant", [], [result], {"value": reals}, loc=constant.location, ip=point)
    return new


def _erase_with_constants(op: Any) -> None:
    """Erase an op, and the constants that only it read."""
    constants = {operand for operand in op.operands if _is_constant(operand)}
    op.erase()
    for constant in constants:
        if not any(True for _ in constant.uses):
            constant.owner.operation.erase()
