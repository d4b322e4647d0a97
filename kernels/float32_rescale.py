"""Float32 formulas with the bits of an integer rescale, and the proof that they have them.

A 64-bit multiplication per accumulator is the costliest part of most epilogues. Float32 needs a few cheap
instructions on whole vectors, but its 24-bit significands are not exact in general. For a given scale and
range of accumulators they may be, and that can be *proved* when a kernel's constants are packed::

    t = float32(acc)
    x = fma(t, multiplier, fma(t, correction, addend))                  # RELU
    x = fma(t, multiplier, fma(t, correction, copysign(addend, t)))     # LINEAR
    result = clamp(truncate(x) + zero_point, low, high)

``correction`` is zero for most scales; where it is for all channels the inner fma is left out. RELU serves
results that never lie below the zero point.

The proof. Let ``g(t)`` be ``truncate(x)`` of ``t >= 0``. LINEAR is odd in ``t``, so that ``g`` says all of
it; RELU gives at most zero below zero (the addend is below one), which the clamp maps to ``low``. Conversion,
fma with factors of at least zero, and truncation are monotone, and so is the integer rule; two monotone step
functions are equal if they step at the same places. Thus for every level ``k`` that the clamp leaves apart,
with threshold ``T`` (:mod:`.thresholds`), it suffices that ``g(T) >= k`` and ``g(T - 1) < k``, or the
same at the ends of the reachable range instead.

``g(t) >= k`` iff the outer fma is at least ``k``. If it rounds toward zero, that is so iff its exact value is
at least ``k``; if to nearest, iff that is at least half-way between ``k`` and the float32 before it (a tie
goes to ``k``, whose significand is even). Call this bound ``L``. So the addends that fit one multiplier are
an interval, ``L - t * multiplier <= addend`` for all ``t = T`` and ``addend < L - t * multiplier`` for all
``t = T - 1``; a second fma is evaluated as the machine does it.

All this is float64 arithmetic that does not round where it decides: a product of two float32 numbers is
exact; and where ``t * multiplier`` is near ``L``, their difference is below eight and a multiple of 2^-50,
the last bit that factors have here (elsewhere rounding does not move it across the addend).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from ..dialect.fixed_point import INT32_MAX, INT32_MIN, Ints
from ..dialect.numerics import Rounding
from ..dialect.op_constants import Rescale
from .float32_conditions import (
    LARGEST_SCALE,
    LAST_BIT,
    Conditions,
    Floats,
    is_regular,
    neighbours,
    toward_zero,
)
from .thresholds import Doubles, Mask, thresholds

_SMALLEST_SCALE = 2.0**-24
"""Below it thresholds are not known."""
_ADDEND_BIT = 2.0**-24
"""Of float32 numbers from 0.5 to 1."""
_NEIGHBOURS = (0, 1, -1)
"""Multipliers that are tried: float32 numbers by their distance from the scale. The width of the interval of
addends is concave in the multiplier: those farther away have next to no chance.
"""
_SPLITS = 2
"""Of a scale into multiplier and correction."""
_MAX_LEVELS = 255


class Form(Enum):
    """How an accumulator becomes a result."""

    RELU = "relu"
    """``truncate(fma(t, multiplier, addend)) + zero_point``."""
    LINEAR = "linear"
    """``truncate(fma(t, multiplier, copysign(addend, t))) + zero_point``."""
    NEAREST = "nearest"
    """``round_half_even(t * multiplier) + zero_point``, for the rule that says just that."""


@dataclass(frozen=True)
class Float32Rescale:
    """Constants per channel; all zero where they are not ``exact``.

    Zero point and clamp are the rescale's.
    """

    form: Form
    multiplier: Floats
    correction: Floats
    """What ``multiplier`` lacks of the scale; all zero if one fma suffices."""
    addend: Floats
    exact: Mask

    @property
    def fused(self) -> int:
        """The fused multiply-adds that the exact channels need: 1 or 2 (NEAREST: none, a multiplication)."""
        if self.form is Form.NEAREST:
            return 0
        return 2 if self.correction.any() else 1


def prove(
    rescale: Rescale, lowest: npt.ArrayLike, highest: npt.ArrayLike, *, fma_toward_zero: bool = True
) -> Float32Rescale:
    """The constants for accumulators in ``[lowest, highest]`` (integers, one or one per channel).

    ``fma_toward_zero``: how the kernel's fma rounds, toward zero (AVX-512's embedded rounding) or to nearest.
    The conversion to float32 rounds to nearest. Results of more than 256 values are refused.
    """
    first, last = _range(lowest, highest, len(rescale.scales))
    inside: Mask = (first >= INT32_MIN) & (last <= INT32_MAX)
    if rescale.rounding is Rounding.FLOAT32_HALF_EVEN:
        return _nearest(rescale, np.maximum(last, -first), inside)
    found = _Constants(len(rescale.scales))
    if rescale.high - rescale.low <= _MAX_LEVELS:
        scales, steps = _scales(rescale), thresholds(rescale)
        possible = inside & steps.known & (scales >= _SMALLEST_SCALE) & (scales <= LARGEST_SCALE)
        # Most channels need not know their range, and none of them be copied.
        anywhere = np.full(len(scales), 1 << 32)
        channels = np.flatnonzero(possible & is_regular(steps, -anywhere, anywhere))
        _find_one_fma(found, scales, Conditions.of(steps, -anywhere, anywhere, channels, fma_toward_zero))
        left, regular = possible & ~found.exact, is_regular(steps, first, last)
        for channels in (np.flatnonzero(left & regular), np.flatnonzero(left & ~regular)):
            conditions = Conditions.of(steps, first, last, channels, fma_toward_zero)
            if conditions.before is not None:
                conditions = _find_one_fma(found, scales, conditions)
            _find_two_fmas(found, scales, conditions)
    _find_constant_results(found, rescale, first, last, np.flatnonzero(inside & ~found.exact))
    found.drop(~_stays_in_32_bits(rescale, found, np.maximum(last, -first)))
    return Float32Rescale(_form(rescale), found.multiplier, found.correction, found.addend, found.exact)


def holds(
    rescale: Rescale,
    constants: Float32Rescale,
    lowest: npt.ArrayLike,
    highest: npt.ArrayLike,
    *,
    fma_toward_zero: bool = True,
) -> Mask:
    """Per channel: whether ``constants``, wherever they come from, pass the proof of RELU and LINEAR.

    That nothing leaves 32 bits is not looked at.
    """
    first, last = _range(lowest, highest, len(rescale.scales))
    steps = thresholds(rescale)
    conditions = Conditions.of(steps, first, last, np.arange(len(rescale.scales)), fma_toward_zero)
    return steps.known & conditions.hold(constants.multiplier, constants.correction, constants.addend)


def _find_one_fma(found: _Constants, scales: Doubles, conditions: Conditions) -> Conditions:
    """Those of the channels that are left."""
    for distance in _NEIGHBOURS:
        if not conditions.channels.size:
            break
        multiplier = neighbours(scales[conditions.channels].astype(np.float32), distance)
        lower, upper = conditions.bounds(multiplier)
        addend = ((lower + upper) / 2).astype(np.float32)
        fits = (lower <= addend) & (addend < upper)
        found.keep(conditions.channels, fits, multiplier, np.zeros_like(multiplier), addend)
        conditions = conditions.take(~fits)
    return conditions


def _find_two_fmas(found: _Constants, scales: Doubles, conditions: Conditions) -> None:
    for distance in range(_SPLITS):
        if not conditions.channels.size:
            return
        scale = scales[conditions.channels]
        multiplier = neighbours(toward_zero(scale), -distance)
        correction = toward_zero(np.floor((scale - multiplier) / LAST_BIT) * LAST_BIT)
        lower, upper = conditions.bounds(multiplier, correction)
        # An inner fma that rounds toward zero loses up to a bit.
        middle = (lower + upper + _ADDEND_BIT * conditions.fma_toward_zero) / 2
        first = np.ceil(lower / _ADDEND_BIT) * _ADDEND_BIT
        for exact_addend in (middle, first, first + _ADDEND_BIT):
            addend = exact_addend.astype(np.float32)
            fits = conditions.hold(multiplier, correction, addend)
            found.keep(conditions.channels, fits, multiplier, correction, addend)
            if fits.all():
                return
        conditions = conditions.take(~found.exact[conditions.channels])


def _find_constant_results(
    found: _Constants, rescale: Rescale, first: Ints, last: Ints, channels: Ints
) -> None:
    """A channel whose accumulators all give one result needs no scale: dead channels of real networks, whose
    scales are tiny and whose biases are huge.
    """
    if not channels.size:
        return
    results = [rescale.apply(end)[channels] for end in (first, last)]
    # Away from the zero point all accumulators have one sign, which the addend takes, unless the clamp holds
    # the result there, and then either sign will do.
    addend = np.abs(results[0] - rescale.zero_point) + 0.5
    nothing = np.zeros(len(addend), np.float32)
    found.keep(channels, results[0] == results[1], nothing, nothing, addend.astype(np.float32))


def _range(lowest: npt.ArrayLike, highest: npt.ArrayLike, channels: int) -> tuple[Ints, Ints]:
    first, last = np.asarray(lowest, np.int64).reshape(-1), np.asarray(highest, np.int64).reshape(-1)
    if channels == 1:
        first, last = first.min(keepdims=True), last.max(keepdims=True)
    return np.broadcast_to(first, channels), np.broadcast_to(last, channels)


def _form(rescale: Rescale) -> Form:
    return Form.RELU if rescale.low >= rescale.zero_point else Form.LINEAR


def _scales(rescale: Rescale) -> Doubles:
    """What the rule multiplies by."""
    if rescale.rounding is Rounding.EXACT:
        return np.ones(1)
    if rescale.rounding is Rounding.ONCE_HALF_AWAY:
        return np.array(rescale.scales)
    scales: Doubles = np.ldexp(np.array(rescale.multipliers, np.float64), np.array(rescale.shifts) - 31)
    return scales


class _Constants:
    """What has been found so far."""

    def __init__(self, channels: int) -> None:
        self.multiplier = np.zeros(channels, np.float32)
        self.correction = np.zeros(channels, np.float32)
        self.addend = np.zeros(channels, np.float32)
        self.exact: Mask = np.zeros(channels, np.bool_)

    def keep(
        self, channels: Ints, fits: Mask, multiplier: Floats, correction: Floats, addend: Floats
    ) -> None:
        """The constants of those ``channels`` which they fit."""
        kept = channels[fits]
        self.multiplier[kept], self.correction[kept] = multiplier[fits], correction[fits]
        self.addend[kept], self.exact[kept] = addend[fits], True

    def drop(self, channels: Mask) -> None:
        for values in (self.multiplier, self.correction, self.addend, self.exact):
            values[channels] = 0


def _nearest(rescale: Rescale, reach: Ints, inside: Mask) -> Float32Rescale:
    """Nothing to prove but that the conversion to integers does not overflow."""
    with np.errstate(over="ignore"):
        multiplier = np.array(rescale.scales, np.float32)
        exact = inside & (reach.astype(np.float32) * multiplier < 2.0**31)
    nothing = np.zeros_like(multiplier)
    return Float32Rescale(Form.NEAREST, np.where(exact, multiplier, np.float32(0)), nothing, nothing, exact)


def _stays_in_32_bits(rescale: Rescale, found: _Constants, reach: Ints) -> Mask:
    """Neither the conversion to integers nor a left shift may leave 32 bits."""
    largest = reach * (found.multiplier.astype(np.float64) + found.correction) * 1.001 + found.addend
    fits: Mask = largest < 2.0**31 - 1
    if rescale.rounding is Rounding.DOUBLE:
        fits &= reach * np.exp2(np.minimum(np.maximum(rescale.shifts, 0), 31)) < 2.0**31
    return fits
