"""Depthwise kernels for small windows, whose taps are written out, for a tile of outputs at once
(:mod:`.depthwise_tile`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

from .depthwise_tile import Tile
from .depthwise_vectors import TAIL, VECTORS, Vectors, rows_per_group
from .instruction_set import InstructionSet
from .instructions import pinned
from .launch import Code

Column = list[list[str]]
"""The interleaved bytes of one column: ``[groups of rows][vectors]``."""
Taps = Callable[[int, int], str]
"""The bytes of one vector of channels in a tile's column and group of rows."""
Packed = list[list[str]]
"""The bytes of a tile's results: ``[rows][pixels]``."""


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
        self.uses = tile.uses(isa)
        self.column_pitch, row_pitch = self.scalar(), self.scalar()
        self.out_row, self.out_pixel = self.scalar(), self.scalar()
        if tile.phases:
            self.phases, self.in_phase, self.out_phase = self.scalar(), self.scalar(), self.scalar()
        self._column_bytes = tile.groups(isa) * self.group_vectors * isa.vector_bytes
        if tile.columns_in == "stack":
            self.stack = self.w.allocate(tile.ring * self._column_bytes)
        self.row_offsets = [self.w.times(row_pitch, i) if i else "" for i in range(tile.input_rows)]

    def write(self) -> str:
        self.w.units(self._unit)
        return self.w.text()

    def _unit(self, unit: str) -> None:
        w, tile = self.w, self.tile
        taps = tile.window[1] * len(self.uses) * self.terms
        steps = self.start_unit(unit, w.index(taps * self.group_vectors * self.isa.vector_bytes))
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

        def step(index: str, *carried: str) -> Sequence[str]:
            kept: Sequence[str] = carried
            first = w.times(index, tile.pixels)
            first_column = w.times(first, tile.shift)

            def column(number: int) -> Column:
                place = w.plus(first_column, number)
                # Columns of pixels beyond the last one: any that exist.
                return load(w.at_most(place, last_column) if number >= tile.window[1] else place)

            if tile.columns_in == "registers":
                packed, kept = self._in_registers(kept, column)
            elif tile.columns_in == "stack":
                packed = self._on_stack(first_column, column)
            else:
                packed = self._passing(column)
            for pixel in reversed(range(tile.pixels)):  # those beyond the last one are stored before it
                place = w.plus(first, pixel)
                offset = w.times(w.at_most(place, last) if pixel else place, self.out_pixel)
                for row in range(tile.rows):
                    down = w.plus(offset, w.times(self.out_row, row)) if row else offset
                    self.store(packed[row][pixel], [w.at(target, down) for target in targets])
            return kept

        kept = []
        for number in range(tile.kept):
            column = load(w.index(number))
            if tile.columns_in == "registers":
                kept += [value for group in column for value in group]
            else:
                self._put(self._place(w.index(number)), column)
        w.loop(w.split(w.plus(steps, tile.pixels - 1), tile.pixels)[0], step, kept, w.i8)

    def _column(self, sources: Sequence[str]) -> Column:
        """The groups of rows of one column, interleaved."""
        size = rows_per_group(self.isa)
        rows = [
            self.load_row([self.w.at(source, offset) if offset else source for source in sources])
            for offset in self.row_offsets
        ]
        return [self.interleave(rows[first : first + size]) for first in range(0, len(rows), size)]

    def _in_registers(
        self, kept: Sequence[str], column: Callable[[int], Column]
    ) -> tuple[Packed, Sequence[str]]:
        """A tile's results, and the columns that the next one has, too."""
        tile, count = self.tile, self.tile.groups(self.isa)
        each = self.group_vectors
        groups = [list(kept[i : i + each]) for i in range(0, len(kept), each)]
        columns = [groups[i : i + count] for i in range(0, len(groups), count)]
        columns += [column(i) if i in tile.used else [] for i in range(tile.kept, tile.columns)]

        def pick(vector: int, column: int, group: int) -> str:
            return columns[column][group][self.place_in_group(vector)]

        packed = self._by_vector([partial(pick, j) for j in range(VECTORS)])
        last = columns[tile.columns - tile.kept :]
        return packed, [value for column in last for group in column for value in group]

    def _on_stack(self, first_column: str, column: Callable[[int], Column]) -> Packed:
        """A tile's results. Columns are kept in a ring."""
        w, tile = self.w, self.tile
        places = [self._place(w.plus(first_column, i)) for i in range(tile.columns)]
        for i in range(tile.kept, tile.columns):
            if i in tile.used:
                self._put(places[i], column(i))

        def load(vector: int, column: int, group: int) -> str:
            place = group * self.group_vectors + self.place_in_group(vector)
            return self.load_weights(w.at(places[column], place * self.isa.vector_bytes))

        return self._by_vector([cache(partial(load, vector)) for vector in range(VECTORS)])

    def _place(self, column: str) -> str:
        """Where a column is on the stack."""
        w = self.w
        slot = w.binary("andi", column, w.index(self.tile.ring - 1), "i64")
        return w.at(self.stack, w.times(slot, self._column_bytes))

    def _put(self, place: str, column: Column) -> None:
        w = self.w
        for i, value in enumerate(value for group in column for value in group):
            w.store(value, w.at(place, i * self.isa.vector_bytes), w.i8, self.isa.vector_bytes)

    def _by_vector(self, taps: Sequence[Taps]) -> Packed:
        """All sums of a vector of channels before those of the next."""
        w, tile = self.w, self.tile
        numbers: list[list[str]] = []
        words: list[list[str]] = []
        for vector in range(0, VECTORS, self.together):
            these = range(vector, vector + self.together)
            start = [self.bias(j) for j in these]
            totals = self._products(taps[vector], vector, start * (tile.rows * tile.pixels), [0])
            if self.terms > 1:
                flag = w.binary("andi", self.flags, w.index(sum(1 << j for j in these)), "i64")
                more = partial(self._products, taps[vector], vector, totals, range(1, self.terms))
                totals = w.update(w.compare("ne", flag, 0), more, totals, w.i32)
            for i, j in enumerate(these):
                numbers.append([pinned(w, n, w.i32) for n in self.rescaled(j, totals[i :: self.together])])
                if j % 2:
                    words.append([self.narrower.words(*both) for both in zip(*numbers[-2:], strict=True)])
        return self._packed(words)

    def _products(self, taps: Taps, vector: int, totals: Sequence[str], terms: Sequence[int]) -> list[str]:
        """``totals`` (of all outputs, ``together`` vectors each) and all products with some terms of the
        weights.
        """
        tile, sums = self.tile, list(totals)
        weights = [
            (tap, use, term)
            for tap in range(tile.window[1])
            for use in range(len(self.uses))
            for term in terms
        ]
        for first in range(0, len(weights), self.factors):
            some = weights[first : first + self.factors]
            loaded = [self._tap_weights(*one, vector) for one in some]
            for i, (_, row) in enumerate(self.uses[some[0][1]]):
                for pixel in range(tile.pixels):
                    values = [taps(pixel * tile.shift + tap, self.uses[use][i][0]) for tap, use, _ in some]
                    place = (row * tile.pixels + pixel) * self.together
                    these = slice(place, place + self.together)
                    sums[these] = self.add(sums[these], vector, list(zip(values, loaded, strict=True)))
            if self.together > 1:  # else products of all taps are computed at once
                sums = [pinned(self.w, value, self.w.i32) for value in sums]
        return sums

    def _passing(self, column: Callable[[int], Column]) -> Packed:
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
                self._add_column(totals, taps, pixel, tap)
            totals = [[pinned(self.w, total, self.w.i32) for total in part] for part in totals]
        numbers = [self.rescaled(vector, totals[vector]) for vector in range(VECTORS)]
        words = [
            [self.narrower.words(*both) for both in zip(*numbers[i : i + 2], strict=True)] for i in (0, 2)
        ]
        return self._packed(words)

    def _add_column(self, totals: list[list[str]], taps: Column, pixel: int, tap: int) -> None:
        """``totals[vector][output]`` gain the products of one column with the weights of one tap."""
        weights = [(use, term) for use in range(len(self.uses)) for term in range(self.terms)]
        for first in range(0, len(weights), self.factors):
            some = weights[first : first + self.factors]
            for vector in range(0, VECTORS, self.together):
                loaded = [self._tap_weights(tap, *one, vector) for one in some]
                for i, (_, row) in enumerate(self.uses[some[0][0]]):
                    place = row * self.tile.pixels + pixel
                    groups = (taps[self.uses[use][i][0]] for use, _ in some)
                    values = [group[self.place_in_group(vector)] for group in groups]
                    sums = [part[place] for part in totals[vector : vector + self.together]]
                    sums = self.add(sums, vector, list(zip(values, loaded, strict=True)))
                    for j, value in enumerate(sums):
                        totals[vector + j][place] = value

    def _packed(self, words: Sequence[Sequence[str]]) -> Packed:
        """Two lists of words of all outputs as bytes, by row and pixel."""
        packed = [self.narrower.bytes(*both) for both in zip(*words, strict=True)]
        return [packed[i : i + self.tile.pixels] for i in range(0, len(packed), self.tile.pixels)]

    def _tap_weights(self, tap: int, use: int, term: int, vector: int) -> str:
        count = self.tile.window[1] * len(self.uses) * self.terms
        index, place = (tap * len(self.uses) + use) * self.terms + term, self.place_in_group(vector)
        if self.tile.weights_by_vector(self.isa):
            index += place * count
        else:
            index = index * self.group_vectors + place
        return self.load_weights(self.w.at(self.block_weights, index * self.isa.vector_bytes))
