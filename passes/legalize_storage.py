"""legalize-storage: 8-bit values get the storage type that the target likes best, i8 or u8, to the bit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ..dialect import qnn
from ..dialect.attributes import from_attribute
from ..dialect.constants import elements_array
from ..dialect.ir_types import to_ir_type, to_tensor_type
from ..dialect.mlir import ir
from ..dialect.model import module_numerics
from ..dialect.qnn.contraction import contraction_types
from ..dialect.types import TensorType
from ..targets import Target
from ..targets.operators import CONTRACTIONS
from .decisions import INSERTED_ATTRIBUTE, record
from .entry import functions
from .parameter_rules import FILTER, unmet
from .registry import ModulePass, no_match, register
from .relabelling import (
    Signature,
    has_proof,
    is_labelled,
    relabelled,
    relabelled_values,
    what_differs,
    with_product_in_filter,
)
from .stored_maps import relabels
from .target_attribute import chosen_target


@register
@dataclass(frozen=True)
class LegalizeStoragePass(ModulePass):
    """Relabel 8-bit values, i8 <-> u8, to the storage types that a target prefers; no number changes.

    Zero points and bounds move by 128, constants are rewritten, and where a value keeps its storage (inputs
    and outputs of the graph, ops whose rounding depends on the storage) a ``qnn.requantize`` relabels it.

    ``activations`` of the target's ``[storage]`` holds for results, ``weights`` for filters; a target
    without a preference changes nothing. An op is only relabelled if that provably gives the same results
    (see ``relabelling.py``) and the target's rules still hold.
    """

    name: ClassVar[str] = "legalize-storage"
    keeps_params: ClassVar[bool] = True
    target: str | None = None

    def run(self, module: Any) -> None:
        _, target = chosen_target(module, self.target, self.name)
        if target.activations is None and target.weights is None:
            return
        for function in functions(module):
            _Relabelling(function, target, module_numerics(module)).run()


@dataclass(frozen=True)
class _Plan:
    """The types that an op shall read and give."""

    operands: tuple[TensorType, ...]
    result: TensorType


class _Relabelling:
    """One function: plan on the types as they are, then apply op by op, in order."""

    def __init__(self, function: Any, target: Target, mode: str) -> None:
        self.target, self.mode = target, mode
        self.operations = [view.operation for view in function.regions[0].blocks[0].operations]
        self.relabels: dict[tuple[Any, Any], Any] = {}

    def run(self) -> None:
        constants = [op for op in self.operations if op.name == "qnn.constant"]
        plans = [self._plan(op) for op in self.operations]
        for apply in plans:
            apply()
        for constant in constants:
            if not any(True for _ in constant.results[0].uses):
                constant.erase()

    def _plan(self, op: Any) -> Callable[[], None]:
        """What is to be done about an op when its turn comes; its operands have their final types by then."""
        if op.name == "qnn.constant":
            return lambda: None  # relabelled where it is read
        if not op.name.startswith("qnn."):
            reads = [(user, i, v.type) for user in _with_nested(op) for i, v in enumerate(user.operands)]
            return lambda: self._read_as(reads)
        if _is_relabel(op):
            return lambda: self._pass_on(op)
        plan = relabel_op(op, self.target, _signature(op, self.mode))
        return lambda: self._apply(op, plan)

    def _apply(self, op: Any, plan: _Plan) -> None:
        self._read_as([(op, i, to_ir_type(type_)) for i, type_ in enumerate(plan.operands)])
        op.results[0].set_type(to_ir_type(plan.result))

    def _pass_on(self, op: Any) -> None:
        """A requantize that only relabels takes what it gets and gives what is liked best, or is needless."""
        operand, result = op.operands[0], op.results[0]
        if all(use.owner.operation.name.startswith("qnn.") for use in result.uses):
            wanted = relabelled(to_tensor_type(result.type), self.target.activations)
            result.set_type(to_ir_type(wanted))
        if operand.type == result.type:
            record("folded", op, "it only relabelled", _BY)
            result.replace_all_uses_with(operand)
            op.erase()

    def _read_as(self, reads: Iterable[tuple[Any, int, Any]]) -> None:
        """Let operands have the given types."""
        for op, index, wanted in reads:
            value = op.operands[index]
            if value.type != wanted:
                op.operands[index] = self._relabelled(value, wanted)

    def _relabelled(self, value: Any, wanted: Any) -> Any:
        """``value`` with the type ``wanted``: one relabel (or constant) for all who want it."""
        if (value, wanted) not in self.relabels:
            make = _relabel_constant if _is_constant(value) else _insert_relabel
            self.relabels[value, wanted] = make(value, to_tensor_type(wanted))
        return self.relabels[value, wanted]


def _signature(op: Any, mode: str) -> Signature:
    types = tuple(to_tensor_type(operand.type) for operand in op.operands)
    own = [name for name in op.attributes if name != "operandSegmentSizes" and "." not in name]
    attributes = {name: from_attribute(op.attributes[name]) for name in own}
    return Signature(
        op.name.removeprefix("qnn."), types, to_tensor_type(op.results[0].type), attributes, mode
    )


def _is_relabel(op: Any) -> bool:
    types = [to_tensor_type(value.type) for value in (*op.operands, *op.results)]
    if op.name != "qnn.requantize" or not all(map(is_labelled, types)):
        return False
    return relabels(types[0].params, types[1].params)


_BY = "legalize-storage"


def relabel_op(op: Any, target: Target, signature: Signature) -> _Plan:
    """The types of an op under the target's labels; its own where the numbers or a rule would not stay."""
    present = _Plan(signature.types, signature.result)
    if not any(map(is_labelled, (*signature.types, signature.result))):
        return present
    if not has_proof(signature.op):
        no_match(op, f"how qnn.{signature.op} depends on its storage is not known")
        return present
    plans, reason = list(_candidates(op, target, present)), None
    for plan in plans:
        if plan == present:
            break
        after = replace(signature, types=plan.operands, result=plan.result)
        refused = _invalid(after) or _breaks_rule(target, signature, after) or what_differs(signature, after)
        if refused is None:
            break
        reason = reason or refused
    kept, changed = _labels_that_differ(plans[0], plan), _labels_that_differ(present, plan)
    if changed:
        record("changed", op, changed, _BY)
    if kept:
        no_match(op, f"{kept}: {reason}")
    return plan


