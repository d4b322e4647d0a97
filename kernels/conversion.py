"""Between float32 and 8-bit tensors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..dialect.numerics import Rounding
from . import elements as el
from .image import Image
from .instruction_set import InstructionSet
from .instructions import to_nearest_even
from .launch import Code, Launch
from .runs import each_run, each_step, narrowed, runs_of, scalar_count, store_bytes
from .scalars import Scalars
from .writer import Writer

_BUFFERS = 2
_FIRST = _BUFFERS + scalar_count(_BUFFERS)
_QUANTIZE = Scalars(_FIRST, ("low", "high", "zero_point", "scale", "largest"))
_DEQUANTIZE = Scalars(_FIRST, ("zero_point", "scale"))
_BEFORE_HALF = float(np.nextafter(np.float32(0.5), np.float32(0)))
"""Added to a magnitude before it is truncated: 0.5 itself would carry the float32 below 0.5 to 1."""


@dataclass(frozen=True)
class Quantize:
    """Float32 to 8 bits, by one scale: the numpy meaning of ``quantize`` says how it rounds and what becomes
    of NaN and infinities.
    """

    input: Image
    output: Image
    signed: bool
    scale: float
    zero_point: int
    low: int
    high: int
    rounding: Rounding
    """ONCE_HALF_AWAY or FLOAT32_HALF_EVEN."""


@dataclass(frozen=True)
class Dequantize:
    """8 bits to float32, by one scale: ``(stored - zero_point) * scale``, rounded once."""

    input: Image
    output: Image
    signed: bool
    scale: float
    zero_point: int


def plan(spec: Quantize | Dequantize, isa: InstructionSet) -> Launch | str:
    sizes = (4, 1) if isinstance(spec, Quantize) else (1, 4)
    if (spec.input.element_bytes, spec.output.element_bytes) != sizes:
        return "elements of another size"
    if float(np.float32(spec.scale)) != spec.scale or not 0 < spec.scale < np.inf:
        return f"a scale of {spec.scale}, which is no positive float32"
    runs = runs_of((spec.input, spec.output))
    if isinstance(runs, str):
        return runs
    step = runs.step(isa.vector_bytes)
    if isinstance(spec, Dequantize):
        values = {"zero_point": spec.zero_point, "scale": el.float32_bits(spec.scale)}
        kind, scalars = "dequantize", _DEQUANTIZE.pack(values)
    else:
        if spec.rounding not in (Rounding.ONCE_HALF_AWAY, Rounding.FLOAT32_HALF_EVEN):
            return f"rounding '{spec.rounding.value}'"
        kind, scalars = spec.rounding.value, _QUANTIZE.pack(_quantize_scalars(spec))
    options = (("kind", kind), ("step", step), ("signed", spec.signed))
    return Launch(Code("conversion", isa.name, options), runs.units, (), runs.scalars + scalars)


def _quantize_scalars(spec: Quantize) -> dict[str, int]:
    scale = np.float32(spec.scale)
    if spec.rounding is Rounding.FLOAT32_HALF_EVEN:
        with np.errstate(over="ignore"):
            scale = np.float32(1) / scale
    return {
        "low": spec.low,
        "high": spec.high,
        "zero_point": spec.zero_point,
        "scale": el.float32_bits(float(scale)),
        "largest": el.float32_bits(float(spec.high - spec.zero_point)),
    }


def emit(code: Code, isa: InstructionSet) -> str:
    step = int(code["step"])
    w = Writer(narrowed(isa, step))
    buffers = [w.pointer(i) for i in range(_BUFFERS)]
    write = _dequantize if code["kind"] == "dequantize" else _quantize
    write(w, buffers, step, code)
    return w.text()


def _quantize(w: Writer, buffers: list[str], step: int, code: Code) -> None:
    numbers = [_QUANTIZE.load(w, name) for name in ("low", "high", "zero_point")]
    storage = el.Storage.load(w, bool(code["signed"]), numbers[0], numbers[1], numbers[2])
    scale, largest = (el.splat_f32(w, _QUANTIZE.load(w, name)) for name in ("scale", "largest"))
    half_away = code["kind"] == Rounding.ONCE_HALF_AWAY.value

    def rounded(real: str) -> str:
        if not half_away:
            # NaN is not below: it becomes the largest.
            return to_nearest_even(w, _smaller(w, w.binary("mulf", real, scale, w.f32), largest))
        steps = w.binary("divf", real, scale, w.f32)
        ordered = w.op(f"arith.cmpf ord, {steps}, {steps} : {w.f32}")
        steps = _select(w, ordered, _smaller(w, steps, largest), w.splat(0.0, w.f32))
        bits = w.binary("andi", w.bitcast(steps, w.f32, w.i32), w.splat(-(1 << 31), w.i32), w.i32)
        half = w.bitcast(w.splat(_BEFORE_HALF, w.f32), w.f32, w.i32)
        addend = w.bitcast(w.binary("ori", bits, half, w.i32), w.i32, w.f32)
        return el.truncated(w, w.binary("addf", steps, addend, w.f32))

    def run(pointers: list[str], length: str) -> None:
        def compute(position: str) -> list[str]:
            # Far below the range a conversion gives -2^31: the lowest, once it is saturated.
            quarters = range(el.QUARTERS)
            return [rounded(el.load_floats(w, pointers[0], position, quarter, step)) for quarter in quarters]

        el.each_vector(w, pointers[1], length, step, storage, compute)

    each_run(w, _BUFFERS, buffers, run)


def _dequantize(w: Writer, buffers: list[str], step: int, code: Code) -> None:
    zero_point = el.to_floats(w, el.splat_i32(w, _DEQUANTIZE.load(w, "zero_point")))
    scale = el.splat_f32(w, _DEQUANTIZE.load(w, "scale"))
    width = w.isa.vector_bytes

    def run(pointers: list[str], length: str) -> None:
        def one(position: str) -> None:
            target = w.at(pointers[1], w.times(position, 4))
            stored = el.load_reals(w, pointers[0], position, bool(code["signed"]), step)
            for quarter in range(-(-step // w.lanes)):
                real = w.binary("mulf", w.binary("subf", stored[quarter], zero_point, w.f32), scale, w.f32)
                value = w.bitcast(real, w.f32, w.i8)
                store_bytes(w, value, w.at(target, width * quarter), min(width, 4 * step), width)

        each_step(w, length, step, one)

    each_run(w, _BUFFERS, buffers, run)


def _smaller(w: Writer, value: str, limit: str) -> str:
    """``value < limit ? value : limit``: one instruction."""
    below = w.op(f"arith.cmpf olt, {value}, {limit} : {w.f32}")
    return _select(w, below, value, limit)


def _select(w: Writer, condition: str, value: str, other: str) -> str:
    mask = w.f32.replace("f32", "i1")
    return w.op(f"arith.select {condition}, {value}, {other} : {mask}, {w.f32}")
