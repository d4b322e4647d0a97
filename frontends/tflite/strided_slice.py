"""STRIDED_SLICE: numpy's indexing with constants, spelled as begin, end, stride and five bit masks."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...dialect.types import TensorType
from .index_ops import index_value
from .operator_import import MOVABLE, OperatorImport
from .registry import importer


@dataclass
class _Selection:
    """What is taken of each input dimension, and the result's shape with dimensions dropped and added.

    What is taken backwards is taken forwards first, then reversed along ``backwards``.
    """

    offsets: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    strides: list[int] = field(default_factory=list)
    shape: list[int] = field(default_factory=list)
    backwards: list[int] = field(default_factory=list)

    def take(self, offset: int, size: int, stride: int = 1, *, keep: bool = True) -> None:
        if stride < 0:
            self.backwards.append(len(self.sizes))
            offset += max(size - 1, 0) * stride
        self.offsets.append(offset)
        self.sizes.append(size)
        self.strides.append(abs(stride))
        if keep:
            self.shape.append(size)


@importer("STRIDED_SLICE")
def strided_slice(op: OperatorImport) -> None:
    """slice, reverse where a stride is negative, and a reshape where dimensions are dropped (shrink) or added
    (new axis).
    """
    op.demand_counts((4,))
    op.demand_same_kind(MOVABLE)
    x = op.type(0)
    if not op.is_constant(1) or not op.is_constant(2):
        _at_computed_places(op)
        return
    selection = _select(op, x.shape)
    attributes = {
        "offsets": tuple(selection.offsets),
        "sizes": tuple(selection.sizes),
        "strides": tuple(selection.strides),
    }
    if selection.shape == selection.sizes and not selection.backwards:
        op.emit("slice", [op.value(0)], selection.shape, attributes)
        return
    if 0 in selection.sizes:
        op.unsupported(f"a result without elements, {selection.shape}")
    type_ = TensorType(tuple(selection.sizes), x.element)
    part = op.build("slice", [op.value(0)], type_, attributes)
    if selection.backwards:
        part = op.build("reverse", [part], type_, {"axes": tuple(selection.backwards)})
    op.emit("reshape", [part], selection.shape)


def _at_computed_places(op: OperatorImport) -> None:
    """``x[i, j : j + n]`` with places that the graph computes: a dynamic_slice, and a reshape.

    Places count from the end where they are negative. How long a range is must be known: the ends are
    offsets, or the file declares the result's shape.
    """
    x, mask = op.type(0), {name: op.option(f"{name}_mask") for name in ("begin", "end", "shrink_axis")}
    if op.option("ellipsis_mask") or op.option("new_axis_mask"):
        op.unsupported("an ellipsis or a new axis beside indices that are computed at run time")
    begin, type_ = index_value(op, 1)
    count, rank = type_.elements, len(x.shape)
    if len(type_.shape) != 1 or count > rank:
        op.fail(f"begins of shape {list(type_.shape)} for a tensor of rank {rank}")
    shrunk = [bool(mask["shrink_axis"] >> i & 1) for i in range(count)]
    at_start = [bool(mask["begin"] >> i & 1) for i in range(count)]
    whole = [first and bool(mask["end"] >> i & 1) for i, first in enumerate(at_start)]
    if any(stride != 1 for stride in op.integers(3, "strides")):
        op.unsupported("a stride other than 1 beside indices that are computed at run time")
    sizes = _known_sizes(op, shrunk, whole)
    # Modulo the extent: a negative index counts from the end. What begins at 0 does so modulo 1.
    free = [s or not first for s, first in zip(shrunk, at_start, strict=True)]
    moduli = np.asarray([n if f else 1 for n, f in zip(x.shape, free, strict=False)], type_.dtype)
    extents = op.constant_value(op.tensor(1), moduli, type_, "extents")
    begin = op.build("binary", [begin, extents], type_, {"function": "floor_mod"})
    if count < rank:
        rest = TensorType((rank - count,), type_.element)
        zeros = op.constant_value(op.tensor(1), np.zeros(rank - count, type_.dtype), rest, "rest")
        begin = op.build("concat", [begin, zeros], TensorType((rank,), type_.element), {"axis": 0})
    kept = [n for d, n in enumerate(sizes) if d >= count or not shrunk[d]]
    part = op.build("dynamic_slice", [op.value(0), begin], TensorType(tuple(sizes), x.element), {})
    op.emit("reshape", [part], kept)


def _known_sizes(op: OperatorImport, shrunk: list[bool], whole: list[bool]) -> list[int]:
    """What is taken of each input dimension."""
    shape, count = op.type(0).shape, len(shrunk)
    sizes = [1 if d < count and shrunk[d] else n for d, n in enumerate(shape)]
    ranges = [d for d in range(count) if not shrunk[d] and not whole[d]]
    if not ranges:
        return sizes
    masked = op.option("begin_mask") or op.option("end_mask")
    if op.option("offset") and op.is_constant(2) and not masked:
        lengths = dict(zip(range(count), op.integers(2, "ends"), strict=True))
    else:
        declared, kept = op.output(), [d for d in range(len(shape)) if d >= count or not shrunk[d]]
        known = declared.has_rank and not op.graph.reshaped and len(declared.shape_signature) == len(kept)
        if not known or any(declared.shape_signature[kept.index(d)] < 0 for d in ranges):
            op.unsupported("a range whose ends are computed at run time and whose length is not known")
        lengths = dict(zip(kept, declared.shape_signature, strict=True))
    for d in ranges:
        if not 1 <= lengths[d] <= shape[d]:
            op.fail(f"a range of {lengths[d]} elements in an extent of {shape[d]}")
        sizes[d] = lengths[d]
    return sizes


def _select(op: OperatorImport, shape: tuple[int, ...]) -> _Selection:
    begin, end, strides = op.integers(1, "begins"), op.integers(2, "ends"), op.integers(3, "strides")
    count = len(begin)
    if not count == len(end) == len(strides):
        op.fail(f"begin, end and strides have {count}, {len(end)} and {len(strides)} values")
    if op.option("offset"):
        end = tuple(b + e for b, e in zip(begin, end, strict=True))
    mask = {
        name: op.option(f"{name}_mask") for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    }

    def bit(name: str, i: int) -> bool:
        return bool(mask[name] >> i & 1)

    ellipses = [i for i in range(count) if bit("ellipsis", i)]
    if len(ellipses) > 1:
        op.fail("more than one ellipsis")
    consumed = sum(1 for i in range(count) if not bit("ellipsis", i) and not bit("new_axis", i))
    if consumed > len(shape):
        op.fail(f"{consumed} indices for a tensor of rank {len(shape)}")
    selection = _Selection()
    for i in range(count):
        d = len(selection.sizes)
        if bit("ellipsis", i):
            for extent in shape[d : d + len(shape) - consumed]:
                selection.take(0, extent)
        elif bit("new_axis", i):
            selection.shape.append(1)
        elif bit("shrink_axis", i):
            selection.take(_wrap(op, begin[i], shape[d]), 1, keep=False)
        else:
            first = None if bit("begin", i) else begin[i]
            last = None if bit("end", i) else end[i]
            selection.take(*_range(op, slice(first, last, strides[i]), shape[d]))
    for extent in shape[len(selection.sizes) :]:
        selection.take(0, extent)
    return selection


def _wrap(op: OperatorImport, index: int, extent: int) -> int:
    if not -extent <= index < extent:
        op.fail(f"index {index} lies outside an extent of {extent}")
    return index % extent


def _range(op: OperatorImport, part: slice, extent: int) -> tuple[int, int, int]:
    """(offset, size, stride) of a Python slice."""
    if part.step == 0:
        op.fail("stride 0")
    taken = range(*part.indices(extent))
    return taken.start, len(taken), part.step