def _candidates(op: Any, target: Target, present: _Plan) -> Iterator[_Plan]:
    """What the target would like, then less and less of it; what is, last."""
    fixed = [
        not type_.is_quantized or not (type_.params.is_per_tensor or _is_constant(operand))
        for type_, operand in zip(present.operands, op.operands, strict=True)
    ]
    wanted = _Plan(
        tuple(
            type_ if keep else relabelled(type_, target.activations)
            for type_, keep in zip(present.operands, fixed, strict=True)
        ),
        _relabelled_result(present.result, target.activations),
    )
    if op.name.removeprefix("qnn.") not in CONTRACTIONS:
        yield wanted
        yield present
        return
    source, kernel = present.operands[0], present.operands[FILTER]
    new_kernel = kernel if fixed[FILTER] else relabelled(kernel, target.weights)
    for base in (wanted, present):
        yield _with_filter(base, new_kernel)
        if kernel.params.storage.name == "u8" and new_kernel != kernel and _is_constant(op.operands[FILTER]):
            yield _with_filter(base, with_product_in_filter(source, new_kernel))
        yield _with_filter(base, kernel)


def _relabelled_result(type_: TensorType, storage: str | None) -> TensorType:
    return relabelled(type_, storage) if type_.is_quantized and type_.params.is_per_tensor else type_


def _with_filter(plan: _Plan, filter: TensorType) -> _Plan:
    operands = (*plan.operands[:FILTER], filter, *plan.operands[FILTER + 1 :])
    return replace(plan, operands=operands)


def _is_constant(value: Any) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.operation.name == "qnn.constant"


def _invalid(after: Signature) -> str | None:
    """A constraint of the dialect that the op would break."""
    if after.op not in CONTRACTIONS or not after.types[0].is_quantized:
        return None
    return next(contraction_types("constraint", after.types[0], after.types[FILTER], after.result), None)


def _breaks_rule(target: Target, before: Signature, after: Signature) -> str | None:
    """A rule of the target that held and would not hold any more."""
    broken = unmet(target, after.op, after.types, after.result)
    if not broken or unmet(target, before.op, before.types, before.result):
        return None
    rule, storage = broken[0].rule, _storage(after.result)
    return f"target {target.name} says '{rule}' for {storage} ({rule.origin})"


def _labels_that_differ(one: _Plan, other: _Plan) -> str:
    """``operand 0 is u8, result is u8``: in the other plan, where it is not so in the first."""
    names = [*(f"operand {index}" for index in range(len(one.operands))), "result"]
    pairs = zip(names, (*one.operands, one.result), (*other.operands, other.result), strict=True)
    return ", ".join(f"{name} is {_storage(b)}" for name, a, b in pairs if _storage(a) != _storage(b))


def _storage(type_: TensorType) -> str:
    return type_.params.storage.name if type_.is_quantized else str(type_.element)


def _relabel_constant(value: Any, wanted: TensorType) -> Any:
    """A constant of type ``wanted`` beside the one that ``value`` is, its stored values moved along."""
    constant = value.owner.operation
    values = {"value": relabelled_values(elements_array(constant.attributes["value"]))}
    (new,) = qnn.create(
        "constant", [], [wanted], values, loc=constant.location, ip=ir.InsertionPoint(constant)
    )
    return new


def _insert_relabel(value: Any, wanted: TensorType) -> Any:
    """``qnn.requantize`` to ``wanted`` right behind the definition of ``value``."""
    if isinstance(value.owner, ir.Block):
        point, location = ir.InsertionPoint.at_block_begin(value.owner), value.location
    else:
        point, location = ir.InsertionPoint.after(value.owner.operation), value.owner.operation.location
    (new,) = qnn.create("requantize", [value], [wanted], loc=location, ip=point)
    new.owner.operation.attributes[INSERTED_ATTRIBUTE] = ir.StringAttr.get("storage")
    record("inserted", new.owner, f"{_storage(to_tensor_type(value.type))} -> {_storage(wanted)}", _BY)
    return new


def _with_nested(op: Any) -> Iterator[Any]:
    """``op`` and the ops in its regions."""
    yield op
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from _with_nested(inner.operation)
