"""Depthwise convolutions: rows of the input are interleaved byte by byte, so that one dot product sums the
taps of a column that lie in one group of rows (four; two where bytes are multiplied as i16).

A unit of work is one row of one block (:mod:`.depthwise_blocks`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from . import epilogue
from .channels import Channels, as_bytes, wrap_int32
from .conv import Conv
from .depthwise_blocks import blocks_of, interleaved, table
from .epilogue import Epilogue
from .instruction_set import InstructionSet
from .instructions import dot_pairs, dot_quads, narrow_to_bytes, narrow_to_words, shuffle_bytes
from .launch import Bytes, Code, Launch
from .writer import Writer

_VECTORS = 4
"""i32 vectors of a block."""


def plan(conv: Conv, isa: InstructionSet) -> Launch | str:
    if conv.kind != "depthwise_conv2d":
        return f"kind '{conv.kind}' is another family's"
    if conv.input_signed:
        return "the input is signed"
    if conv.residual is not None:
        return "a residual"
    reason = epilogue.why_not(conv.rescale)
    if reason is not None:
        return reason
    blocks = blocks_of(conv, isa)
    channels = interleaved(blocks, conv.output.channels, isa.lanes)
    weights, terms = _weights(conv, channels, isa)
    ending = Epilogue.of(conv.rescale)
    options = (
        ("parts", blocks.parts),
        ("stored", blocks.stored),
        ("gathers", blocks.gathers),
        ("terms", terms),
        ("signed", conv.result_signed),
        *ending.options,
    )
    count = len(blocks.channels)
    bias = channels.spread(wrap_int32(np.asarray(conv.bias, np.int64)), np.int32)
    columns = [as_bytes(bias), ending.pack(conv.rescale, channels)]
    parameters = [epilogue.header(conv.rescale), np.concatenate(columns, axis=1).reshape(-1)]
    constants = [weights, np.concatenate(parameters), table(blocks).view(np.uint8).reshape(-1)]
    if blocks.gathers:
        constants.append(blocks.gather.astype(np.uint8).reshape(-1))
    x, y = conv.input, conv.output
    scalars = (
        count,
        y.height,
        x.image_pitch,
        conv.strides[0] * x.row_pitch,
        conv.strides[1] * x.pixel_pitch,
        conv.dilations[0] * x.row_pitch,
        conv.dilations[1] * x.pixel_pitch,
        y.image_pitch,
        y.row_pitch,
        y.pixel_pitch,
        conv.kernel[0],
        conv.kernel[1],
        blocks.group,
    )
    macs = y.elements * conv.kernel[0] * conv.kernel[1]
    return Launch(
        Code("depthwise_conv2d", isa.name, options),
        y.batch * y.height * count,
        tuple(constants),
        scalars,
        macs,
    )


def _rows_per_group(isa: InstructionSet) -> int:
    return 4 if isa.dot == "dot-u8s8" else 2


def _weights(conv: Conv, channels: Channels, isa: InstructionSet) -> tuple[Bytes, int]:
    """``[blocks][groups of rows][columns][terms][vectors][lanes]``, rows of a group in an i32 lane; and the
    number of terms: i8 weights whose sum is a weight less its zero point.
    """
    rows, (height, width) = _rows_per_group(isa), conv.kernel
    groups = -(-height // rows)
    points = np.asarray(conv.filter_zero_points, np.int64).reshape(-1, 1, 1)
    centred = conv.filter.reshape(-1, height, width).astype(np.int64) - points
    padded = np.pad(centred, ((0, 0), (0, groups * rows - height), (0, 0)))
    by_lane = channels.spread_rows(padded).reshape(-1, _VECTORS, isa.lanes, groups, rows, width)
    ordered = by_lane.transpose(0, 3, 5, 1, 2, 4)  # block, group, column, vector, lane, row
    if isa.dot != "dot-u8s8":
        return as_bytes(ordered.astype(np.int16)).reshape(-1), 1
    terms = i8_terms(ordered)
    return as_bytes(np.stack(terms, axis=3)).reshape(-1), len(terms)


def i8_terms(values: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int8]]:
    """As few i8 arrays as possible whose sum is ``values``."""
    terms: list[npt.NDArray[np.int8]] = []
    while not terms or np.any(values):
        term = np.clip(values, -128, 127)
        terms.append(term.astype(np.int8))
        values = values - term
    return terms


def emit(code: Code, isa: InstructionSet) -> str:
    return _Streaming(code, isa).write()


class _Streaming:
    """Any kernel size, stride and dilation: no column is kept."""

    def __init__(self, code: Code, isa: InstructionSet) -> None:
        self.isa = isa
        self.w = w = Writer(isa)
        self.parts, self.stored = int(code["parts"]), int(code["stored"])
        self.gathers, self.terms, self.signed = (
            bool(code["gathers"]),
            int(code["terms"]),
            bool(code["signed"]),
        )
        self.epilogue = Epilogue.of_code(code)
        self.rows = _rows_per_group(isa)
        self.part_type = f"vector<{isa.vector_bytes // self.parts}xi8>"
        self.x, self.weights, self.parameters, self.table = (w.pointer(slot) for slot in range(4))
        slot = 4
        if self.gathers:
            self.gather = w.pointer(slot)
            slot += 1
        self.out = w.pointer(slot)
        (
            self.blocks,
            self.height,
            self.in_image,
            self.in_row,
            self.in_step,
            self.tap_row,
            self.tap_column,
            self.out_image,
            self.out_row,
            self.out_step,
            self.kernel_height,
            self.kernel_width,
            self.group,
        ) = (w.scalar(slot + 1 + i) for i in range(13))
        self.row_groups = w.split(w.plus(self.kernel_height, self.rows - 1), self.rows)[0]

    def write(self) -> str:
        w = self.w
        self.limits = self.epilogue.limits(w, self.parameters)
        w.units(self._unit)
        return w.text()

    def _unit(self, unit: str) -> None:
        w, isa = self.w, self.isa
        line, block = w.split(unit, self.blocks)
        image, y = w.split(line, self.height)
        source = w.at(w.at(self.x, w.times(image, self.in_image)), w.times(y, self.in_row))
        target = w.at(w.at(self.out, w.times(image, self.out_image)), w.times(y, self.out_row))
        entry = w.at(self.table, w.times(block, 8 * (2 + 2 * self.parts)))
        steps, last, *places = (w.load(w.at(entry, 8 * i), "i64", 8) for i in range(2 + 2 * self.parts))
        sources = [w.at(source, place) for place in places[: self.parts]]
        targets = [w.at(target, place) for place in places[self.parts :]]
        tap_bytes = self.terms * _VECTORS * isa.vector_bytes
        taps = w.times(self.row_groups, self.kernel_width)
        weights = w.at(self.weights, w.times(w.times(block, taps), tap_bytes))
        self.vector_parameters = isa.vector_bytes + self.epilogue.parameter_bytes(isa.lanes)
        parameters = w.at(
            w.at(self.parameters, epilogue.HEADER_BYTES), w.times(block, _VECTORS * self.vector_parameters)
        )
        order = ""
        if self.gathers:
            order = w.load(w.at(self.gather, w.times(block, isa.vector_bytes)), w.i8, isa.vector_bytes)

        def step(index: str) -> Sequence[str]:
            pixel = w.at_most(w.times(index, self.group), last)
            start = w.times(pixel, self.in_step)
            columns = [w.at(source, start) for source in sources]
            sums = self._sums(columns, weights, parameters, order)
            place = w.times(pixel, self.out_step)
            self._store(sums, parameters, [w.at(target, place) for target in targets])
            return []

        w.loop(steps, step)

    def _sums(self, sources: Sequence[str], weights: str, parameters: str, order: str) -> list[str]:
        """The accumulators of one block."""
        w = self.w
        bias = [
            w.load(w.at(parameters, j * self.vector_parameters), w.i32, self.isa.vector_bytes)
            for j in range(_VECTORS)
        ]
        last = w.minus(self.kernel_height, 1)
        tap_bytes = self.terms * _VECTORS * self.isa.vector_bytes
        width = self.kernel_width

        def row_group(index: str, *sums: str) -> Sequence[str]:
            first = w.times(index, self.rows)
            offsets = [w.times(w.at_most(w.plus(first, i), last), self.tap_row) for i in range(self.rows)]
            starts = [[w.at(source, offset) for source in sources] for offset in offsets]
            filters = w.at(weights, w.times(w.times(index, width), tap_bytes))

            def column(number: str, *sums: str) -> Sequence[str]:
                offset = w.times(number, self.tap_column)
                rows = [self._load([w.at(part, offset) for part in row], order) for row in starts]
                column = self._interleave(rows)
                filter = w.at(filters, w.times(number, tap_bytes))
                totals = list(sums)
                for term in range(self.terms):
                    for j in range(_VECTORS):
                        place = w.at(filter, (term * _VECTORS + j) * self.isa.vector_bytes)
                        totals[j] = self._dot(totals[j], column[j], place)
                return totals

            return w.loop(width, column, sums)

        return w.loop(self.row_groups, row_group, bias)

    def _dot(self, total: str, column: str, place: str) -> str:
        w = self.w
        if self.isa.dot == "dot-u8s8":
            return dot_quads(w, total, column, w.load(place, w.i8, self.isa.vector_bytes))
        return dot_pairs(
            w, total, w.bitcast(column, w.i8, w.i32), w.load(place, w.i32, self.isa.vector_bytes)
        )

    def _load(self, parts: Sequence[str], order: str) -> str:
        """A block's bytes of one row."""
        w = self.w
        values = [w.load(part, self.part_type) for part in parts]
        size = self.isa.vector_bytes // self.parts
        while len(values) > 1:
            values = [
                w.shuffle(low, high, range(2 * size), f"vector<{size}xi8>")
                for low, high in zip(values[::2], values[1::2], strict=True)
            ]
            size *= 2
        return shuffle_bytes(w, values[0], order) if order else values[0]

    def _interleave(self, rows: Sequence[str]) -> list[str]:
        """Four vectors whose i32 lanes hold a channel's bytes (i16, where there are two rows) of all rows."""
        w = self.w
        if len(rows) == 2:
            halves = self._zip(rows[0], rows[1], 1)
            zero = w.splat(0, w.i8)
            return [value for half in halves for value in self._zip(half, zero, 1)]
        first, second = self._zip(rows[0], rows[1], 1), self._zip(rows[2], rows[3], 1)
        return [value for pair in zip(first, second, strict=True) for value in self._zip(*pair, 2)]

    def _zip(self, lhs: str, rhs: str, size: int) -> list[str]:
        """``punpckl`` and ``punpckh``: elements of ``size`` bytes in turn, within 16 bytes."""
        w = self.w
        count = self.isa.vector_bytes // size
        each = 16 // size
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

    def _store(self, sums: Sequence[str], parameters: str, targets: Sequence[str]) -> None:
        w = self.w
        results = []
        for j, total in enumerate(sums):
            place = w.at(parameters, j * self.vector_parameters + self.isa.vector_bytes)
            results.append(self.epilogue.apply(w, total, self.epilogue.load(w, place), self.limits))
        low, high = (narrow_to_words(w, *results[i : i + 2]) for i in (0, 2))
        packed = narrow_to_bytes(w, low, high, self.signed)
        size = self.isa.vector_bytes // self.parts
        for i, target in enumerate(targets):
            done = 0
            while done < self.stored:
                piece = 1 << ((self.stored - done).bit_length() - 1)
                first = i * size + done
                value = packed
                if piece < self.isa.vector_bytes:
                    value = w.shuffle(packed, packed, range(first, first + piece), w.i8)
                w.store(value, w.at(target, done), f"vector<{piece}xi8>")
                done += piece
