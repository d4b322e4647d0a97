"""The code of :mod:`.conv2d` on AArch64: how the sums of a tile come about (see :mod:`.aarch64_conv2d`)."""

from __future__ import annotations

from collections.abc import Sequence

from . import aarch64_dots as dots
from .aarch64_conv2d import BLOCK_BYTES
from .conv2d_code import POINTER, Kernel
from .epilogue import HEADER_BYTES
from .launch import Code

_HALF = "vector<8xi8>"
_PRODUCTS = 3
"""In registers at once, of ``smull``."""
Columns = Sequence[Sequence[str]]
"""Where the sums start: per vector of channels, per pixel."""


def kernel_of(code: Code) -> type[Kernel]:
    kinds = {"sdot": _Sdot, "smmla": _Smmla, "smull": _Smull, "smull-pairs": _SmullPairs}
    return kinds[str(code["products"])]


class _Aarch64Kernel(Kernel):
    """Runs, and their blocks and tails."""

    bytes_per_step = 8
    volatile = False

    def _prefetch_next(self, name: str, first: str) -> None:
        """Nothing: an instruction for every pixel, and small cores have few lines in flight."""

    def _in_tile(self, parameters: str) -> str:
        """Unknown to LLVM outside of the tile: loads stay there, and two may become one instruction."""
        return dots.opaque(self.w, parameters)

    def _behind_sums(self, parameters: str, totals: Sequence[str]) -> str:
        """Not known before all sums are there: else LLVM keeps what is multiplied beside what it rescales."""
        return dots.opaque_behind(self.w, parameters, totals)

    def _totals(self, source: str, filter: str, columns: Columns) -> list[str]:
        w, code = self.w, self.code
        sums = self._begin(columns)
        pixels = self.pixels["input"].pointers(source)
        if code["single"]:
            sums, filter = self._one_run(sums, filter, pixels)
        else:
            *sums, filter = w.repeat(
                self.scalar("runs"),
                lambda run, *values: self._run(run, pixels, values),
                [*sums, filter],
                [w.i32] * len(sums) + [POINTER],
            )
        if code["again"]:
            *sums, filter = w.repeat(
                self.scalar("again"),
                lambda number, *values: self._again(number, pixels, values),
                [*sums, filter],
                [w.i32] * len(sums) + [POINTER],
            )
        return self._end(sums, columns)

    def _run(self, run: str, pixels: Sequence[str], carried: Sequence[str]) -> list[str]:
        offset, _ = self._run_table(run)
        sums, filter = self._one_run(carried[:-1], carried[-1], [self.w.at(p, offset) for p in pixels])
        return [*sums, filter]

    def _one_run(self, sums: Sequence[str], filter: str, at: Sequence[str]) -> tuple[list[str], str]:
        w, code, count = self.w, self.code, len(sums)
        values = [*sums, filter, *self.places(at)]
        if code["blocks"]:
            values = self._blocks(self.scalar("blocks"), count, values)
        totals, filter, at = list(values[:count]), values[count], values[count + 1 :]
        if tail := int(code["tail"]):
            self._add_tail(totals, filter, at, tail)
            filter = w.at(filter, self._weight_bytes(tail * self.bytes_per_step))
        return totals, filter

    def places(self, at: Sequence[str]) -> list[str]:
        """A pointer for every pixel, of which LLVM must not know what they have in common: it would add it up
        again in every iteration.
        """
        pixels = [self.pixels["input"].of(at, row) for row in range(self.rows)]
        return [dots.opaque(self.w, pixel) for pixel in pixels] if self.code["blocks"] else pixels

    def _blocks(self, number: str, count: int, carried: Sequence[str]) -> list[str]:
        """``carried``: ``count`` sums, where the weights are, and the pixels; gives them as they are then."""
        w = self.w

        def block(_: str, *values: str) -> list[str]:
            totals, weights, places = list(values[:count]), values[count], values[count + 1 :]
            self._add_block(totals, weights, places)
            size = self._weight_bytes(BLOCK_BYTES)
            return [*totals, w.at(weights, size), *(w.at(place, BLOCK_BYTES) for place in places)]

        return w.repeat(number, block, carried, [w.i32] * count + [POINTER] * (len(carried) - count))

    def part(
        self, count: str, at: Sequence[str], weights: str, starts: Columns
    ) -> tuple[list[str], list[str]]:
        sums = self._begin(starts)
        values = self._blocks(count, len(sums), [*sums, weights, *at])
        return self._end(values[: len(sums)], starts), values[len(sums) :]

    def _again(self, number: str, pixels: Sequence[str], carried: Sequence[str]) -> list[str]:
        w = self.w
        offset, _ = self._run_table(w.plus(number, self.scalar("runs")))
        totals, filter = list(carried[:-1]), carried[-1]
        at = [w.at(pixel, offset) for pixel in pixels]
        self._add_tail(totals, filter, [self.pixels["input"].of(at, row) for row in range(self.rows)], 1)
        return [*totals, w.at(filter, self._weight_bytes(self.bytes_per_step))]

    def _weight_bytes(self, taps: int) -> int:
        return taps * self.vectors * self.w.lanes

    def _begin(self, columns: Columns) -> list[str]:
        """The sums before the first step."""
        raise NotImplementedError

    def _add_block(self, totals: list[str], weights: str, at: Sequence[str]) -> None:
        """Sixteen bytes of every pixel; ``at``: where they are."""
        raise NotImplementedError

    def _add_tail(self, totals: list[str], weights: str, at: Sequence[str], steps: int) -> None:
        """Some steps of every pixel, fewer than a block."""
        raise NotImplementedError

    def _end(self, sums: Sequence[str], columns: Columns) -> list[str]:
        """The totals of every pixel's vectors, pixel by pixel."""
        raise NotImplementedError

    def _pixel_sums(self, source: str) -> list[str]:
        w, width = self.w, self.w.isa.vector_bytes
        pixels = self.pixels["input"]
        whole = w.binary("divui", w.minus(self.scalar("run_bytes"), 1), w.index(width), "i64")
        mask = w.load(w.at(self.tables, HEADER_BYTES), w.i8)

        def some(at: str, totals: Sequence[str], masked: bool) -> list[str]:
            pointers, result = pixels.pointers(at), []
            for i, total in enumerate(totals):
                value = w.load(pixels.of(pointers, i), w.i8)
                if masked:
                    value = w.binary("andi", value, mask, w.i8)
                result.append(dots.add_pairs(w, total, dots.add_byte_pairs(w, value)))
            return result

        def run(index: str, *carried: str) -> list[str]:
            first = w.at(source, self._run_table(index)[0])
            totals = w.loop(
                whole, lambda k, *values: some(w.at(first, w.times(k, width)), values, False), carried
            )
            return some(w.at(first, w.times(whole, width)), totals, True)

        totals = w.loop(self.scalar("runs"), run, [w.splat(0, w.i32)] * self.rows)
        sums = [w.op(f"vector.reduction <add>, {total} : {w.i32} into i32") for total in totals]
        return [w.broadcast(value, "i32", w.i32) for value in sums]


