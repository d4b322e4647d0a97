"""How a convolution is cut into AMX tiles: rows of tiles are output pixels whose inputs lie evenly spaced.

Output pixels are enumerated by one of several *scans*: row by row of the output, or along the whole
(bordered) input, which gives full tiles also where rows are short, at the price of positions that are no
output pixel (*junk*). All tiles of a layer have the same number of rows, the last tile of a segment overlaps
the one before it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .amx_instructions import TILE_ROW_BYTES, TILE_ROWS
from .conv import Conv

SHAPES = ((1, 4), (2, 2), (4, 1))
"""Tiles of a block of results: of pixels, of channels."""
JUNK = -1
ROW_GROUP = 4
"""Rows of results that are rescaled together, and packed into full vectors."""

# Cycles, measured on Emerald Rapids. A product of tiles takes as long as the left one has rows, to a floor.
_DOT_ROWS, _DOT_CYCLES = (4, 8, 13, 14, 16), (9.25, 10, 14, 14.5, 16)
_LOAD_CYCLES_PER_ROW = 0.5
_SPLIT_CYCLES_PER_ROW = 2.4
"""More, if it crosses the end of a line of the cache."""
_STORE_CYCLES_PER_ROW = 1.0
_RESULT_CYCLES = 4.0
"""Of the epilogue, per 16 results."""
_MOST_HIDDEN, _HIDDEN_PER_CYCLE = 0.7, 0.5
"""Of an epilogue: what the sums of the next block hide."""
_L1_BYTES = (32 * 1024, 64 * 1024)
"""What stays there, and what is too much."""
_L2_BYTES_PER_CYCLE = 36
_VNNI_MACS_PER_CYCLE = 128 * 0.95


@dataclass(frozen=True)
class Reduction:
    """What is summed up, in steps of 64 bytes; what lies beyond a run of bytes meets zeros in the filter."""

    offsets: npt.NDArray[np.int64]
    """``[steps]``: where a step starts, from an output pixel's first input byte."""
    sources: npt.NDArray[np.int64]
    """``[steps, 64]``: index into a channel's ``[kernel_height, kernel_width, channels]``, -1 for none."""
    taps_per_byte: float
    """How often an input is read, about."""
    splits: float
    """The share of its loads that cross the end of a line of the cache."""

    @classmethod
    def of(cls, conv: Conv) -> Reduction:
        channels = conv.input.channels // conv.groups
        offsets, sources = [], []
        for start, first, length in _runs(conv, channels):
            for k in range(0, length, TILE_ROW_BYTES):
                index = np.arange(first + k, first + k + TILE_ROW_BYTES)
                offsets.append(start + k)
                sources.append(np.where(index < first + length, index, -1))
        reuse = max(1.0, math.prod(conv.kernel) / math.prod(conv.strides))
        pixels = origin(conv) + np.arange(TILE_ROW_BYTES)[:, None] * conv.strides[1] * conv.input.pixel_pitch
        splits = float(np.mean((pixels + np.array(offsets)) % TILE_ROW_BYTES != 0))
        return cls(np.array(offsets, np.int64), np.array(sources, np.int64), reuse, splits)

    @property
    def steps(self) -> int:
        return len(self.offsets)


def origin(conv: Conv) -> int:
    """The first byte that the first output pixel reads."""
    image = conv.input
    return image.start - conv.padding[0] * image.row_pitch - conv.padding[1] * image.pixel_pitch


def _runs(conv: Conv, channels: int) -> list[tuple[int, int, int]]:
    """Bytes that follow each other in the input and in the filter: where in each, how many."""
    row, column = conv.dilations[0] * conv.input.row_pitch, conv.dilations[1] * conv.input.pixel_pitch
    runs: list[tuple[int, int, int]] = []
    for i in range(conv.kernel[0]):
        for j in range(conv.kernel[1]):
            offset = i * row + j * column
            first = (i * conv.kernel[1] + j) * channels
            if runs and runs[-1][0] + runs[-1][2] == offset:
                runs[-1] = (*runs[-1][:2], runs[-1][2] + channels)
            else:
                runs.append((offset, first, channels))
    return runs


@dataclass(frozen=True)
class Scan:
    """Output pixels in segments: within one, inputs are ``pitch`` bytes apart."""

    pitch: int
    segments: tuple[tuple[int, npt.NDArray[np.int64]], ...]
    """Input byte of the first position; and per position the output pixel it belongs to (``(n * height + y) *
    width + x``) or :data:`JUNK`. All of one length.
    """

    @property
    def length(self) -> int:
        return len(self.segments[0][1])

    def tiles(self, rows: int) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
        """Input byte, output pixels of each tile of ``rows`` rows."""
        for start, pixels in self.segments:
            for position in range(0, self.length, rows):
                first = min(position, self.length - rows)
                yield start + first * self.pitch, pixels[first : first + rows]

    def count(self, rows: int) -> int:
        return len(self.segments) * math.ceil(self.length / rows)


