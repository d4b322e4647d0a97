"""Resizing of 8-bit images: bilinear and nearest, vectors of channels.

A unit is one output row of one block of channels. Output columns that lie between the same two input columns
form a *segment*: the rows are mixed once per segment, and each column mixes two vectors in registers.

A bilinear sum of integers is kept in 16 bits where the fractions of both axes have at most 8 bits together
(as for sizes ``2^k * n + 1`` with aligned corners), else in 32. The float32 rule is the same as the integer
one where none of its steps rounds: where the fractions have few bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..dialect.resampling import Axis, Weights
from . import windows
from .image import Image
from .instruction_set import InstructionSet
from .launch import Bytes, Code, Launch
from .scalars import Scalars
from .writer import Writer

_BITS = {"words": 8, "integers": 22}
"""Of the two fractions together, by the kind of a sum; scaled up to that where they have fewer."""
_EXACT_FLOAT_BITS = 14
"""With the 8 bits of an element, and a sign bit of each fraction, they fit into a float32."""
_ROW_BYTES, _SEGMENT_BYTES, _COLUMN_BYTES = 32, 32, 8
_SCALARS = Scalars(
    5,
    (
        "source_start",
        "source_image",
        "target_start",
        "target_image",
        "target_row",
        "target_pixel",
        "out_height",
        "segments",
        "blocks",
        "last_channel",
    ),
)


@dataclass(frozen=True)
class Resize:
    """Every output row and column is a mix of two of the input's, or a copy of one."""

    input: Image
    output: Image
    rows: Axis
    columns: Axis
    """One entry per output row and column; of a copy ``lower`` alone counts."""
    weights: Weights | None
    """How they are mixed; None for copies."""
    signed: bool
    offset: int = 0
    """The stored number of the integer 0 (128 where an i8 tensor is kept as u8), which the rule rounds away
    from."""


