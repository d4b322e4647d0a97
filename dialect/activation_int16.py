"""logistic and tanh in 16-bit fixed point, as LiteRT's default interpreter computes them where the input's
scale is a power of two.

``Qm.n`` holds ``real * 2^n`` in an int16; constants are those of :mod:`.fixed_point_functions` in 16 bits.
"""

from __future__ import annotations

import numpy as np

from . import fixed_point as fx
from . import fixed_point_functions as wide
from .fixed_point import Ints

_ONE = 32767
"""1.0 in Q0.15, saturated."""


def logistic(x: Ints) -> Ints:
    """``1 / (1 + exp(-x))`` in Q0.15 of ``x`` in Q3.12."""
    positive = fx.saturate16(_reciprocal_of_one_plus(_exp_on_negative_values(-np.abs(x), 3)) << 1)
    return np.where(x == 0, 1 << 14, np.where(x > 0, positive, _ONE - positive))


def tanh(x: Ints, integer_bits: int = 3) -> Ints:
    """``tanh(x)`` in Q0.15 of ``x`` in Q3.12 (or of other ``integer_bits``): ``(1 - e) / (1 + e)``, ``e =
    exp(-2 * abs(x))``.
    """
    inverse = _reciprocal_of_one_plus(_exp_on_negative_values(-np.abs(x), integer_bits + 1))
    return np.sign(x) * fx.saturate16((inverse - (1 << 13)) << 2)


def _exp_on_negative_values(a: Ints, integer_bits: int) -> Ints:
    """``exp(a)`` in Q0.15 of ``a <= 0`` with ``integer_bits`` before its point; see its 32-bit namesake."""
    fraction_bits = 15 - integer_bits
    quarter = 1 << (fraction_bits - 2)
    remainder = (a & (quarter - 1)) - quarter
    result = _exp_between_minus_quarter_and_zero(remainder << integer_bits)
    multiple = remainder - a
    for k, factor in enumerate(wide.EXP_OF_MINUS_POWERS_OF_TWO, start=-2):
        if k < integer_bits:
            digit = multiple & (1 << (fraction_bits + k))
            result = np.where(digit, _multiply(result, _constant(factor)), result)
    return np.where(a == 0, _ONE, result)


def _exp_between_minus_quarter_and_zero(a: Ints) -> Ints:
    x = a + (1 << 12)
    x2 = _multiply(x, x)
    x3, x4 = _multiply(x2, x), _multiply(x2, x2)
    cubic = _multiply(fx.rounding_divide_by_pot(x4, 2) + x3, _constant(wide.ONE_THIRD))
    start = _constant(wide.EXP_MINUS_EIGHTH)
    return fx.saturate16(start + _multiply(start, x + fx.rounding_divide_by_pot(cubic + x2, 1)))


def _reciprocal_of_one_plus(x: Ints) -> Ints:
    """``2 / (1 + x)`` in Q2.13 of ``x`` in ``[0, 1]`` in Q0.15: three Newton steps."""
    half_denominator = (x + _ONE + 1) >> 1
    slope = _constant(wide.MINUS_THIRTY_TWO_SEVENTEENTHS)
    estimate = _constant(wide.FORTY_EIGHT_SEVENTEENTHS) + _multiply(half_denominator, slope)
    for _ in range(3):
        error = (1 << 13) - _multiply(half_denominator, estimate)
        estimate = estimate + fx.saturate16(_multiply(estimate, error) << 2)
    return estimate


def _multiply(a: Ints | int, b: Ints | int) -> Ints:
    """``floor((a * b + 2^14) / 2^15)``, saturated."""
    result: Ints = np.minimum((np.asarray(a, dtype=np.int64) * b + (1 << 14)) >> 15, _ONE)
    return result


def _constant(value: int) -> int:
    """A 32-bit constant's upper half, rounded."""
    return int(fx.rounding_divide_by_pot(value, 16))
