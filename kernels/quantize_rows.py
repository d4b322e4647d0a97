"""Float32 to 8 bits at run time: every row by the range that it has (``dialect/dynamic_range.py``).

A unit is a row: first its largest and smallest values, then its parameters, then its numbers. The parameters
of all rows lie behind the numbers, in the same buffer: :data:`PARAMETER_BYTES` each, the scale in float32 and
the number of zero in i32.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..dialect.dynamic_range import ASYMMETRIC_RANGE, SYMMETRIC_MAXIMUM
from . import elements as el
from .image import Image
from .instruction_set import InstructionSet
from .launch import Code, Launch
from .runs import each_step, narrowed, store_bytes
from .scalars import Scalars
from .writer import Writer

PARAMETER_BYTES = 8
_BEFORE_HALF = float(np.nextafter(np.float32(0.5), np.float32(0)))
"""Added to a magnitude before it is truncated: 0.5 itself would carry the float32 below 0.5 to 1."""
_SCALARS = Scalars(
    2,
    (
        *("row_floats", "run", "runs", "parameters"),
        *("start", "image", "line", "border_bytes"),
    ),
)


@dataclass(frozen=True)
class QuantizeRows:
    """``[rows, length]`` floats that lie one behind the other."""

    rows: int
    output: Image
    """A row is an image of it, or, where it is one image of one row, a pixel. Its border holds zeros."""
    asymmetric: bool
    signed: bool
    """Whether the numbers are i8; else they are stored 128 higher."""

    @property
    def per_pixel(self) -> bool:
        return self.rows != self.output.batch

    @property
    def parameters(self) -> int:
        """The byte where the rows' parameters start."""
        return -(-self.output.buffer_bytes // 64) * 64

    @property
    def buffer_bytes(self) -> int:
        return self.parameters + PARAMETER_BYTES * self.rows


def plan(spec: QuantizeRows, isa: InstructionSet) -> Launch | str:
    image = spec.output
    if image.pixel_pitch != image.channels:
        return "a slice of channels"
    if spec.per_pixel and (image.batch, image.height, any(image.border)) != (1, 1, False):
        return "rows that are neither images nor the pixels of one line"
    run, runs = (image.channels, 1) if spec.per_pixel else (image.width * image.channels, image.height)
    step = min(isa.vector_bytes, 1 << (run.bit_length() - 1))
    values = {
        "row_floats": run * runs,
        "run": run,
        "runs": runs,
        "parameters": spec.parameters,
        "start": image.start,
        "image": image.pixel_pitch if spec.per_pixel else image.image_pitch,
        "line": image.row_pitch,
        "border_bytes": image.image_pitch if any(image.border) else 0,
    }
    options = (
        ("step", step),
        ("asymmetric", spec.asymmetric),
        ("signed", spec.signed),
        ("border", any(image.border)),
    )
    return Launch(Code("quantize_rows", isa.name, options), spec.rows, (), _SCALARS.pack(values))


def emit(code: Code, isa: InstructionSet) -> str:
    return _Kernel(code, isa).text()


class _Kernel:
    """Writes the code."""

    def __init__(self, code: Code, isa: InstructionSet) -> None:
        self.step = int(code["step"])
        self.w = Writer(narrowed(isa, self.step))
        self.quarters = -(-self.step // self.w.lanes)
        """Vectors of floats in a step."""
        self.asymmetric, self.signed = bool(code["asymmetric"]), bool(code["signed"])
        self.has_border = bool(code["border"])
        self.shift = 0 if self.signed else 128
        self.low, self.high = ASYMMETRIC_RANGE if self.asymmetric else (-SYMMETRIC_MAXIMUM, SYMMETRIC_MAXIMUM)

    def text(self) -> str:
        w = self.w
        self.source, self.target = w.pointer(0), w.pointer(1)
        w.units(self._row)
        return w.text()

    def _scalar(self, name: str) -> str:
        return _SCALARS.load(self.w, name)

    def _row(self, row: str) -> None:
        w = self.w
        length = self._scalar("row_floats")
        source = w.at(self.source, w.times(w.times(row, length), 4))
        largest, lowered = self._range(source, length)
        scale, inverse, zero = (
            self._asymmetric(largest, lowered) if self.asymmetric else self._symmetric(largest)
        )
        at = w.at(w.at(self.target, self._scalar("parameters")), w.times(row, PARAMETER_BYTES))
        w.store(scale, at, "f32", 4)
        stored_zero = w.binary("addi", zero, w.constant(f"{self.shift} : i32"), "i32")
        w.store(stored_zero, w.at(at, 4), "i32", 4)
        offset = w.times(row, self._scalar("image"))
        if self.has_border:
            self._fill(w.at(self.target, offset), w.op(f"arith.trunci {stored_zero} : i32 to i8"))
        self._quantize(source, w.at(self.target, w.plus(self._scalar("start"), offset)), inverse, zero)

    def _range(self, source: str, length: str) -> tuple[str, str]:
        """The largest value, or magnitude, and the smallest times -1, of a row: zero at least. NaN is no
        value.
        """
        w, count = self.w, self.quarters
        zeros = [w.splat(0.0, w.f32)] * (2 * count if self.asymmetric else count)
        last = w.minus(length, self.step)

        def step(index: str, *most: str) -> list[str]:
            position = w.at_most(index, last)
            values = [el.load_floats(w, source, position, q, self.step) for q in range(count)]
            if not self.asymmetric:
                values = [w.op(f"math.absf {value} : {w.f32}") for value in values]
            else:
                values += [w.op(f"arith.negf {value} : {w.f32}") for value in values]
            return [self._larger(value, old) for value, old in zip(values, most, strict=True)]

        found = w.loop_from(w.index(0), length, step, zeros, w.f32, step=self.step)
        ends = [found[:count], found[count:]] if self.asymmetric else [found]
        largest = []
        for values in ends:
            most = values[0]
            for value in values[1:]:
                most = self._larger(value, most)
            largest.append(w.op(f"vector.reduction <maxnumf>, {most} : {w.f32} into f32"))
        return largest[0], largest[-1]

    def _larger(self, value: str, other: str) -> str:
        """``value > other ? value : other``: one instruction."""
        w = self.w
        above = w.op(f"arith.cmpf ogt, {value}, {other} : {w.f32}")
        return w.op(f"arith.select {above}, {value}, {other} : {w.f32.replace('f32', 'i1')}, {w.f32}")

    def _symmetric(self, largest: str) -> tuple[str, str, str]:
        """Scale, its inverse, zero point."""
        w = self.w
        one, top = w.constant("1.0 : f32"), w.constant(f"{float(self.high)} : f32")
        some = w.op(f"arith.cmpf ogt, {largest}, {w.constant('0.0 : f32')} : f32")
        scale = w.op(f"arith.select {some}, {w.binary('divf', largest, top, 'f32')}, {one} : f32")
        inverse = w.op(f"arith.select {some}, {w.binary('divf', top, largest, 'f32')}, {one} : f32")
        return scale, inverse, w.constant("0 : i32")

    def _asymmetric(self, largest: str, lowered: str) -> tuple[str, str, str]:
        """Scale, its inverse, zero point: that of the end that is met with the smaller error, in float64."""
        w = self.w

        def real(value: float) -> str:
            return w.constant(f"{float(value)} : f64")

        span = w.op(f"arith.extf {w.binary('addf', largest, lowered, 'f32')} : f32 to f64")
        some = w.op(f"arith.cmpf ogt, {span}, {real(0)} : f64")
        step = w.binary("divf", span, real(self.high - self.low), "f64")
        step = w.op(f"arith.select {some}, {step}, {real(1)} : f64")
        below, above = (
            w.binary("divf", w.op(f"arith.extf {end} : f32 to f64"), step, "f64")
            for end in (lowered, largest)
        )
        error_below = w.binary("subf", below, real(self.low), "f64")
        error_above = w.binary("addf", above, real(self.high), "f64")
        nearer = w.op(f"arith.cmpf olt, {error_below}, {error_above} : f64")
        from_low = w.binary("addf", below, real(self.low), "f64")
        from_high = w.binary("subf", real(self.high), above, "f64")
        point = w.op(f"arith.select {nearer}, {from_low}, {from_high} : f64")
        point = w.op(f"arith.select {some}, {point}, {real(0)} : f64")
        for predicate, bound in (("ogt", self.low), ("olt", self.high)):  # NaN is the lowest
            inside = w.op(f"arith.cmpf {predicate}, {point}, {real(bound)} : f64")
            point = w.op(f"arith.select {inside}, {point}, {real(bound)} : f64")
        zero = w.op(f"arith.fptosi {w.op(f'math.round {point} : f64')} : f64 to i32")
        scale = w.op(f"arith.truncf {step} : f64 to f32")
        return scale, w.binary("divf", w.constant("1.0 : f32"), scale, "f32"), zero

    def _fill(self, target: str, zero: str) -> None:
        """The whole image; images are longer than a step."""
        w, width = self.w, self.w.isa.vector_bytes
        value = w.broadcast(zero, "i8", w.i8)

        def one(position: str) -> None:
            store_bytes(w, value, w.at(target, position), self.step, width)

        each_step(w, self._scalar("border_bytes"), self.step, one)

    def _quantize(self, source: str, target: str, inverse: str, zero: str) -> None:
        w = self.w
        factor = w.broadcast(inverse, "f32", w.f32)
        point = w.op(f"arith.sitofp {zero} : i32 to f32")
        bounds = [
            w.broadcast(w.binary("subf", w.constant(f"{float(end)} : f32"), point, "f32"), "f32", w.f32)
            for end in (self.low, self.high)
        ]
        raised = w.binary("addi", zero, w.constant(f"{self.shift} : i32"), "i32")
        words = w.broadcast(w.op(f"arith.trunci {raised} : i32 to i16"), "i16", w.i16)

        def run(number: str) -> Sequence[str]:
            first = w.times(number, self._scalar("run"))
            line = w.at(target, w.times(number, self._scalar("line")))

            def one(position: str) -> None:
                place = w.plus(first, position)
                parts = [
                    self._rounded(el.load_floats(w, source, place, q, self.step), factor, bounds)
                    for q in range(self.quarters)
                ]
                parts += [w.splat(0, w.i32)] * (el.QUARTERS - len(parts))
                value = el.to_bytes(w, parts, self.signed, words)
                store_bytes(w, value, w.at(line, position), self.step, w.isa.vector_bytes)

            each_step(w, self._scalar("run"), self.step, one)
            return []

        w.loop_from(w.index(0), self._scalar("runs"), run)

    def _rounded(self, value: str, factor: str, bounds: Sequence[str]) -> str:
        """``clip(round(value * factor))``, half away from zero; NaN is the lowest."""
        w = self.w
        steps = self._larger(w.binary("mulf", value, factor, w.f32), bounds[0])
        below = w.op(f"arith.cmpf olt, {steps}, {bounds[1]} : {w.f32}")
        steps = w.op(f"arith.select {below}, {steps}, {bounds[1]} : {w.f32.replace('f32', 'i1')}, {w.f32}")
        sign = w.binary("andi", w.bitcast(steps, w.f32, w.i32), w.splat(-(1 << 31), w.i32), w.i32)
        half = w.bitcast(w.splat(_BEFORE_HALF, w.f32), w.f32, w.i32)
        addend = w.bitcast(w.binary("ori", sign, half, w.i32), w.i32, w.f32)
        return el.truncated(w, w.binary("addf", steps, addend, w.f32))