def plan(spec: Resize, isa: InstructionSet) -> Launch | str:
    source, target = spec.input, spec.output
    if source.element_bytes != 1 or target.element_bytes != 1:
        return "elements of more than one byte"
    if spec.weights is Weights.FLOAT32 and (spec.signed or spec.offset):
        return "float32 weights of what is not uint8"
    kind, rows, columns = _weights(spec)
    width = {"copy": isa.vector_bytes, "words": isa.vector_bytes // 2}.get(kind, isa.lanes)
    channels = min(width, 1 << (source.channels.bit_length() - 1))
    blocks = -(-source.channels // channels)
    segments = _segments(spec.columns, source.pixel_pitch)
    numbers = {
        "source_start": source.start,
        "source_image": source.image_pitch,
        "target_start": target.start,
        "target_image": target.image_pitch,
        "target_row": target.row_pitch,
        "target_pixel": target.pixel_pitch,
        "out_height": target.height,
        "segments": segments.size // _SEGMENT_BYTES,
        "blocks": blocks,
        "last_channel": source.channels - channels,
    }
    options = (
        ("kind", kind),
        ("channels", channels),
        ("signed", spec.signed),
        ("away", spec.weights is Weights.FRACTION_10),
    )
    tables = (_row_table(spec.rows, source.row_pitch, rows), segments, columns.reshape(-1))
    units = target.batch * target.height * blocks
    return Launch(Code("resize", isa.name, options), units, tables, _SCALARS.pack(numbers))


def _weights(spec: Resize) -> tuple[str, Bytes, Bytes]:
    """The kind of the sums; the weights of lower and upper elements: of rows ``[rows, 16]``, of columns
    ``[columns, 8]``. After a row's stand two integers: what a column's weights add up to, and what brings a
    rounded sum below zero if it stood for a negative number.
    """
    axes = (spec.rows, spec.columns)
    if spec.weights is None:
        return "copy", _packed(spec.rows.fraction, 1, 0, 0), _packed(spec.columns.fraction, 1)
    fractions = [axis.fraction / np.float64(spec.weights.one) for axis in axes]
    bits, column_bits = (_fraction_bits(fraction) for fraction in fractions)
    if spec.weights is Weights.FLOAT32 and bits + column_bits > _EXACT_FLOAT_BITS:
        one = np.float32(1)
        return "float32", _packed(spec.rows.fraction, one, 0, 0), _packed(spec.columns.fraction, one)
    kind = "words" if bits + column_bits <= _BITS["words"] else "integers"
    down, right = 1 << bits, 1 << (_BITS[kind] - bits)
    rows, columns = (
        np.rint(fraction * one).astype(np.int32)
        for fraction, one in zip(fractions, (down, right), strict=True)
    )
    lead = -(spec.offset << _BITS[kind]) - (1 << (_BITS[kind] - 1))
    return kind, _packed(rows, down, right, lead), _packed(columns, right)


def _packed(upper: npt.NDArray[Any], one: int | np.float32, *others: int) -> Bytes:
    """Four bytes a number: ``one - upper``, ``upper``, and others that are the same in every entry."""
    numbers = [one - upper, upper, *(np.full_like(upper, other) for other in others)]
    return np.stack(numbers, 1).astype(np.float32 if upper.dtype == np.float32 else np.int32).view(np.uint8)


def _fraction_bits(fraction: npt.NDArray[np.float64]) -> int:
    """How many binary digits fractions of float32 have after the point, or one more than can matter."""
    for bits in range(_EXACT_FLOAT_BITS + 1):
        scaled = fraction * (1 << bits)
        if np.array_equal(scaled, np.rint(scaled)):
            return bits
    return _EXACT_FLOAT_BITS + 1


def _row_table(axis: Axis, pitch: int, weights: Bytes) -> Bytes:
    """``[rows * 32]``: bytes to the lower and to the upper row, then their weights."""
    offsets = np.stack([axis.lower, axis.upper], 1).astype(np.int64) * pitch
    return np.concatenate([offsets.view(np.uint8), weights], 1).reshape(-1)


def _segments(axis: Axis, pitch: int) -> Bytes:
    """``[segments * 32]``: bytes to the lower and to the upper column, first output column and end."""
    changes = (np.diff(axis.lower) != 0) | (np.diff(axis.upper) != 0)
    begins = np.concatenate([[0], np.flatnonzero(changes) + 1])
    ends = np.append(begins[1:], axis.lower.size)
    columns = [axis.lower[begins] * pitch, axis.upper[begins] * pitch, begins, ends]
    return np.stack(columns, 1).astype(np.int64).view(np.uint8).reshape(-1)


def emit(code: Code, isa: InstructionSet) -> str:
    w = Writer(isa)
    kinds = {"copy": _Copy, "words": _Words, "integers": _Integers, "float32": _Float32}
    w.units(kinds[str(code["kind"])](w, code).unit)
    return w.text()


class _Copy:
    """The code of a unit; this one copies, its heirs mix."""

    def __init__(self, w: Writer, code: Code) -> None:
        self.w, self.channels = w, int(code["channels"])
        self.signed, self.away = bool(code["signed"]), bool(code["away"])
        self.source, self.rows, self.segments, self.columns, self.target = (w.pointer(i) for i in range(5))

    @property
    def width(self) -> int:
        """Channels of a vector."""
        return self.w.isa.vector_bytes

    @property
    def narrow(self) -> str:
        return f"vector<{self.width}xi8>"

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
        row = w.at(self.rows, w.times(y, _ROW_BYTES))
        pair = [w.at(source, w.load(w.at(row, at), "i64", 8)) for at in (0, 8)]
        vertical = self.row_weights(row)
        pixel = number("target_pixel")

        def segment(i: str) -> list[str]:
            entry = w.at(self.segments, w.times(i, _SEGMENT_BYTES))
            lower, upper, begin, end = (w.load(w.at(entry, at), "i64", 8) for at in (0, 8, 16, 24))
            mixed = self.mix_rows(pair, (lower, upper), vertical)

            def column(x: str, pointer: str) -> list[str]:
                result = self.mix_columns(mixed, w.at(self.columns, w.times(x, _COLUMN_BYTES)))
                windows.store_channels(w, result, self.width, self.channels, pointer)
                return [w.at(pointer, pixel)]

            w.loop_from(begin, end, column, [w.at(target, w.times(begin, pixel))], "!llvm.ptr")
            return []

        w.loop(number("segments"), segment)

    def row_weights(self, row: str) -> list[str]:
        return []

    def mix_rows(self, rows: Sequence[str], columns: Sequence[str], weights: Sequence[str]) -> list[str]:
        """What all columns of a segment share; from the pointers to two rows, the offsets of two columns, and
        :meth:`row_weights`.
        """
        return [self.w.load(self.w.at(rows[0], columns[0]), self.narrow)]

    def mix_columns(self, mixed: Sequence[str], weights: str) -> str:
        """The bytes of a column, whose weights are at ``weights``."""
        return mixed[0]


class _Integers(_Copy):
    """Weights that sum up to ``2^22``, in 32 bits."""

    @property
    def type(self) -> str:
        return self.w.i32

    @property
    def element(self) -> str:
        return "i32"

    @property
    def width(self) -> int:
        return self.w.lanes

    @property
    def bits(self) -> int:
        return _BITS["integers"]

    def row_weights(self, row: str) -> list[str]:
        return [self._weight(row, at) for at in (16, 20, 24, 28)[: 4 if self.away else 3]]

    def mix_rows(self, rows: Sequence[str], columns: Sequence[str], weights: Sequence[str]) -> list[str]:
        """The left mix times the sum of a column's weights, with the half that rounds; what the right one is
        above it; the lead.
        """
        w, (up, down, one, *lead) = self.w, weights
        left, right = (
            w.binary("addi", self._product(rows[0], at, up), self._product(rows[1], at, down), self.type)
            for at in columns
        )
        half = w.splat(1 << (self.bits - 1), self.type)
        base = w.binary("addi", w.binary("muli", left, one, self.type), half, self.type)
        return [base, w.binary("subi", right, left, self.type), *lead]

    def mix_columns(self, mixed: Sequence[str], weights: str) -> str:
        w, (base, difference, *lead) = self.w, mixed
        product = w.binary("muli", difference, self._weight(weights, 4), self.type)
        total = w.binary("addi", base, product, self.type)
        if lead:
            sign = w.splat(int(self.element[1:]) - 1, self.type)
            below = w.binary("shrsi", w.binary("addi", total, lead[0], self.type), sign, self.type)
            total = w.binary("addi", total, below, self.type)
        shift = "shrsi" if self.signed else "shrui"
        value = w.binary(shift, total, w.splat(self.bits, self.type), self.type)
        return w.op(f"arith.trunci {value} : {self.type} to {self.narrow}")

    def _product(self, row: str, column: str, weight: str) -> str:
        w = self.w
        extend = "extsi" if self.signed else "extui"
        value = w.op(
            f"arith.{extend} {w.load(w.at(row, column), self.narrow)} : {self.narrow} to {self.type}"
        )
        return w.binary("muli", value, weight, self.type)

    def _weight(self, pointer: str, at: int) -> str:
        """Of 16 bits the low ones: the sums are right modulo 2^16."""
        return self.w.broadcast(self.w.load(self.w.at(pointer, at), self.element, 4), self.element, self.type)


class _Words(_Integers):
    """Weights that sum up to ``2^8``, in 16 bits."""

    @property
    def type(self) -> str:
        return self.w.i16

    @property
    def element(self) -> str:
        return "i16"

    @property
    def width(self) -> int:
        return self.w.isa.vector_bytes // 2

    @property
    def bits(self) -> int:
        return _BITS["words"]


class _Float32(_Copy):
    """uint8 with float32 weights, every product and sum rounded in the reference's order."""

    @property
    def width(self) -> int:
        return self.w.lanes

    def row_weights(self, row: str) -> list[str]:
        return [self._weight(row, 16), self._weight(row, 20)]

    def mix_rows(self, rows: Sequence[str], columns: Sequence[str], weights: Sequence[str]) -> list[str]:
        """Top left, bottom left, top right, bottom right, times the rows' weights."""
        return [
            self.w.binary("mulf", self._value(row, column), weight, self.w.f32)
            for column in columns
            for row, weight in zip(rows, weights, strict=True)
        ]

    def mix_columns(self, mixed: Sequence[str], weights: str) -> str:
        w = self.w
        left, right = self._weight(weights, 0), self._weight(weights, 4)
        total, *others = (
            w.binary("mulf", value, weight, w.f32)
            for value, weight in zip(mixed, (left, left, right, right), strict=True)
        )
        for other in (*others, w.splat(0.5, w.f32)):
            total = w.binary("addf", total, other, w.f32)
        whole = w.op(f"arith.fptosi {total} : {w.f32} to {w.i32}")
        return w.op(f"arith.trunci {whole} : {w.i32} to {self.narrow}")

    def _value(self, row: str, column: str) -> str:
        w = self.w
        wide = w.op(f"arith.extui {w.load(w.at(row, column), self.narrow)} : {self.narrow} to {w.i32}")
        return w.op(f"arith.sitofp {wide} : {w.i32} to {w.f32}")

    def _weight(self, pointer: str, at: int) -> str:
        return self.w.broadcast(self.w.load(self.w.at(pointer, at), "f32", 4), "f32", self.w.f32)
