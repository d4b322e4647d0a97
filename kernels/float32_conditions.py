"""When a float32 formula gives an integer rescale's bits: inequalities at thresholds, evaluated exactly.

:mod:`.float32_rescale` says which formula, and why this is a proof.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..dialect.fixed_point import Ints
from .thresholds import Doubles, Mask, Thresholds

Floats: TypeAlias = npt.NDArray[np.float32]

EXACT_INTEGER = 1 << 24
"""Integers up to it are float32 numbers."""
LARGEST_SCALE = 4.0
LAST_BIT = 2.0**-50
"""All factors and addends are multiples of it."""


@dataclass(frozen=True)
class Conditions:
    """``g(at) >= k`` where ``reached`` and ``g(before) < k`` where ``entered``, for magnitudes that float32
    holds, ``[rows, channels]``.

    ``before`` is None where it is ``at - 1``; a mask is None where all of it is True.
    """

    channels: Ints
    """``[channels]``: which of the rescale's these are."""
    levels: Doubles
    """``[rows, 1]``: ``L``, the least exact value that the fma rounds to ``k`` or more."""
    fma_toward_zero: bool
    at: Doubles
    before: Doubles | None = None
    reached: Mask | None = None
    entered: Mask | None = None

    @classmethod
    def of(
        cls, steps: Thresholds, first: Ints, last: Ints, channels: Ints, fma_toward_zero: bool
    ) -> Conditions:
        """Of accumulators in ``[first, last]``."""
        levels = steps.levels.astype(np.float64)
        if not fma_toward_zero:
            levels = (levels + np.nextafter(levels.astype(np.float32), np.float32(0))) / 2
        levels = levels[:, None]
        every = len(channels) == steps.magnitudes.shape[1]
        thresholds = steps.magnitudes if every else steps.magnitudes[:, channels]
        first, last = first[channels], last[channels]
        if is_regular(steps, first, last, thresholds).all():
            return cls(channels, levels, fma_toward_zero, thresholds)
        upwards = (np.arange(len(levels)) < steps.up)[:, None]
        start = np.maximum(np.where(upwards, first, -last), 0)
        end = np.maximum(np.where(upwards, last, -first), 0)
        at, before = np.maximum(thresholds, start), np.minimum(thresholds - 1, end)
        return cls(
            channels,
            levels,
            fma_toward_zero,
            at.astype(np.float32).astype(np.float64),
            before.astype(np.float32).astype(np.float64),
            at <= end,
            thresholds > start,
        )

    def take(self, mask: Mask) -> Conditions:
        """Those channels alone."""
        return replace(
            self,
            channels=self.channels[mask],
            at=self.at[:, mask],
            before=None if self.before is None else self.before[:, mask],
            reached=None if self.reached is None else self.reached[:, mask],
            entered=None if self.entered is None else self.entered[:, mask],
        )

    def bounds(self, multiplier: Floats, correction: Floats | None = None) -> tuple[Doubles, Doubles]:
        """``lower <= addend < upper`` iff the conditions hold, in ``[0, 1)``; with a correction, if the inner
        fma did not round.
        """
        missing = self._missing(self.at, multiplier, correction)
        lower: Doubles
        upper: Doubles
        if self.reached is None:
            lower = np.max(missing, axis=0, initial=0.0)
        else:
            lower = np.max(missing, axis=0, initial=0.0, where=self.reached)
        if self.before is None:
            step = multiplier.astype(np.float64) + (0.0 if correction is None else correction)
            return lower, np.minimum(np.min(missing, axis=0, initial=np.inf) + step, 1.0)
        missing = self._missing(self.before, multiplier, correction)
        upper = np.min(missing, axis=0, initial=1.0, where=True if self.entered is None else self.entered)
        return lower, upper

    def _missing(self, magnitudes: Doubles, multiplier: Floats, correction: Floats | None) -> Doubles:
        """``L - magnitudes * (multiplier + correction)``."""
        missing: Doubles = magnitudes * -multiplier.astype(np.float64)
        missing += self.levels
        if correction is not None:
            missing -= magnitudes * correction.astype(np.float64)
        return missing

    def hold(self, multiplier: Floats, correction: Floats, addend: Floats) -> Mask:
        """Per channel: whether they hold, every rounding included."""
        before = self.at - 1 if self.before is None else self.before
        enough = self._reaches(self.at, multiplier, correction, addend)
        if self.reached is not None:
            enough |= ~self.reached
        too_much = self._reaches(before, multiplier, correction, addend)
        if self.entered is not None:
            too_much &= self.entered
        hold: Mask = np.logical_and(enough.all(axis=0), ~too_much.any(axis=0))
        return hold & _is_exact(multiplier, correction, addend)

    def _reaches(self, magnitudes: Doubles, multiplier: Floats, correction: Floats, addend: Floats) -> Mask:
        inner = magnitudes * correction.astype(np.float64) + addend
        inner = (toward_zero(inner) if self.fma_toward_zero else inner.astype(np.float32)).astype(np.float64)
        reaches: Mask = self._missing(magnitudes, multiplier, None) <= inner
        return reaches


def is_regular(steps: Thresholds, first: Ints, last: Ints, thresholds: Doubles | None = None) -> Mask:
    """Per channel: whether all thresholds are float32 numbers and inside ``[first, last]``, as zero is."""
    thresholds = steps.magnitudes if thresholds is None else thresholds
    regular: Mask = np.asarray((first <= 0) & (last >= 0))
    for side, end in ((thresholds[: steps.up], last), (thresholds[steps.up :], -first)):
        if len(side):
            regular &= side[-1] <= np.minimum(end, EXACT_INTEGER)
    return regular


def _is_exact(multiplier: Floats, correction: Floats, addend: Floats) -> Mask:
    """Whether the constants are such that nothing that decides rounds in float64."""
    last_bits = [values / LAST_BIT % 1 == 0 for values in (multiplier, correction, addend)]
    sizes = (
        (multiplier >= 0)
        & (multiplier <= LARGEST_SCALE)
        & (correction >= 0)
        & (correction <= multiplier * 2.0**-20)
        & (addend >= 0)
        & ((addend < 1) | (multiplier == 0))
    )
    exact: Mask = sizes & np.all(last_bits, axis=0)
    return exact


def toward_zero(values: Doubles) -> Floats:
    """The float32 next to each value, on the side of zero."""
    nearest = values.astype(np.float32)
    # One step less is the next smaller magnitude for both signs.
    smaller: Floats = (nearest.view(np.int32) - (np.abs(nearest) > np.abs(values))).view(np.float32)
    return smaller


def neighbours(values: Floats, distance: int | npt.NDArray[np.int32]) -> Floats:
    """The float32 numbers so many steps away from ``values > 0``."""
    result: Floats = (values.view(np.int32) + np.asarray(distance, np.int32)).view(np.float32)
    return result
