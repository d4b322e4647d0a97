"""Depthwise kernels for any size of window: loops over its rows and columns, and nothing is kept from one
pixel to the next.
"""

from __future__ import annotations

from collections.abc import Sequence

from .depthwise_vectors import VECTORS, Vectors, rows_per_group
from .instruction_set import InstructionSet
from .launch import Code


def write(code: Code, isa: InstructionSet) -> str:
    return _Streaming(code, isa).write()


class _Streaming(Vectors):
    """Scalars: blocks, bytes from a step to the next in the input and in the output, from a tap's row and
    column to the next, the window's height and width, bytes of a block's weights.
    """

    def __init__(self, code: Code, isa: InstructionSet) -> None:
        super().__init__(code, isa)
        self.rows = rows_per_group(isa)
        self.in_step, self.out_step = self.scalar(), self.scalar()
        self.tap_row, self.tap_column = self.scalar(), self.scalar()
        self.height, self.width = self.scalar(), self.scalar()
        self.block_bytes = self.scalar()
        self.term_bytes = self.group_vectors * isa.vector_bytes
        self.tap_bytes = self.terms * self.term_bytes

    def write(self) -> str:
        w = self.w
        self.row_groups = w.split(w.plus(self.height, self.rows - 1), self.rows)[0]
        self.last_row = w.minus(self.height, 1)
        w.units(self._unit)
        return w.text()

    def _unit(self, unit: str) -> None:
        w = self.w

        def step(index: str) -> Sequence[str]:
            offset = w.times(index, self.in_step)
            sums = self._sums([w.at(source, offset) for source in self.sources])
            numbers = [self.rescaled(j, [total])[0] for j, total in enumerate(sums)]
            words = [self.narrower.words(*numbers[i : i + 2]) for i in (0, 2)]
            place = w.times(index, self.out_step)
            self.store(self.narrower.bytes(*words), [w.at(target, place) for target in self.targets])
            return []

        w.loop(self.start_unit(unit, self.block_bytes), step)

    def _sums(self, sources: Sequence[str]) -> list[str]:
        """The accumulators of one step."""
        w = self.w

        def row_group(index: str, *sums: str) -> Sequence[str]:
            first = w.times(index, self.rows)
            # Rows below the window have weights of zero; they need not exist.
            rows = [w.at_most(w.plus(first, i), self.last_row) for i in range(self.rows)]
            starts = [[w.at(source, w.times(row, self.tap_row)) for source in sources] for row in rows]
            weights = w.at(self.block_weights, w.times(w.times(index, self.width), self.tap_bytes))

            def column(number: str, *sums: str) -> Sequence[str]:
                offset = w.times(number, self.tap_column)
                taps = self.interleave([self.load_row([w.at(s, offset) for s in row]) for row in starts])
                place = w.at(weights, w.times(number, self.tap_bytes))
                totals = list(sums)
                for term in range(self.terms):
                    for vector in range(0, VECTORS, self.together):
                        i, these = self.place_in_group(vector), slice(vector, vector + self.together)
                        offset_of_vector = term * self.term_bytes + i * self.isa.vector_bytes
                        loaded = self.load_weights(w.at(place, offset_of_vector))
                        totals[these] = self.add(totals[these], vector, [(taps[i], loaded)])
                return totals

            return w.loop(self.width, column, sums)

        return w.loop(self.row_groups, row_group, [self.bias(j) for j in range(VECTORS)])
