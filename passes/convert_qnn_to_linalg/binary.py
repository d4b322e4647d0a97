"""maximum, minimum, binary, compare and prelu with numpy's broadcasting: one elementwise op each."""

from __future__ import annotations

from collections.abc import Callable

from ...dialect import binary_constants as constants
from ...dialect.types import QuantParams
from .activation import reciprocal
from .arith import (
    multiply_double_rounding,
    require_per_tensor,
    rescaled,
    rescaled_scalar,
    rounding_divide_by_pot,
    srdhm,
    to_result,
    widen,
)
from .builder import Builder, Value
from .core import Call, is_signed, storage_kind
from .scalar import Scalar


def maximum(builder: Builder, call: Call) -> Value:
    """``lhs if lhs > rhs else rhs``; quantized: in the result's parameters."""
    return _extremum(builder, call, "gt")


def minimum(builder: Builder, call: Call) -> Value:
    """``lhs if lhs < rhs else rhs``; as :func:`maximum`."""
    return _extremum(builder, call, "lt")


def _extremum(builder: Builder, call: Call, better: str) -> Value:
    operands, kind = call.operands(), storage_kind(call.result)
    if not call.result.is_quantized:
        return builder.elementwise(
            operands, call.result.shape, kind, lambda a, b: a.compare(better, b).select(a, b)
        )
    operands = [to_result(builder, call, x, type_) for x, type_ in zip(operands, call.types, strict=True)]
    params = require_per_tensor(call.result, "the result")

    def formula(a: Scalar, b: Scalar) -> Scalar:
        return widen(a, params).compare(better, widen(b, params)).select(a, b)

    return builder.elementwise(operands, call.result.shape, kind, formula)


def binary(builder: Builder, call: Call) -> Value:
    """``function(lhs, rhs)``."""
    function, kind = call["function"], storage_kind(call.result)
    if call.result.is_quantized:
        return (_quotient if function == "div" else _squared_difference)(builder, call)
    if function == "right_shift":
        shift = _shift_to_the_right(is_signed(call.result))
        return builder.elementwise(call.operands(), call.result.shape, kind, shift)
    formulas = _REAL if call.result.is_float else _BOOLEAN if kind == "i1" else _INTEGER
    return builder.elementwise(call.operands(), call.result.shape, kind, formulas[function])


def compare(builder: Builder, call: Call) -> Value:
    """``lhs predicate rhs``: an i1."""
    predicate, kind = _PREDICATES[call["predicate"]], storage_kind(call.types[0])
    if call.types[0].is_quantized:
        return _compare_quantized(builder, call, predicate)

    def formula(a: Scalar, b: Scalar) -> Scalar:
        if kind == "i1":  # true is 1, not -1
            a, b = a.extend("i8", signed=False), b.extend("i8", signed=False)
        return a.compare(predicate, b)

    return builder.elementwise(call.operands(), call.result.shape, "i1", formula)


def _compare_quantized(builder: Builder, call: Call, predicate: str) -> Value:
    """At a common scale, or where that is too coarse as exact reals in f64."""
    left, right = (require_per_tensor(type_, "an operand") for type_ in call.types)
    numbers = constants.compare(call["predicate"], *call.types)

    def formula(a: Scalar, b: Scalar) -> Scalar:
        if numbers.lhs is not None and numbers.rhs is not None:
            return _scaled(a, left, numbers.lhs).compare(predicate, _scaled(b, right, numbers.rhs))
        reals = [
            (widen(x, params) - params.zero_point).to_float("f64") * params.scale
            for x, params in ((a, left), (b, right))
        ]
        return reals[0].compare(predicate, reals[1])

    return builder.elementwise(call.operands(), call.result.shape, "i1", formula)


