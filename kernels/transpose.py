"""Permutations of the axes of an 8-bit tensor.

Two axes matter: along the *lanes* the source is contiguous, along the *rows* the result is. Tiles of at most
16 rows and 16 lanes are transposed in registers. Where both are one axis, runs of bytes are copied, and the
lanes are any other axis. Few rows that lie side by side (the colours of an image) are interleaved. A unit is
a number of tiles along the lanes, at one position on the other axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import windows
from .image import Image
from .instruction_set import InstructionSet
from .launch import Code, Launch
from .scalars import Scalars
from .writer import Writer

_TILE = 16
_BYTES = f"vector<{_TILE}xi8>"
_INTERLEAVED = (2, 3, 4)
"""Rows of which a shuffle each is cheaper than a whole tile."""
_UNIT_TILES = 64
"""Of one unit, along both axes, where there are so many."""
_SCALARS = Scalars(
    2,
    (
        "source_start",
        "target_start",
        "source_row",
        "row_blocks",
        "last_row",
        "source_lane",
        "target_lane",
        "lane_tiles",
        "unit_tiles",
        "lane_units",
        "last_lane",
        "inner",
        "source_inner",
        "target_inner",
        "source_outer",
        "target_outer",
    ),
)


@dataclass(frozen=True)
class Transpose:
    """``output``'s axis ``i`` is ``input``'s axis ``permutation[i]``, as in numpy. A tensor of fewer axes has
    some of one element in front.
    """

    input: Image
    output: Image
    permutation: tuple[int, int, int, int]


@dataclass(frozen=True)
class _Axis:
    size: int
    source: int
    """Bytes from an element to the next: in the source, in the result."""
    target: int


_SINGLE = _Axis(1, 0, 0)


def plan(spec: Transpose, isa: InstructionSet) -> Launch | str:
    if spec.input.element_bytes != 1 or spec.output.element_bytes != 1:
        return "elements of more than one byte"
    others = _axes(spec)
    rows = _take(others, [axis for axis in others if axis.target == 1])
    lanes = _SINGLE if rows.source == 1 else _take(others, [axis for axis in others if axis.source == 1])
    copies = lanes is _SINGLE
    if copies:
        lanes = _take(others, others[-1:])
    inner = _take(others, others[-1:])
    outer = _take(others, others[-1:])
    kind = "copy" if copies else "tile"
    largest = (isa.vector_bytes if rows.source == 1 else 1) if copies else _TILE
    height = min(largest, 1 << (rows.size.bit_length() - 1))
    width = 1 if copies else min(_TILE, lanes.size)
    if not copies and rows.size in _INTERLEAVED and lanes.target == rows.size and lanes.size >= _TILE:
        kind, height = "interleave", rows.size
    row_blocks, lane_tiles = -(-rows.size // height), -(-lanes.size // width)
    unit_tiles = max(1, _UNIT_TILES // row_blocks)
    lane_units = -(-lane_tiles // unit_tiles)
    numbers = {
        "source_start": spec.input.start,
        "target_start": spec.output.start,
        "source_row": rows.source,
        "row_blocks": row_blocks,
        "last_row": rows.size - height,
        "source_lane": lanes.source,
        "target_lane": lanes.target,
        "lane_tiles": lane_tiles,
        "unit_tiles": unit_tiles,
        "lane_units": lane_units,
        "last_lane": lanes.size - width,
        "inner": inner.size,
        "source_inner": inner.source,
        "target_inner": inner.target,
        "source_outer": outer.source,
        "target_outer": outer.target,
    }
    code = Code("transpose", isa.name, (("kind", kind), ("rows", height), ("lanes", width)))
    return Launch(code, outer.size * inner.size * lane_units, (), _SCALARS.pack(numbers))


def _axes(spec: Transpose) -> list[_Axis]:
    """Those of more than one element, in the result's order; two that are one in both tensors are merged."""
    source, target = spec.input, spec.output
    steps = [
        (image.image_pitch, image.row_pitch, image.pixel_pitch, image.element_bytes)
        for image in (source, target)
    ]
    sizes = (target.batch, target.height, target.width, target.channels)
    axes: list[_Axis] = []
    for i, (size, axis) in enumerate(zip(sizes, spec.permutation, strict=True)):
        new = _Axis(size, steps[0][axis], steps[1][i])
        if size == 1:
            continue
        if axes and (axes[-1].source, axes[-1].target) == (size * new.source, size * new.target):
            new = _Axis(axes.pop().size * size, new.source, new.target)
        axes.append(new)
    return axes


