"""Sums and differences of two 8-bit tensors.

The integer arithmetic of both numerics modes is here, and a cheaper float32 form for where it is proved to
give the same result for all 256 x 256 pairs of bytes (:mod:`.float32_sum`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..dialect.numerics import Rounding
from ..dialect.op_constants import ShiftSum, Sum
from . import elements as el
from . import pairs
from .float32_sum import Float32Sum, prove_sum
from .image import Image
from .instruction_set import InstructionSet
from .instructions import fused_multiply_add, shift_right
from .instructions.x86 import multiply_add_toward_zero
from .launch import Code, Launch
from .pairs import Arithmetic, Combine
from .scalars import Scalars
from .writer import Writer

_LEFT_SHIFT = 20
"""Of DOUBLE's inputs. Numbers below may be doubled: see :class:`.elements.DoubleRounding`."""
_UNSCALED = (1 << 30, 0)
"""Multiplier and shift of the input with the larger scale: half of what goes in, exactly."""
_FLOAT32 = Scalars(pairs.FIRST_SCALAR, ("low", "high", "lhs_factor", "rhs_factor", "addend"))
_SHIFT = Scalars(
    pairs.FIRST_SCALAR, ("low", "high", "zero_point", "lhs_factor", "rhs_factor", "addend", "shift")
)
_DOUBLE = Scalars(
    pairs.FIRST_SCALAR,
    (
        *("low", "high", "zero_point", "lhs_zero_point", "rhs_zero_point"),
        *(f"{what}_{name}" for what in ("lhs", "rhs", "output") for name in el.DoubleRounding.NAMES),
    ),
)


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
    step = pairs.step_of(images, isa)
    if isinstance(step, str):
        return step
    arithmetic = _arithmetic(spec, isa, step)
    if isinstance(arithmetic, str):
        return arithmetic
    signed = (spec.lhs_signed, spec.rhs_signed, spec.result_signed)
    return pairs.launch("sums", images, signed, arithmetic, isa)


def emit(code: Code, isa: InstructionSet) -> str:
    if code["form"] == "float32":
        # Factors of at most four times bytes.
        return pairs.emit(code, isa, _FLOAT32, _float32, from_zero=True, load=el.load_reals, fits_words=True)
    if code["form"] == "shift":
        return pairs.emit(code, isa, _SHIFT, _shift, zero_point=True)
    return pairs.emit(code, isa, _DOUBLE, _double, zero_point=True)


def _arithmetic(spec: Add, isa: InstructionSet, step: int) -> Arithmetic | str:
    """The cheapest that is exact, or the reason why there is none."""
    if el.has_fused_multiply_add(isa):
        found = prove_sum(
            spec.constants,
            *(-128 if signed else 0 for signed in (spec.lhs_signed, spec.rhs_signed, spec.result_signed)),
            subtract=spec.subtract,
            fma_toward_zero=el.rounds_toward_zero(isa, step),
        )
        if found is not None:
            return _float32_arithmetic(found, spec)
    if isinstance(spec.constants, ShiftSum):
        return _shift_arithmetic(spec.constants, spec.subtract)
    return _double_arithmetic(spec.constants, spec.subtract)


def _float32_arithmetic(found: Float32Sum, spec: Add) -> Arithmetic:
    bounds = spec.constants.output if isinstance(spec.constants, Sum) else spec.constants
    least = -128 if spec.result_signed else 0
    values = {
        "low": bounds.low - least,
        "high": bounds.high - least,
        "lhs_factor": el.float32_bits(found.lhs_factor),
        "rhs_factor": el.float32_bits(found.rhs_factor),
        "addend": el.float32_bits(found.addend),
    }
    return Arithmetic("float32", _FLOAT32.pack(values), (("swapped", found.swapped),))


def _shift_arithmetic(constants: ShiftSum, subtract: bool) -> Arithmetic | str:
    lhs_factor, rhs_factor = constants.lhs_factor, constants.rhs_factor * (-1 if subtract else 1)
    addend = (1 << (constants.shift - 1)) - constants.lhs_zero_point * lhs_factor
    addend -= constants.rhs_zero_point * rhs_factor
    if (abs(lhs_factor) + abs(rhs_factor)) * 255 + (1 << constants.shift) > np.iinfo(np.int32).max:
        return "a sum of more than 32 bits"
    values = {
        "low": constants.low,
        "high": constants.high,
        "zero_point": constants.zero_point,
        "lhs_factor": lhs_factor,
        "rhs_factor": rhs_factor,
        "addend": addend,
        "shift": constants.shift,
    }
    return Arithmetic("shift", _SHIFT.pack(values))


