"""Where a rescale steps: for each result, the accumulator at which it begins.

Every rounding rule is monotone, so its thresholds are all there is to know about it. They are counted away
from zero on both sides: ``T`` of level ``k >= 1`` is the smallest ``|acc|`` whose rounded product is ``k`` or
beyond.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..dialect.fixed_point import Ints
from ..dialect.numerics import Rounding
from ..dialect.op_constants import Rescale

Doubles: TypeAlias = npt.NDArray[np.float64]
Mask: TypeAlias = npt.NDArray[np.bool_]

FAR = 1 << 40
"""A threshold that no accumulator reaches."""
_LARGEST_SHIFT = 23
"""In either direction, so that numerators and divisors fit into 64 bits."""


@dataclass(frozen=True)
class Thresholds:
    """Of the levels whose results the clamp leaves apart, one row each: first the ``up`` levels that are
    counted upwards from the zero point, then those counted downwards.
    """

    levels: Ints
    """``[rows]``: ``k``, rising on each side."""
    up: int
    magnitudes: Doubles
    """``[rows, channels]``: ``T``, an integer."""
    known: Mask
    """``[channels]``: False where the thresholds may be wrong."""


def thresholds(rescale: Rescale) -> Thresholds:
    """All of ``rescale``, for accumulators whose left shift does not wrap.

    Not for FLOAT32_HALF_EVEN, whose own formula serves it.
    """
    levels, up = _levels(rescale)
    if rescale.rounding is Rounding.ONCE_HALF_AWAY:
        return Thresholds(levels, up, *_of_once_half_away(rescale, levels))
    return Thresholds(levels, up, *_of_an_integer_rule(rescale, levels, up))


def _levels(rescale: Rescale) -> tuple[Ints, int]:
    low, high = rescale.low - rescale.zero_point, rescale.high - rescale.zero_point
    up, down = np.arange(max(1, low + 1), high + 1), np.arange(max(1, 1 - high), 1 - low)
    return np.concatenate([up, down]).astype(np.int64), len(up)


def _of_an_integer_rule(rescale: Rescale, levels: Ints, up: int) -> tuple[Doubles, Mask]:
    """``T = ceil(N / m)`` above zero and ``floor(N / m) + 1`` below, ``N = ((2k - 1) * 2^e - d) * 2^30``.

    With a right shift ``e >= 1`` the two roundings of DOUBLE are one floor, ``(a*m + 2^30 + 2^(30+e) - [a <
    0] * 2^31) >> (31 + e)``; solved for ``a``, that gives ``d = 1`` on both sides. A rule that rounds once
    has ``d = 0``, and so has DOUBLE without a right shift. ``m`` takes a left shift.
    """
    if rescale.rounding is Rounding.EXACT:
        multiplier, shift = np.array([1 << 30]), np.array([1])
    else:
        multiplier, shift = np.array(rescale.multipliers, np.int64), np.array(rescale.shifts, np.int64)
    left = np.minimum(np.maximum(shift, 0), _LARGEST_SHIFT)
    exponent = np.minimum(np.maximum(-shift, 0), _LARGEST_SHIFT)
    factor = np.maximum(multiplier << left, 1)
    earlier = ((exponent > 0) & (rescale.rounding is Rounding.DOUBLE)).astype(np.int64)
    odd = 2 * levels[:, None] - 1
    # In float64: three roundings of numbers up to the quotient.
    quotient = odd * (np.ldexp(1.0, exponent + 30) / factor)
    quotient -= earlier * 2.0**30 / factor
    magnitudes = np.ceil(quotient, out=quotient)
    # They are too small to move it across an integer, unless it is one (m divides N) or is very large.
    largest = 2 * max(levels, default=1) << exponent
    divides = factor // (factor & -factor) <= largest
    close = np.flatnonzero(divides | (np.ldexp(largest / factor, 30) + 1 >= 2.0**51 / factor))
    if close.size:
        numerator = ((odd << exponent[close]) - earlier[close]) << 30
        magnitudes[:, close] = _exact_quotients(magnitudes[:, close], numerator, factor[close], up)
    magnitudes[:, multiplier == 0] = FAR
    return magnitudes, np.abs(shift) <= _LARGEST_SHIFT


def _exact_quotients(estimates: Doubles, numerator: Ints, divisor: Ints, up: int) -> Ints:
    """Off by one at most, if below 2^50; the remainder says where."""
    quotient = estimates.astype(np.int64)
    remainder = quotient * divisor - numerator
    quotient += remainder < 0
    quotient -= remainder >= divisor
    quotient[up:] += quotient[up:] * divisor == numerator[up:]
    return quotient


def _of_once_half_away(rescale: Rescale, levels: Ints) -> tuple[Doubles, Mask]:
    """The quotient in float64 may be off by one; the rule itself says where."""
    scale, least = np.array(rescale.scales), levels[:, None] - 0.5

    def reaches(magnitudes: Doubles) -> Mask:
        # round_half_away(x) >= k iff x >= k - 1/2
        reached: Mask = magnitudes * scale >= least
        return reached

    with np.errstate(divide="ignore", over="ignore"):
        found = np.minimum(np.ceil(least / scale), FAR)
    found += ~reaches(found)
    found -= reaches(found - 1)
    right = reaches(found) & ~reaches(found - 1)
    return found, (right | (found >= FAR)).all(axis=0)


def by_bisection(rescale: Rescale, limit: int) -> Ints:
    """:attr:`Thresholds.magnitudes` by nothing but the rule itself; :data:`FAR` beyond ``limit``."""
    levels, up = _levels(rescale)
    sign = np.where(np.arange(len(levels)) < up, 1, -1)[:, None]
    shape = (len(levels), len(rescale.scales))
    below, at = np.zeros(shape, np.int64), np.full(shape, limit + 1, np.int64)
    for _ in range((limit + 1).bit_length() + 1):
        middle = (below + at) // 2
        reached = sign * rescale.multiply(sign * middle) >= levels[:, None]
        at, below = np.where(reached, middle, at), np.where(reached, below, middle)
    return np.where(at > limit, FAR, at)
