"""Fills the border of an image."""

from __future__ import annotations

from dataclasses import dataclass

from .image import Image
from .instruction_set import InstructionSet
from .launch import Code, Launch
from .runs import each_step, narrowed, store_bytes
from .writer import Writer

_MOST_STORES = 4
"""Of a gap between rows, written out instead of a loop."""


@dataclass(frozen=True)
class Border:
    """Fill the border of an image with one byte; its inside stays. The image is no slice."""

    image: Image
    value: int
    """The byte, as any integer that is equal to it modulo 256."""


def plan(spec: Border, isa: InstructionSet) -> Launch | str:
    """A unit is an image of the batch. Row after row, what is right of one row and left of the next is a gap
    in one piece; so are the first and the last rows with what is next to them.
    """
    image = spec.image
    if image.element_bytes * image.channels != image.pixel_pitch:
        return "the border of a slice"
    top, bottom, left, right = image.border
    row, pixel = image.row_pitch, image.pixel_pitch
    first, gap, last = top * row + left * pixel, (left + right) * pixel, bottom * row + right * pixel
    if not (first or gap or last):
        return "no border"
    edge_step = _step(min(size for size in (first, last) if size) if first or last else 1, isa)
    gap_step = _step(max(gap, 1), isa)
    stores = -(-gap // gap_step)
    options = (
        ("edge", edge_step),
        ("gap", gap_step),
        ("stores", stores if stores <= _MOST_STORES else 0),
    )
    gaps = image.height - 1 if gap else 0
    scalars = (
        (spec.value & 0xFF),
        image.image_pitch,
        first,
        image.image_pitch - last,
        last,
        gaps,
        first + image.width * pixel,
        row,
        gap,
    )
    return Launch(Code("border", isa.name, options), image.batch, (), scalars)


def _step(length: int, isa: InstructionSet) -> int:
    return min(isa.vector_bytes, 1 << (length.bit_length() - 1))


def emit(code: Code, isa: InstructionSet) -> str:
    edge_step, gap_step, stores = int(code["edge"]), int(code["gap"]), int(code["stores"])
    w = Writer(narrowed(isa, max(edge_step, gap_step)))
    buffer = w.pointer(0)
    value, pitch, first, last_start, last, gaps, gap_start, row, gap = (w.scalar(1 + i) for i in range(9))
    fill = w.broadcast(w.op(f"arith.trunci {value} : i64 to i8"), "i8", w.i8)

    def store(pointer: str, count: int) -> None:
        store_bytes(w, fill, pointer, count, w.isa.vector_bytes)

    def edge(pointer: str, length: str) -> None:
        each_step(w, length, edge_step, lambda position: store(w.at(pointer, position), edge_step), unroll=4)

    def between(pointer: str) -> None:
        if not stores:
            each_step(w, gap, gap_step, lambda position: store(w.at(pointer, position), gap_step))
            return
        for number in range(stores - 1):
            store(w.at(pointer, number * gap_step), gap_step)
        store(w.at(pointer, w.minus(gap, gap_step)), gap_step)

    def unit(index: str) -> list[str]:
        image = w.at(buffer, w.times(index, pitch))
        edge(image, first)

        def each_gap(_: str, position: str) -> list[str]:
            between(position)
            return [w.at(position, row)]

        w.loop(gaps, each_gap, [w.at(image, gap_start)], "!llvm.ptr")
        edge(w.at(image, last_start), last)
        return []

    w.units(unit)
    return w.text()
