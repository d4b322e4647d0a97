"""Operators that repeat, mirror or reverse values: BROADCAST_TO, TILE, FILL, ZEROS_LIKE, REVERSE_V2,
MIRROR_PAD.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dialect.qnn.shapes import broadcast_shape, concat_shape
from ...dialect.types import TensorType
from .operator_import import MOVABLE, OperatorImport
from .registry import importer


def _demand_extents(op: OperatorImport, shape: tuple[int, ...]) -> None:
    if min(shape, default=0) < 0:
        op.fail(f"shape {list(shape)} has a negative extent")


@importer("BROADCAST_TO")
def broadcast_to(op: OperatorImport) -> None:
    op.demand_counts((2,))
    op.demand_same_kind(MOVABLE)
    shape, source = op.integers(1, "shapes"), op.type(0).shape
    _demand_extents(op, shape)
    if op.infer(broadcast_shape, source, shape) != shape:
        op.fail(f"shape {list(source)} does not broadcast to {list(shape)}")
    op.emit("broadcast", [op.value(0)], shape)


@importer("TILE")
def tile(op: OperatorImport) -> None:
    """Every repeated dimension is broadcast along a new one before it, then joined with it."""
    op.demand_counts((2,))
    op.demand_same_kind(MOVABLE)
    x, multiples = op.type(0), op.integers(1, "multiples")
    if len(multiples) != len(x.shape):
        op.fail(f"got {len(multiples)} multiples for shape {list(x.shape)}")
    _demand_extents(op, multiples)
    shape = tuple(extent * count for extent, count in zip(x.shape, multiples, strict=True))
    op.result_type(shape)  # before anything is built: a result without elements, or too large a one
    pairs = [(count, extent) for extent, count in zip(x.shape, multiples, strict=True)]
    split = tuple(n for count, extent in pairs for n in ((1, extent) if count > 1 else (extent,)))
    repeated = tuple(n for count, extent in pairs for n in ((count, extent) if count > 1 else (extent,)))
    value = op.value(0)
    if split != x.shape:
        value = op.build("reshape", [value], TensorType(split, x.element), {})
        value = op.build("broadcast", [value], TensorType(repeated, x.element), {})
    op.emit("reshape", [value], shape)


@importer("FILL")
def fill(op: OperatorImport) -> None:
    """A tensor of a constant shape with one value, which may be computed."""
    op.demand_counts((2,))
    op.demand_same_kind(MOVABLE, (1,))
    shape = op.integers(0, "shapes")
    _demand_extents(op, shape)
    if op.type(1).elements != 1:
        op.fail(f"the value has {op.type(1).elements} elements, expected 1")
    value = op.build("reshape", [op.value(1)], TensorType((), op.type(1).element), {})
    op.emit("broadcast", [value], shape)


@importer("ZEROS_LIKE")
def zeros_like(op: OperatorImport) -> None:
    """Zeros in the input's shape; its values are not looked at."""
    op.demand_counts((1,))
    op.demand_same_kind(MOVABLE)
    result = op.output().type
    point = result.params.zero_point if result.is_quantized else 0
    scalar = TensorType((), result.element)
    zero = op.constant_value(op.output(), np.asarray(point, scalar.dtype), scalar, "zero")
    op.emit("broadcast", [zero], op.type(0).shape)


@importer("REVERSE_V2")
def reverse(op: OperatorImport) -> None:
    op.demand_counts((2,))
    op.demand_same_kind(MOVABLE)
    shape = op.type(0).shape
    axes = tuple(sorted({op.axis(axis, len(shape)) for axis in op.integers(1, "axes")}))
    op.emit("reverse", [op.value(0)], shape, {"axes": axes})


@importer("MIRROR_PAD")
def mirror_pad(op: OperatorImport) -> None:
    """Along every padded dimension: what lies at its ends in reverse order, before and behind."""
    op.demand_counts((2,))
    op.demand_same_kind(MOVABLE)
    x, amounts = op.type(0), op.integers(1, "paddings")
    rank, shape = len(x.shape), x.shape
    if op.type(1).shape != (rank, 2):
        op.fail(f"paddings have shape {list(op.type(1).shape)}, expected {[rank, 2]}")
    skipped = 1 if op.option("mirror") == "REFLECT" else 0
    for extent, low, high in zip(shape, amounts[0::2], amounts[1::2], strict=True):
        if not (0 <= low <= extent - skipped and 0 <= high <= extent - skipped):
            op.fail(f"paddings {list(amounts)} mirror more than there is of shape {list(shape)}")
    op.result_type([a + n + b for n, a, b in zip(shape, amounts[0::2], amounts[1::2], strict=True)])
    value = op.value(0)
    for axis, (low, high) in enumerate(zip(amounts[0::2], amounts[1::2], strict=True)):
        if low or high:
            value, shape = _mirrored(op, value, shape, axis, (low, high), skipped)
    op.emit("reshape", [value], shape)


def _mirrored(
    op: OperatorImport, value: Any, shape: tuple[int, ...], axis: int, pads: tuple[int, int], skipped: int
) -> tuple[Any, tuple[int, ...]]:
    """``value`` of ``shape`` with its ends mirrored along one axis, and its new shape."""
    element = op.type(0).element
    starts = (skipped, shape[axis] - skipped - pads[1])
    parts = [value]
    shapes = [shape]
    for side, (start, count) in enumerate(zip(starts, pads, strict=True)):
        if not count:
            continue
        sizes = (*shape[:axis], count, *shape[axis + 1 :])
        offsets = tuple(start if d == axis else 0 for d in range(len(shape)))
        type_ = TensorType(sizes, element)
        attributes = {"offsets": offsets, "sizes": sizes, "strides": (1,) * len(shape)}
        part = op.build("slice", [value], type_, attributes)
        part = op.build("reverse", [part], type_, {"axes": (axis,)})
        parts.insert(0 if side == 0 else len(parts), part)
        shapes.append(sizes)
    joined = concat_shape(shapes, axis)
    return op.build("concat", parts, TensorType(joined, element), {"axis": axis}), joined
