"""STRIDED_SLICE: numpy's indexing with constants, spelled as begin, end, stride and five bit masks."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...dialect.types import TensorType
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
