"""Sums and differences of two 8-bit tensors.

The integer arithmetic of both numerics modes is there, and a cheaper float32 form where it is proved to give
the same result for all 256 x 256 pairs of bytes: ``clamp(round_half_even(fma(p, a, fma(q, b, c))))``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..dialect.numerics import Rounding
from ..dialect.op_constants import ShiftSum, Sum
from . import elements as el
from .image import Image
from .instruction_set import InstructionSet
from .instructions import fused_multiply_add, to_nearest_even
from .launch import Code, Launch
from .runs import each_run, narrowed, runs_of, scalar_count
from .scalars import Scalars
from .writer import Writer

_BUFFERS = 3
_BOUNDS = ("low", "high")
_FIRST = _BUFFERS + scalar_count(_BUFFERS)
_LEFT_SHIFT = 20
"""Of DOUBLE's inputs. Numbers below are doubled: see :class:`.elements.DoubleRounding`."""
_UNSCALED = (1 << 30, 0)
"""Multiplier and shift of the input with the larger scale: half of what goes in, exactly."""
_SCALARS = {
    "float32": Scalars(_FIRST, (*_BOUNDS, "lhs_factor", "rhs_factor", "addend")),
    "shift": Scalars(_FIRST, (*_BOUNDS, "lhs_factor", "rhs_factor", "addend", "shift", "zero_point")),
    "double": Scalars(
        _FIRST,
        (
            *_BOUNDS,
            "lhs_zero_point",
            "rhs_zero_point",
            "zero_point",
            *(f"{what}_{name}" for what in ("lhs", "rhs", "output") for name in el.DoubleRounding.NAMES),
        ),
    ),
}


@dataclass(frozen=True)
class Add:
    """``lhs + rhs`` (or ``-``) of two 8-bit tensors of one shape, clamped by the constants' bounds.

    An operand with a batch, height or width of one is repeated.
    """

    lhs: Image
    rhs: Image
    output: Image
    lhs_signed: bool
    rhs_signed: bool
    result_signed: bool
    constants: Sum | ShiftSum
    subtract: bool = False


def plan(spec: Add, isa: InstructionSet) -> Launch | str:
    images = (spec.lhs, spec.rhs, spec.output)
    if any(image.element_bytes != 1 for image in images):
        return "elements of more than one byte"
    runs = runs_of(images)
    if isinstance(runs, str):
        return runs
    form = _form(spec, isa)
    if isinstance(form, str):
        return form
    name, options, values = form
    options |= {"lhs_signed": spec.lhs_signed, "rhs_signed": spec.rhs_signed, "signed": spec.result_signed}
    code = Code("sums", isa.name, (("form", name), ("step", runs.step(isa.vector_bytes)), *options.items()))
    return Launch(code, runs.units, (), runs.scalars + _SCALARS[name].pack(values))


def emit(code: Code, isa: InstructionSet) -> str:
    form, step = str(code["form"]), int(code["step"])
    w = Writer(narrowed(isa, step))
    buffers = [w.pointer(i) for i in range(_BUFFERS)]
    scalars = _SCALARS[form]
    signed = bool(code["lhs_signed"]), bool(code["rhs_signed"])
    bounds = el.Bounds.load(w, *(scalars.load(w, name) for name in _BOUNDS), bool(code["signed"]))
    combine = {"float32": _float32, "shift": _shift, "double": _double}[form](w, scalars, code)

    def run(pointers: list[str], length: str) -> None:
        def compute(position: str, quarter: int) -> str:
            lhs, rhs = (
                el.load_numbers(w, pointer, position, quarter, kind)
                for pointer, kind in zip(pointers[:2], signed, strict=True)
            )
            return combine(lhs, rhs)

        el.each_vector(w, pointers[2], length, step, bounds, compute)

    each_run(w, _BUFFERS, buffers, run)
    return w.text()


_Form = tuple[str, dict[str, bool], dict[str, int]]
"""Name, options, scalars."""
_Combine = Callable[[str, str], str]


def _form(spec: Add, isa: InstructionSet) -> _Form | str:
    """The cheapest that is exact, or the reason why there is none."""
    if isinstance(spec.constants, ShiftSum):
        return _shift_form(spec.constants, spec.subtract)
    return _double_form(spec.constants, spec.subtract)


