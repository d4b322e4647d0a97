"""lstm_gate and lstm_normalization: the sums of a gate on their way to its function."""

from __future__ import annotations

from collections.abc import Callable

from ...dialect import recurrent_constants as constants
from .arith import multiply_double_rounding, saturate16
from .builder import Builder, Value
from .core import Call
from .normalization import inverse_square_root
from .scalar import Scalar


def lstm_gate(builder: Builder, call: Call) -> Value:
    """``sat(sat(sat(rescale(x)) + rescale(h)) + rescale(cell * peephole))``, one elementwise op."""
    numbers = constants.gate_of(call.types, call.result)

    def formula(x: Scalar, h: Scalar, *seen: Scalar) -> Scalar:
        terms = [x, h]
        if seen:
            cell, peephole = (value.extend("i32") for value in seen)
            terms.append(cell * peephole)
        total = saturate16(_rescaled(x, numbers.multipliers[0], numbers.shifts[0]))
        for term, multiplier, shift in zip(
            terms[1:], numbers.multipliers[1:], numbers.shifts[1:], strict=True
        ):
            total = saturate16(total + _rescaled(term, multiplier, shift))
        return total.truncate("i16")

    operands = [call.operand(index) for index in range(len(call.types))]
    return builder.elementwise(operands, call.result.shape, "i16", formula)


def lstm_normalization(builder: Builder, call: Call) -> Value:
    """Per row: sum and sum of squares; mean and inverse deviation; then each element."""
    batch, units = call.result.shape
    gate, weights, bias = (call.operand(index) for index in range(3))
    numbers = constants.normalization(call.types[1])

    def sum_of(term: Callable[[Scalar], Scalar]) -> Value:
        output = (builder.filled([batch], "i64", 0), "b")
        return builder.generic("b +u", [(gate, "b, u")], [output], lambda x, total: total + term(x))[0]

    total = sum_of(lambda x: x.extend("i64"))
    squares = sum_of(lambda x: x.extend("i64") * x.extend("i64"))

    def statistics(total: Scalar, squares: Scalar, *_: Scalar) -> tuple[Scalar, ...]:
        mean = _quotient(total << 10, units)
        variance = _quotient(squares * ((1 << 20) // units) - mean * mean, 1 << 20).truncate("i32")
        usable = (variance < 1).select(variance.body.constant("i32", numbers.variance), variance)
        return (mean.truncate("i32"), *inverse_square_root(usable))

    outputs = [(builder.empty([batch], "i32"), "b") for _ in range(3)]
    rows = builder.generic("b", [(total, "b"), (squares, "b")], outputs, statistics)

    def normalized(x: Scalar, weight: Scalar, offset: Scalar, mean: Scalar, *rest: Scalar) -> Scalar:
        inverse, shift = rest[:2]
        centred = (x.extend("i32") << 10) - mean
        deviation = multiply_double_rounding(centred, inverse, 0, shift)
        scaled = deviation * weight.extend("i32") + offset
        half = (scaled > 0).select(scaled.body.constant("i64", 512), scaled.body.constant("i64", -512))
        steps = _quotient(scaled.extend("i64") + half, 1024).truncate("i32")
        return saturate16(_rescaled(steps, numbers.multiplier, numbers.shift)).truncate("i16")

    operands = [(gate, "b, u"), (weights, "u"), (bias, "u"), *((row, "b") for row in rows)]
    output = (builder.empty([batch, units], "i16"), "b, u")
    return builder.generic("b u", operands, [output], normalized)[0]


def _rescaled(x: Scalar, multiplier: int, shift: int) -> Scalar:
    return multiply_double_rounding(x, multiplier, max(shift, 0), max(-shift, 0))


def _quotient(x: Scalar, divisor: int) -> Scalar:
    """Of an i64, truncated towards 0."""
    return x.body.create("arith.divsi", "i64", [x, x.body.constant("i64", divisor)])
