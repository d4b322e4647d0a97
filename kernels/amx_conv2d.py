"""Convolutions and matrix products with AMX: blocks of 16x64, 32x32 or 64x16 results in four tiles.

Tiles of input bytes are loaded straight from the image; the steps of the sum are a table of offsets into it
(:mod:`.amx_tiling`). Results pass through memory into vectors, where they are rescaled.

A filter whose zero point is not that of its storage needs the sum of each pixel's inputs: those of a block
are products with a tile of ones, done once for all channels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..dialect.fixed_point import Ints
from . import amx_instructions as amx
from . import epilogue
from .amx_tiling import JUNK, Reduction, Tiling, best, vector_cycles
from .channels import Channels, as_bytes, wrap_int32
from .conv import Conv
from .epilogue import Epilogue
from .instruction_set import InstructionSet
from .launch import Bytes, Code, Launch
from .narrow import Narrower, group_order
from .scalars import Scalars
from .writer import Count, Writer

_FEWEST_PIXELS = 4
"""Fewer are a matter of reading the filter; vectors do that as well."""
_LEAST_GAIN = 1.4
"""How much faster than vectors it has to look: the estimate knows nothing of slow modes and of starting."""
_LANES = 16
_ROW_GROUP = 4
"""Rows of results that are rescaled together, and packed into full vectors."""
_PANEL_HEADER = 64
_IN_OFFSET, _OUT_OFFSET, _MASK = 0, 8, 16
_SCALARS = (
    "blocks",
    "panels",
    "panels_per_unit",
    "steps",
    "pitch",
    "tile_row_bytes",
    "row_groups",
    "block_entry_bytes",
    "panel_bytes",
)


def _scalars(sums: bool) -> Scalars:
    """After the input, the constants and the result."""
    return Scalars(7 if sums else 6, _SCALARS)


def plan(conv: Conv, isa: InstructionSet) -> Launch | str:
    reason = _why_not(conv)
    if reason is not None:
        return reason
    reduction = Reduction.of(conv)
    tiling = best(conv, reduction)
    gain = vector_cycles(conv) / tiling.cycles
    if gain < _LEAST_GAIN:
        return f"tiles would be poorly filled: about {gain:.1f} times as fast as vectors"
    filter_, zero_points = _filter(conv)
    sums = bool(np.any(zero_points))
    rescales = Epilogue.of(conv.rescale, _reach(conv), isa)
    code = Code(
        "amx_conv2d",
        isa.name,
        (
            ("rows", tiling.shape[0]),
            ("columns", tiling.shape[1]),
            ("input_signed", conv.input_signed),
            ("filter_signed", filter_.dtype == np.int8),
            ("sums", sums),
            ("result_signed", conv.result_signed),
            *rescales.options,
        ),
    )
    panels = _panels(conv, reduction, tiling, filter_, zero_points, rescales)
    panels_per_unit = len(panels) if sums else 1
    constants = [_header(conv, tiling), as_bytes(reduction.offsets).reshape(-1), _blocks(conv, tiling)]
    constants.append(panels.reshape(-1))
    if sums:
        constants.append(_ones(reduction, filter_.dtype))
    values = {
        "blocks": tiling.blocks,
        "panels": len(panels),
        "panels_per_unit": panels_per_unit,
        "steps": reduction.steps,
        "pitch": tiling.scan.pitch,
        "tile_row_bytes": tiling.rows * tiling.shape[1] * amx.TILE_ROW_BYTES,
        "row_groups": math.ceil(tiling.block_rows / _ROW_GROUP),
        "block_entry_bytes": constants[2].size // tiling.blocks,
        "panel_bytes": panels.shape[1],
    }
    out = conv.output
    macs = out.batch * out.height * out.width * int(filter_.size)
    units = tiling.blocks * math.ceil(len(panels) / panels_per_unit)
    return Launch(code, units, tuple(constants), _scalars(sums).pack(values), macs)


def _why_not(conv: Conv) -> str | None:
    out = conv.output
    if conv.kind != "conv2d":
        return f"{conv.kind} has no products of matrices"
    if conv.residual is not None:
        return "a residual"
    if out.batch * out.height * out.width < _FEWEST_PIXELS:
        return f"fewer than {_FEWEST_PIXELS} pixels or rows"
    return epilogue.why_not(conv.rescale)


def _filter(conv: Conv) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """The filter and its zero points ``[out_channels]``, as signed or as unsigned bytes: products of both
    kinds cost the same, so the kind is chosen that has its zero points at zero.
    """
    filter_ = conv.filter.astype(np.int8 if conv.filter_signed else np.uint8)
    zero_points = np.broadcast_to(np.array(conv.filter_zero_points, np.int64), (len(filter_),))
    shift = 128 if conv.filter_signed else -128
    if np.all(zero_points == -shift):
        other = np.uint8 if conv.filter_signed else np.int8
        return (filter_.astype(np.int64) + shift).astype(other), np.zeros_like(zero_points)
    return filter_, zero_points


def _reach(conv: Conv) -> tuple[Ints, Ints]:
    """The lowest and the highest sum of each channel."""
    bias = conv.bias.astype(np.int64)
    if conv.input_signed:  # as if inputs were 128 higher
        centred = conv.filter.astype(np.int64) - np.reshape(conv.filter_zero_points, (-1, 1, 1, 1))
        bias = bias - 128 * centred.sum((1, 2, 3))
    return epilogue.reach(conv.filter, conv.filter_zero_points, bias)


def _header(conv: Conv, tiling: Tiling) -> Bytes:
    """The tiles' shapes, and the epilogue's header."""
    rows = [amx.TILE_ROWS] * amx.TILES
    tiles = _Tiles(*tiling.shape)
    for tile in (*tiles.results, *tiles.inputs):
        rows[tile] = tiling.rows
    return np.concatenate([amx.configuration(rows), epilogue.header(conv.rescale)])


def _blocks(conv: Conv, tiling: Tiling) -> Bytes:
    """Per block of pixels, as i32: the input byte of each tile, then the output byte of each row, with rows
    up to a multiple of :data:`_ROW_GROUP`; negative where nothing is stored.
    """
    out, count = conv.output, tiling.shape[0]
    y, x = np.divmod(np.arange(out.batch * out.height * out.width), out.width)
    n, y = np.divmod(y, out.height)
    places = out.start + n * out.image_pitch + y * out.row_pitch + x * out.pixel_pitch
    tiles = list(tiling.scan.tiles(tiling.rows))
    tiles += tiles[-1:] * (tiling.blocks * count - len(tiles))
    inputs = np.array([start for start, _ in tiles], np.int64).reshape(tiling.blocks, count)
    pixels = np.stack([pixels for _, pixels in tiles]).reshape(tiling.blocks, -1)
    outputs = np.where(pixels == JUNK, -1, places[np.maximum(pixels, 0)])
    padding = np.full((tiling.blocks, -tiling.block_rows % _ROW_GROUP), -1, np.int64)
    return as_bytes(np.concatenate([inputs, outputs, padding], 1).astype(np.int32)).reshape(-1)


def _panels(
    conv: Conv,
    reduction: Reduction,
    tiling: Tiling,
    filter_: npt.NDArray[Any],
    zero_points: npt.NDArray[np.int64],
    rescales: Epilogue,
) -> Bytes:
    """``[panels, panel_bytes]``: all that belongs to 16, 32 or 64 channels. A header (byte offset of the
    group's input channels, of the output channels, mask of the bytes to store), the filter by steps, bias,
    zero points, parameters of the rescale.
    """
    columns = tiling.shape[1]
    width = columns * _LANES
    bias = conv.bias + np.int64(rescales.start)
    per_group = conv.output.channels // conv.groups
    group_bytes = conv.input.channels // conv.groups
    # With the zeros of the steps' ends as one more column.
    order = group_order(columns, _LANES)
    flat = np.pad(filter_.reshape(len(filter_), -1), ((0, 0), (0, 1)))
    panels = []
    for group in range(conv.groups):
        for first in range(0, per_group, width):
            count = min(width, per_group - first)
            start = group * per_group + first
            lanes = Channels(
                conv.output.channels,
                columns,
                _LANES,
                np.where(order < count, start + order, conv.output.channels),
            )
            header = np.array([group * group_bytes, start, (1 << count) - 1], np.uint64)
            parts = [header.view(np.uint8), np.zeros(_PANEL_HEADER - header.nbytes, np.uint8)]
            parts.append(_packed_filter(lanes.spread_rows(flat), reduction, columns))
            parts.append(as_bytes(lanes.spread(wrap_int32(bias), np.int32)).reshape(-1))
            if np.any(zero_points):
                parts.append(as_bytes(lanes.spread(-zero_points, np.int32)).reshape(-1))
            parts.append(rescales.pack(conv.rescale, lanes).reshape(-1))
            panels.append(np.concatenate(parts))
    return np.stack(panels)


def _packed_filter(rows: npt.NDArray[Any], reduction: Reduction, columns: int) -> Bytes:
    """``[columns * 16, k]`` as ``[steps, columns, 16 quads of k, 16 channels, 4]``."""
    steps = rows[:, reduction.sources].reshape(columns, _LANES, reduction.steps, amx.TILE_ROWS, 4)
    return as_bytes(steps.transpose(2, 0, 3, 1, 4)).reshape(-1)


def _ones(reduction: Reduction, dtype: npt.DTypeLike) -> Bytes:
    """A filter of one tile of channels that sums inputs up."""
    row = np.append(np.ones(reduction.sources.max() + 1, dtype), np.zeros(1, dtype))
    return _packed_filter(np.tile(row, (_LANES, 1)), reduction, 1)


@dataclass(frozen=True)
class _Tiles:
    """Who is in which tile register."""

    rows: int
    columns: int

    @property
    def results(self) -> Sequence[int]:
        return range(4)

    @property
    def inputs(self) -> Sequence[int]:
        """Loads take turns in what is there."""
        return (4, 5) if self.rows > 1 else (4,)

    @property
    def filters(self) -> Sequence[int]:
        return range(4 + len(self.inputs), amx.TILES)

    def result(self, row: int, column: int) -> int:
        return self.results[row * self.columns + column]

    def input(self, row: int) -> int:
        return self.inputs[row % len(self.inputs)]

    def filter(self, column: int) -> int:
        return self.filters[column % len(self.filters)]


def emit(code: Code, isa: InstructionSet) -> str:
    w = Writer(isa)
    kernel = _Kernel(w, code)
    header = w.pointer(1)
    amx.configure(w, header)
    kernel.limits = kernel.rescales.limits(w, w.at(header, amx.CONFIGURATION_BYTES))
    kernel.narrower = Narrower(
        w, kernel.rescales, w.at(header, amx.CONFIGURATION_BYTES), kernel.result_signed
    )
    w.units(kernel.unit)
    amx.release(w)
    return w.text()


class _Kernel:
    """The text of a kernel; values that all of it uses are attributes."""

    limits: Sequence[str]
    narrower: Narrower

    def __init__(self, w: Writer, code: Code) -> None:
        self.w = w
        self.tiles = _Tiles(int(code["rows"]), int(code["columns"]))
        self.input_signed, self.filter_signed = bool(code["input_signed"]), bool(code["filter_signed"])
        self.result_signed = bool(code["result_signed"])
        self.with_sums = bool(code["sums"])
        self.rescales = Epilogue.of_code(code)
        self.scalars = _scalars(self.with_sums)
        self.row_bytes = self.tiles.columns * amx.TILE_ROW_BYTES
        """Of a row of results of a block, as i32."""
        self.results = self._reserve(4 * amx.TILE_BYTES)
        self.sums = self._reserve(self.tiles.rows * amx.TILE_BYTES) if self.with_sums else ""
        self.nowhere = self._reserve(amx.TILE_ROW_BYTES)
        self.output = w.pointer(6 if self.with_sums else 5)
        self.to_nowhere = w.minus(self._address(self.nowhere), self._address(self.output))
        """What, added to the result's address, is a place where nobody reads."""

    def unit(self, unit: str) -> None:
        """A block of pixels, some panels of channels."""
        w, scalars = self.w, self.scalars
        group, block = w.split(unit, scalars.load(w, "blocks"))
        panels_per_unit = scalars.load(w, "panels_per_unit")
        first = w.times(group, panels_per_unit)
        end = w.at_most(w.plus(first, panels_per_unit), scalars.load(w, "panels"))
        entry = w.at(w.pointer(3), w.times(block, scalars.load(w, "block_entry_bytes")))
        if self.with_sums:
            self._sum_pixels(entry)

        def panel(index: str) -> list[str]:
            at = w.at(w.pointer(4), w.times(index, scalars.load(w, "panel_bytes")))
            in_offset, out_offset, mask = (
                w.load(w.at(at, offset), "i64", 8) for offset in (_IN_OFFSET, _OUT_OFFSET, _MASK)
            )
            filter_ = w.at(at, _PANEL_HEADER)
            filter_bytes = w.times(scalars.load(w, "steps"), self.tiles.columns * amx.TILE_BYTES)
            per_channel = w.at(filter_, filter_bytes)
            self._multiply(self._pixels(entry, in_offset), filter_, per_channel)
            places = w.at(entry, 4 * self.tiles.rows)
            self._rescale(per_channel, places, w.at(self.output, out_offset), mask)
            return []

        w.loop_from(first, end, panel)

    def _pixels(self, entry: str, offset: Count) -> list[str]:
        """Where the first pixels of a block's tiles are. Loaded where they are needed: registers are few."""
        w = self.w
        base = w.at(w.pointer(0), offset)
        return [w.at(base, self._load_i32(w.at(entry, 4 * row))) for row in range(self.tiles.rows)]

    def _multiply(self, pixels: Sequence[str], filter_: str, bias: str) -> None:
        """A block of i32 results, to memory."""
        w, tiles = self.w, self.tiles
        same_row = w.index(0)
        for row in range(tiles.rows):
            for column in range(tiles.columns):
                place = w.at(bias, column * amx.TILE_ROW_BYTES)
                amx.load(w, tiles.result(row, column), place, same_row)
        self._sum_up(pixels, filter_, tiles.columns)
        next_tile = self.scalars.load(w, "tile_row_bytes")
        place = self.results
        for row in range(tiles.rows):
            for column in range(tiles.columns):
                at = w.at(place, column * amx.TILE_ROW_BYTES)
                amx.store(w, tiles.result(row, column), at, w.index(self.row_bytes))
            place = w.at(place, next_tile)

    def _sum_pixels(self, entry: str) -> None:
        """The sum of the inputs of each pixel, in all lanes of a vector, to memory."""
        w, tiles = self.w, self.tiles
        for row in range(tiles.rows):
            amx.zero(w, tiles.result(row, 0))
        self._sum_up(self._pixels(entry, 0), w.pointer(5), 1)
        rows = w.binary("divui", self.scalars.load(w, "tile_row_bytes"), w.index(tiles.columns), "i64")
        place = self.sums
        for row in range(tiles.rows):
            amx.store(w, tiles.result(row, 0), place, w.index(amx.TILE_ROW_BYTES))
            place = w.at(place, rows)

    def _sum_up(self, pixels: Sequence[str], filter_: str, columns: int) -> None:
        """All steps of the sums, of the first ``columns`` columns of tiles."""
        w, tiles = self.w, self.tiles
        offsets = w.pointer(2)
        pitch = self.scalars.load(w, "pitch")
        filter_pitch = w.index(amx.TILE_ROW_BYTES)

        def step(index: str) -> list[str]:
            offset = w.load(w.at(offsets, w.times(index, 8)), "i64", 8)
            at = w.at(filter_, w.times(index, columns * amx.TILE_BYTES))
            for column in range(columns):
                amx.load(w, tiles.filter(column), w.at(at, column * amx.TILE_BYTES), filter_pitch)
                for row, pixel in enumerate(pixels):
                    if column == 0:
                        amx.load(w, tiles.input(row), w.at(pixel, offset), pitch)
                    amx.dot(
                        w,
                        tiles.result(row, column),
                        tiles.input(row),
                        tiles.filter(column),
                        self.input_signed,
                        self.filter_signed,
                    )
            return []

        w.loop(self.scalars.load(w, "steps"), step)

    def _rescale(self, per_channel: str, places: str, output: str, mask: str) -> None:
        """The block of results from memory to stored bytes: column by column, so that parameters are loaded
        once for several rows.
        """
        w, columns = self.w, self.tiles.columns
        vectors = columns * amx.TILE_ROW_BYTES
        zero_points = w.at(per_channel, vectors)
        parameters = w.at(zero_points, vectors) if self.with_sums else zero_points

        def group(index: str) -> list[str]:
            results = w.at(self.results, w.times(index, _ROW_GROUP * self.row_bytes))
            sums = w.at(self.sums, w.times(index, _ROW_GROUP * amx.TILE_ROW_BYTES)) if self.with_sums else ""

            def rescaled(column: int) -> list[str]:
                at = w.at(parameters, column * self.rescales.parameter_bytes(w.lanes))
                loaded = self.rescales.load(w, at)
                values = self._results(results, sums, zero_points, column)
                return [self.rescales.apply(w, value, loaded, self.limits) for value in values]

            rows = [value for value, _ in self.narrower.rows(columns, _ROW_GROUP, rescaled)]
            self._store(rows, w.at(places, w.times(index, 4 * _ROW_GROUP)), output, mask)
            return []

        w.loop(self.scalars.load(w, "row_groups"), group)

    def _results(self, results: str, sums: str, zero_points: str, column: int) -> list[str]:
        """A column of vectors of results, with the filter's zero points in."""
        w = self.w
        at = column * amx.TILE_ROW_BYTES
        values = [w.load(w.at(results, row * self.row_bytes + at), w.i32, 64) for row in range(_ROW_GROUP)]
        if not self.with_sums:
            return values
        zero_point = w.load(w.at(zero_points, at), w.i32, 64, volatile=True)
        totals = [w.load(w.at(sums, row * amx.TILE_ROW_BYTES), w.i32, 64) for row in range(_ROW_GROUP)]
        shares = [w.binary("muli", total, zero_point, w.i32) for total in totals]
        return [w.binary("addi", value, share, w.i32) for value, share in zip(values, shares, strict=True)]

    def _store(self, rows: Sequence[str], places: str, output: str, mask: str) -> None:
        """Bytes of pixels where ``places`` says."""
        w = self.w
        count = self.tiles.columns * _LANES
        type_, bits = f"vector<{count}xi8>", f"vector<{count}xi1>"
        narrow = mask if count == 64 else w.op(f"arith.trunci {mask} : i64 to i{count}")
        lanes = w.op(f"llvm.bitcast {narrow} : i{count} to {bits}")
        for row, value in enumerate(rows):
            place = self._load_i32(w.at(places, 4 * row))
            chosen = w.op(f"arith.select {w.compare('slt', place, 0)}, {self.to_nowhere}, {place} : i64")
            w.line(
                f"llvm.intr.masked.store {value}, {w.at(output, chosen)}, {lanes} {{alignment = 1 : i32}} : "
                f"{type_}, {bits} into !llvm.ptr"
            )

    def _load_i32(self, pointer: str) -> str:
        return self.w.op(f"arith.extsi {self.w.load(pointer, 'i32', 4)} : i32 to i64")

    def _address(self, pointer: str) -> str:
        return self.w.op(f"llvm.ptrtoint {pointer} : !llvm.ptr to i64")

    def _reserve(self, size: int) -> str:
        """Bytes on the stack, 64-byte aligned."""
        w = self.w
        return w.op(f"llvm.alloca {w.index(size)} x i8 {{alignment = 64 : i64}} : (i64) -> !llvm.ptr")
