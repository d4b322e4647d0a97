"""What each op of a model does, as plain rows: shapes, parameters, multipliers, shifts, ranges, work.

``zeropoint inspect`` prints these rows; tests compare them with published tables. Nothing here prints.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from . import rescale
from .attributes import from_attribute
from .ir_types import to_tensor_type
from .mlir import ir
from .numerics import Rounding
from .types import QuantParams, TensorType


@dataclass(frozen=True)
class OpRow:
    """One op. ``multipliers`` and ``shifts`` (left is positive) have one entry, or one per output channel."""

    index: int
    op: str
    name: str
    """The tensor the op makes, as the model file calls it."""
    inputs: tuple[TensorType, ...]
    """Types of the operands that are not constants."""
    result: TensorType
    rounding: str = ""
    """The rounding rule (``dialect/numerics.py``) that is applied with the multipliers, or with the
    scales."""
    scales: tuple[float, ...] = ()
    """What the accumulator is multiplied by, as reals: one, or one per output channel."""
    multipliers: tuple[int, ...] = ()
    shifts: tuple[int, ...] = ()
    range: tuple[int, int] | None = None
    """Stored integers the result may hold, a fused activation included."""
    macs: int = 0
    constant_bytes: int = 0
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def describe(module: Any) -> list[OpRow]:
    """A row for every qnn op that is not a constant, in order (see :func:`described_operations`)."""
    mode = (
        module.operation.attributes["qnn.numerics"].value
        if "qnn.numerics" in module.operation.attributes
        else "reference"
    )
    return [_row(index, operation, mode) for index, operation in enumerate(described_operations(module))]


def described_operations(module: Any) -> list[Any]:
    """The ops that :func:`describe` has rows for: those of ``@main``, of branches and loops in it where they
    stand, then those of modules that branches and loops have become.
    """
    found: list[Any] = []
    _collect(module.operation, found)
    return found


def _collect(module: Any, found: list[Any]) -> None:
    operations = [view.operation for view in module.regions[0].blocks[0].operations]
    for operation in operations:
        if operation.name != "func.func" or ir.StringAttr(operation.attributes["sym_name"]).value != "main":
            continue
        _collect_region(operation.regions[0], found)
    for operation in operations:
        if operation.name == "builtin.module":
            _collect(operation, found)


def _collect_region(region: Any, found: list[Any]) -> None:
    for block in region.blocks:
        for view in block.operations:
            operation = view.operation
            if operation.name.startswith("qnn.") and operation.name != "qnn.constant":
                found.append(operation)
            for inner in operation.regions:
                _collect_region(inner, found)


def location_name(location: Any) -> str:
    """The tensor name a frontend left in a location; empty when there is none."""
    return str(location.name_str) if isinstance(location, ir.NameLoc) else ""


def _row(index: int, operation: Any, mode: str) -> OpRow:
    op = operation.name.removeprefix("qnn.")
    types = [to_tensor_type(v.type) for v in operation.operands]
    constant = [_is_constant(v) for v in operation.operands]
    result = to_tensor_type(operation.results[0].type)
    attributes = {
        a: from_attribute(operation.attributes[a]) for a in operation.attributes if a != "operandSegmentSizes"
    }
    applied = _rescale(op, types, result, attributes, mode)
    return OpRow(
        index,
        op,
        location_name(operation.location),
        tuple(t for t, is_constant in zip(types, constant, strict=True) if not is_constant),
        result,
        rounding=applied.rounding.value if applied else "",
        scales=applied.scales if applied else (),
        multipliers=applied.multipliers if applied else (),
        shifts=applied.shifts if applied else (),
        range=(applied.low, applied.high) if applied else None,
        macs=_macs(op, types, result, attributes),
        constant_bytes=sum(_bytes(t) for t, is_constant in zip(types, constant, strict=True) if is_constant),
        attributes=attributes,
    )


def _is_constant(value: Any) -> bool:
    owner = value.owner
    return isinstance(owner, ir.Operation | ir.OpView) and owner.operation.name == "qnn.constant"


def _bytes(type_: TensorType) -> int:
    return type_.elements * type_.dtype.itemsize


def _macs(op: str, types: list[TensorType], result: TensorType, attributes: Mapping[str, Any]) -> int:
    if op in ("conv2d", "dynamic_conv2d"):
        return result.elements * math.prod(types[1].shape[1:])
    if op in ("fully_connected", "dynamic_fully_connected"):
        return result.elements * types[1].shape[1]
    if op == "batch_matmul":
        depth = -2 if attributes["transpose_lhs"] else -1
        return result.elements * types[0].shape[depth]
    return 0


def _rescale(
    op: str, types: list[TensorType], result: TensorType, attributes: dict[str, Any], mode: str
) -> rescale.Rescale | None:
    """The final rescale of an op whose result is quantized by integer arithmetic; None for every other op."""
    if not all(isinstance(t.element, QuantParams) for t in [types[0], result]):
        return None
    clamp = attributes.get("clamp", ())
    if op == "conv2d":
        return rescale.conv2d(types[0], types[1], result, clamp, mode, *types[2:]).rescale
    if op == "fully_connected":
        return rescale.fully_connected(types[0], types[1], result, clamp, mode, *types[2:]).rescale
    if op == "batch_matmul":
        return rescale.batch_matmul(types[0], types[1], result, mode).rescale
    if op in ("add", "sub") and result.params.storage.bits == 32:
        return rescale.make_rescale([1.0], result.params, clamp, Rounding.EXACT)
    if op in ("add", "sub"):
        total = rescale.add(types[0], types[1], result, clamp, mode)
        return total.output if isinstance(total, rescale.Sum) else None
    if op == "mul":
        return rescale.mul(types[0], types[1], result, clamp, mode).output
    if op == "requantize":
        return rescale.requantize(types[0], result, mode=mode).rescale
    if op == "clamp":
        return rescale.clamp(types[0], result, clamp, mode).rescale
    if op == "mean":
        count = math.prod(types[0].shape[axis] for axis in attributes["axes"])
        average = rescale.mean(types[0], result, count, mode)
        return average.rescale if isinstance(average, rescale.Mean) else None
    return None