def scans(conv: Conv) -> list[Scan]:
    """Every way to enumerate the output's pixels."""
    image, out = conv.input, conv.output
    pitch = conv.strides[1] * image.pixel_pitch
    line = conv.strides[0] * image.row_pitch
    pixels = np.arange(out.batch * out.height * out.width).reshape(out.batch, out.height, out.width)
    starts = origin(conv) + np.arange(out.batch)[:, None] * image.image_pitch + np.arange(out.height) * line
    by_row = [(int(starts[n, y]), pixels[n, y]) for n in range(out.batch) for y in range(out.height)]
    found = [Scan(pitch, tuple(by_row))]
    if line % pitch == 0 and line // pitch >= out.width:
        by_image = [(int(starts[n, 0]), _joined(pixels[n], line // pitch)) for n in range(out.batch)]
        found.append(Scan(pitch, tuple(by_image)))
        length = len(by_image[0][1])
        if image.image_pitch % pitch == 0 and image.image_pitch // pitch >= length:
            joined = _joined(np.stack([row for _, row in by_image]), image.image_pitch // pitch)
            found.append(Scan(pitch, ((by_image[0][0], joined),)))
    return found


def _joined(rows: npt.NDArray[np.int64], distance: int) -> npt.NDArray[np.int64]:
    """Rows that start ``distance`` positions apart, as one; what lies between them is junk."""
    padded = np.full((len(rows), distance), JUNK, np.int64)
    padded[:, : rows.shape[1]] = rows
    return padded.reshape(-1)[: (len(rows) - 1) * distance + rows.shape[1]]


@dataclass(frozen=True)
class Tiling:
    """A scan, the rows of a tile, the tiles of a block, and what that costs."""

    scan: Scan
    rows: int
    shape: tuple[int, int]
    panels: int
    """Blocks side by side, over all channels of all groups."""
    cycles: float

    @property
    def blocks(self) -> int:
        """Blocks of pixels."""
        return math.ceil(self.scan.count(self.rows) / self.shape[0])

    @property
    def block_rows(self) -> int:
        return self.shape[0] * self.rows


def panels_of(conv: Conv, width: int) -> int:
    return conv.groups * math.ceil(conv.output.channels // conv.groups / width)


def tilings(conv: Conv, reduction: Reduction) -> Iterator[Tiling]:
    """Every way to cut ``conv`` into tiles."""
    for scan in scans(conv):
        for rows in range(1, min(TILE_ROWS, scan.length) + 1):
            for shape in SHAPES:
                yield _tiling(conv, reduction, scan, rows, shape)


def best(conv: Conv, reduction: Reduction) -> Tiling:
    """The cheapest tiling."""
    return min(tilings(conv, reduction), key=lambda tiling: tiling.cycles)


def _tiling(conv: Conv, reduction: Reduction, scan: Scan, rows: int, shape: tuple[int, int]) -> Tiling:
    panels = panels_of(conv, TILE_ROWS * shape[1])
    blocks = math.ceil(scan.count(rows) / shape[0])
    return Tiling(scan, rows, shape, panels, blocks * panels * block_cycles(reduction, rows, shape))


def block_cycles(reduction: Reduction, rows: int, shape: tuple[int, int]) -> float:
    """Cycles of one block of results with its epilogue."""
    tiles = math.prod(shape)
    dots = tiles * float(np.interp(rows, _DOT_ROWS, _DOT_CYCLES))
    loads = (shape[0] * rows + shape[1] * TILE_ROWS) * _LOAD_CYCLES_PER_ROW
    loads += shape[0] * rows * reduction.splits * _SPLIT_CYCLES_PER_ROW
    pixels, filters = shape[0] * rows * TILE_ROW_BYTES, shape[1] * TILE_ROWS * TILE_ROW_BYTES
    far = pixels / reduction.taps_per_byte
    # Every block reads the filters again: what does not stay in the first cache comes from the second.
    used = (far + filters) * reduction.steps
    far += filters * float(np.interp(used, _L1_BYTES, (0.0, 1.0)))
    sums = reduction.steps * max(dots, loads, far / _L2_BYTES_PER_CYCLE)
    around = tiles * (TILE_ROWS * _LOAD_CYCLES_PER_ROW + rows * _STORE_CYCLES_PER_ROW)
    results = shape[1] * -(-shape[0] * rows // ROW_GROUP) * ROW_GROUP * _RESULT_CYCLES
    hidden = min(_MOST_HIDDEN * results, _HIDDEN_PER_CYCLE * sums)
    return sums + around + results - hidden


def vector_cycles(conv: Conv) -> float:
    """What the base instruction set takes, about: ``vpdpbusd`` and the same epilogue."""
    out = conv.output
    pixels = out.batch * out.height * out.width
    depth = conv.kernel[0] * conv.kernel[1] * (-(-conv.input.channels // conv.groups // 4) * 4)
    vectors = conv.groups * math.ceil(out.channels // conv.groups / TILE_ROWS)
    return pixels * vectors * (TILE_ROWS * depth / _VNNI_MACS_PER_CYCLE + _RESULT_CYCLES)
