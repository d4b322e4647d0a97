"""Depthwise kernels for small windows, whose taps are written out.

A tile is ``rows`` rows times ``pixels`` pixels of outputs. Its pixels are so far apart that their windows
share columns: output ``i`` of a tile reads columns ``i * shift`` and up, of which each is loaded and
interleaved once; rows alike. With stride 1 neighbours in a tile are ``dilation`` apart, and ``shift`` is one;
with stride 2 and no dilation they are neighbours, and ``shift`` is two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from .depthwise_vectors import TAIL, VECTORS, Vectors, rows_per_group
from .instruction_set import InstructionSet
from .instructions import pinned
from .launch import Code, Option

Column = list[list[str]]
"""The interleaved bytes of one column: ``[groups of rows][vectors]``."""
LoadColumn = Callable[[int], Column]
Packed = list[list[str]]
"""The bytes of a tile's results: ``[rows][pixels]``."""


@dataclass(frozen=True)
class Sharing:
    """How outputs along one axis share what they read, for a stride and a dilation."""

    apart: int
    """Outputs that share are so many steps apart: there are so many phases."""
    shift: int
    """Taps from one to the next."""

    @classmethod
    def of(cls, stride: int, dilation: int) -> Sharing:
        common = math.gcd(stride, dilation)
        return cls(dilation // common, stride // common)


@dataclass(frozen=True)
class Tile:
    """The shape of the code."""

    window: tuple[int, int]
    row_shift: int
    shift: int
    rows: int
    pixels: int
    resident: bool
    """Whether all columns are in registers at once: then a weight is loaded once for all pixels, and columns
    are kept for the next tile.
    """
    phases: bool
    """Whether outputs of a tile are not neighbours."""

    @property
    def options(self) -> tuple[tuple[str, Option], ...]:
        return (
            ("height", self.window[0]),
            ("width", self.window[1]),
            ("row_shift", self.row_shift),
            ("shift", self.shift),
            ("rows", self.rows),
            ("pixels", self.pixels),
            ("resident", self.resident),
            ("phases", self.phases),
        )

    @classmethod
    def of_code(cls, code: Code) -> Tile:
        number = {
            name: int(code[name]) for name in ("height", "width", "row_shift", "shift", "rows", "pixels")
        }
        return cls(
            (number["height"], number["width"]),
            number["row_shift"],
            number["shift"],
            number["rows"],
            number["pixels"],
            bool(code["resident"]),
            bool(code["phases"]),
        )

    @property
    def input_rows(self) -> int:
        return (self.rows - 1) * self.row_shift + self.window[0]

    @property
    def columns(self) -> int:
        return (self.pixels - 1) * self.shift + self.window[1]

    @property
    def kept(self) -> int:
        """Columns that the next tile has, too."""
        return max(0, self.window[1] - self.shift) if self.resident else 0

    def groups(self, isa: InstructionSet) -> int:
        """Groups of input rows."""
        return -(-self.input_rows // rows_per_group(isa))

    def pairs(self, isa: InstructionSet) -> list[tuple[int, int]]:
        """Every group of input rows with every row of outputs that has taps in it."""
        size = rows_per_group(isa)
        return [
            (group, row)
            for group in range(self.groups(isa))
            for row in range(self.rows)
            if group * size < row * self.row_shift + self.window[0]
            and (group + 1) * size > row * self.row_shift
        ]

    def weights(self, filter: npt.NDArray[np.int64], isa: InstructionSet) -> npt.NDArray[np.int64]:
        """``[channels, height, width]`` as ``[channels, width, pairs, rows of a group]``."""
        size, (height, _) = rows_per_group(isa), self.window
        padded = np.pad(filter, ((0, 0), (0, 1), (0, 0)))
        tap = np.array(
            [np.arange(size) + group * size - row * self.row_shift for group, row in self.pairs(isa)]
        )
        tap = np.where((tap >= 0) & (tap < height), tap, height)
        taps: npt.NDArray[np.int64] = padded[:, tap].transpose(0, 3, 1, 2)
        return taps


def write(code: Code, isa: InstructionSet) -> str:
    return _Tiles(code, isa).write()


class _Tiles(Vectors):
    """Scalars: blocks, bytes from a column to the next, from a row of the input to the next, from a row of
    the output and from a pixel to the next in a tile; with phases: how many there are, bytes of a phase in
    the input and in the output.
    """

    def __init__(self, code: Code, isa: InstructionSet) -> None:
        super().__init__(code, isa)
        self.tile = tile = Tile.of_code(code)
        self.pairs = tile.pairs(isa)
        self.column_pitch, row_pitch = self.scalar(), self.scalar()
        self.out_row, self.out_pixel = self.scalar(), self.scalar()
        if tile.phases:
            self.phases, self.in_phase, self.out_phase = self.scalar(), self.scalar(), self.scalar()
        self.row_offsets = [self.w.times(row_pitch, i) if i else "" for i in range(tile.input_rows)]

    def write(self) -> str:
        self.w.units(self._unit)
        return self.w.text()

    def _unit(self, unit: str) -> None:
        w, tile = self.w, self.tile
        taps = tile.window[1] * len(self.pairs) * self.terms
        steps = self.start_unit(unit, w.index(taps * VECTORS * self.isa.vector_bytes))
        if not self.tail:
            self._line(steps, self.sources, self.targets)
            return
        flag = w.binary("andi", self.flags, w.index(TAIL), "i64")
        for predicate, parts in (("eq", self.parts), ("ne", self.tail)):
            places = self.sources[:parts], self.targets[:parts]
            w.when(w.compare(predicate, flag, 0), partial(self._line, steps, *places))

    def _line(self, steps: str, sources: Sequence[str], targets: Sequence[str]) -> None:
        """A unit's outputs, ``steps`` in every part."""
        w = self.w
        if not self.tile.phases:
            self._phase(steps, sources, targets)
            return

        def phase(index: str) -> Sequence[str]:
            left = w.minus(w.plus(w.minus(steps, index), self.phases), 1)
            offsets = w.times(index, self.in_phase), w.times(index, self.out_phase)
            places = (
                [w.at(start, offset) for start in starts]
                for starts, offset in zip((sources, targets), offsets, strict=True)
            )
            self._phase(w.split(left, self.phases)[0], *places)
            return []

        w.loop(w.at_most(steps, self.phases), phase)

    def _phase(self, steps: str, sources: Sequence[str], targets: Sequence[str]) -> None:
        """The outputs that share columns, ``steps`` in every part."""
        w, tile = self.w, self.tile
        last = w.minus(steps, 1)
        last_column = w.plus(w.times(last, tile.shift), tile.window[1] - 1)

        def load(column: str) -> Column:
            offset = w.times(column, self.column_pitch)
            return self._column([w.at(source, offset) for source in sources])

        def step(index: str, *kept: str) -> Sequence[str]:
            first = w.times(index, tile.pixels)
            first_column = w.times(first, tile.shift)

            def column(number: int) -> Column:
                place = w.plus(first_column, number)
                # Columns of pixels beyond the last one: any that exist.
                return load(w.at_most(place, last_column) if number >= tile.window[1] else place)

            groups = [list(kept[i : i + VECTORS]) for i in range(0, len(kept), VECTORS)]
            count = tile.groups(self.isa)
            there = [groups[i : i + count] for i in range(0, len(groups), count)]
            sums = self._resident if tile.resident else self._passing
            packed, columns = sums(there, column)
            for pixel in reversed(
                range(tile.pixels)
            ):  # so that the last pixel is stored after those beyond it
                place = w.plus(first, pixel)
                offset = w.times(w.at_most(place, last) if pixel else place, self.out_pixel)
                for row in range(tile.rows):
                    starts = [w.at(target, offset) for target in targets]
                    if row:
                        down = w.times(self.out_row, row)
                        starts = [w.at(start, down) for start in starts]
                    self.store(packed[row][pixel], starts)
            return [
                value for column in columns[len(columns) - tile.kept :] for group in column for value in group
            ]

        kept = [value for i in range(tile.kept) for group in load(w.index(i)) for value in group]
        w.loop(w.split(w.plus(steps, tile.pixels - 1), tile.pixels)[0], step, kept, w.i8)

    def _column(self, sources: Sequence[str]) -> Column:
        """The groups of rows of one column, interleaved."""
        size = rows_per_group(self.isa)
        rows = [
            self.load_row([self.w.at(source, offset) if offset else source for source in sources])
            for offset in self.row_offsets
        ]
        return [self.interleave(rows[first : first + size]) for first in range(0, len(rows), size)]

    def _resident(self, kept: Sequence[Column], column: LoadColumn) -> tuple[Packed, list[Column]]:
        """All sums of a vector of channels before those of the next: only columns stay in registers."""
        tile = self.tile
        used = {pixel * tile.shift + tap for pixel in range(tile.pixels) for tap in range(tile.window[1])}
        columns = [*kept, *(column(i) if i in used else [] for i in range(len(kept), tile.columns))]
        numbers: list[list[str]] = []
        words: list[list[str]] = []
        for vector in range(VECTORS):
            totals = self._products(columns, vector, [self.bias(vector)] * (tile.rows * tile.pixels), [0])
            if self.terms > 1:
                bit = self.w.binary("andi", self.flags, self.w.index(1 << vector), "i64")
                totals = self.w.update(
                    self.w.compare("ne", bit, 0),
                    partial(self._products, columns, vector, totals, range(1, self.terms)),
                    totals,
                    self.w.i32,
                )
            numbers.append([pinned(self.w, n, self.w.i32) for n in self.rescaled(vector, totals)])
            if vector % 2:
                words.append([self.narrower.words(*both) for both in zip(*numbers[-2:], strict=True)])
        return self._packed(words), columns

    def _products(
        self, columns: Sequence[Column], vector: int, totals: Sequence[str], terms: Sequence[int]
    ) -> list[str]:
        """``totals`` and all products of a vector of channels with some terms of the weights."""
        tile, sums = self.tile, list(totals)
        for tap in range(tile.window[1]):
            for pair, (group, row) in enumerate(self.pairs):
                for term in terms:
                    weights = self._tap_weights(tap, pair, term, vector)
                    for pixel in range(tile.pixels):
                        taps = columns[pixel * tile.shift + tap][group][vector]
                        place = row * tile.pixels + pixel
                        sums[place] = self.dot(sums[place], taps, weights)
        return sums

    def _passing(self, kept: Sequence[Column], column: LoadColumn) -> tuple[Packed, list[Column]]:
        """Columns one after the other: only sums stay in registers."""
        tile = self.tile
        bias = [self.bias(vector) for vector in range(VECTORS)]
        totals = [[value] * (tile.rows * tile.pixels) for value in bias]
        for number in range(tile.columns):
            used = [
                (pixel, number - pixel * tile.shift)
                for pixel in range(tile.pixels)
                if 0 <= number - pixel * tile.shift < tile.window[1]
            ]
            taps = column(number) if used else []
            for pixel, tap in used:
                for pair, (group, row) in enumerate(self.pairs):
                    place = row * tile.pixels + pixel
                    for term in range(self.terms):
                        for vector in range(VECTORS):
                            weights = self._tap_weights(tap, pair, term, vector)
                            totals[vector][place] = self.dot(
                                totals[vector][place], taps[group][vector], weights
                            )
        numbers = [self.rescaled(vector, totals[vector]) for vector in range(VECTORS)]
        words = [
            [self.narrower.words(*both) for both in zip(*numbers[i : i + 2], strict=True)] for i in (0, 2)
        ]
        return self._packed(words), []

    def _packed(self, words: Sequence[Sequence[str]]) -> Packed:
        """Two lists of words of all outputs as bytes, by row and pixel."""
        packed = [self.narrower.bytes(*both) for both in zip(*words, strict=True)]
        return [packed[i : i + self.tile.pixels] for i in range(0, len(packed), self.tile.pixels)]

    def _tap_weights(self, tap: int, pair: int, term: int, vector: int) -> str:
        index = ((tap * len(self.pairs) + pair) * self.terms + term) * VECTORS + vector
        return self.load_weights(self.w.at(self.block_weights, index * self.isa.vector_bytes))
