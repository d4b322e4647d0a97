"""Reading and rewriting graphs of qnn ops: which ops there are, who makes a value, who uses it.

All take and give MLIR operations and values; an op "of name" ``conv2d`` is ``qnn.conv2d``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dialect import qnn
from ..dialect.attributes import from_attribute, to_attribute
from ..dialect.ir_types import to_ir_type, to_tensor_type
from ..dialect.mlir import ir
from ..dialect.qnn.core import attribute_names
from ..dialect.types import QuantParams, TensorType
from .decisions import INSERTED_ATTRIBUTE as INSERTED


def name_of(op: Any) -> str:
    """``conv2d`` for ``qnn.conv2d``; other dialects' names stay whole."""
    return str(op.name).removeprefix("qnn.")


def ops_of(module: Any, *names: str) -> list[Any]:
    """The module's ops with one of the names, in program order; all of qnn if no name is given."""
    wanted = {f"qnn.{name}" for name in names or qnn.OPS}
    found: list[Any] = []

    def visit(op: Any) -> Any:
        if op.name in wanted:
            found.append(op.operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found


def producer(value: Any, *names: str) -> Any | None:
    """The op that makes ``value``, if it has one of the names (any, if none is given)."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return None
    op = owner.operation
    return op if not names or name_of(op) in names else None


def sole_user(value: Any) -> Any | None:
    """The op that uses ``value`` if there is exactly one use."""
    uses = iter(value.uses)
    first = next(uses, None)
    if first is None or next(uses, None) is not None:
        return None
    return first.owner.operation


def type_of(value: Any) -> TensorType:
    """The plain type of a value."""
    return to_tensor_type(value.type)


def params_of(value: Any) -> QuantParams | None:
    """The quantization parameters of a value, None if it is not quantized."""
    element = type_of(value).element
    return element if isinstance(element, QuantParams) else None


def shape_with(shaped: Any, params: QuantParams) -> TensorType:
    """The type with the shape of a value and other parameters."""
    return TensorType(type_of(shaped).shape, params)


def attributes_of(op: Any) -> dict[str, Any]:
    """The op's own attributes as plain values."""
    return {name: from_attribute(op.attributes[name]) for name in attribute_names(qnn.OPS[name_of(op)])}


def has_attribute(op: Any, name: str) -> bool:
    """Whether ops of this kind have an attribute, e.g. a fused ``clamp``."""
    return name in attribute_names(qnn.OPS[name_of(op)])


def set_attribute(op: Any, name: str, value: Any) -> None:
    """Replace an attribute by a plain value."""
    op.attributes[name] = to_attribute(name, value)


def is_inserted(op: Any) -> bool:
    """Whether a target's rule forced this requantize into the graph."""
    return INSERTED in op.attributes


def build_before(
    op: Any, name: str, operands: Sequence[Any], type_: TensorType, attributes: dict[str, Any] | None = None
) -> Any:
    """A new op right before ``op``, at its location."""
    (value,) = qnn.create(name, operands, [type_], attributes, loc=op.location, ip=ir.InsertionPoint(op))
    return value.owner.operation


def build_requantize_before(op: Any, value: Any, like: Any) -> Any:
    """A requantize of ``value`` right before ``op``, to the parameters that the requantize ``like`` gives.

    It takes the location of ``like``, and its mark if that is inserted. Gives the op.
    """
    params = type_of(like.results[0]).params
    (result,) = qnn.create(
        "requantize", [value], [shape_with(value, params)], loc=like.location, ip=ir.InsertionPoint(op)
    )
    built = result.owner.operation
    copy_mark(like, built)
    return built


def build_after(op: Any, name: str, operands: Sequence[Any], type_: TensorType, location: Any) -> Any:
    """A new op without attributes right after ``op``."""
    (value,) = qnn.create(name, operands, [type_], {}, loc=location, ip=ir.InsertionPoint.after(op))
    return value.owner.operation


def move_to_operand(op: Any) -> None:
    """Put an op with one operand right behind what makes the operand: as early as it can stand."""
    owner = op.operands[0].owner
    if not isinstance(owner, ir.Block):
        op.move_after(owner.operation)
        return
    first = owner.operations[0].operation
    if first != op:
        op.move_before(first)


def copy_mark(source: Any, target: Any) -> None:
    """Mark ``target`` as inserted for the reason ``source`` was, if it was."""
    if is_inserted(source):
        target.attributes[INSERTED] = source.attributes[INSERTED]


def keep_mark_of_both(kept: Any, other: Any) -> None:
    """``kept`` now also stands for ``other``: forced only if both were."""
    if is_inserted(kept) and not is_inserted(other):
        del kept.attributes[INSERTED]


def replace(op: Any, value: Any) -> None:
    """Let all users of the op's result use ``value`` instead, and erase the op."""
    op.results[0].replace_all_uses_with(value)
    op.erase()


def erase_if_unused(*ops: Any) -> None:
    """Erase those qnn ops whose result nobody uses; for an op, name its users first."""
    for op in ops:
        if op is not None and next(iter(op.results[0].uses), None) is None:
            op.erase()


def retype(value: Any, type_: TensorType) -> None:
    """Change the type of a result in place; its users must expect that."""
    value.set_type(to_ir_type(type_))
