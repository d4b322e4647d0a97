"""Operators that only move values: RESHAPE and its kin, TRANSPOSE, PAD, CONCATENATION, SLICE, SPLIT, PACK,
UNPACK.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...dialect.qnn.shapes import concat_shape, pad_shape, transpose_shape
from ...dialect.types import TensorType
from .index_ops import index_value
from .operator_import import MOVABLE, OperatorImport, kind
from .registry import importer


@importer("RESHAPE")
def reshape(op: OperatorImport) -> None:
    """The new shape is the second input, or (old files, or a file without that input) an option; -1 is
    inferred.
    """
    op.demand_counts((1, 2))
    op.demand_same_kind(MOVABLE)
    target = op.integers(1, "shapes") if op.has(1) and len(op.type(1).shape) == 1 else op.option("new_shape")
    if target == (0,):
        target = ()  # how old converters wrote a scalar
    _emit_reshape(op, _infer_extent(op, op.type(0).elements, target))


def _infer_extent(op: OperatorImport, elements: int, target: tuple[int, ...]) -> tuple[int, ...]:
    """``target`` with its -1 replaced, checked against the number of elements."""
    known = math.prod(extent for extent in target if extent != -1)
    if any(extent < -1 for extent in target) or target.count(-1) > 1:
        op.fail(f"new shape {list(target)} has more than one -1 or a negative extent")
    if -1 in target and known and elements % known == 0:
        target = tuple(elements // known if extent == -1 else extent for extent in target)
    if -1 in target or math.prod(target) != elements:
        op.fail(f"{elements} elements of shape {list(op.type(0).shape)} do not fit new shape {list(target)}")
    return target


def _emit_reshape(op: OperatorImport, shape: tuple[int, ...]) -> None:
    op.emit("reshape", [op.value(0)], shape)


@importer("SQUEEZE")
def squeeze(op: OperatorImport) -> None:
    """reshape without the named dimensions (all of extent 1 if none is named)."""
    op.demand_counts((1,))
    op.demand_same_kind(MOVABLE)
    shape = op.type(0).shape
    named = {op.axis(axis, len(shape)) for axis in op.option("squeeze_dims")}
    for d in named:
        if shape[d] != 1:
            op.fail(f"dimension {d} of shape {list(shape)} cannot be squeezed")
    dropped = named or {d for d, extent in enumerate(shape) if extent == 1}
    _emit_reshape(op, tuple(extent for d, extent in enumerate(shape) if d not in dropped))


@importer("EXPAND_DIMS")
def expand_dims(op: OperatorImport) -> None:
    """reshape with one more dimension of extent 1, before the constant axis."""
    op.demand_counts((2,))
    op.demand_same_kind(MOVABLE)
    shape, axes = op.type(0).shape, op.integers(1, "axes")
    if len(axes) != 1:
        op.fail(f"got {len(axes)} axes, expected 1")
    axis = op.axis(axes[0], len(shape) + 1)
    _emit_reshape(op, (*shape[:axis], 1, *shape[axis:]))


@importer("TRANSPOSE")
def transpose(op: OperatorImport) -> None:
    op.demand_counts((2,))
    op.demand_same_kind(MOVABLE)
    shape = op.type(0).shape
    permutation = tuple(p + len(shape) if p < 0 else p for p in op.integers(1, "permutations"))
    if sorted(permutation) != list(range(len(shape))):
        op.fail(f"permutation {list(permutation)} does not fit shape {list(shape)}")
    op.emit("transpose", [op.value(0)], transpose_shape(shape, permutation), {"permutation": permutation})


@importer("PAD", "PADV2")
def pad(op: OperatorImport) -> None:
    """pad with real zero, or with what PADV2's third input stands for, whatever its parameters."""
    op.demand_counts((2,) if op.name == "PAD" else (3,))
    op.demand_same_kind(MOVABLE)
    x, amounts = op.type(0), op.integers(1, "paddings")
    rank = len(x.shape)
    if op.type(1).shape != (rank, 2):
        op.fail(f"paddings have shape {list(op.type(1).shape)}, expected {[rank, 2]}")
    if min(amounts, default=0) < 0:
        op.fail(f"paddings must not be negative, got {list(amounts)}")
    low, high = amounts[0::2], amounts[1::2]
    shape = op.infer(pad_shape, x.shape, low, high)
    value = 0.0 if op.name == "PAD" else _pad_value(op)
    if value is None:
        _pad_with(op, low, shape)
        return
    op.emit("pad", [op.value(0)], shape, {"low": low, "high": high, "value": value})


