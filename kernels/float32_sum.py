"""Float32 formulas with the bits of a residual addition of 8-bit tensors, found by search and checked on all
256 x 256 pairs.

The integer meaning rounds thrice, in 64-bit products. Two fused multiply-adds do, if their constants are
chosen well::

    x = fma(lhs, lhs_factor, fma(rhs, rhs_factor, addend))      # or with lhs and rhs swapped
    result = clamp(truncate(x) + result_minimum, low, high)

on stored values as float32. ``x`` counts from the least stored value of the result: truncated, saturated to
u8 and clamped, it is the result but for the encoding. (What is negative becomes the least value, whichever
way it was rounded.)

For given factors each pair bounds the addend from below or above. Few pairs are close to the tightest bounds,
and only they can tell factors apart that differ by some units in the last place. So the search looks at few
pairs, and what it finds is evaluated on all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..dialect.op_constants import Product, ShiftSum, Sum
from .float32_conditions import Floats, neighbours, toward_zero
from .float32_rescale import Float32Rescale, prove
from .thresholds import Doubles, Mask

_SMALLEST_FACTOR, _LARGEST_FACTOR = 2.0**-16, 4.0
_LAST_BIT = 2.0**-40
"""Of factors in this range and of addends; sums of stored values times factors are below 2^12, hence exact in
float64.
"""
_DISTANCES = np.array([0, 1, -1, 2, -2, 3, -3, 4, -4], np.int32)
"""Of the factors that are tried, in float32 steps."""
_ADDENDS = np.array([0, 1, -1, 2, -2])
_NEAR = 2.0**-9
"""So much more than the factors that are tried move a sum is far away from a bound."""
_PAIRS = 256
_ATTEMPTS = 12


@dataclass(frozen=True)
class Float32Sum:
    """Constants of ``truncate(fma(lhs, lhs_factor, fma(rhs, rhs_factor, addend)))``.

    The factor of what is subtracted is negative.
    """

    lhs_factor: float
    rhs_factor: float
    addend: float
    swapped: bool
    """The inner fma is that of ``lhs``: ``truncate(fma(rhs, rhs_factor, fma(lhs, lhs_factor, addend)))``."""


@lru_cache(maxsize=256)
def prove_sum(
    constants: Sum | ShiftSum,
    lhs_minimum: int,
    rhs_minimum: int,
    result_minimum: int,
    *,
    subtract: bool = False,
    fma_toward_zero: bool = True,
) -> Float32Sum | None:
    """The constants for all 8-bit values, or None where none are found.

    Each ``minimum`` is the least stored value, 0 or -128, in the encoding that ``constants``' zero points are
    in. ``fma_toward_zero``: how the kernel's fma rounds, toward zero (AVX-512's embedded rounding) or to
    nearest.
    """
    factors = _factors(constants)
    limits = _limits(constants)
    if limits[0] == limits[1] or not all(_SMALLEST_FACTOR <= factor <= _LARGEST_FACTOR for factor in factors):
        return None
    sign = -1 if subtract else 1
    table = _Table.of(constants, (lhs_minimum, rhs_minimum, result_minimum), sign, fma_toward_zero)
    for swapped in (False, True):
        first, second = factors[swapped], factors[not swapped]
        for outer, inner, addend in _candidates(table, first, second):
            if table.agrees(outer, inner, addend).all():
                pair = (inner, outer) if swapped else (outer, inner)
                return Float32Sum(pair[0].item(), sign * pair[1].item(), addend.item(), swapped)
        table = table.swapped()
    return None


def sum_holds(
    constants: Sum | ShiftSum,
    found: Float32Sum,
    lhs_minimum: int,
    rhs_minimum: int,
    result_minimum: int,
    *,
    subtract: bool = False,
    fma_toward_zero: bool = True,
) -> bool:
    """Whether ``found``, wherever it comes from, gives the result's bits for all pairs.

    Its numbers must be as :func:`prove_sum` chooses them: factors from 2^-16 to 4, an addend below 2^11 that
    is a multiple of 2^-40.
    """
    sign = -1 if subtract else 1
    table = _Table.of(constants, (lhs_minimum, rhs_minimum, result_minimum), sign, fma_toward_zero)
    lhs, rhs = np.float32(found.lhs_factor), np.float32(sign * found.rhs_factor)
    if found.swapped:
        return bool(table.swapped().agrees(rhs, lhs, np.float32(found.addend)).all())
    return bool(table.agrees(lhs, rhs, np.float32(found.addend)).all())


def prove_product(
    constants: Product, lhs_minimum: int, rhs_minimum: int, *, fma_toward_zero: bool = True
) -> Float32Rescale:
    """The rescale of ``(lhs - lhs_zero_point) * (rhs - rhs_zero_point)``, which i32 and float32 hold."""
    sides = ((lhs_minimum, constants.lhs_zero_point), (rhs_minimum, constants.rhs_zero_point))
    (a, b), (c, d) = ((minimum - zero, minimum + 255 - zero) for minimum, zero in sides)
    products = (a * c, a * d, b * c, b * d)
    return prove(constants.output, min(products), max(products), fma_toward_zero=fma_toward_zero)


def _limits(constants: Sum | ShiftSum) -> tuple[int, int]:
    owner = constants.output if isinstance(constants, Sum) else constants
    return owner.low, owner.high


def _factors(constants: Sum | ShiftSum) -> tuple[float, float]:
    """The real factors of both stored values."""
    if isinstance(constants, ShiftSum):
        unit = 2.0**-constants.shift
        return constants.lhs_factor * unit, constants.rhs_factor * unit
    scale = constants.output.multipliers[0] * 2.0 ** (constants.output.shifts[0] - 31 + constants.left_shift)
    lhs = constants.lhs_multiplier * 2.0 ** (constants.lhs_shift - 31)
    return lhs * scale, constants.rhs_multiplier * 2.0 ** (constants.rhs_shift - 31) * scale


@dataclass(frozen=True)
class _Table:
    """What pairs must become.

    All pairs, ``[256, 1]`` and ``[256]`` to ``[256, 256]``, or a few, all ``[pairs]``.
    """

    outer: Doubles
    """The values of the outer fma; negated if they are subtracted, as are those of the inner one."""
    inner: Doubles
    results: Doubles
    """Above the least stored value."""
    low: float
    high: float
    fma_toward_zero: bool

    @classmethod
    def of(
        cls, constants: Sum | ShiftSum, minima: tuple[int, int, int], sign: int, fma_toward_zero: bool
    ) -> _Table:
        """All pairs, ``rhs`` inside."""
        lhs, rhs = np.arange(256)[:, None] + minima[0], np.arange(256) + minima[1]
        results = constants.apply(lhs, rhs, sign) - minima[2]
        low, high = (float(limit - minima[2]) for limit in _limits(constants))
        operands = lhs.astype(np.float64), (sign * rhs).astype(np.float64)
        return cls(*operands, results.astype(np.float64), low, high, fma_toward_zero)

    def swapped(self) -> _Table:
        """All pairs, the outer operand inside."""
        return replace(self, outer=self.inner[:, None], inner=self.outer[:, 0], results=self.results.T)

    def agrees(self, outer_factor: Any, inner_factor: Any, addend: Any) -> Mask:
        """Where the formula gives the results' bits; of a few pairs for constants that broadcast to ``[...,
        1]``.
        """
        x = self.inner * inner_factor.astype(np.float64) + addend
        x = (toward_zero(x) if self.fma_toward_zero else x.astype(np.float32)).astype(np.float64)
        x = self.outer * outer_factor.astype(np.float64) + x
        if not self.fma_toward_zero:  # which truncating does, too
            x = x.astype(np.float32).astype(np.float64)
        agrees: Mask = np.clip(np.trunc(x), self.low, self.high) == self.results
        return agrees

    def bounds(self, outer_factor: Doubles, inner_factor: Doubles) -> tuple[Doubles, Doubles]:
        """``lower <= addend < upper`` by each pair, if no fma rounded; infinite where the clamp decides."""
        missing = self.results - self.outer * outer_factor - self.inner * inner_factor
        lower = np.where(self.results > self.low, missing, -np.inf)
        return lower, np.where(self.results < self.high, missing + 1, np.inf)

    def tightest(self, lower: Doubles, upper: Doubles) -> _Table:
        """The pairs of all that bound the addend most, or some of them if there are many."""
        near = np.concatenate(
            [np.flatnonzero(tightness > tightness.max() - _NEAR)[:_PAIRS] for tightness in (lower, -upper)]
        )
        return replace(
            self,
            outer=self.outer[near // 256, 0],
            inner=self.inner[near % 256],
            results=self.results.ravel()[near],
        )


def _candidates(table: _Table, outer: float, inner: float) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Constants that are right for the tightest pairs, those first whose addend has most room."""
    few = table.tightest(*table.bounds(np.float64(outer), np.float64(inner)))
    outer_factor = neighbours(np.array([outer], np.float32), _DISTANCES)[:, None, None, None]
    inner_factor = neighbours(np.array([inner], np.float32), _DISTANCES)[None, :, None, None]
    bounds = few.bounds(outer_factor.astype(np.float64), inner_factor.astype(np.float64))
    lower, upper = bounds[0].max(axis=-1, keepdims=True), bounds[1].min(axis=-1, keepdims=True)
    # One of them is infinite where all results are the largest, or all the least.
    bounded = np.where(np.isfinite(lower), lower, upper - 1)
    room = np.where(np.isfinite(upper), upper, lower + 1) - bounded
    # The inner fma rounds by up to 2^-16: the addend may lie a little outside.
    addend = bounded + room / 2 + _ADDENDS[:, None] * (np.maximum(room, 0) + 2.0**-17) / len(_ADDENDS)
    addend = (np.rint(addend / _LAST_BIT) * _LAST_BIT).astype(np.float32)
    right = few.agrees(outer_factor, inner_factor, addend).all(axis=-1)
    first, second, third = np.nonzero(right)
    order = np.argsort(-room[first, second, 0, 0], kind="stable")[:_ATTEMPTS]
    for i, j, k in zip(first[order], second[order], third[order], strict=True):
        yield outer_factor[i, 0, 0], inner_factor[0, j, 0], addend[i, j, k]
