"""Max and average pooling, vectors of channels.

A unit is one output row of one block of channels. Windows that lie inside the image slide: a column of taps
is reduced once and kept in a register for all windows that it belongs to. Other windows, and large ones, are
loops over their taps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from . import windows
from .image import Image
from .instruction_set import InstructionSet
from .launch import Code, Launch
from .scalars import Scalars
from .writer import Writer

_LARGEST_SLIDING = 5
"""Rows and columns of a window that slides; its code is unrolled."""
_CONSTANTS = 1
_SCALARS = Scalars(
    3,
    (
        "source_start",
        "source_image",
        "source_row",
        "source_pixel",
        "target_start",
        "target_image",
        "target_row",
        "target_pixel",
        "height",
        "width",
        "out_height",
        "out_width",
        "blocks",
        "last_channel",
        "rows",
        "columns",
        "row_stride",
        "column_stride",
        "top",
        "left",
        "inside_begin",
        "inside_end",
    ),
)


@dataclass(frozen=True)
class Pool:
    """The maximum or the average of each window; what lies outside the image does not count.

    The average of the integers ``stored - offset`` is rounded half away from zero.
    """

    kind: Literal["max", "average"]
    input: Image
    output: Image
    window: tuple[int, int]
    strides: tuple[int, int]
    padding: tuple[int, int]
    """Rows above, columns to the left."""
    signed: bool
    low: int
    high: int
    """Bounds of the stored result."""
    offset: int = 0
    """The stored number of the integer 0: 128 where an i8 tensor is kept as u8, -128 the other way round."""


def plan(spec: Pool, isa: InstructionSet) -> Launch | str:
    taps = _taps(spec)
    if taps is None:
        return "a window that lies outside the image"
    if spec.input.element_bytes != 1:
        return f"{spec.input.element_bytes} bytes an element"
    if spec.kind == "average" and taps > windows.WIDE_TAPS:
        return f"an average of more than {windows.WIDE_TAPS} taps"
    middle = spec.offset + (128 if spec.signed else 0)
    to_unsigned = 128 if spec.signed and spec.kind == "average" else 0
    low, high = spec.low + to_unsigned, spec.high + to_unsigned
    lowest = -128 if spec.signed and spec.kind == "max" else 0
    limited = (low, high) != (lowest, lowest + 255)
    header = windows.header(low, high, middle)
    reduction, width = "max", isa.vector_bytes
    if spec.kind == "average":
        reduction, width = ("narrow", width) if taps <= windows.NARROW_TAPS else ("wide", isa.lanes)
    if reduction == "narrow":
        header = np.concatenate([header, windows.division_table(taps, middle)])
    channels = spec.input.channels
    width = min(width, 1 << (channels.bit_length() - 1))
    blocks = -(-channels // width)
    inside = _inside(spec)
    slides = max(spec.window) <= _LARGEST_SLIDING and inside[0] < inside[1] and reduction != "wide"
    options = (
        ("kind", reduction),
        ("channels", width),
        ("rows", spec.window[0] if slides else 0),
        ("columns", spec.window[1] if slides else 0),
        ("stride", min(spec.strides[1], spec.window[1]) if slides else 0),
        ("signed", spec.signed),
        ("limited", limited),
        ("away", reduction == "narrow" and middle > 0),
    )
    units = spec.output.batch * spec.output.height * blocks
    code = Code("pool", isa.name, options)
    return Launch(code, units, (header,), _SCALARS.pack(_numbers(spec, blocks, width, inside)))


def _numbers(spec: Pool, blocks: int, width: int, inside: tuple[int, int]) -> dict[str, int]:
    source, target = spec.input, spec.output
    return {
        "source_start": source.start,
        "source_image": source.image_pitch,
        "source_row": source.row_pitch,
        "source_pixel": source.pixel_pitch,
        "target_start": target.start,
        "target_image": target.image_pitch,
        "target_row": target.row_pitch,
        "target_pixel": target.pixel_pitch,
        "height": source.height,
        "width": source.width,
        "out_height": target.height,
        "out_width": target.width,
        "blocks": blocks,
        "last_channel": source.channels - width,
        "rows": spec.window[0],
        "columns": spec.window[1],
        "row_stride": spec.strides[0],
        "column_stride": spec.strides[1],
        "top": spec.padding[0],
        "left": spec.padding[1],
        "inside_begin": inside[0],
        "inside_end": inside[1],
    }


def _taps(spec: Pool) -> int | None:
    """Taps inside the image of the largest window; None if a window has none."""
    largest = 1
    for size, result, window, stride, before in zip(
        (spec.input.height, spec.input.width),
        (spec.output.height, spec.output.width),
        spec.window,
        spec.strides,
        spec.padding,
        strict=True,
    ):
        first = np.arange(result) * stride - before
        taps = np.minimum(first + window, size) - np.maximum(first, 0)
        if taps.min() < 1:
            return None
        largest *= int(taps.max())
    return largest


def _inside(spec: Pool) -> tuple[int, int]:
    """The output columns whose windows lie inside the image, if any row's do."""
    if spec.window[0] > spec.input.height or spec.window[1] > spec.input.width:
        return 0, 0
    stride, left = spec.strides[1], spec.padding[1]
    begin = -(-left // stride)
    end = (spec.input.width - spec.window[1] + left) // stride + 1
    return (begin, min(end, spec.output.width)) if begin < end else (0, 0)


def emit(code: Code, isa: InstructionSet) -> str:
    w = Writer(isa)
    w.units(_Row(w, code).unit)
    return w.text()


def _reduction(w: Writer, code: Code, even: bool = True) -> windows.Reduction:
    """``even``: whether windows may have an even number of taps."""
    signed, limited = bool(code["signed"]), bool(code["limited"])
    if code["kind"] == "max":
        return windows.Maximum(w, signed, limited)
    if code["kind"] == "narrow":
        return windows.NarrowAverage(w, signed, limited, bool(code["away"]) and even)
    return windows.WideAverage(w, signed, limited)


class _Row:
    """The code of a unit."""

    def __init__(self, w: Writer, code: Code) -> None:
        self.w, self.code = w, code
        self.channels = int(code["channels"])
        self.rows, self.columns, self.stride = (int(code[name]) for name in ("rows", "columns", "stride"))
        self.source, self.constants, self.target = (w.pointer(slot) for slot in range(3))

    def number(self, name: str) -> str:
        return _SCALARS.load(self.w, name)

    def unit(self, unit: str) -> None:
        w, number = self.w, self.number
        rest, block = w.split(unit, number("blocks"))
        image, y = w.split(rest, number("out_height"))
        channel = w.at_most(w.times(block, self.channels), number("last_channel"))
        source = w.at(w.at(self.source, number("source_start")), channel)
        source = w.at(source, w.times(image, number("source_image")))
        target = w.at(w.at(self.target, number("target_start")), channel)
        target = w.at(target, w.times(image, number("target_image")))
        target = w.at(target, w.times(y, number("target_row")))
        top = w.minus(w.times(y, number("row_stride")), number("top"))
        first = w.binary("maxsi", top, w.index(0), "i64")
        rows = w.minus(w.at_most(w.plus(top, number("rows")), number("height")), first)
        source = w.at(source, w.times(first, number("source_row")))
        if not self.rows:
            self._apart(source, target, rows, w.index(0), w.index(0))
            return
        whole = w.compare("eq", rows, self.rows)
        begin, end = (
            w.op(f"arith.select {whole}, {number(name)}, {w.index(0)} : i64")
            for name in ("inside_begin", "inside_end")
        )
        w.when(w.compare("slt", begin, end), lambda: self._sliding(source, target, begin, end))
        self._apart(source, target, rows, begin, end)

    def _sliding(self, source: str, target: str, begin: str, end: str) -> None:
        """The windows inside the image, ``begin <= x < end``."""
        w, number = self.w, self.number
        reduction = _reduction(w, self.code, even=self.rows * self.columns % 2 == 0)
        parameters = reduction.parameters(self.constants, w.index(self.rows * self.columns))
        pixel, target_pixel = number("source_pixel"), number("target_pixel")
        pitch, step = number("source_row"), w.times(pixel, number("column_stride"))
        down = [w.times(pitch, i) for i in range(self.rows)]
        across = [w.times(pixel, j) if j else 0 for j in range(self.columns)]
        kept, vectors = max(self.columns - self.stride, 0), len(reduction.types)

        def column(pointer: str) -> list[str]:
            total = reduction.load(pointer)
            for offset in down[1:]:
                total = reduction.combine(total, reduction.load(w.at(pointer, offset)))
            return total

        start = w.at(source, w.minus(w.times(begin, step), w.times(number("left"), pixel)))
        old = [value for j in range(kept) for value in column(w.at(start, across[j]))]

        def window(_: str, pointer: str, target: str, *old: str) -> list[str]:
            taps = [list(old[i * vectors : (i + 1) * vectors]) for i in range(kept)]
            taps += [column(w.at(pointer, across[j])) for j in range(self.columns - kept)]
            total = taps[0]
            for tap in taps[1:]:
                total = reduction.combine(total, tap)
            self._store(reduction, total, parameters, target)
            next_old = [value for tap in taps[len(taps) - kept :] for value in tap]
            return [w.at(pointer, step), w.at(target, target_pixel), *next_old]

        carried = [w.at(start, across[kept]), w.at(target, w.times(begin, target_pixel)), *old]
        w.loop_from(begin, end, window, carried, ["!llvm.ptr"] * 2 + reduction.types * kept)

    def _apart(self, source: str, target: str, rows: str, begin: str, end: str) -> None:
        """All windows but ``begin <= x < end``, tap by tap; ``source`` is at the first row that counts."""
        w, number, reduction = self.w, self.number, _reduction(self.w, self.code)
        pitch, pixel, target_pixel = number("source_row"), number("source_pixel"), number("target_pixel")
        done, types = w.minus(end, begin), ["!llvm.ptr", *reduction.types]

        def window(i: str) -> list[str]:
            before = w.compare("slt", i, begin)
            x = w.op(f"arith.select {before}, {i}, {w.plus(i, done)} : i64")
            left = w.minus(w.times(x, number("column_stride")), number("left"))
            first = w.binary("maxsi", left, w.index(0), "i64")
            columns = w.minus(w.at_most(w.plus(left, number("columns")), number("width")), first)

            def row(_: str, pointer: str, *total: str) -> list[str]:
                def tap(_: str, pointer: str, *total: str) -> list[str]:
                    return [w.at(pointer, pixel), *reduction.combine(total, reduction.load(pointer))]

                return [w.at(pointer, pitch), *w.loop(columns, tap, [pointer, *total], types)[1:]]

            corner = w.at(source, w.times(first, pixel))
            total = w.loop(rows, row, [corner, *reduction.start()], types)[1:]
            parameters = reduction.parameters(self.constants, w.times(rows, columns))
            self._store(reduction, total, parameters, w.at(target, w.times(x, target_pixel)))
            return []

        w.loop(w.minus(number("out_width"), done), window)

    def _store(
        self, reduction: windows.Reduction, total: Sequence[str], parameters: Sequence[str], pointer: str
    ) -> None:
        value = reduction.finish(total, parameters)
        windows.store_channels(self.w, value, reduction.width, self.channels, pointer)
