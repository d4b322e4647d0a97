"""Runs of contiguous elements that several images of one shape have in common: what elementwise kernels loop
over.

A unit is a row of pixels, or a piece of a long run. Nothing of it is in a kernel's text but the ``step``, how
many elements are done at a time: at most the length of a run, so that the last step of a run may overlap the
one before it. That takes no masks, on any instruction set; but no result may lie over an input.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from .image import Image
from .instruction_set import InstructionSet
from .writer import Writer

_PIECE = 4096
"""Elements of a unit where a run is longer."""
_SHARED, _PER_BUFFER = 5, 4
_REGISTER_BYTES = 16
"""The narrowest vector that is computed with; of it fewer bytes may be stored."""


@dataclass(frozen=True)
class Runs:
    """``units`` times some runs of ``length`` elements each."""

    units: int
    length: int
    scalars: tuple[int, ...]

    def step(self, most: int) -> int:
        """The largest power of two up to ``most`` that is no longer than a run."""
        return min(most, 1 << (self.length.bit_length() - 1))


def runs_of(images: Sequence[Image]) -> Runs | str:
    """The runs of all ``images``, the last of which is the result; or the reason why there are none.

    Where another image has a batch, height or width of one, it is repeated along that axis.
    """
    result = images[-1]
    shape = (result.batch, result.height, result.width)
    for image in images:
        pairs = zip((image.batch, image.height, image.width), shape, strict=True)
        if image.channels != result.channels or any(own not in (1, count) for own, count in pairs):
            return "an operand that is repeated along its channels, or of another shape"
    counts, pitches, length = list(shape), [_pitches(image, shape) for image in images], result.channels
    axis = 2
    while axis >= 0 and (counts[axis] == 1 or _follow(images, pitches, axis, length)):
        length, counts[axis], axis = length * counts[axis], 1, axis - 1
    batch, rows, pixels = counts
    stride, last = 1, rows - 1
    row_pitches = [pitch[1] for pitch in pitches]
    if rows == pixels == 1 and length > _PIECE:
        rows, stride, last, length = -(-length // _PIECE), _PIECE, length - _PIECE, _PIECE
        row_pitches = [image.element_bytes for image in images]
    scalars = [rows, stride, last, pixels, length]
    for image, pitch, row_pitch in zip(images, pitches, row_pitches, strict=True):
        scalars += [image.start, pitch[0], row_pitch, pitch[2]]
    return Runs(batch * rows, length, tuple(scalars))


def _pitches(image: Image, shape: tuple[int, int, int]) -> tuple[int, ...]:
    own = (image.batch, image.height, image.width)
    pitches = (image.image_pitch, image.row_pitch, image.pixel_pitch)
    return tuple(
        0 if size == 1 and count > 1 else pitch
        for size, count, pitch in zip(own, shape, pitches, strict=True)
    )


def _follow(images: Sequence[Image], pitches: Sequence[tuple[int, ...]], axis: int, length: int) -> bool:
    """Whether the runs along an axis follow each other without a gap, in every image."""
    return all(
        pitch[axis] == length * image.element_bytes for image, pitch in zip(images, pitches, strict=True)
    )


def scalar_count(buffers: int) -> int:
    """How many :attr:`Runs.scalars` there are."""
    return _SHARED + _PER_BUFFER * buffers


def narrowed(isa: InstructionSet, step: int) -> InstructionSet:
    """``isa`` with vectors no wider than ``step`` bytes."""
    return replace(isa, vector_bytes=min(isa.vector_bytes, max(step, _REGISTER_BYTES)))


def each_run(
    w: Writer, first_slot: int, buffers: Sequence[str], body: Callable[[list[str], str], None]
) -> None:
    """``body(pointers, length)`` for every run of the units; the runs' scalars start at ``first_slot``.

    ``buffers`` are the addresses of the images' buffers. A row's numbers are loaded in the loop: they would
    not all stay in registers.
    """
    rows, stride, last, pixels, length = (w.scalar(first_slot + i) for i in range(_SHARED))

    def unit(_: str, image: str, row: str) -> Sequence[str]:
        position = w.at_most(w.times(row, stride), last)
        starts, pitches = [], []
        for number, buffer in enumerate(buffers):
            slot = first_slot + _SHARED + _PER_BUFFER * number
            start, image_pitch, row_pitch, pixel_pitch = (w.scalar(slot + i) for i in range(_PER_BUFFER))
            offset = w.plus(start, w.plus(w.times(image, image_pitch), w.times(position, row_pitch)))
            starts.append(w.at(buffer, offset))
            pitches.append(pixel_pitch)

        def pixel(index: str) -> Sequence[str]:
            offsets = [w.times(index, pitch) for pitch in pitches]
            body([w.at(start, offset) for start, offset in zip(starts, offsets, strict=True)], length)
            return []

        w.loop_from(w.index(0), pixels, pixel)
        following = w.plus(row, 1)
        wraps = w.compare("eq", following, rows)
        carry = w.op(f"arith.extui {wraps} : i1 to i64")
        return [w.plus(image, carry), w.op(f"arith.select {wraps}, {w.index(0)}, {following} : i64")]

    image, row = w.split("%begin", rows)
    w.loop_from("%begin", "%end", unit, [image, row], "i64")


def each_step(w: Writer, length: str, step: int, body: Callable[[str], None], unroll: int = 1) -> None:
    """``body(first element)`` for all of a run, ``step`` elements at a time; the last step may overlap."""
    whole = w.index(0)
    if unroll > 1:
        whole = w.binary("andi", length, w.index(-step * unroll), "i64")

        def block(index: str) -> Sequence[str]:
            for number in range(unroll):
                body(w.plus(index, number * step))
            return []

        w.loop_from(w.index(0), whole, block, step=step * unroll)
    last = w.minus(length, step)

    def single(index: str) -> Sequence[str]:
        body(w.at_most(index, last))
        return []

    w.loop_from(whole, length, single, step=step)


def load_bytes(w: Writer, pointer: str, count: int, width: int) -> str:
    """``count`` bytes, a power of two, and not one more, as a vector of ``width``; the rest is arbitrary."""
    if count == width:
        return w.load(pointer, f"vector<{width}xi8>")
    scalar = f"i{8 * count}" if count < _REGISTER_BYTES else f"vector<{count}xi8>"
    value = w.load(pointer, scalar)
    if count < _REGISTER_BYTES:
        parts = f"vector<{width // count}x{scalar}>"
        return w.bitcast(w.broadcast(value, scalar, parts), parts, f"vector<{width}xi8>")
    lanes = [lane if lane < count else -1 for lane in range(width)]
    return w.shuffle(value, value, lanes, scalar)


def store_bytes(w: Writer, value: str, pointer: str, count: int, width: int) -> None:
    """The first ``count`` bytes of a vector of ``width``; powers of two."""
    whole = f"vector<{width}xi8>"
    if count >= _REGISTER_BYTES:
        part = f"vector<{count}xi8>"
        if count < width:
            lanes = ", ".join(map(str, range(count)))
            value = w.op(f"vector.shuffle {value}, {value} [{lanes}] : {whole}, {whole}")
        w.store(value, pointer, part)
        return
    scalar = f"i{8 * count}"
    parts = f"vector<{width // count}x{scalar}>"
    first = w.op(f"vector.extract {w.bitcast(value, whole, parts)}[0] : {scalar} from {parts}")
    w.store(first, pointer, scalar)
