"""What becomes of the sums of a tile of :mod:`.conv2d`: rescaled, perhaps added to another tensor, stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from . import residual as residuals
from .epilogue import HEADER_BYTES, Epilogue
from .instruction_set import InstructionSet
from .launch import Code
from .narrow import Narrower, SharedVector, groups_of, store_bytes
from .residual import ResidualSum
from .writer import Writer

MASK_BYTES = 64
"""Behind the header: see :meth:`.conv2d.Plan.tables`."""
_SHARED_ROWS = 4
"""Pixels that are addressed from one pointer."""


def table_start(has_residual: bool) -> int:
    """In the tables, of what there is per panel and per run."""
    return HEADER_BYTES + MASK_BYTES + (residuals.HEADER_BYTES if has_residual else 0)


def parameter_bytes(code: Code, isa: InstructionSet) -> int:
    """Per vector of channels: where sums start, zero points if they are needed, the epilogue's."""
    return _start_bytes(code, isa) + Epilogue.of_code(code).parameter_bytes(isa.lanes)


def _start_bytes(code: Code, isa: InstructionSet) -> int:
    return isa.vector_bytes * (2 if code["sums"] else 1)


class Pixels:
    """Addresses of a tile's pixels: a pointer for every few of them, and multiples of the pitch."""

    def __init__(self, w: Writer, rows: int, pitch: str) -> None:
        self.w = w
        self.rows = rows
        self.multiples = [w.index(0)]
        for _ in range(min(rows, _SHARED_ROWS + 1) - 1):
            self.multiples.append(w.plus(self.multiples[-1], pitch) if len(self.multiples) > 1 else pitch)

    def pointers(self, first: str) -> list[str]:
        found = [first]
        for _ in range(_SHARED_ROWS, self.rows, _SHARED_ROWS):
            found.append(self.w.at(found[-1], self.multiples[_SHARED_ROWS]))
        return found

    def of(self, pointers: Sequence[str], row: int) -> str:
        base, rest = pointers[row // _SHARED_ROWS], row % _SHARED_ROWS
        return self.w.at(base, self.multiples[rest]) if rest else base


class Results:
    """The last part of a tile's code."""

    def __init__(
        self, w: Writer, code: Code, tables: str, pixels: Mapping[str, Pixels], volatile: bool = True
    ) -> None:
        """``volatile``: whether parameters must be loaded so that LLVM leaves them where they are loaded."""
        self.w = w
        self.volatile = volatile
        self.pixels = pixels
        self.rows = int(code["rows"])
        self.halved = bool(code["halved"])
        self.full = int(code["vectors"]) - self.halved
        self.width = int(code["width"])
        self.dense = bool(code["dense"])
        self.start_bytes = _start_bytes(code, w.isa)
        self.vector_parameters = parameter_bytes(code, w.isa)
        self.epilogue = Epilogue.of_code(code)
        self.narrower = Narrower(w, self.epilogue, tables, bool(code["signed"]))
        self.limits = self.epilogue.limits(w, tables)
        self.sum = ResidualSum(w, code, w.at(tables, table_start(False))) if code["residual"] else None

    def store(self, totals: Sequence[str], at: Mapping[str, Sequence[str]], parameters: str) -> None:
        """By columns, so that the parameters of one vector of channels are loaded once for all pixels.

        ``at``: pointers to the tile's pixels, in each image.
        """
        w, of_pixels = self.w, self.rows * self.full

        def column(number: int) -> list[str]:
            place = number * self.vector_parameters + self.start_bytes
            loaded = self.epilogue.load(w, w.at(parameters, place), volatile=self.volatile)
            values = totals[:of_pixels][number :: self.full] if number < self.full else totals[of_pixels:]
            return [self.epilogue.apply(w, value, loaded, self.limits) for value in values]

        def from_column(first: int) -> Callable[[int], list[str]]:
            return lambda number: column(first + number)

        first = 0
        for group in groups_of(self.full):
            vectors = self.narrower.vectors(group, self.rows, from_column(first))
            self._store(vectors, at, first * w.lanes, group * w.lanes)
            first += group
        if self.halved:
            vectors = self.narrower.halves(column(first), self.rows)
            self._store(vectors, at, first * w.lanes, w.lanes // 2)

    def _store(
        self, vectors: Sequence[SharedVector], at: Mapping[str, Sequence[str]], start: int, channels: int
    ) -> None:
        """``channels`` of each pixel, from channel ``start``, as far as there are so many."""
        w, whole = self.w, self.w.isa.vector_bytes
        pixels, size = self.pixels["output"], min(channels, self.width - start)
        values: Iterable[str] = [vector.value for vector in vectors]
        if self.sum is not None:
            values = self.sum.add_all(list(values), lambda i: self._others(vectors[i], at["other"], start))
        for vector, result in zip(vectors, values, strict=True):
            vector = replace(vector, value=result)
            if self.dense:
                place = pixels.of(at["output"], vector.first)
                store_bytes(w, vector.value, whole, place, vector.pixels * whole // vector.share)
                continue
            for i, (value, bytes_) in enumerate(self.narrower.split(vector)):
                place = w.at(pixels.of(at["output"], vector.first + i), start)
                store_bytes(w, value, bytes_, place, size)

    def _others(self, vector: SharedVector, at: Sequence[str], start: int) -> str:
        """The other tensor's bytes in the places of a vector of results."""
        w, size = self.w, self.w.isa.vector_bytes // vector.share
        pixels = self.pixels["other"]
        if self.dense:
            return w.load(pixels.of(at, vector.first), w.i8)
        rows = [vector.first + min(i, vector.pixels - 1) for i in range(vector.share)]
        parts = [w.load(w.at(pixels.of(at, row), start), f"vector<{size}xi8>") for row in rows]
        while len(parts) > 1:
            pairs, type_ = zip(parts[::2], parts[1::2], strict=True), f"vector<{size}xi8>"
            parts = [w.shuffle(*pair, range(2 * size), type_) for pair in pairs]
            size *= 2
        return parts[0]
