"""Resizing of 8-bit images: bilinear and nearest, vectors of channels.

A unit is one output row of one block of channels. Output columns that lie between the same two input columns
form a *segment*: the rows are mixed once per segment, and each column mixes two vectors in registers.

A bilinear sum of integers is kept in 16 bits where the fractions of both axes have at most 8 bits together
(as for sizes ``2^k * n + 1`` with aligned corners), else in 32. The float32 rule is the same as the integer
one where none of its steps rounds: where the fractions have few bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..dialect.resampling import Axis, Weights
from . import windows
from .image import Image
from .instruction_set import InstructionSet
from .launch import Code, Launch
from .resize_tables import (
    COLUMN_BYTES,
    ROW_BYTES,
    SEGMENT_BYTES,
    SUM_BITS,
    row_table,
    segments_of,
    weights_of,
)
from .scalars import Scalars
from .writer import Writer

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
        "overrunning",
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
    """The stored number of the integer 0 (128 where an i8 tensor is kept as u8, -128 where a u8 one as i8),
    which the rule for i8 rounds away from."""


def plan(spec: Resize, isa: InstructionSet) -> Launch | str:
    source, target = spec.input, spec.output
    if source.element_bytes != 1 or target.element_bytes != 1:
        return "elements of more than one byte"
    if spec.weights is Weights.FLOAT32 and spec.offset != (-128 if spec.signed else 0):
        return "float32 weights of what is not uint8"
    kind, rows, columns = weights_of(spec.weights, spec.rows, spec.columns, spec.offset)
    width = {"copy": isa.vector_bytes, "words": isa.vector_bytes // 2}.get(kind, isa.lanes)
    channels = min(width, 1 << (source.channels.bit_length() - 1))
    # Where a pixel does not fill a vector, the next one overwrites what is stored beyond it.
    overruns = channels < source.channels < width and target.pixel_pitch == target.channels
    blocks = 1 if overruns else -(-source.channels // channels)
    segments = segments_of(spec.columns, source.pixel_pitch)
    numbers = {
        "source_start": source.start,
        "source_image": source.image_pitch,
        "target_start": target.start,
        "target_image": target.image_pitch,
        "target_row": target.row_pitch,
        "target_pixel": target.pixel_pitch,
        "out_height": target.height,
        "segments": segments.size // SEGMENT_BYTES,
        "blocks": blocks,
        "last_channel": source.channels - channels,
        "overrunning": max(0, (target.width * target.channels - width) // target.channels + 1),
    }
    options = (
        ("kind", kind),
        ("channels", channels),
        ("overruns", overruns),
        ("signed", spec.signed),
        ("away", spec.weights is Weights.FRACTION_10),
    )
    tables = (row_table(spec.rows, source.row_pitch, rows), segments, columns.reshape(-1))
    units = target.batch * target.height * blocks
    return Launch(Code("resize", isa.name, options), units, tables, _SCALARS.pack(numbers))


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
        self.overruns = bool(code["overruns"])
        if self.overruns:
            size = w.index(self.width)
            self.scratch = w.op(f"llvm.alloca {size} x i8 {{alignment = 64 : i64}} : (i64) -> !llvm.ptr")
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
        last = number("last_channel")
        channel = w.index(0) if self.overruns else w.at_most(w.times(block, self.channels), last)
        source = w.at(w.at(self.source, number("source_start")), channel)
        source = w.at(source, w.times(image, number("source_image")))
        target = w.at(w.at(self.target, number("target_start")), channel)
        target = w.at(target, w.times(image, number("target_image")))
        target = w.at(target, w.times(y, number("target_row")))
        row = w.at(self.rows, w.times(y, ROW_BYTES))
        pair = [w.at(source, w.load(w.at(row, at), "i64", 8)) for at in (0, 8)]
        vertical = self.row_weights(row)
        pixel, whole = number("target_pixel"), number("overrunning")

        def segment(i: str) -> list[str]:
            entry = w.at(self.segments, w.times(i, SEGMENT_BYTES))
            lower, upper, begin, end = (w.load(w.at(entry, at), "i64", 8) for at in (0, 8, 16, 24))
            mixed = self.mix_rows(pair, (lower, upper), vertical)

            def columns(begin: str, end: str, store: Callable[[str, str], None]) -> None:
                def column(x: str, pointer: str) -> list[str]:
                    store(self.mix_columns(mixed, w.at(self.columns, w.times(x, COLUMN_BYTES))), pointer)
                    return [w.at(pointer, pixel)]

                w.loop_from(begin, end, column, [w.at(target, w.times(begin, pixel))], "!llvm.ptr")

            if self.overruns:
                columns(begin, w.at_most(end, whole), lambda value, at: w.store(value, at, self.narrow))
                begin = w.binary("maxsi", begin, whole, "i64")
            columns(begin, end, lambda value, at: self.store(value, at, last))
            return []

        w.loop(number("segments"), segment)

    def store(self, value: str, pointer: str, last: str) -> None:
        """No more than the channels; a vector of the last ones begins at ``last``."""
        w = self.w
        windows.store_channels(w, value, self.width, self.channels, pointer)
        if self.overruns:
            w.store(value, self.scratch, self.narrow)
            type_ = f"vector<{self.channels}xi8>"
            w.store(w.load(w.at(self.scratch, last), type_), w.at(pointer, last), type_)

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
        return SUM_BITS["integers"]

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
        return SUM_BITS["words"]


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
        return self._flipped(w.op(f"arith.trunci {whole} : {w.i32} to {self.narrow}"))

    def _value(self, row: str, column: str) -> str:
        w = self.w
        value = self._flipped(w.load(w.at(row, column), self.narrow))
        wide = w.op(f"arith.extui {value} : {self.narrow} to {w.i32}")
        return w.op(f"arith.sitofp {wide} : {w.i32} to {w.f32}")

    def _flipped(self, value: str) -> str:
        """Between what is stored and u8."""
        w = self.w
        return w.binary("xori", value, w.splat(-128, self.narrow), self.narrow) if self.signed else value

    def _weight(self, pointer: str, at: int) -> str:
        return self.w.broadcast(self.w.load(self.w.at(pointer, at), "f32", 4), "f32", self.w.f32)
