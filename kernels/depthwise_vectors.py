"""What all depthwise kernels do with vectors: load a row of a block, interleave rows, multiply, store."""

from __future__ import annotations

from collections.abc import Sequence

from . import epilogue
from .epilogue import Epilogue
from .instruction_set import InstructionSet
from .instructions import dot_pairs, dot_quads, shuffle_bytes
from .instructions.aarch64 import add_products
from .launch import Code
from .narrow import Narrower, store_bytes
from .writer import Writer

VECTORS = 4
"""i32 vectors of a block."""


TAIL = 1 << VECTORS
"""The flag of a block that is a tail; the lower ones: vectors that have weights beyond the first term."""


def rows_per_group(isa: InstructionSet) -> int:
    """How many rows of the input share an i32 lane; one where bytes stay as they were loaded."""
    return {"multiply-add-i16": 2, "multiply-add-s8": 1}.get(isa.dot, 4)


def vectors_per_group(isa: InstructionSet) -> int:
    """How many vectors hold a group of rows of a block."""
    return 1 if isa.dot == "multiply-add-s8" else VECTORS


class Vectors:
    """Writes the pieces of one kernel, and knows where its row's slots are: input, weights, parameters,
    blocks, lines, order of the gathered bytes (if any), output, then scalars.

    ``together`` i32 vectors are computed at once, each from up to ``factors`` products.
    """

    def __init__(self, code: Code, isa: InstructionSet) -> None:
        self.isa = isa
        self.w = w = Writer(isa)
        w.align_stack()
        self.parts, self.stored, self.tail = int(code["parts"]), int(code["stored"]), int(code["tail"])
        self.terms = int(code["terms"])
        self.volatile = isa.architecture == "x86_64"  # AArch64 loads neighbours in pairs
        self.group_vectors = vectors_per_group(isa)
        self.together, self.factors = (VECTORS, 2) if isa.dot == "multiply-add-s8" else (1, 1)
        self.epilogue = Epilogue.of_code(code)
        self.parameter_bytes = isa.vector_bytes + self.epilogue.parameter_bytes(isa.lanes)
        self.x, self.weights, self.parameters, self.blocks, self.lines = (w.pointer(i) for i in range(5))
        self.orders = w.pointer(5) if code["gathers"] else ""
        self._slot = 6 if code["gathers"] else 5
        self.out = w.pointer(self._slot)
        self.block_count = self.scalar()
        self.limits = self.epilogue.limits(w, self.parameters)
        self.narrower = Narrower(w, self.epilogue, self.parameters, bool(code["signed"]))

    def scalar(self) -> str:
        """The next scalar."""
        self._slot += 1
        return self.w.scalar(self._slot)

    def start_unit(self, unit: str, block_bytes: str) -> str:
        """Loads what is a unit's own: where its sources, targets, weights and parameters are, in which order
        bytes are gathered, and its flags. Returns the number of steps.
        """
        w, isa = self.w, self.isa
        line, block = w.split(unit, self.block_count)
        entry = w.at(self.lines, w.times(line, 16))
        source, target = (
            w.at(image, w.load(w.at(entry, 8 * i), "i64", 8)) for i, image in enumerate((self.x, self.out))
        )
        parts = max(self.parts, self.tail)
        count = 2 + 2 * parts
        entry = w.at(self.blocks, w.times(block, 8 * count))
        steps, self.flags, *places = (w.load(w.at(entry, 8 * i), "i64", 8) for i in range(count))
        self.sources = [w.at(source, place) for place in places[:parts]]
        self.targets = [w.at(target, place) for place in places[parts:]]
        self.block_weights = w.at(self.weights, w.times(block, block_bytes))
        self.block_parameters = w.at(
            w.at(self.parameters, epilogue.HEADER_BYTES), w.times(block, VECTORS * self.parameter_bytes)
        )
        self.order = ""
        if self.orders:
            self.order = w.load(w.at(self.orders, w.times(block, isa.vector_bytes)), w.i8, isa.vector_bytes)
        return steps

    def bias(self, vector: int) -> str:
        """What the accumulators of a block's vector start with."""
        place = self.w.at(self.block_parameters, vector * self.parameter_bytes)
        return self.w.load(place, self.w.i32, self.isa.vector_bytes, volatile=self.volatile)

    def rescaled(self, vector: int, sums: Sequence[str]) -> list[str]:
        """Accumulators of one vector of channels as i32 numbers."""
        place = self.w.at(self.block_parameters, vector * self.parameter_bytes + self.isa.vector_bytes)
        loaded = self.epilogue.load(self.w, place, volatile=self.volatile)
        return [self.epilogue.apply(self.w, value, loaded, self.limits) for value in sums]

    def load_row(self, sources: Sequence[str]) -> str:
        """A block's bytes of one row, a part from each source."""
        w = self.w
        size = self.isa.vector_bytes // len(sources)
        values = [w.load(source, f"vector<{size}xi8>") for source in sources]
        while len(values) > 1:
            values = [
                w.shuffle(low, high, range(2 * size), f"vector<{size}xi8>")
                for low, high in zip(values[::2], values[1::2], strict=True)
            ]
            size *= 2
        return shuffle_bytes(w, values[0], self.order) if self.order else values[0]

    def interleave(self, rows: Sequence[str]) -> list[str]:
        """A group of rows. Four vectors whose i32 lanes hold a channel's bytes of up to four rows, or i16 of
        up to two; or the only row as it is. Bytes of rows that are missing are arbitrary.
        """
        w = self.w
        if self.group_vectors == 1:
            return list(rows)
        if rows_per_group(self.isa) == 2:
            zero = w.splat(0, w.i8)
            halves = self._zip(rows[0], rows[-1], 1)
            return [value for half in halves for value in self._zip(half, zero, 1)]
        first = self._zip(rows[0], rows[1 if len(rows) > 1 else 0], 1)
        second = self._zip(rows[2], rows[-1], 1) if len(rows) > 2 else first
        return [value for pair in zip(first, second, strict=True) for value in self._zip(*pair, 2)]

    def place_in_group(self, vector: int) -> int:
        """Which vector of a group of rows, or of their weights, an i32 vector of a block needs."""
        return vector * self.group_vectors // VECTORS

    def add(self, totals: Sequence[str], vector: int, factors: Sequence[tuple[str, str]]) -> list[str]:
        """Adds products to the ``together`` i32 vectors of a block from ``vector`` on. ``factors``: up to so
        many pairs of a vector of :meth:`interleave` and loaded weights, each as :meth:`place_in_group` says.
        """
        w = self.w
        if self.together > 1:
            halves = (add_products(w, totals[i : i + 2], factors, upper=i > 0) for i in (0, 2))
            return [total for half in halves for total in half]
        ((column, weights),) = factors
        if rows_per_group(self.isa) == 4:
            return [dot_quads(w, totals[0], column, weights)]
        return [dot_pairs(w, totals[0], *(w.bitcast(value, w.i8, w.i32) for value in (column, weights)))]

    def load_weights(self, place: str) -> str:
        """One vector of weights; each lane holds those of a channel's taps in a group of rows."""
        return self.w.load(place, self.w.i8, self.isa.vector_bytes)

    def store(self, packed: str, targets: Sequence[str]) -> None:
        """The bytes of one step, each part to its own place."""
        w = self.w
        size = self.isa.vector_bytes // len(targets)
        for part, target in enumerate(targets):
            value = packed
            if len(targets) > 1:
                value = w.shuffle(packed, packed, range(part * size, (part + 1) * size), w.i8)
            store_bytes(w, value, size, target, min(self.stored, size))

    def _zip(self, lhs: str, rhs: str, size: int) -> list[str]:
        """``punpckl`` and ``punpckh``: elements of ``size`` bytes in turn, within 16 bytes."""
        w = self.w
        count, each = self.isa.vector_bytes // size, 16 // size
        type_ = f"vector<{count}xi{8 * size}>"
        if size > 1:
            lhs, rhs = (w.bitcast(value, w.i8, type_) for value in (lhs, rhs))
        results = []
        for half in (0, each // 2):
            lanes = [
                lane + half + i + side
                for lane in range(0, count, each)
                for i in range(each // 2)
                for side in (0, count)
            ]
            value = w.shuffle(lhs, rhs, lanes, type_)
            results.append(w.bitcast(value, type_, w.i8) if size > 1 else value)
        return results
