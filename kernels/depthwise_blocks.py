"""How the channels and columns of a depthwise convolution are laid out in vectors of bytes.

A *block* is one byte vector of outputs that are computed together. It consists of *parts*, each of which lies
in one piece in memory: all channels of a vector (one part), or 16 or 32 channels of several *segments* of a
row, which are walked along together. Where a pixel has fewer channels than a part has lanes, a part is a
*group* of neighbouring pixels. Channels that whole vectors leave over may be a last block of more parts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .channels import Channels
from .conv import Conv
from .instruction_set import InstructionSet

PART_BYTES = 16
"""The smallest part."""
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Blocks:
    """The blocks of one layer."""

    group: int
    """Neighbouring output pixels that a part holds."""
    channels: Ints
    """``[blocks, lanes]``: output channel of each byte lane; the number of channels where there is none."""
    gather: Ints
    """``[blocks, lanes]``: byte of its part's input that a lane reads."""
    inputs: Ints
    """``[blocks, parts]``: byte in a row of the input where a part's first tap lies."""
    outputs: Ints
    """``[blocks, parts]``: byte in a row of the output."""
    spans: Ints
    """``[blocks]``: output pixels of a segment."""
    stored: int
    """Bytes of a part that are stored; whole vectors where there is a tail, too."""
    parts: int
    """Of all blocks; but for a tail."""
    tail: int = 0
    """Parts of the last block, if they are others."""

    @property
    def steps(self) -> Ints:
        """``[blocks]``: groups of pixels of a segment."""
        return self.spans // self.group

    @property
    def gathers(self) -> bool:
        """Whether lanes read other bytes than their own."""
        if self.tail:
            return False
        parts = self.gather.reshape(-1, self.gather.shape[1] // self.parts)
        return not np.array_equal(parts[:, : self.stored], np.tile(np.arange(self.stored), (len(parts), 1)))


def layouts(conv: Conv, isa: InstructionSet) -> list[Blocks]:
    """The ways to cut ``conv`` into blocks."""
    parts = [n for n in (1, 2, 4) if isa.vector_bytes // n >= PART_BYTES]
    if conv.output.channels != conv.input.channels:
        return [_uniform(conv, isa, parts[-1])]  # bytes are gathered inside of sixteen
    found = [_uniform(conv, isa, n) for n in parts]
    if conv.output.channels > isa.vector_bytes and conv.output.channels % isa.vector_bytes:
        found += [_with_tail(conv, isa, n) for n in parts[1:]]
    return found


def _uniform(conv: Conv, isa: InstructionSet, parts: int) -> Blocks:
    """Blocks of ``parts`` parts, with the largest group of pixels that divides the segments."""
    lanes = isa.vector_bytes // parts
    return next(
        layout
        for group in range(_largest_group(conv, lanes), 0, -1)
        if (layout := _grouped(conv, lanes, parts, group)) is not None
    )


def _with_tail(conv: Conv, isa: InstructionSet, parts: int) -> Blocks:
    """Whole vectors of channels, and blocks of ``parts`` parts for what is left."""
    whole = conv.output.channels // isa.vector_bytes * isa.vector_bytes
    first = _grouped(conv, isa.vector_bytes, 1, 1, end=whole)
    rest = _grouped(conv, isa.vector_bytes // parts, parts, 1, begin=whole)
    assert first is not None  # only larger groups may not fit
    assert rest is not None
    unused = ((0, 0), (0, parts - 1))
    inputs, outputs = np.pad(first.inputs, unused), np.pad(first.outputs, unused)
    return Blocks(
        1,
        np.concatenate([first.channels, rest.channels]),
        np.concatenate([first.gather, rest.gather]),
        np.concatenate([inputs, rest.inputs]),
        np.concatenate([outputs, rest.outputs]),
        np.concatenate([first.spans, rest.spans]),
        first.stored,
        1,
        parts,
    )


def _grouped(
    conv: Conv, lanes: int, parts: int, group: int, begin: int = 0, end: int | None = None
) -> Blocks | None:
    """Blocks for the lanes ``begin`` to ``end`` of groups; None if groups do not divide the segments."""
    count, width = conv.output.channels, conv.output.width
    column = conv.strides[1] * conv.input.pixel_pitch
    # Every lane of a group: pixel, channel, byte of the input.
    lane = np.arange(group * count)
    pixel, channel = lane // count, lane % count
    byte = pixel * column + channel // (count // conv.input.channels)
    end = len(lane) if end is None else end
    starts = np.minimum(np.arange(begin, end, lanes), max(len(lane) - lanes, 0))
    pieces, segments = _pieces(len(starts), parts)
    spans = [-(-width // (n * group)) * group for n in segments]
    if max(spans) > width:
        return None
    position = np.array(
        [
            [min(_segment(row, part) * span, width - span) for part in range(parts)]
            for row, span in zip(pieces, spans, strict=True)
        ]
    )
    held = starts[pieces][..., None] + np.arange(lanes)  # [blocks, parts, lanes]
    inside = held < len(lane)
    picked = np.minimum(held, len(lane) - 1)
    first = byte[picked].min(axis=2)
    x, padding = conv.input, conv.padding
    origin = x.start - padding[0] * x.row_pitch - padding[1] * x.pixel_pitch
    return Blocks(
        group,
        np.where(inside, channel[picked], count).reshape(len(pieces), -1),
        np.where(inside, byte[picked] - first[..., None], 0).reshape(len(pieces), -1),
        origin + position * column + first,
        conv.output.start + position * conv.output.pixel_pitch + starts[pieces],
        np.array(spans),
        min(lanes, len(lane)),
        parts,
    )


def _largest_group(conv: Conv, lanes: int) -> int:
    """How many neighbouring pixels fit into a part."""
    count = conv.output.channels
    if count > lanes // 2 or conv.output.pixel_pitch != count:
        return 1
    column = conv.strides[1] * conv.input.pixel_pitch
    if column == count and conv.input.channels == count:
        most = lanes // count
    elif lanes == PART_BYTES:  # bytes are gathered inside of sixteen
        most = min(lanes // count, (lanes - conv.input.channels) // column + 1)
    else:
        most = 1
    return max(1, min(most, conv.output.width))


def _pieces(count: int, parts: int) -> tuple[npt.NDArray[np.intp], list[int]]:
    """``[blocks, parts]``: the piece of a pixel that each part holds; and into how many segments the rows of
    a block are cut: the last block takes several where there are not enough pieces.
    """
    whole = [list(range(i, i + parts)) for i in range(0, count - parts + 1, parts)]
    segments = [1] * len(whole)
    rest = list(range(count - count % parts, count))
    if rest:
        times = parts // len(rest)
        whole.append((rest * (times + 1))[:parts])
        segments.append(times)
    return np.array(whole, np.intp), segments


def _segment(row: npt.NDArray[np.intp], part: int) -> int:
    """Which segment a part holds: the number of earlier parts with the same piece."""
    return int(np.count_nonzero(row[:part] == row[part]))


def interleaved(blocks: Blocks, count: int, width: int) -> Channels:
    """The channels of all blocks, a vector of ``width`` i32 after the other, in the order in which bytes are
    interleaved: element ``4 l + r`` of a block's vector ``j`` is the block's byte ``16 l + 4 j + r``.
    """
    by_lane = blocks.channels.reshape(len(blocks.channels), -1, 4, 4)  # block, l, j, r
    lanes = by_lane.transpose(0, 2, 1, 3).reshape(-1)
    return Channels(count, len(lanes) // width, width, lanes)


def table(blocks: Blocks, wide: Ints) -> Ints:
    """Per block, as i64: steps, a number of its own, each part's place in the input, then in the output."""
    return np.stack([blocks.steps, wide, *blocks.inputs.T, *blocks.outputs.T], axis=1).astype(np.int64)
