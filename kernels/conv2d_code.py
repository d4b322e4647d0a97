"""The code of :mod:`.conv2d`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from .conv2d_results import Pixels, Results, parameter_bytes, table_start
from .epilogue import HEADER_BYTES
from .instruction_set import InstructionSet
from .instructions import dot_pairs, dot_quads, prefetch, sum_bytes
from .launch import Code
from .runs import narrowed
from .scalars import Scalars
from .writer import Writer

_NAMES = (
    "panel_groups",
    "tile_chunks",
    "panels",
    "panels_per_unit",
    "lines",
    "lines_per_chunk",
    "tiles",
    "tiles_per_chunk",
    "last_pixel",
    "lines_per_image",
    "input_start",
    "input_image",
    "input_line",
    "input_pixel",
    "output_start",
    "output_image",
    "output_line",
    "output_pixel",
    "runs",
    "run_table",
    "gathers",
    "run_bytes",
    "panel_bytes",
    "blocks",
    "again",
)
_RESIDUAL_NAMES = (*_NAMES, "other_start", "other_image", "other_line", "other_pixel")
_ROW_NAMES = (*_NAMES, "rows_start", "rows_image", "rows_line", "rows_pixel", "parts", "part_steps")
POINTER = "!llvm.ptr"


def scalars_of(has_residual: bool) -> Scalars:
    """Behind the pointers: inputs, filter, parameters, tables, result."""
    return Scalars(6, _RESIDUAL_NAMES) if has_residual else Scalars(5, _NAMES)


def with_rows() -> Scalars:
    """The same of a kernel whose rows have parameters in the input's buffer, and whose filter has parts."""
    return Scalars(5, _ROW_NAMES)