def _shift_form(constants: ShiftSum, subtract: bool) -> _Form | str:
    lhs_factor, rhs_factor = constants.lhs_factor, constants.rhs_factor * (-1 if subtract else 1)
    addend = (1 << (constants.shift - 1)) - constants.lhs_zero_point * lhs_factor
    addend -= constants.rhs_zero_point * rhs_factor
    if (abs(lhs_factor) + abs(rhs_factor)) * 255 + (1 << constants.shift) >= 1 << 31:
        return "a sum of more than 32 bits"
    values = {
        "low": constants.low,
        "high": constants.high,
        "lhs_factor": lhs_factor,
        "rhs_factor": rhs_factor,
        "addend": addend,
        "shift": constants.shift,
        "zero_point": constants.zero_point,
    }
    return "shift", {}, values


def _double_form(constants: Sum, subtract: bool) -> _Form | str:
    output = constants.output
    if output.rounding is not Rounding.DOUBLE or constants.left_shift != _LEFT_SHIFT:
        return f"a sum with rounding '{output.rounding.value}' and a left shift of {constants.left_shift}"
    scales = {
        "lhs": (constants.lhs_multiplier, constants.lhs_shift),
        "rhs": (constants.rhs_multiplier, constants.rhs_shift),
        "output": (output.multipliers[0], output.shifts[0]),
    }
    for multiplier, shift in scales.values():
        if reason := el.why_not_double(multiplier, shift):
            return reason
    values = {
        "low": output.low,
        "high": output.high,
        "zero_point": output.zero_point,
        "lhs_zero_point": constants.lhs_zero_point,
        "rhs_zero_point": constants.rhs_zero_point,
    }
    for what, scale in scales.items():
        names = (f"{what}_{name}" for name in el.DoubleRounding.NAMES)
        values |= zip(names, el.DoubleRounding.pack(*scale), strict=True)
    options = {
        "lhs_scaled": scales["lhs"] != _UNSCALED,
        "rhs_scaled": scales["rhs"] != _UNSCALED,
        "subtract": subtract,
    }
    return "double", options, values


def _float32(w: Writer, scalars: Scalars, code: Code) -> _Combine:
    lhs_factor, rhs_factor, addend = (
        el.splat_f32(w, scalars.load(w, name)) for name in ("lhs_factor", "rhs_factor", "addend")
    )

    def combine(lhs: str, rhs: str) -> str:
        partial = fused_multiply_add(w, el.to_floats(w, rhs), rhs_factor, addend)
        return to_nearest_even(w, fused_multiply_add(w, el.to_floats(w, lhs), lhs_factor, partial))

    return combine


def _shift(w: Writer, scalars: Scalars, code: Code) -> _Combine:
    lhs_factor, rhs_factor, addend, shift, zero_point = (
        el.splat_i32(w, scalars.load(w, name))
        for name in ("lhs_factor", "rhs_factor", "addend", "shift", "zero_point")
    )

    def combine(lhs: str, rhs: str) -> str:
        total = w.binary("addi", w.binary("muli", lhs, lhs_factor, w.i32), addend, w.i32)
        total = w.binary("addi", total, w.binary("muli", rhs, rhs_factor, w.i32), w.i32)
        return w.binary("addi", el.shift_right(w, total, shift), zero_point, w.i32)

    return combine


def _double(w: Writer, scalars: Scalars, code: Code) -> _Combine:
    zero_points = {what: el.splat_i32(w, scalars.load(w, f"{what}_zero_point")) for what in ("lhs", "rhs")}
    zero_point = el.splat_i32(w, scalars.load(w, "zero_point"))
    roundings = {
        what: el.DoubleRounding.load(
            w, [scalars.load(w, f"{what}_{name}") for name in el.DoubleRounding.NAMES]
        )
        for what in ("lhs", "rhs", "output")
        if what == "output" or code[f"{what}_scaled"]
    }

    def doubled(what: str, stored: str) -> str:
        """Twice the input at the common scale."""
        centred = w.binary("subi", stored, zero_points[what], w.i32)
        if what not in roundings:
            return w.binary("shli", centred, w.splat(_LEFT_SHIFT, w.i32), w.i32)
        shifted = w.binary("shli", centred, w.splat(_LEFT_SHIFT + 1, w.i32), w.i32)
        scaled = roundings[what].apply(w, shifted)
        return w.binary("addi", scaled, scaled, w.i32)

    def combine(lhs: str, rhs: str) -> str:
        kind = "subi" if code["subtract"] else "addi"
        total = w.binary(kind, doubled("lhs", lhs), doubled("rhs", rhs), w.i32)
        return w.binary("addi", roundings["output"].apply(w, total), zero_point, w.i32)

    return combine