class _QuadKernel(_Aarch64Kernel):
    """Steps are quads; a sum for every vector of every pixel."""

    bytes_per_step = 4

    def _begin(self, columns: Columns) -> list[str]:
        return [columns[j][i] for i in range(self.rows) for j in range(self.vectors)]

    def _add_block(self, totals: list[str], weights: str, at: Sequence[str]) -> None:
        self._add_tail(totals, weights, at, 4)

    def _end(self, sums: Sequence[str], columns: Columns) -> list[str]:
        return list(sums)


class _Sdot(_QuadKernel):
    def _add_tail(self, totals: list[str], weights: str, at: Sequence[str], steps: int) -> None:
        w, width = self.w, self.w.isa.vector_bytes
        pixels = [w.load(at[row], w.i8) for row in range(self.rows)]
        for step in range(steps):
            for j in range(self.vectors):
                vector = w.load(w.at(weights, (step * self.vectors + j) * width), w.i8, width)
                for i, pixel in enumerate(pixels):
                    k = i * self.vectors + j
                    totals[k] = dots.dot_lane(w, totals[k], pixel, vector, step)


class _Smmla(_Aarch64Kernel):
    """A sum for two channels of two pixels; the last pixel of an odd number is paired with itself."""

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        return [(i, min(i + 1, self.rows - 1)) for i in range(0, self.rows, 2)]

    def _begin(self, columns: Columns) -> list[str]:
        return [
            self._quarters(column[first], column[second], high)
            for first, second in self._pairs
            for column in columns
            for high in (False, True)
        ]

    def _quarters(self, first: str, second: str, high: bool) -> str:
        """The lower or the higher two lanes of two i32 vectors."""
        lanes = (2, 3, 6, 7) if high else (0, 1, 4, 5)
        return self.w.shuffle(first, second, lanes, self.w.i32)

    def _add_block(self, totals: list[str], weights: str, at: Sequence[str]) -> None:
        w = self.w
        pixels = [w.load(at[row], w.i8) for row in range(self.rows)]
        low, high = [], []
        for first, second in self._pairs:
            high.append(w.shuffle(pixels[first], pixels[second], [*range(8, 16), *range(24, 32)], w.i8))
            # Then LLVM puts the lower halves together in the first one's register.
            kept = dots.behind(w, pixels[first], w.bitcast(high[-1], w.i8, w.i32))
            low.append(w.shuffle(kept, pixels[second], [*range(8), *range(16, 24)], w.i8))
        for step, pairs in enumerate((low, high)):
            self._add_pairs_of(totals, weights, step, pairs)

    def _add_tail(self, totals: list[str], weights: str, at: Sequence[str], steps: int) -> None:
        w = self.w
        rows = [w.load(at[row], _HALF) for row in range(self.rows)]
        pairs = [w.shuffle(rows[a], rows[b], range(16), _HALF) for a, b in self._pairs]
        self._add_pairs_of(totals, weights, 0, pairs)

    def _add_pairs_of(self, totals: list[str], weights: str, step: int, pairs: Sequence[str]) -> None:
        w, width, count = self.w, self.w.isa.vector_bytes, 2 * self.vectors
        for j in range(count):
            vector = w.load(w.at(weights, (step * count + j) * width), w.i8, width)
            for i, pair in enumerate(pairs):
                k = i * count + j
                totals[k] = dots.multiply_matrices(w, totals[k], pair, vector)

    def _end(self, sums: Sequence[str], columns: Columns) -> list[str]:
        count, rows = 2 * self.vectors, []
        for i in range(self.rows):
            mine = sums[i // 2 * count : i // 2 * count + count]
            rows += [self._quarters(mine[j], mine[j + 1], i % 2 == 1) for j in range(0, count, 2)]
        return rows


class _SmullKernel(_Aarch64Kernel):
    """Products in i16."""

    def _behind(self, value: str, totals: Sequence[str], done: Sequence[int]) -> str:
        """``value``, but not before most of the sums that are ``done`` before are."""
        return dots.behind(self.w, value, totals[done[-_PRODUCTS]] if len(done) >= _PRODUCTS else totals[0])

    def _add_products(self, totals: list[str], k: int, values: tuple[str, str], weights: str) -> None:
        """The lower half of the weights times the first one's, the upper half times the second one's."""
        w = self.w
        words = dots.multiply_half(w, *(dots.half_of(w, value, False) for value in (values[0], weights)))
        upper = [dots.half_of(w, value, True) for value in (values[1], weights)]
        if self.code["chain"] == 1:
            totals[k] = dots.add_pairs(w, totals[k], words)
            words = dots.multiply_half(w, *upper)
        else:
            words = dots.multiply_add_half(w, words, *upper)
        totals[k] = dots.add_pairs(w, totals[k], words)


class _SmullPairs(_QuadKernel, _SmullKernel):
    def _add_tail(self, totals: list[str], weights: str, at: Sequence[str], steps: int) -> None:
        w, width = self.w, self.w.isa.vector_bytes
        pixels = [w.load(at[row], w.i8) for row in range(self.rows)]
        done: list[int] = []
        for step in range(steps):
            places = [w.at(weights, (step * self.vectors + j) * width) for j in range(self.vectors)]
            vectors = [w.load(place, w.i8, width) for place in places]
            for i in range(self.rows):
                pixels[i] = self._behind(pixels[i], totals, done)
                first, second = (dots.pair_of(w, pixels[i], 2 * step + half) for half in range(2))
                for j, vector in enumerate(vectors):
                    # LLVM must not see that the second is the same all over, and take its lower half.
                    first, second = (self._behind(pair, totals, done) for pair in (first, second))
                    done.append(i * self.vectors + j)
                    self._add_products(totals, done[-1], (first, second), vector)


class _Smull(_SmullKernel):
    """Four partial sums for every channel of every pixel."""

    def _begin(self, columns: Columns) -> list[str]:
        return [self.w.splat(0, self.w.i32)] * (self.rows * self.vectors * self.w.lanes)

    def _add_block(self, totals: list[str], weights: str, at: Sequence[str]) -> None:
        w, width, channels = self.w, self.w.isa.vector_bytes, self.vectors * self.w.lanes
        pixels = [w.load(at[row], w.i8) for row in range(self.rows)]
        done: list[int] = []
        for channel in range(channels):
            vector = w.load(w.at(weights, channel * width), w.i8, width)
            for i in range(self.rows):
                pixels[i] = self._behind(pixels[i], totals, done)
                done.append(i * channels + channel)
                self._add_products(totals, done[-1], (pixels[i], pixels[i]), vector)

    def _add_tail(self, totals: list[str], weights: str, at: Sequence[str], steps: int) -> None:
        w, channels = self.w, self.vectors * self.w.lanes
        pixels = [w.load(at[row], w.i8) for row in range(self.rows)]
        done: list[int] = []
        for channel in range(channels):
            vector = w.load(w.at(weights, 8 * channel), _HALF, 8)
            for i in range(self.rows):
                pixels[i] = self._behind(pixels[i], totals, done)
                done.append(k := i * channels + channel)
                words = dots.multiply_half(w, dots.half_of(w, pixels[i], False), vector)
                totals[k] = dots.add_pairs(w, totals[k], words)

    def _end(self, sums: Sequence[str], columns: Columns) -> list[str]:
        w, totals = self.w, []
        for i in range(self.rows):
            for j, column in enumerate(columns):
                first = (i * self.vectors + j) * w.lanes
                halves = [dots.sums_of_pairs(w, sums[k], sums[k + 1]) for k in (first, first + 2)]
                totals.append(w.binary("addi", dots.sums_of_pairs(w, *halves), column[i], w.i32))
        return totals
