"""lstm_cell and lstm_hidden: one elementwise op each, in i32."""

from __future__ import annotations

from collections.abc import Callable

from ...dialect import fixed_point_functions as wide
from ...dialect import recurrent_constants as constants
from ...dialect.fixed_point import rounding_divide_by_pot as divide
from ...dialect.recurrent_constants import GateSums
from .arith import multiply_double_rounding, rounding_divide_by_pot, saturate16
from .builder import Builder, Value
from .core import Call
from .scalar import Scalar

_ONE = 32767


def lstm_cell(builder: Builder, call: Call) -> Value:
    """See ``dialect/meaning/recurrent.py``."""
    coupled = constants.gates_of(call.types[0], call.types[2]) == 3
    numbers = constants.cell_update(call.types[2], call.clamp)

    def formula(*scalars: Scalar) -> Scalar:
        gates, cell = _gates(call, scalars[:-1], used), scalars[-1].extend("i32")
        *opening, forget, update = gates
        f = logistic16(forget)
        i = f.body.constant("i32", _ONE) - f if coupled else logistic16(opening[0])
        kept = _wrap16(rounding_divide_by_pot(f * cell, 15))
        added = _wrap16(rounding_divide_by_pot(i * tanh16(update, 3), numbers.product_shift))
        return saturate16(kept + added).clip(numbers.low, numbers.high).truncate("i16")

    used = [0, 1] if coupled else [0, 1, 2]
    return _step(builder, call, used, "i16", formula)


def lstm_hidden(builder: Builder, call: Call) -> Value:
    """See ``dialect/meaning/recurrent.py``."""
    last = constants.gates_of(call.types[0], call.types[2]) - 1
    numbers = constants.hidden(call.types[2], call.result)
    left, right = max(numbers.shift, 0), max(-numbers.shift, 0)

    def formula(*scalars: Scalar) -> Scalar:
        (gate,) = _gates(call, scalars[:-1], [last])
        product = logistic16(gate) * tanh16(scalars[-1].extend("i32"), numbers.integer_bits)
        scaled = multiply_double_rounding(product, numbers.multiplier, left, right)
        limited = scaled.clip(-128 - numbers.zero_point, 127 - numbers.zero_point)
        return (limited + numbers.zero_point).truncate("i8")

    return _step(builder, call, [last], "i8", formula)


def _step(builder: Builder, call: Call, used: list[int], kind: str, formula: Callable[..., Scalar]) -> Value:
    """``formula`` of the sums of the gates ``used`` (those of the input, then the recurrent ones, gate by
    gate) and the cell state.
    """
    batch, units = call.types[2].shape
    sums = [builder.reshape(call.operand(i), [batch, call.types[i].shape[1] // units, units]) for i in (0, 1)]
    operands = [(value, f"b, {number}, u") for number in used for value in sums]
    operands.append((call.operand(2), "b, u"))
    output = (builder.empty(call.result.shape, kind), "b, u")

    def body(*scalars: Scalar) -> Scalar:
        return formula(*scalars[:-1])

    return builder.generic("b u", operands, [output], body)[0]


def _gates(call: Call, sums: tuple[Scalar, ...], numbers: list[int]) -> list[Scalar]:
    """Gates in Q3.12 from pairs of sums."""
    first, second = (constants.gate_sums(type_, call.types[2]) for type_ in call.types[:2])
    pairs = zip(sums[::2], sums[1::2], numbers, strict=True)
    return [saturate16(saturate16(_rescaled(a, first, n)) + _rescaled(b, second, n)) for a, b, n in pairs]


def _rescaled(x: Scalar, constants_: GateSums, number: int) -> Scalar:
    shift = constants_.shifts[number]
    return multiply_double_rounding(x, constants_.multipliers[number], max(shift, 0), max(-shift, 0))


def logistic16(x: Scalar) -> Scalar:
    """``activation_int16.logistic`` of an i32 that holds 16 bits."""
    inverse = _reciprocal_of_one_plus(_exp_on_negative_values(_negative(x), 3))
    positive = saturate16(inverse << 1)
    either = (x > 0).select(positive, positive.body.constant("i32", _ONE) - positive)
    return x.compare("eq", 0).select(x.body.constant("i32", 1 << 14), either)


def tanh16(x: Scalar, integer_bits: int) -> Scalar:
    """``activation_int16.tanh`` of an i32 that holds 16 bits."""
    inverse = _reciprocal_of_one_plus(_exp_on_negative_values(_negative(x), integer_bits + 1))
    positive = saturate16((inverse - (1 << 13)) << 2)
    either = (x > 0).select(positive, positive.body.constant("i32", 0) - positive)
    return x.compare("eq", 0).select(x, either)


def _negative(x: Scalar) -> Scalar:
    return (x > 0).select(x.body.constant("i32", 0) - x, x)


def _exp_on_negative_values(a: Scalar, integer_bits: int) -> Scalar:
    fraction_bits = 15 - integer_bits
    quarter = 1 << (fraction_bits - 2)
    remainder = (a & (quarter - 1)) - quarter
    result = _exp_between_minus_quarter_and_zero(remainder << integer_bits)
    multiple = remainder - a
    for k, factor in enumerate(wide.EXP_OF_MINUS_POWERS_OF_TWO, start=-2):
        if k < integer_bits:
            digit = multiple & (1 << (fraction_bits + k))
            result = digit.compare("ne", 0).select(_multiply(result, _constant(factor)), result)
    return a.compare("eq", 0).select(a.body.constant("i32", _ONE), result)


def _exp_between_minus_quarter_and_zero(a: Scalar) -> Scalar:
    x = a + (1 << 12)
    x2 = _multiply(x, x)
    x3, x4 = _multiply(x2, x), _multiply(x2, x2)
    cubic = _multiply(rounding_divide_by_pot(x4, 2) + x3, _constant(wide.ONE_THIRD))
    start = _constant(wide.EXP_MINUS_EIGHTH)
    return saturate16(_multiply(x + rounding_divide_by_pot(cubic + x2, 1), start) + start)


def _reciprocal_of_one_plus(x: Scalar) -> Scalar:
    half_denominator = (x + (_ONE + 1)) >> 1
    slope = _multiply(half_denominator, _constant(wide.MINUS_THIRTY_TWO_SEVENTEENTHS))
    estimate = slope + _constant(wide.FORTY_EIGHT_SEVENTEENTHS)
    for _ in range(3):
        error = x.body.constant("i32", 1 << 13) - _multiply(half_denominator, estimate)
        estimate = estimate + saturate16(_multiply(estimate, error) << 2)
    return estimate


def _multiply(a: Scalar, b: Scalar | int) -> Scalar:
    return ((a * b + (1 << 14)) >> 15).minimum(_ONE)


def _constant(value: int) -> int:
    return int(divide(value, 16))


def _wrap16(x: Scalar) -> Scalar:
    return x.truncate("i16").extend("i32")