class Kernel:
    """Writes a code: units, panels, lines, tiles, runs, steps."""

    volatile = True
    """Whether parameters are loaded so that LLVM leaves the loads where they are."""

    def __init__(self, code: Code, isa: InstructionSet) -> None:
        isa = narrowed(isa, int(code["bytes"]))
        self.w = w = Writer(isa)
        self.code = code
        self.has_residual = bool(code["residual"])
        self.scalars = self._scalars()
        self.rows = int(code["rows"])
        self.vectors = int(code["vectors"])
        self.halved = bool(code["halved"])
        self.full = self.vectors - self.halved
        self.width = int(code["width"])
        self.dense = bool(code["dense"])
        self.gathered = int(code["gathered"])
        self.needs_sums = bool(code["sums"])
        self.pairs = isa.dot == "multiply-add-i16"
        vector = isa.vector_bytes
        self.step_bytes = self.vectors * vector * (2 if self.pairs else 1)
        self.vector_parameters = self._vector_parameters(isa)
        inputs = 2 if self.has_residual else 1
        self.images = {"input": w.pointer(0), "output": w.pointer(inputs + 3)}
        if self.has_residual:
            self.images["other"] = w.pointer(1)
        self.filter, self.parameters, self.tables = (w.pointer(inputs + i) for i in range(3))

    def _scalars(self) -> Scalars:
        return scalars_of(self.has_residual)

    def _vector_parameters(self, isa: InstructionSet) -> int:
        """Bytes per vector of channels."""
        return parameter_bytes(self.code, isa)

    def scalar(self, name: str) -> str:
        return self.scalars.load(self.w, name)

    def text(self) -> str:
        self.pixels = {name: Pixels(self.w, self.rows, self.scalar(f"{name}_pixel")) for name in self.images}
        self.w.units(self._unit)
        return self.w.text()

    def _unit(self, unit: str) -> None:
        w = self.w
        chunk, group = w.split(unit, self.scalar("panel_groups"))
        lines, tiles = w.split(chunk, self.scalar("tile_chunks"))

        def bounds(index: str, size: str, count: str) -> tuple[str, str]:
            first = w.times(index, self.scalar(size))
            return first, w.at_most(w.plus(first, self.scalar(size)), self.scalar(count))

        line_bounds = bounds(lines, "lines_per_chunk", "lines")
        tile_bounds = bounds(tiles, "tiles_per_chunk", "tiles")

        def panel(index: str) -> Sequence[str]:
            table = w.at(self.tables, w.plus(w.times(index, 16), table_start(self.has_residual)))
            channels = [w.load(w.at(table, 8 * i), "i64", 8) for i in range(2)]
            starts = {name: self._start_of_panel(name, channels) for name in self.images}
            filter = w.at(self.filter, w.times(index, self.scalar("panel_bytes")))
            parameters = self._parameters_of(index)

            def line(number: str) -> Sequence[str]:
                image, y = w.split(number, self.scalar("lines_per_image"))

                def start(name: str) -> str:
                    offset = w.plus(starts[name], w.times(image, self.scalar(f"{name}_image")))
                    offset = w.plus(offset, w.times(y, self.scalar(f"{name}_line")))
                    return w.at(self.images[name], offset)

                places = {name: start(name) for name in self.images}

                def tile(which: str) -> Sequence[str]:
                    pixel = w.at_most(w.times(which, self.rows), self.scalar("last_pixel"))
                    at = {
                        name: w.at(place, w.times(pixel, self.scalar(f"{name}_pixel")))
                        for name, place in places.items()
                    }
                    self._tile(at, filter, parameters)
                    return []

                w.loop_from(*tile_bounds, tile)
                return []

            w.loop_from(*line_bounds, line)
            return []

        w.loop_from(*bounds(group, "panels_per_unit", "panels"), panel)

    def _start_of_panel(self, name: str, channels: Sequence[str]) -> str:
        """Where a panel starts in an image; ``channels``: its bytes in a pixel of the input, of results."""
        return self.w.plus(channels[name != "input"], self.scalar(f"{name}_start"))

    def _tile(self, first: Mapping[str, str], filter: str, parameters: str) -> None:
        """``first``: where its first pixel is, in each image."""
        at = {name: self.pixels[name].pointers(place) for name, place in first.items()}
        for name in ("output", "other") if self.has_residual else ("output",):
            self._prefetch_next(name, first[name])
        parameters = self._in_tile(parameters)
        totals = self._totals(first["input"], filter, self._starts(first["input"], parameters))
        self._store(totals, at, self._behind_sums(parameters, totals))

    def _store(self, totals: Sequence[str], at: Mapping[str, Sequence[str]], parameters: str) -> None:
        """What becomes of a tile's sums; ``at``: pointers to its pixels, in each image."""
        results = Results(self.w, self.code, self.tables, self.pixels, self.volatile)
        results.store(totals, at, parameters)

    def _starts(self, source: str, parameters: str) -> list[list[str]]:
        """Where the sums of the pixels from ``source`` on start: per vector of channels, per pixel."""
        w = self.w
        sums = self._pixel_sums(source) if self.needs_sums else []
        starts = []
        for j in range(self.vectors):
            place = w.at(parameters, j * self.vector_parameters)
            start = self._start(j, place)
            column = [start] * self.rows
            if sums:
                zero_point = w.load(w.at(place, w.isa.vector_bytes), w.i32, volatile=self.volatile)
                products = [w.binary("muli", each, zero_point, w.i32) for each in sums]
                column = [w.binary("subi", start, product, w.i32) for product in products]
            starts.append(column)
        return starts

    def _start(self, vector: int, place: str) -> str:
        """Where the sums of a vector of channels start; ``place``: its parameters."""
        return self.w.load(place, self.w.i32, volatile=self.volatile)

    def _parameters_of(self, panel: str) -> str:
        """Where the parameters of a panel are."""
        return self.w.at(self.parameters, self.w.times(panel, self.vectors * self.vector_parameters))

    def _in_tile(self, parameters: str) -> str:
        """The parameters' address, for the loads of one tile."""
        return parameters

    def _behind_sums(self, parameters: str, totals: Sequence[str]) -> str:
        """The parameters' address, for what becomes of the sums."""
        return parameters

    def _totals(self, source: str, filter: str, starts: Sequence[Sequence[str]]) -> list[str]:
        """The sums of the pixels from ``source`` on; ``starts``: per vector of channels, per pixel."""
        w = self.w
        pixels = self.pixels["input"].pointers(source)
        totals = [starts[j][i] for i in range(self.rows) for j in range(self.full)]
        if self.halved:
            totals += self._shared(starts[-1])
        carried = w.loop(
            self.scalar("runs"),
            lambda run, *values: self._run(run, pixels, values),
            [*totals, filter],
            [w.i32] * len(totals) + [POINTER],
        )
        if self.gathered:
            carried = w.loop(
                self.scalar("gathers"),
                lambda number, *values: self._gather(number, source, values),
                carried,
                [w.i32] * len(totals) + [POINTER],
            )
        return carried[:-1]

    def places(self, at: Sequence[str]) -> list[str]:
        """The pointers that loops over bytes of pixels carry, from what :meth:`.Pixels.pointers` gives."""
        return list(at)

    def part(
        self, count: str, at: Sequence[str], weights: str, starts: Sequence[Sequence[str]]
    ) -> tuple[list[str], list[str]]:
        """The sums of ``count`` parts of the pixels from ``at`` (see :meth:`places`) on, where all is one
        run; and where the weights and the pixels go on.
        """
        totals = [starts[j][i] for i in range(self.rows) for j in range(self.vectors)]
        values = self._steps(count, at, [*totals, weights])
        return values[: len(totals)], values[len(totals) :]

    def _prefetch_next(self, name: str, first: str) -> None:
        """What the epilogue of the next tile of the line touches: lines that are in no cache would hold up
        whatever follows.
        """
        w, pixels = self.w, self.pixels[name]
        at = pixels.pointers(w.at(first, w.times(self.scalar(f"{name}_pixel"), self.rows)))
        for i in range(0, self.rows, max(1, 64 // self.width) if self.dense else 1):
            for line in range(0, self.width, 64):
                prefetch(w, w.at(pixels.of(at, i), line), to_write=name == "output")

    def _run_table(self, run: str) -> tuple[str, str]:
        """Where a run starts, and its steps."""
        w = self.w
        entry = w.at(w.at(self.tables, self.scalar("run_table")), w.times(run, 16))
        return w.load(entry, "i64", 8), w.load(w.at(entry, 8), "i64", 8)

    def _run(self, run: str, pixels: Sequence[str], carried: Sequence[str]) -> Sequence[str]:
        offset, steps = self._run_table(run)
        return self._steps(steps, [self.w.at(pointer, offset) for pointer in pixels], carried)[: len(carried)]

    def _steps(self, count: str, at: Sequence[str], carried: Sequence[str]) -> list[str]:
        """Steps of quads side by side, from the pixels ``at`` on. ``carried``: sums, and where the weights
        are. Gives them as they are then, and where the pixels go on.
        """
        w, sums = self.w, len(carried) - 1

        def step(_: str, *values: str) -> Sequence[str]:
            totals, weights, at = list(values[:sums]), values[sums], values[sums + 1 :]
            self._add(totals, weights, lambda row: self._quad(at, row))
            return [*totals, w.at(weights, self.step_bytes), *(w.at(pointer, 4) for pointer in at)]

        types = [w.i32] * sums + [POINTER] * (1 + len(at))
        return w.loop(count, step, [*carried, *at], types)

    def _quad(self, at: Sequence[str], row: int) -> str:
        """Four bytes of a pixel, in every lane."""
        w = self.w
        return w.broadcast(w.load(self.pixels["input"].of(at, row), "i32"), "i32", w.i32)

    def _gather(self, number: str, source: str, carried: Sequence[str]) -> list[str]:
        """Quads that are put together from parts of several."""
        w, pixels = self.w, self.pixels["input"]
        *totals, weights = carried
        runs = w.times(self.scalar("runs"), 16)
        table = w.at(w.at(self.tables, self.scalar("run_table")), runs)
        entry = w.at(table, w.times(number, 8 * self.gathered))
        at = [
            pixels.pointers(w.at(source, w.load(w.at(entry, 8 * i), "i64", 8))) for i in range(self.gathered)
        ]

        bits = 32 // self.gathered

        def quad(row: int) -> str:
            parts = [w.load(pixels.of(pointers, row), f"i{bits}") for pointers in at]
            wide = [w.op(f"arith.extui {part} : i{bits} to i32") for part in parts]
            value = wide[0]
            for i, part in enumerate(wide[1:], 1):
                shifted = w.binary("shli", part, w.constant(f"{bits * i} : i32"), "i32")
                value = w.binary("ori", value, shifted, "i32")
            return w.broadcast(value, "i32", w.i32)

        self._add(totals, weights, quad)
        return [*totals, w.at(weights, self.step_bytes)]

    def _add(self, totals: list[str], weights: str, quad: Callable[[int], str]) -> None:
        """One step: the products of ``quad(row)``, four bytes of a pixel in every lane, with all vectors."""
        if self.pairs:
            self._add_pairs(totals, weights, quad)
        else:
            self._add_quads(totals, weights, quad)

    def _add_quads(self, totals: list[str], weights: str, quad: Callable[[int], str]) -> None:
        w = self.w
        vector = w.isa.vector_bytes
        loaded = [w.load(w.at(weights, j * vector), w.i8, vector) for j in range(self.vectors)]
        quads: list[str] = []
        for i in range(self.rows):
            quads.append(quad(i))
            pixel = w.bitcast(quads[i], w.i32, w.i8)
            for j in range(self.full):
                k = i * self.full + j
                totals[k] = dot_quads(w, totals[k], pixel, loaded[j])
            if self.halved and i % 2:
                k = self.rows * self.full + i // 2
                both = w.bitcast(self._shared(quads[i - 1 :])[0], w.i32, w.i8)
                totals[k] = dot_quads(w, totals[k], both, loaded[-1])

    def _shared(self, pixels: Sequence[str]) -> list[str]:
        """Halves of two pixels' vectors whose lanes are all equal, or equal in both halves, side by side."""
        w, half = self.w, self.w.lanes // 2
        lanes = [*range(half), *range(w.lanes + half, 2 * w.lanes)]
        return [w.shuffle(pixels[i], pixels[i + 1], lanes, w.i32) for i in range(0, len(pixels), 2)]

    def _add_pairs(self, totals: list[str], weights: str, quad: Callable[[int], str]) -> None:
        """Bytes 0 and 2 of each pixel as i16, then bytes 1 and 3."""
        w = self.w
        vector = w.isa.vector_bytes
        for half in range(2):
            first = half * self.vectors
            loaded = [w.load(w.at(weights, (first + j) * vector), w.i32, vector) for j in range(self.vectors)]
            for i in range(self.rows):
                words = w.bitcast(quad(i), w.i32, w.i16)
                if half:
                    words = w.binary("shrui", words, w.splat(8, w.i16), w.i16)
                else:
                    words = w.binary("andi", words, w.splat(0xFF, w.i16), w.i16)
                pair = w.bitcast(words, w.i16, w.i32)
                for j in range(self.vectors):
                    k = i * self.vectors + j
                    totals[k] = dot_pairs(w, totals[k], pair, loaded[j])

    def _pixel_sums(self, source: str) -> list[str]:
        """The sum of all that each pixel reads, in every lane."""
        w, vector = self.w, self.w.isa.vector_bytes
        full = w.binary("divui", w.minus(self.scalar("run_bytes"), 1), w.index(vector), "i64")

        def run(index: str, *carried: str) -> Sequence[str]:
            first = w.at(source, self._run_table(index)[0])

            def some(at: str, totals: Sequence[str], masked: bool) -> list[str]:
                pixels = self.pixels["input"]
                pointers, result = pixels.pointers(at), []
                for i, total in enumerate(totals):
                    value = w.load(pixels.of(pointers, i), w.i8)
                    if masked:
                        value = w.binary("andi", value, w.load(w.at(self.tables, HEADER_BYTES), w.i8), w.i8)
                    result.append(w.binary("addi", total, sum_bytes(w, value), w.i64))
                return result

            totals = w.loop(
                full,
                lambda k, *values: some(w.at(first, w.times(k, vector)), values, False),
                carried,
                w.i64,
            )
            return some(w.at(first, w.times(full, vector)), totals, True)

        zeros = [w.splat(0, w.i64)] * self.rows
        totals = w.loop(self.scalar("runs"), run, zeros, w.i64)
        sums = []
        for total in totals:
            narrow = w.bitcast(total, w.i64, w.i32)
            # Sums are below 2^31: the odd lanes are zero.
            one = w.op(f"vector.reduction <add>, {narrow} : {w.i32} into i32")
            sums.append(w.broadcast(one, "i32", w.i32))
        return sums
