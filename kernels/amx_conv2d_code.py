"""The code of :mod:`.amx_conv2d`: a loop over blocks of results, in which the products of one block and the
rescale of the one before it take turns.

Products of tiles and vector arithmetic use different parts of the core, but no core looks far enough ahead to
find the products of the next block behind a whole rescale. So a few rows are rescaled after every step of the
sums. What is to be rescaled is kept in a record in memory (:class:`_Record`): registers are few.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from . import amx_instructions as amx
from . import epilogue
from .amx_tiling import ROW_GROUP
from .epilogue import Epilogue
from .instruction_set import InstructionSet
from .launch import Code
from .narrow import Narrower
from .residual import ResidualSum
from .scalars import Scalars
from .writer import Writer

LANES = 16
PANEL_HEADER = 64
"""Bytes of a panel before its filter: offsets of its input and result channels, mask of the stored bytes."""
_IN_OFFSET, _OUT_OFFSET, _MASK = 0, 8, 16
_SCALARS = (
    "blocks",
    "panels",
    "panels_per_unit",
    "steps",
    "pitch",
    "tile_row_bytes",
    "row_groups",
    "row_groups_per_step",
    "block_entry_bytes",
    "panel_bytes",
)


def slots(sums: bool, residual: bool) -> dict[str, int]:
    """Of the pointers in a row."""
    inputs = ("input", "other") if residual else ("input",)
    constants = ("header", "offsets", "blocks", "panels", *(("ones",) if sums else ()))
    return {name: slot for slot, name in enumerate((*inputs, *constants, "output"))}


def scalars(sums: bool, residual: bool) -> Scalars:
    """Behind the pointers."""
    return Scalars(len(slots(sums, residual)), _SCALARS)


@dataclass(frozen=True)
class Tiles:
    """Who is in which tile register, for blocks of ``rows`` times ``columns`` tiles."""

    rows: int
    columns: int

    @property
    def inputs(self) -> Sequence[int]:
        """Loads take turns in what is there."""
        return (4, 5) if self.rows > 1 else (4,)

    @property
    def filters(self) -> Sequence[int]:
        return range(4 + len(self.inputs), amx.TILES)

    def result(self, row: int, column: int) -> int:
        return row * self.columns + column

    def input(self, row: int) -> int:
        return self.inputs[row % len(self.inputs)]

    def filter(self, column: int) -> int:
        return self.filters[column % len(self.filters)]

    def heights(self, rows: int) -> list[int]:
        """Rows of all tile registers where blocks have ``rows`` rows per tile."""
        filters = set(self.filters)
        return [amx.TILE_ROWS if tile in filters else rows for tile in range(amx.TILES)]


class _Record:
    """What :meth:`Kernel.rescale` needs to know of a block, in memory."""

    _POINTERS = ("results", "sums", "per_channel", "places", "output", "other")
    _NUMBERS = ("mask", "row_groups")

    def __init__(self, w: Writer) -> None:
        self.w = w
        self.at = w.allocate(64)

    def set(self, **values: str) -> None:
        for name, value in values.items():
            place, type_ = self._place(name)
            self.w.store(value, place, type_, 8)

    def get(self, name: str) -> str:
        place, type_ = self._place(name)
        return self.w.load(place, type_, 8)

    def _place(self, name: str) -> tuple[str, str]:
        names = (*self._POINTERS, *self._NUMBERS)
        return self.w.at(self.at, 8 * names.index(name)), "!llvm.ptr" if name in self._POINTERS else "i64"


class Kernel:
    """The text of a kernel; values that all of it uses are attributes."""

    def __init__(self, code: Code, isa: InstructionSet) -> None:
        self.w = w = Writer(isa)
        self.tiles = Tiles(int(code["rows"]), int(code["columns"]))
        self.signs = bool(code["input_signed"]), bool(code["filter_signed"])
        self.with_sums = bool(code["sums"])
        self.rescales = Epilogue.of_code(code)
        self.row_bytes = self.tiles.columns * amx.TILE_ROW_BYTES
        """Of a row of results of a block, as i32."""
        self.code = code
        self.with_residual = bool(code["residual"])
        self._slots = slots(self.with_sums, self.with_residual)
        self._scalars = scalars(self.with_sums, self.with_residual)
        # Two of each: those that are made and those that are rescaled.
        self.results = w.allocate(2 * 4 * amx.TILE_BYTES)
        self.sums = w.allocate(2 * self.tiles.rows * amx.TILE_BYTES) if self.with_sums else ""
        self.pending = _Record(w)
        self.nowhere = w.allocate(amx.TILE_ROW_BYTES)
        """Where junk goes."""
        self.numbers = w.at(self.pointer("header"), amx.CONFIGURATION_BYTES)
        self.limits = self.rescales.limits(w, self.numbers)
        self.narrower = Narrower(w, self.rescales, self.numbers, bool(code["result_signed"]))

    def text(self) -> str:
        """Units are groups of panels times blocks; one more round rescales the last block."""
        w = self.w
        amx.configure(w, self.pointer("header"))
        self.pending.set(row_groups=w.index(0))
        blocks = w.times(w.minus("%end", "%begin"), self.scalar("panels_per_unit"))
        w.loop_from(w.index(0), w.plus(blocks, 1), lambda number: self._round(number, blocks))
        amx.release(w)
        return w.text()

    def scalar(self, name: str) -> str:
        return self._scalars.load(self.w, name)

    def pointer(self, name: str) -> str:
        return self.w.pointer(self._slots[name])

    def _round(self, number: str, blocks: str) -> list[str]:
        """The products of a block, unless there is none left or its panel does not exist; and the rescale of
        the block before. All addresses are good also where there is none.
        """
        w = self.w
        which, within = w.split(number, self.scalar("panels_per_unit"))
        group, block = w.split(w.plus("%begin", which), self.scalar("blocks"))
        panel = w.plus(w.times(group, self.scalar("panels_per_unit")), within)
        exists = w.compare("slt", panel, self.scalar("panels"))
        active = w.op(f"arith.andi {exists}, {w.compare('slt', number, blocks)} : i1")
        panel = w.at_most(panel, w.minus(self.scalar("panels"), 1))
        entry = w.at(self.pointer("blocks"), w.times(block, self.scalar("block_entry_bytes")))
        at = w.at(self.pointer("panels"), w.times(panel, self.scalar("panel_bytes")))
        per_channel = w.at(
            w.at(at, PANEL_HEADER), w.times(self.scalar("steps"), self.tiles.columns * amx.TILE_BYTES)
        )
        pixels = self._pixels(entry, w.load(w.at(at, _IN_OFFSET), "i64", 8))
        results = w.at(self.results, w.times(self._odd(number), 4 * amx.TILE_BYTES))
        sums = self.sums
        if self.with_sums:
            sums = w.at(sums, w.times(self._odd(which), self.tiles.rows * amx.TILE_BYTES))
            first = w.op(f"arith.andi {active}, {w.compare('eq', within, 0)} : i1")
            w.when(first, lambda: self._sum_pixels(pixels, sums))
        self._multiply(active, pixels, at, per_channel)
        self._store_tiles(results, w.index(self.row_bytes), self.tiles.columns, self.scalar("tile_row_bytes"))
        channels = w.load(w.at(at, _OUT_OFFSET), "i64", 8)
        nothing = w.index(0)
        self.pending.set(
            results=results,
            per_channel=per_channel,
            places=w.at(entry, 4 * self.tiles.rows),
            output=w.at(self.pointer("output"), channels),
            mask=w.load(w.at(at, _MASK), "i64", 8),
            row_groups=w.op(f"arith.select {active}, {self.scalar('row_groups')}, {nothing} : i64"),
        )
        if self.with_sums:
            self.pending.set(sums=sums)
        if self.with_residual:
            self.pending.set(other=w.at(self.pointer("other"), channels))
        return []

    def _odd(self, number: str) -> str:
        return self.w.binary("andi", number, self.w.index(1), "i64")

    def _pixels(self, entry: str, offset: str) -> list[str]:
        """Where the first pixels of a block's tiles are."""
        w = self.w
        base = w.at(self.pointer("input"), offset)
        return [w.at(base, _load_i32(w, w.at(entry, 4 * row))) for row in range(self.tiles.rows)]

    def _multiply(self, active: str, pixels: Sequence[str], panel: str, bias: str) -> None:
        """The sums of a block if it is ``active``, and the rescale of the block before."""
        w, tiles = self.w, self.tiles
        for row in range(tiles.rows):
            for column in range(tiles.columns):
                place = w.at(bias, column * amx.TILE_ROW_BYTES)
                amx.load(w, tiles.result(row, column), place, w.index(0))
        step = self._step(pixels, w.at(panel, PANEL_HEADER), tiles.columns)
        per_step = self.scalar("row_groups_per_step")

        def both(index: str) -> list[str]:
            w.when(active, lambda: step(index))
            first = w.times(index, per_step)
            end = w.at_most(w.plus(first, per_step), self.pending.get("row_groups"))
            w.loop_from(first, end, self.rescale)
            return []

        w.loop(self.scalar("steps"), both)

    def _sum_pixels(self, pixels: Sequence[str], sums: str) -> None:
        """The sum of the inputs of each pixel, in all lanes of a vector, to memory."""
        w, tiles = self.w, self.tiles
        for row in range(tiles.rows):
            amx.zero(w, tiles.result(row, 0))
        step = self._step(pixels, self.pointer("ones"), 1)

        def body(index: str) -> list[str]:
            step(index)
            return []

        w.loop(self.scalar("steps"), body)
        tile_row_bytes = w.binary("divui", self.scalar("tile_row_bytes"), w.index(tiles.columns), "i64")
        self._store_tiles(sums, w.index(amx.TILE_ROW_BYTES), 1, tile_row_bytes)

    def _step(self, pixels: Sequence[str], filter_: str, columns: int) -> Callable[[str], None]:
        """Writes step ``index`` of the sums of the first ``columns`` columns of tiles."""
        w, tiles = self.w, self.tiles
        offsets = self.pointer("offsets")
        pitch = self.scalar("pitch")

        def step(index: str) -> None:
            offset = w.load(w.at(offsets, w.times(index, 8)), "i64", 8)
            at = w.at(filter_, w.times(index, columns * amx.TILE_BYTES))
            for column in range(columns):
                place = w.at(at, column * amx.TILE_BYTES)
                amx.load(w, tiles.filter(column), place, w.index(amx.TILE_ROW_BYTES))
                for row, pixel in enumerate(pixels):
                    if column == 0:
                        amx.load(w, tiles.input(row), w.at(pixel, offset), pitch)
                    result = tiles.result(row, column)
                    amx.dot(w, result, tiles.input(row), tiles.filter(column), *self.signs)

        return step

    def _store_tiles(self, place: str, pitch: str, columns: int, tile_row_bytes: str) -> None:
        """The first ``columns`` columns of result tiles: rows ``pitch`` bytes apart, rows of tiles one behind
        the other.
        """
        w, tiles = self.w, self.tiles
        for row in range(tiles.rows):
            for column in range(columns):
                amx.store(w, tiles.result(row, column), w.at(place, column * amx.TILE_ROW_BYTES), pitch)
            place = w.at(place, tile_row_bytes)

    def rescale(self, index: str) -> list[str]:
        """A few rows of the pending block from i32 in memory to stored bytes: column by column, so that
        parameters are loaded once for them all.
        """
        w, columns, pending = self.w, self.tiles.columns, self.pending
        vectors = columns * amx.TILE_ROW_BYTES
        zero_points = pending.get("per_channel")
        zero_points = w.at(zero_points, vectors)
        parameters = w.at(zero_points, vectors) if self.with_sums else zero_points
        results = w.at(pending.get("results"), w.times(index, ROW_GROUP * self.row_bytes))
        sums = ""
        if self.with_sums:
            sums = w.at(pending.get("sums"), w.times(index, ROW_GROUP * amx.TILE_ROW_BYTES))

        def column(number: int) -> list[str]:
            loaded = self.rescales.load(w, w.at(parameters, number * self.rescales.parameter_bytes(w.lanes)))
            values = self._results(results, sums, zero_points, number * amx.TILE_ROW_BYTES)
            return [self.rescales.apply(w, value, loaded, self.limits) for value in values]

        places = w.at(pending.get("places"), w.times(index, 4 * ROW_GROUP))
        change = self._residual(places) if self.with_residual else None
        rows = [value for value, _ in self.narrower.rows(columns, ROW_GROUP, column, change)]
        self._store_rows(rows, places)
        return []

    def _residual(self, places: str) -> Callable[[str, int, int], str]:
        """Adds the other tensor's bytes to those of rows that share a vector. Its places come behind those of
        the results.
        """
        w = self.w
        others = w.at(places, w.times(self.scalar("row_groups"), 4 * ROW_GROUP))
        header = w.at(self.numbers, epilogue.HEADER_BYTES)

        def change(value: str, first: int, share: int) -> str:
            size = amx.TILE_ROW_BYTES // share
            other = self.pending.get("other")
            rows = [_load_i32(w, w.at(others, 4 * row)) for row in range(first, first + share)]
            parts = [w.load(w.at(other, row), f"vector<{size}xi8>") for row in rows]
            return ResidualSum(w, self.code, header).add(value, _joined(w, parts, size))

        return change

    def _results(self, results: str, sums: str, zero_points: str, at: int) -> list[str]:
        """The vectors of results at byte ``at`` of the rows, with the filter's zero points in."""
        w = self.w
        values = [w.load(w.at(results, row * self.row_bytes + at), w.i32, 64) for row in range(ROW_GROUP)]
        if not self.with_sums:
            return values
        zero_point = w.load(w.at(zero_points, at), w.i32, 64, volatile=True)
        totals = [w.load(w.at(sums, row * amx.TILE_ROW_BYTES), w.i32, 64) for row in range(ROW_GROUP)]
        shares = [w.binary("muli", total, zero_point, w.i32) for total in totals]
        return [w.binary("addi", value, share, w.i32) for value, share in zip(values, shares, strict=True)]

    def _store_rows(self, rows: Sequence[str], places: str) -> None:
        """Bytes of pixels where ``places`` says: nowhere if that is negative."""
        w = self.w
        count = self.tiles.columns * LANES
        type_, bits = f"vector<{count}xi8>", f"vector<{count}xi1>"
        mask = self.pending.get("mask")
        narrow = mask if count == 64 else w.op(f"arith.trunci {mask} : i64 to i{count}")
        lanes = w.op(f"llvm.bitcast {narrow} : i{count} to {bits}")
        output = self.pending.get("output")
        for row, value in enumerate(rows):
            place = _load_i32(w, w.at(places, 4 * row))
            is_junk, there = w.compare("slt", place, 0), w.at(output, place)
            target = w.op(f"arith.select {is_junk}, {self.nowhere}, {there} : !llvm.ptr")
            w.line(
                f"llvm.intr.masked.store {value}, {target}, {lanes} {{alignment = 1 : i32}} : "
                f"{type_}, {bits} into !llvm.ptr"
            )


def _joined(w: Writer, parts: Sequence[str], size: int) -> str:
    """One vector of 1, 2 or 4 vectors of ``size`` bytes."""
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=True)
        parts = [w.shuffle(low, high, range(2 * size), f"vector<{size}xi8>") for low, high in pairs]
        size *= 2
    return parts[0]


def _load_i32(w: Writer, pointer: str) -> str:
    """As i64."""
    return w.op(f"arith.extsi {w.load(pointer, 'i32', 4)} : i32 to i64")