def _double_arithmetic(constants: Sum, subtract: bool) -> Arithmetic | str:
    output = constants.output
    if output.rounding is not Rounding.DOUBLE or constants.left_shift != _LEFT_SHIFT:
        return f"a sum with rounding '{output.rounding.value}' and a left shift of {constants.left_shift}"
    scales = {
        "lhs": (constants.lhs_multiplier, constants.lhs_shift),
        "rhs": (constants.rhs_multiplier, constants.rhs_shift),
        "output": (output.multipliers[0], output.shifts[0]),
    }
    values = {
        "low": output.low,
        "high": output.high,
        "zero_point": output.zero_point,
        "lhs_zero_point": constants.lhs_zero_point,
        "rhs_zero_point": constants.rhs_zero_point,
    }
    for what, (multiplier, shift) in scales.items():
        if multiplier and not -31 <= shift <= 0:
            return "a sum with a scale of one and more"
        names = (f"{what}_{name}" for name in el.DoubleRounding.NAMES)
        values |= zip(names, el.DoubleRounding.pack(multiplier, shift), strict=True)
    options = (
        ("lhs_scaled", scales["lhs"] != _UNSCALED),
        ("rhs_scaled", scales["rhs"] != _UNSCALED),
        ("subtract", subtract),
    )
    return Arithmetic("double", _DOUBLE.pack(values), options)


def _float32(w: Writer, code: Code) -> Combine:
    factors = [el.splat_f32(w, _FLOAT32.load(w, name)) for name in ("lhs_factor", "rhs_factor")]
    addend = el.splat_f32(w, _FLOAT32.load(w, "addend"))
    inner, outer = (0, 1) if code["swapped"] else (1, 0)
    # Truncated in the end: toward zero, an fma loses nothing by rounding.
    multiply_add = multiply_add_toward_zero if el.rounds_toward_zero(w.isa) else fused_multiply_add

    def combine(lhs: str, rhs: str) -> list[str]:
        reals = (lhs, rhs)
        partial = multiply_add(w, reals[inner], factors[inner], addend)
        return [el.truncated(w, multiply_add(w, reals[outer], factors[outer], partial))]

    return combine


def _shift(w: Writer, code: Code) -> Combine:
    lhs_factor, rhs_factor, addend, shift = (
        el.splat_i32(w, _SHIFT.load(w, name)) for name in ("lhs_factor", "rhs_factor", "addend", "shift")
    )

    def combine(lhs: str, rhs: str) -> list[str]:
        total = w.binary("addi", w.binary("muli", lhs, lhs_factor, w.i32), addend, w.i32)
        total = w.binary("addi", total, w.binary("muli", rhs, rhs_factor, w.i32), w.i32)
        return [shift_right(w, total, shift)]

    return combine


def _double(w: Writer, code: Code) -> Combine:
    zero_points = {what: el.splat_i32(w, _DOUBLE.load(w, f"{what}_zero_point")) for what in ("lhs", "rhs")}
    roundings = {
        what: el.DoubleRounding.load(
            w, [_DOUBLE.load(w, f"{what}_{name}") for name in el.DoubleRounding.NAMES]
        )
        for what in ("lhs", "rhs", "output")
        if what == "output" or code[f"{what}_scaled"]
    }

    doublings = el.DoubleRounding.doublings(w.isa)

    def scaled(what: str, stored: str) -> str:
        """The input at the common scale, doubled."""
        centred = w.binary("subi", stored, zero_points[what], w.i32)
        if what not in roundings:
            return w.binary("shli", centred, w.splat(_LEFT_SHIFT - 1 + doublings, w.i32), w.i32)
        shifted = w.binary("shli", centred, w.splat(_LEFT_SHIFT + doublings, w.i32), w.i32)
        result = roundings[what].apply(w, shifted)
        return w.binary("addi", result, result, w.i32) if doublings else result

    def combine(lhs: str, rhs: str) -> list[str]:
        kind = "subi" if code["subtract"] else "addi"
        total = w.binary(kind, scaled("lhs", lhs), scaled("rhs", rhs), w.i32)
        return [roundings["output"].apply(w, total)]

    return combine