def _pad_value(op: OperatorImport) -> float | None:
    """The real number that PADV2's third input stands for; None if it is computed, or no float32 number."""
    type_ = op.type(2)
    if kind(type_) != kind(op.type(0)):
        op.unsupported(f"a pad value of type {kind(type_)} for {kind(op.type(0))}")
    if type_.elements != 1:
        op.fail(f"the pad value has {type_.elements} elements, expected 1")
    if not op.is_constant(2):
        return None
    stored = op.constant(2, "pad values").reshape(-1)[0].item()
    if type_.is_quantized:
        return float((stored - type_.params.zero_point) * type_.params.scale)
    return float(stored) if float(np.float32(stored)) == stored else None


def _pad_with(op: OperatorImport, low: tuple[int, ...], shape: tuple[int, ...]) -> None:
    """A tensor of PADV2's third input, with the first one written into it."""
    filling = op.build("reshape", [op.value(2)], TensorType((), op.type(2).element), {})
    filled = op.build("broadcast", [filling], op.result_type(shape), {})
    begin = TensorType((len(shape),), "i64")
    place = op.constant_value(op.tensor(1), np.asarray(low, np.int64), begin, "begin")
    op.emit("dynamic_update_slice", [filled, op.value(0), place], shape)


@importer("CONCATENATION")
def concatenation(op: OperatorImport) -> None:
    """concat; inputs with other parameters than the result's are brought to those."""
    count = len(op.operator.inputs)
    op.demand_counts((max(count, 1),))
    op.demand_same_kind(MOVABLE, range(count))
    if op.clamp():
        op.unsupported(f"a fused {op.option('activation')} activation")
    shapes = [type_.shape for type_ in op.input_types]
    axis = op.axis(op.option("axis"), len(shapes[0]))
    shape = op.infer(concat_shape, shapes, axis)
    op.emit("concat", [op.value(i) for i in range(count)], shape, {"axis": axis})


@importer("PACK")
def pack(op: OperatorImport) -> None:
    """concat along a new dimension: each input is reshaped to have extent 1 there."""
    count = len(op.operator.inputs)
    op.demand_counts((max(count, 1),))
    op.demand_same_kind(MOVABLE, range(count))
    types = op.input_types
    shape = types[0].shape
    if any(type_.shape != shape for type_ in types):
        op.fail(f"input shapes differ: {[list(type_.shape) for type_ in types]}")
    axis = op.axis(op.option("axis"), len(shape) + 1)
    expanded = (*shape[:axis], 1, *shape[axis:])
    parts = [
        op.build("reshape", [op.value(i)], TensorType(expanded, type_.element), {})
        for i, type_ in enumerate(types)
    ]
    op.emit("concat", parts, (*shape[:axis], count, *shape[axis:]), {"axis": axis})


@importer("UNPACK")
def unpack(op: OperatorImport) -> None:
    """One slice of extent 1 per output, reshaped to drop that dimension."""
    count = len(op.operator.outputs)
    op.demand_counts((1,), max(count, 1))
    op.demand_same_kind(MOVABLE)
    x = op.type(0)
    axis = op.axis(op.option("axis"), len(x.shape))
    if x.shape[axis] != count:
        op.fail(f"got {count} outputs, expected {x.shape[axis]} (the extent of dimension {axis})")
    for k in range(count):
        part = _build_part(op, 0, axis, k, 1)
        op.emit("reshape", [part], (*x.shape[:axis], *x.shape[axis + 1 :]), output=k)