def prelu(builder: Builder, call: Call) -> Value:
    """``input if input >= 0 else input * alpha``; quantized: each side has its own scale."""
    kind = storage_kind(call.result)
    if not call.result.is_quantized:
        return builder.elementwise(
            call.operands(), call.result.shape, kind, lambda x, a: (x >= 0.0).select(x, x * a)
        )
    source, alpha = (require_per_tensor(type_, "an operand") for type_ in call.types)
    require_per_tensor(call.result, "the result")
    numbers = constants.prelu(call.types[0], call.types[1], call.result)

    def formula(x: Scalar, a: Scalar) -> Scalar:
        steps = widen(x, source) - numbers.input_zero_point
        product = steps * (widen(a, alpha) - numbers.alpha_zero_point)
        positive = rescaled_scalar(builder, steps, numbers.positive, kind)
        negative = rescaled_scalar(builder, product, numbers.negative, kind)
        return (steps >= 0).select(positive, negative)

    return builder.elementwise(call.operands(), call.result.shape, kind, formula)


def _scaled(x: Scalar, params: QuantParams, scaled: constants.Scaled) -> Scalar:
    steps = (widen(x, params) - scaled.zero_point) << scaled.left_shift
    return multiply_double_rounding(steps, scaled.multiplier, max(scaled.shift, 0), max(-scaled.shift, 0))


def _squared_difference(builder: Builder, call: Call) -> Value:
    """``output((lhs - rhs)^2)`` at a common scale."""
    left, right = (require_per_tensor(type_, "an operand") for type_ in call.types)
    require_per_tensor(call.result, "the result")
    numbers = constants.squared_difference(call.types[0], call.types[1], call.result)

    def square(a: Scalar, b: Scalar) -> Scalar:
        difference = _scaled(a, left, numbers.lhs) - _scaled(b, right, numbers.rhs)
        return difference * difference

    return rescaled(builder, call, call.operands(), numbers.output, square)


def _quotient(builder: Builder, call: Call) -> Value:
    """The dividend times the divisor's reciprocal; see ``binary_constants.Quotient``."""
    left, right = (require_per_tensor(type_, "an operand") for type_ in call.types)
    require_per_tensor(call.result, "the result")
    numbers, kind = constants.div(call.types[0], call.types[1], call.result), storage_kind(call.result)

    def formula(lhs: Scalar, rhs: Scalar) -> Scalar:
        zero = lhs.body.constant("i32", 0)
        a, b = widen(lhs, left) - numbers.lhs_zero_point, widen(rhs, right) - numbers.rhs_zero_point
        a, b = (b < 0).select(zero - a, a), (b < 0).select(zero - b, b)
        divisor = b.maximum(1)
        headroom = (a ^ (a >> 31)).call("ctlz") - 1
        quotient = srdhm(srdhm(a << headroom, reciprocal(divisor)), numbers.multiplier).extend("i64")
        bits = lhs.body.constant("i32", 31) - divisor.call("ctlz")
        right_shift = (headroom + bits - numbers.shift).extend("i64")
        left_shift = (lhs.body.constant("i64", 0) - right_shift).maximum(0)
        shifted = rounding_divide_by_pot(quotient << left_shift, right_shift.maximum(0).minimum(62))
        sign = (a > 0).extend("i64", signed=False) - (a < 0).extend("i64", signed=False)
        value = b.compare("eq", 0).select(sign << 31, shifted) + numbers.zero_point
        return value.clip(numbers.low, numbers.high).truncate(kind)

    return builder.elementwise(call.operands(), call.result.shape, kind, formula)


_PREDICATES = {
    "equal": "eq",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "not_equal": "ne",
}


def _square(a: Scalar, b: Scalar) -> Scalar:
    return (a - b) * (a - b)


def _in_f64(name: str) -> Callable[[Scalar, Scalar], Scalar]:
    """A function of the ``math`` dialect, computed in f64 and rounded once."""

    def formula(a: Scalar, b: Scalar) -> Scalar:
        return a.body.create(f"math.{name}", "f64", [a.extend("f64"), b.extend("f64")]).truncate("f32")

    return formula


