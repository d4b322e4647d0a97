"""What a machine computes in float32, from the definitions: exact rationals, rounded once per instruction."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from zeropoint.dialect.op_constants import Rescale
from zeropoint.kernels.float32_rescale import Float32Rescale, Form
from zeropoint.kernels.float32_sum import Float32Sum

_SIGNIFICAND_BITS, _LEAST_EXPONENT = 24, -149


def round_float32(value: Fraction, toward_zero: bool) -> Fraction:
    """The float32 number (no overflow) that a rounding mode takes for ``value``."""
    if value == 0:
        return value
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length() - _SIGNIFICAND_BITS
    if size >= Fraction(2) ** (exponent + _SIGNIFICAND_BITS):
        exponent += 1
    unit = Fraction(2) ** max(exponent, _LEAST_EXPONENT)
    steps = value / unit
    whole = math.trunc(steps) if toward_zero else round(steps)  # ties to even
    return whole * unit


def fma(a: Fraction, b: float, c: Fraction, toward_zero: bool) -> Fraction:
    return round_float32(a * Fraction(float(b)) + c, toward_zero)


def rescaled(constants: Float32Rescale, rescale: Rescale, channel: int, acc: int, toward_zero: bool) -> int:
    """One result of a kernel with proved constants."""
    t = round_float32(Fraction(acc), False)
    multiplier, correction = constants.multiplier[channel], constants.correction[channel]
    addend = Fraction(float(constants.addend[channel]))
    if constants.form is Form.NEAREST:
        x = Fraction(round(round_float32(t * Fraction(float(multiplier)), False)))
    else:
        if constants.form is Form.LINEAR and acc < 0:
            addend = -addend
        x = fma(t, multiplier, fma(t, correction, addend, toward_zero), toward_zero)
    assert -(2**31) <= math.trunc(x) < 2**31
    return min(max(math.trunc(x) + rescale.zero_point, rescale.low), rescale.high)


def added(constants: Float32Sum, lhs: int, rhs: int, toward_zero: bool) -> int:
    """One sum, before it is clamped."""
    operands = [(lhs, constants.lhs_factor), (rhs, constants.rhs_factor)]
    outer, inner = reversed(operands) if constants.swapped else operands
    x = fma(Fraction(inner[0]), inner[1], Fraction(constants.addend), toward_zero)
    return math.trunc(fma(Fraction(outer[0]), outer[1], x, toward_zero))


def rescaled_array(
    constants: Float32Rescale, rescale: Rescale, acc: npt.NDArray[np.int64], toward_zero: bool
) -> npt.NDArray[np.int64]:
    """:func:`rescaled` of ``[n, channels]``, in the 64-bit significands of ``np.longdouble``.

    A product of two float32 numbers and an addend next to it fit into them.
    """
    t = acc.astype(np.float32).astype(np.longdouble)
    if constants.form is Form.NEAREST:
        return _clamped(np.rint(_nearest(t * constants.multiplier)), rescale)
    round_ = _toward_zero if toward_zero else _nearest
    addend = np.where((acc < 0) & (constants.form is Form.LINEAR), -constants.addend, constants.addend)
    inner = round_(t * constants.correction.astype(np.longdouble) + addend)
    return _clamped(np.trunc(round_(t * constants.multiplier.astype(np.longdouble) + inner)), rescale)


def added_array(constants: Float32Sum, lhs: Any, rhs: Any, toward_zero: bool) -> npt.NDArray[Any]:
    """:func:`added` of arrays that broadcast."""
    round_ = _toward_zero if toward_zero else _nearest
    products = [
        np.asarray(values, np.longdouble) * np.longdouble(factor)
        for values, factor in ((lhs, constants.lhs_factor), (rhs, constants.rhs_factor))
    ]
    outer, inner = products[::-1] if constants.swapped else products
    return np.trunc(round_(outer + round_(inner + np.longdouble(constants.addend))))


def _clamped(values: npt.NDArray[Any], rescale: Rescale) -> npt.NDArray[np.int64]:
    return np.clip(values.astype(np.int64) + rescale.zero_point, rescale.low, rescale.high)


def _nearest(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return values.astype(np.float32).astype(np.longdouble)


def _toward_zero(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    nearest = values.astype(np.float32)
    inwards = np.nextafter(nearest, np.float32(0))
    return np.where(np.abs(nearest.astype(np.longdouble)) > np.abs(values), inwards, nearest).astype(
        np.longdouble
    )
