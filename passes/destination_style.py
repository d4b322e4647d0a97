"""destination-style: data movement writes into a destination, as linalg ops do."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..dialect.mlir import ir, linalg, tensor
from .registry import ModulePass, register


@register
@dataclass(frozen=True)
class DestinationStylePass(ModulePass):
    """Rewrite ``tensor.pad``, ``concat``, ``extract_slice`` and ``insert_slice`` into ``linalg.copy`` on
    slices of a destination.

    Bufferization then needs no allocation and no strided ``memref.copy`` (which would call a library function
    that does not exist here): every byte is moved by a linalg op that becomes a loop.
    """

    name: ClassVar[str] = "destination-style"

    def run(self, module: Any) -> None:
        for function in module.regions[0].blocks[0].operations:
            if function.operation.name != "func.func" or not function.regions[0].blocks:
                continue
            for op in list(function.regions[0].blocks[0].operations):
                rewrite = _REWRITES.get(op.operation.name)
                if rewrite is not None:
                    with ir.InsertionPoint(op), op.location:
                        rewrite(op)


def _replace(op: Any, value: Any) -> None:
    op.operation.results[0].replace_all_uses_with(value)
    op.operation.erase()


def _empty(type_: Any) -> Any:
    return tensor.empty(list(type_.shape), type_.element_type)


def _slice_into(
    source: Any, destination: Any, offsets: list[int], sizes: list[int], strides: list[int]
) -> Any:
    """``destination`` with ``source`` copied into the slice."""
    view = tensor.ExtractSliceOp(source.type, destination, [], [], [], offsets, sizes, strides).result
    copied = linalg.copy(source, outs=[view])
    return tensor.InsertSliceOp(copied, destination, [], [], [], offsets, sizes, strides).result


def expand_pad(op: Any) -> None:
    """``pad(x) value v``  =>  ``copy x into a slice of fill(v)``"""
    body = op.regions[0].blocks[0]
    value = body.operations[len(body.operations) - 1].operands[0]
    constant = value.owner
    if not isinstance(constant, ir.Operation | ir.OpView) or constant.operation.name != "arith.constant":
        return
    if len(op.operands) > 1:  # dynamic amounts
        return
    source, type_ = op.operands[0], op.results[0].type
    low = list(op.attributes["static_low"])
    if constant.operation.parent.operation == op.operation:  # it dies with the pad
        value = constant.operation.clone().results[0]
    # Dimensions behind the last padded one are moved as one: a row of pixels is copied in one piece, not
    # channel by channel.
    axis = _last_padded_axis(source.type.shape, type_.shape)
    source_rows = _collapse_behind(source, axis)
    low = [*low[:axis], low[axis] * math.prod(type_.shape[axis + 1 :])]
    shape = [*type_.shape[:axis], math.prod(type_.shape[axis:])]
    filled = linalg.fill(value, outs=[tensor.empty(shape, type_.element_type)])
    padded = _slice_into(source_rows, filled, low, list(source_rows.type.shape), [1] * len(low))
    _replace(op, _expand_behind(padded, type_, axis))


def _last_padded_axis(source: Sequence[int], result: Sequence[int]) -> int:
    changed = [axis for axis, (a, b) in enumerate(zip(source, result, strict=True)) if a != b]
    return changed[-1] if changed else len(source) - 1


def _reassociation(rank: int, axis: int) -> list[list[int]]:
    """Every dimension for itself, but those from ``axis`` on together."""
    return [*([i] for i in range(axis)), list(range(axis, rank))]


def _collapse_behind(value: Any, axis: int) -> Any:
    """``value`` with the dimensions from ``axis`` on made one."""
    type_ = value.type
    if axis == type_.rank - 1:
        return value
    shape = [*type_.shape[:axis], math.prod(type_.shape[axis:])]
    collapsed = ir.RankedTensorType.get(shape, type_.element_type)
    return tensor.CollapseShapeOp(collapsed, value, _reassociation(type_.rank, axis)).result


def _expand_behind(value: Any, type_: Any, axis: int) -> Any:
    """The reverse of :func:`_collapse_behind`."""
    if axis == type_.rank - 1:
        return value
    groups = _reassociation(type_.rank, axis)
    return tensor.ExpandShapeOp(type_, value, groups, [], list(type_.shape)).result


def expand_concat(op: Any) -> None:
    """``concat(a, b)``  =>  ``copy b into a slice of (copy a into a slice of empty)``"""
    axis = op.attributes["dim"].value
    type_ = op.results[0].type
    result = _empty(type_)
    offsets = [0] * type_.rank
    for source in list(op.operands):
        result = _slice_into(source, result, offsets, list(source.type.shape), [1] * type_.rank)
        offsets[axis] += source.type.shape[axis]
    _replace(op, result)


def copy_extracted(op: Any) -> None:
    """``extract_slice(x)``  =>  ``copy(extract_slice(x)) into empty``: a value of its own, densely laid
    out
    """
    result = op.results[0]
    users = [use.owner.operation.name for use in result.uses]
    if len(op.operands) > 1 or all(name == "linalg.copy" for name in users):
        return
    view = op.operation.clone().results[0]
    _replace(op, linalg.copy(view, outs=[_empty(result.type)]))


def copy_inserted(op: Any) -> None:
    """``insert_slice(a into b)``  =>  the same through ``linalg.copy`` on the slice of ``b``"""
    source, destination = op.operands[0], op.operands[1]
    if len(op.operands) > 2 or _is_copy(source):
        return
    geometry = (list(op.attributes[name]) for name in ("static_offsets", "static_sizes", "static_strides"))
    _replace(op, _slice_into(source, destination, *geometry))


def _is_copy(value: Any) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.operation.name == "linalg.copy"


_REWRITES: dict[str, Callable[[Any], None]] = {
    "tensor.pad": expand_pad,
    "tensor.concat": expand_concat,
    "tensor.extract_slice": copy_extracted,
    "tensor.insert_slice": copy_inserted,
}
