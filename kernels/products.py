"""Products of two 8-bit tensors.

The product of the centred numbers is an exact float32. It is rescaled in float32 too where that is proved to
give the result of the integers (:mod:`.float32_rescale`), else by 64-bit products.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..dialect.numerics import Rounding
from ..dialect.op_constants import Product, Rescale
from . import doubling, pairs
from . import elements as el
from .float32_rescale import Float32Rescale, Form
from .float32_sum import prove_product
from .image import Image
from .instruction_set import InstructionSet
from .instructions import fused_multiply_add, to_nearest_even
from .instructions.aarch64 import multiply_words
from .instructions.x86 import multiply_add_toward_zero
from .launch import Code, Launch
from .pairs import Arithmetic, Combine
from .scalars import Scalars
from .writer import Writer

_SHARED = ("low", "high", "zero_point", "lhs_zero_point", "rhs_zero_point")
_FLOAT32 = Scalars(pairs.FIRST_SCALAR, (*_SHARED, "multiplier", "addend", "correction"))
_DOUBLE = Scalars(pairs.FIRST_SCALAR, (*_SHARED, "left_shift", *el.DoubleRounding.NAMES))
_WORDS = Scalars(pairs.FIRST_SCALAR, (*_SHARED, "left_shift", "multiplier", "right_shift"))
_LARGEST_LEFT_SHIFT = 12
"""So that twice a product, which has at most 16 bits and a sign, still fits into 32 bits."""
_LARGEST_WORD_SHIFT = 7
"""So that a byte less its zero point still fits into 16 bits."""


@dataclass(frozen=True)
class Multiply:
    """``lhs * rhs`` of two 8-bit tensors of one shape, clamped by the constants' bounds.

    An operand with a batch, height or width of one is repeated.
    """

    lhs: Image
    rhs: Image
    output: Image
    lhs_signed: bool
    rhs_signed: bool
    result_signed: bool
    constants: Product


def plan(spec: Multiply, isa: InstructionSet) -> Launch | str:
    images = (spec.lhs, spec.rhs, spec.output)
    step = pairs.step_of(images, isa)
    if isinstance(step, str):
        return step
    arithmetic = _arithmetic(spec, isa, step)
    if isinstance(arithmetic, str):
        return arithmetic
    signed = (spec.lhs_signed, spec.rhs_signed, spec.result_signed)
    return pairs.launch("products", images, signed, arithmetic, isa)


def emit(code: Code, isa: InstructionSet) -> str:
    if code["form"] == "words":
        return pairs.emit(code, isa, _WORDS, _words, zero_point=True, load=el.load_words)
    if code["form"] == "double":
        return pairs.emit(code, isa, _DOUBLE, _double, zero_point=True)
    return pairs.emit(code, isa, _FLOAT32, _float32, zero_point=True, load=el.load_reals)


def _arithmetic(spec: Multiply, isa: InstructionSet, step: int) -> Arithmetic | str:
    """The cheapest that is exact, or the reason why there is none."""
    output = spec.constants.output
    values = {
        "low": output.low,
        "high": output.high,
        "zero_point": output.zero_point,
        "lhs_zero_point": spec.constants.lhs_zero_point,
        "rhs_zero_point": spec.constants.rhs_zero_point,
    }
    if doubling.serves(isa) and (words := _word_arithmetic(output, values)) is not None:
        return words
    if el.has_fused_multiply_add(isa) or output.rounding is Rounding.FLOAT32_HALF_EVEN:
        least = [-128 if signed else 0 for signed in (spec.lhs_signed, spec.rhs_signed)]
        toward_zero = el.rounds_toward_zero(isa, step)
        found = prove_product(spec.constants, least[0], least[1], fma_toward_zero=toward_zero)
        if found.exact.all():
            return _float32_arithmetic(found, values)
    if output.rounding is Rounding.EXACT:
        multiplier, shift = 1 << 30, 1
    elif output.rounding is Rounding.DOUBLE:
        multiplier, shift = output.multipliers[0], output.shifts[0]
    else:
        return f"a product with rounding '{output.rounding.value}'"
    if multiplier and not -31 <= shift <= _LARGEST_LEFT_SHIFT:
        return f"a product with a scale of 2^{shift}"
    values["left_shift"] = max(shift, 0)
    packed = el.DoubleRounding.pack(multiplier, min(shift, 0))
    values |= zip(el.DoubleRounding.NAMES, packed, strict=True)
    return Arithmetic("double", _DOUBLE.pack(values))


def _word_arithmetic(output: Rescale, values: dict[str, int]) -> Arithmetic | None:
    """Products of i16, rescaled as AArch64 does it."""
    if output.rounding not in (Rounding.EXACT, Rounding.DOUBLE):
        return None
    shift = output.shifts[0] if output.rounding is Rounding.DOUBLE and output.multipliers[0] else 0
    if not -31 <= shift <= _LARGEST_WORD_SHIFT:
        return None
    kind, values = "exact", values | {"left_shift": max(shift, 0), "multiplier": 0, "right_shift": 0}
    if output.rounding is Rounding.DOUBLE:
        values |= {"multiplier": output.multipliers[0], "right_shift": min(shift, 0)}
        kind = doubling.kind(replace(output, shifts=(min(shift, 0),)))
    options = (("rescale", kind), ("shifts_left", values["left_shift"] > 0))
    return Arithmetic("words", _WORDS.pack(values), options)


def _float32_arithmetic(found: Float32Rescale, values: dict[str, int]) -> Arithmetic:
    for name in ("multiplier", "addend", "correction"):
        values[name] = el.float32_bits(getattr(found, name)[0])
    return Arithmetic(found.form.value, _FLOAT32.pack(values), (("fused", found.fused),))


def _float32(w: Writer, code: Code) -> Combine:
    zero_points = [
        el.to_floats(w, el.splat_i32(w, _FLOAT32.load(w, name)))
        for name in ("lhs_zero_point", "rhs_zero_point")
    ]
    multiplier, addend, correction = (
        el.splat_f32(w, _FLOAT32.load(w, name)) for name in ("multiplier", "addend", "correction")
    )
    multiply_add = multiply_add_toward_zero if el.rounds_toward_zero(w.isa) else fused_multiply_add

    def combine(lhs: str, rhs: str) -> list[str]:
        left, right = (w.binary("subf", value, zero_points[i], w.f32) for i, value in enumerate((lhs, rhs)))
        product = w.binary("mulf", left, right, w.f32)
        if code["form"] == Form.NEAREST.value:
            return [to_nearest_even(w, w.binary("mulf", product, multiplier, w.f32))]
        inner = addend
        if code["form"] == Form.LINEAR.value:
            sign = w.binary("andi", w.bitcast(product, w.f32, w.i32), w.splat(-(1 << 31), w.i32), w.i32)
            signed = w.binary("ori", w.bitcast(addend, w.f32, w.i32), sign, w.i32)
            inner = w.bitcast(signed, w.i32, w.f32)
        if code["fused"] == 2:
            inner = multiply_add(w, product, correction, inner)
        return [el.truncated(w, multiply_add(w, product, multiplier, inner))]

    return combine


def _words(w: Writer, code: Code) -> Combine:
    def number(name: str) -> str:
        return _WORDS.load(w, name)

    zero_points = [
        w.broadcast(w.op(f"arith.trunci {w.minus(w.index(0), number(name))} : i64 to i16"), "i16", w.i16)
        for name in ("lhs_zero_point", "rhs_zero_point")
    ]
    left_shift = w.broadcast(w.op(f"arith.trunci {number('left_shift')} : i64 to i16"), "i16", w.i16)
    parameters = [el.splat_i32(w, number(name)) for name in ("multiplier", "right_shift")]
    # All lanes are shifted, or none.
    parameters.append(w.binary("shrsi", parameters[1], w.splat(31, w.i32), w.i32))
    kind = str(code["rescale"])

    def combine(lhs: str, rhs: str) -> list[str]:
        left, right = (w.binary("addi", value, zero_points[i], w.i16) for i, value in enumerate((lhs, rhs)))
        if code["shifts_left"]:
            left = w.binary("shli", left, left_shift, w.i16)
        products = (multiply_words(w, left, right, upper) for upper in (False, True))
        return [p if kind == "exact" else doubling.apply(w, kind, p, parameters) for p in products]

    return combine


def _double(w: Writer, code: Code) -> Combine:
    zero_points = [el.splat_i32(w, _DOUBLE.load(w, name)) for name in ("lhs_zero_point", "rhs_zero_point")]
    rounding = el.DoubleRounding.load(w, [_DOUBLE.load(w, name) for name in el.DoubleRounding.NAMES])
    # The left shift, and a doubling, as a factor of one operand.
    factor = w.binary(
        "shli", w.index(1 << el.DoubleRounding.doublings(w.isa)), _DOUBLE.load(w, "left_shift"), "i64"
    )
    factor = el.splat_i32(w, factor)

    def combine(lhs: str, rhs: str) -> list[str]:
        left, right = (w.binary("subi", value, zero_points[i], w.i32) for i, value in enumerate((lhs, rhs)))
        product = w.binary("muli", w.binary("muli", left, right, w.i32), factor, w.i32)
        return [rounding.apply(w, product)]

    return combine