def _floor_mod(a: Scalar, b: Scalar) -> Scalar:
    rest = a.body.create("arith.remf", a.kind, [a, b])
    return _with_sign_of_divisor(rest, b).select(rest + b, rest)


def _with_sign_of_divisor(rest: Scalar, b: Scalar) -> Scalar:
    """Whether the rest of a truncating division has the other sign than the divisor."""
    return rest.compare("ne", 0) & ((rest < 0) ^ (b < 0))


def _divisible(a: Scalar, b: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """Whether ``b`` is 0, whether it is -1, and ``b`` with 1 instead of both: they would trap."""
    none, inverse = b.compare("eq", 0), b.compare("eq", -1)
    return none, inverse, (none | inverse).select(b.body.constant(b.kind, 1), b)


def _integer_quotient(a: Scalar, b: Scalar) -> Scalar:
    none, inverse, divisor = _divisible(a, b)
    zero = a.body.constant(a.kind, 0)
    return none.select(zero, inverse.select(zero - a, a / divisor))


def _integer_floor_div(a: Scalar, b: Scalar) -> Scalar:
    none, inverse, divisor = _divisible(a, b)
    zero, quotient = a.body.constant(a.kind, 0), a / divisor
    down = _with_sign_of_divisor(a - quotient * divisor, divisor)
    return none.select(zero, inverse.select(zero - a, quotient - down.extend(a.kind, signed=False)))


def _integer_floor_mod(a: Scalar, b: Scalar) -> Scalar:
    none, inverse, divisor = _divisible(a, b)
    rest = a - (a / divisor) * divisor
    found = _with_sign_of_divisor(rest, divisor).select(rest + divisor, rest)
    return (none | inverse).select(a.body.constant(a.kind, 0), found)


def _integer_power(a: Scalar, b: Scalar) -> Scalar:
    """By squaring; see ``binary_functions``."""
    one, zero = a.body.constant(a.kind, 1), a.body.constant(a.kind, 0)
    base, exponent, result = a, b.maximum(0), one
    for _ in range(int(a.kind[1:]) - 1):
        result = (exponent & 1).compare("ne", 0).select(result * base, result)
        base, exponent = base * base, exponent >> 1
    odd = (b & 1).compare("ne", 0).select(a, one)
    unit = a.compare("eq", 1) | a.compare("eq", -1)
    return (b < 0).select(unit.select(odd, zero), result)


def _shift_to_the_right(signed: bool) -> Callable[[Scalar, Scalar], Scalar]:
    """By 0 to all bits but one."""

    def formula(a: Scalar, b: Scalar) -> Scalar:
        last = int(a.kind[1:]) - 1
        if signed:
            return a >> b.clip(0, last)
        limit = b.body.constant(b.kind, last)
        by = b.compare("ult", limit).select(b, limit)
        return a.body.create("arith.shrui", a.kind, [a, by])

    return formula


_REAL: dict[str, Callable[[Scalar, Scalar], Scalar]] = {
    "atan2": _in_f64("atan2"),
    "div": lambda a, b: a / b,
    "floor_div": lambda a, b: (a / b).call("floor"),
    "floor_mod": _floor_mod,
    "pow": _in_f64("powf"),
    "squared_difference": _square,
}

_INTEGER: dict[str, Callable[[Scalar, Scalar], Scalar]] = {
    "bitwise_xor": lambda a, b: a ^ b,
    "div": _integer_quotient,
    "floor_div": _integer_floor_div,
    "floor_mod": _integer_floor_mod,
    "pow": _integer_power,
    "squared_difference": _square,
}

_BOOLEAN: dict[str, Callable[[Scalar, Scalar], Scalar]] = {
    "bitwise_xor": lambda a, b: a ^ b,
    "logical_and": lambda a, b: a & b,
    "logical_or": lambda a, b: a | b,
}
