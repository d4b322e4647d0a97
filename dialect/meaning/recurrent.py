"""An LSTM step as LiteRT's integer kernel computes it."""

from __future__ import annotations

import numpy as np

from .. import activation_int16 as activation
from .. import fixed_point as fx
from .. import recurrent_constants as constants
from ..fixed_point_functions import inverse_square_root
from .call import Array, Call


def lstm_gate(call: Call) -> Array:
    """Each operand rescaled, the sum saturated to 16 bits after each."""
    numbers = constants.gate_of(call.types, call.result)
    operands = [array.astype(np.int64) for array in call.inputs]
    if len(operands) > 2:
        cell, peephole = operands[2:]
        operands[2:] = [cell * peephole]
    total = np.zeros(call.result.shape, np.int64)
    for sums, multiplier, shift in zip(operands, numbers.multipliers, numbers.shifts, strict=True):
        total = fx.saturate16(total + fx.multiply_double_rounding(sums, multiplier, shift))
    return total


def lstm_normalization(call: Call) -> Array:
    """Mean and deviations in Q10, quotients truncated; the product with the weights wraps in 32 bits."""
    x, weights, bias = (array.astype(np.int64) for array in call.inputs)
    units, numbers = x.shape[1], constants.normalization(call.types[1])
    mean = _quotient(x.sum(axis=1, keepdims=True) << 10, units)
    squares = np.square(x).sum(axis=1, keepdims=True) * ((1 << 20) // units)
    variance = _quotient(squares - np.square(mean), 1 << 20)
    variance = np.where(variance < 1, numbers.variance, variance)
    inverse, shift = inverse_square_root(variance)
    deviations = fx.multiply_double_rounding((x << 10) - mean, inverse, -shift)
    scaled = fx.wrap_int32(deviations * weights + bias)
    steps = _quotient(scaled + np.where(scaled > 0, 512, -512), 1024)
    return fx.saturate16(fx.multiply_double_rounding(steps, numbers.multiplier, numbers.shift))


def _quotient(x: Array, divisor: int) -> Array:
    """Truncated towards 0."""
    result: Array = np.sign(x) * (np.abs(x) // divisor)
    return result


def lstm_cell(call: Call) -> Array:
    """``[low, high](rdivpot(f * c, 15) + rdivpot(i * u, 30 + exponent))``.

    Gates in Q0.15 of sums in Q3.12; without an input gate ``i = 32767 - f``. The first product keeps 16 bits.
    """
    cell = call.inputs[2].astype(np.int64)
    coupled = constants.gates_of(call.types[0], call.types[2]) == 3
    forget = activation.logistic(_gate(call, 0 if coupled else 1))
    update = activation.tanh(_gate(call, 1 if coupled else 2))
    opened = 32767 - forget if coupled else activation.logistic(_gate(call, 0))
    numbers = constants.cell_update(call.types[2], call.clamp)
    kept = _wrap16(fx.rounding_divide_by_pot(forget * cell, 15))
    added = _wrap16(fx.rounding_divide_by_pot(opened * update, numbers.product_shift))
    result: Array = np.clip(fx.saturate16(kept + added), numbers.low, numbers.high)
    return result


def lstm_hidden(call: Call) -> Array:
    """``[-128, 127](rescale(o * tanh(c)) + z)``, both factors in Q0.15."""
    last = constants.gates_of(call.types[0], call.types[2]) - 1
    numbers = constants.hidden(call.types[2], call.result)
    opened = activation.logistic(_gate(call, last))
    values = activation.tanh(call.inputs[2].astype(np.int64), numbers.integer_bits)
    scaled = fx.multiply_double_rounding(opened * values, numbers.multiplier, numbers.shift)
    result: Array = np.clip(scaled + numbers.zero_point, -128, 127)
    return result


def _gate(call: Call, number: int) -> Array:
    units = call.types[2].shape[1]
    part = slice(number * units, (number + 1) * units)
    sums, recurrent, _ = call.inputs
    first, second = (constants.gate_sums(type_, call.types[2]) for type_ in call.types[:2])
    return constants.gate(sums[:, part], recurrent[:, part], first, second, number)


def _wrap16(x: Array) -> Array:
    return x.astype(np.int16).astype(np.int64)