@importer("SPLIT")
def split(op: OperatorImport) -> None:
    """Equal slices along a constant axis (the first input)."""
    op.demand_counts((2,), max(len(op.operator.outputs), 1))
    count = len(op.operator.outputs)
    x, axis = op.type(1), _single_axis(op, 0, 1)
    if op.option("num_splits") not in (0, count) or x.shape[axis] % count:
        op.fail(f"extent {x.shape[axis]} of dimension {axis} does not split into {count} equal outputs")
    _emit_parts(op, 1, axis, [x.shape[axis] // count] * count)


@importer("SPLIT_V")
def split_v(op: OperatorImport) -> None:
    """Slices of the sizes given by the second input; one may be -1, what is left."""
    op.demand_counts((3,), max(len(op.operator.outputs), 1))
    x, axis, sizes = op.type(0), _single_axis(op, 2, 0), list(op.integers(1, "sizes"))
    if sizes.count(-1) == 1:
        sizes[sizes.index(-1)] = x.shape[axis] - (sum(sizes) + 1)
    if min(sizes, default=0) < 0 or sum(sizes) != x.shape[axis] or len(sizes) != len(op.operator.outputs):
        op.fail(f"sizes {sizes} do not split extent {x.shape[axis]} into {len(op.operator.outputs)} outputs")
    _emit_parts(op, 0, axis, sizes)


def _single_axis(op: OperatorImport, axis_input: int, input: int) -> int:
    op.demand_same_kind(MOVABLE, (input,))
    axes = op.integers(axis_input, "axes")
    if len(axes) != 1:
        op.fail(f"got {len(axes)} axes, expected 1")
    return op.axis(axes[0], len(op.type(input).shape))


def _emit_parts(op: OperatorImport, input: int, axis: int, sizes: list[int]) -> None:
    """One slice per output, one behind the other along ``axis``."""
    shape, start = op.type(input).shape, 0
    for k, size in enumerate(sizes):
        part = (*shape[:axis], size, *shape[axis + 1 :])
        offsets = tuple(start if d == axis else 0 for d in range(len(shape)))
        attributes = {"offsets": offsets, "sizes": part, "strides": (1,) * len(shape)}
        op.emit("slice", [op.value(input)], part, attributes, output=k)
        start += size


def _build_part(op: OperatorImport, input: int, axis: int, start: int, size: int) -> Any:
    """A slice as an intermediate value."""
    x = op.type(input)
    shape = (*x.shape[:axis], size, *x.shape[axis + 1 :])
    offsets = tuple(start if d == axis else 0 for d in range(len(shape)))
    attributes = {"offsets": offsets, "sizes": shape, "strides": (1,) * len(shape)}
    return op.build("slice", [op.value(input)], TensorType(shape, x.element), attributes)


@importer("SLICE")
def slice_(op: OperatorImport) -> None:
    """slice of constant sizes; size -1 is all that is left. Computed begins make it a dynamic_slice."""
    op.demand_counts((3,))
    op.demand_same_kind(MOVABLE)
    shape, size = op.type(0).shape, op.integers(2, "sizes")
    if not op.is_constant(1) and -1 not in size:
        _dynamic_slice(op, size)
        return
    begin = op.integers(1, "begins")
    if not len(shape) == len(begin) == len(size):
        op.fail(f"begin {list(begin)} and size {list(size)} do not fit shape {list(shape)}")
    sizes = tuple(extent - b if s == -1 else s for extent, b, s in zip(shape, begin, size, strict=True))
    for extent, b, s in zip(shape, begin, sizes, strict=True):
        if b < 0 or s < 0 or b + s > extent:
            op.fail(f"begin {list(begin)} and size {list(size)} reach outside shape {list(shape)}")
    op.emit("slice", [op.value(0)], sizes, {"offsets": begin, "sizes": sizes, "strides": (1,) * len(shape)})


def _dynamic_slice(op: OperatorImport, size: tuple[int, ...]) -> None:
    shape = op.type(0).shape
    if len(size) != len(shape) or any(not 0 <= s <= extent for s, extent in zip(size, shape, strict=True)):
        op.fail(f"size {list(size)} does not fit into shape {list(shape)}")
    begin, type_ = index_value(op, 1)
    if type_.shape != (len(shape),):
        op.fail(f"begins have shape {list(type_.shape)}, expected {[len(shape)]}")
    op.emit("dynamic_slice", [op.value(0), begin], size)