def _take(axes: list[_Axis], found: Sequence[_Axis]) -> _Axis:
    """The first that was found, which is removed; or one of a single element."""
    if not found:
        return _SINGLE
    axes.remove(found[0])
    return found[0]


def emit(code: Code, isa: InstructionSet) -> str:
    w = Writer(isa)
    source, target = w.pointer(0), w.pointer(1)
    height, width = int(code["rows"]), int(code["lanes"])

    def number(name: str) -> str:
        return _SCALARS.load(w, name)

    def unit(unit: str) -> None:
        rest, part = w.split(unit, number("lane_units"))
        outer, inner = w.split(rest, number("inner"))
        starts = []
        for name, pointer in (("source", source), ("target", target)):
            along = w.plus(w.times(outer, number(f"{name}_outer")), w.times(inner, number(f"{name}_inner")))
            starts.append(w.at(w.at(pointer, number(f"{name}_start")), along))
        pitches, steps = (
            (number("source_row"), number("target_lane")),
            (number("source_lane"), number("target_lane")),
        )
        blocks, last_row, last_lane = number("row_blocks"), number("last_row"), number("last_lane")
        first = w.times(part, number("unit_tiles"))
        end = w.at_most(w.plus(first, number("unit_tiles")), number("lane_tiles"))

        def tiles(i: str) -> list[str]:
            lane = w.at_most(w.times(i, width), last_lane)
            corners = [w.at(start, w.times(lane, step)) for start, step in zip(starts, steps, strict=True)]

            def rows(i: str) -> list[str]:
                row = w.at_most(w.times(i, height), last_row)
                at = w.at(corners[0], w.times(row, pitches[0])), w.at(corners[1], row)
                if code["kind"] == "copy":
                    type_ = f"vector<{height}xi8>"
                    w.store(w.load(at[0], type_), at[1], type_)
                elif code["kind"] == "interleave":
                    _interleave(w, at, pitches[0], height)
                else:
                    _transpose_tile(w, at, pitches, height, width)
                return []

            return w.loop(blocks, rows)

        w.loop_from(first, end, tiles)

    w.units(unit)
    return w.text()


def _interleave(w: Writer, at: tuple[str, str], pitch: str, height: int) -> None:
    """16 bytes of each of ``height`` rows, side by side."""
    pointer, vectors = at[0], []
    for _ in range(height):
        vectors.append(w.load(pointer, _BYTES))
        pointer = w.at(pointer, pitch)
    for start in range(0, height * _TILE, _TILE):
        places = [divmod(start + i, height) for i in range(_TILE)]
        merged = vectors[0]
        for row in range(1, height):
            # What comes before is in its place already, but for the first row.
            before = [lane if row == 1 else i for i, (lane, _) in enumerate(places)]
            lanes = [_TILE + lane if of == row else before[i] for i, (lane, of) in enumerate(places)]
            merged = w.shuffle(merged, vectors[row], lanes, _BYTES)
        w.store(merged, w.at(at[1], start), _BYTES)


def _transpose_tile(
    w: Writer, at: tuple[str, str], pitches: tuple[str, str], height: int, width: int
) -> None:
    """``height`` rows of the source to ``width`` of the result.

    One round interleaves vectors ``i`` and ``i + 8``: the bits of (vector, lane) rotate by one, and after
    four rounds they have changed places.
    """
    pointer, vectors = at[0], []
    for _ in range(height):
        vectors.append(w.load(pointer, _BYTES))
        pointer = w.at(pointer, pitches[0])
    vectors += [w.splat(0, _BYTES)] * (_TILE - height)
    half = _TILE // 2
    low = [lane for i in range(half) for lane in (i, _TILE + i)]
    for _ in range(4):
        vectors = [
            w.shuffle(vectors[i], vectors[i + half], [lane + start for lane in low], _BYTES)
            for i in range(half)
            for start in (0, half)
        ]
    pointer = at[1]
    for vector in vectors[:width]:
        windows.store_channels(w, vector, _TILE, height, pointer)
        pointer = w.at(pointer, pitches[1])
