"""The constants of each op's arithmetic on stored integers, and what is done with them.

:mod:`.rescale` derives them from tensor types. Notation: ``q`` stored integer, ``z`` zero point, ``s`` scale;
``[a, b]`` clamps; ``mbqm`` is :func:`.fixed_point.multiply_double_rounding`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import fixed_point as fx
from .fixed_point import Ints
from .numerics import Rounding


@dataclass(frozen=True)
class Rescale:
    """From an accumulator to the result's storage: ``[low, high](round(acc * scale) + zero_point)``.

    The accumulator is an int32, or an int64 where the op has one of those.

    ``scales``, ``multipliers`` and ``shifts`` have one entry (per-tensor) or one per result channel (the last
    axis of the accumulator). Which are applied, and how, is ``rounding``'s matter:

    * ``EXACT``: ``acc`` (every scale is one);
    * ``DOUBLE``: ``rdivpot(srdhm(int32(acc << max(shift, 0) % 32), multiplier), max(-shift, 0))``;
    * ``ONCE_HALF_AWAY``: ``round_half_away(f64(acc) * scale)``;
    * ``FLOAT32_HALF_EVEN``: ``round_half_even(f32(acc) * f32(scale))``;
    * ``Q15_HALF_UP``: ``(acc * m15 + 2^(right - 1)) >> right``, of int64 accumulators
      (:func:`.fixed_point.q15_multiplier`);
    * ``SINGLE_HALF_UP``: ``(acc * multiplier + 2^(30 - shift)) >> (31 - shift)``, in 64 bits.

    Every rule saturates before the zero point is added, except that ``acc << shift`` of ``DOUBLE`` wraps at
    32 bits.
    """

    rounding: Rounding
    scales: tuple[float, ...]
    multipliers: tuple[int, ...]
    shifts: tuple[int, ...]
    zero_point: int
    low: int
    high: int

    def apply(self, accumulator: npt.ArrayLike) -> Ints:
        """Stored integers (int64) of an accumulator whose last axis is the channel, if there is more
        than one scale.
        """
        acc = np.asarray(accumulator, dtype=np.int64)
        return np.clip(self.multiply(acc) + self.zero_point, self.low, self.high)

    def multiply(self, acc: Ints) -> Ints:
        """``round(acc * scale)`` alone."""
        if self.rounding is Rounding.EXACT:
            return acc
        if self.rounding is Rounding.DOUBLE:
            return fx.multiply_double_rounding(acc, _spread(self.multipliers), _spread(self.shifts))
        if self.rounding is Rounding.Q15_HALF_UP:
            return fx.multiply_q15_half_up(acc, _spread(self.multipliers), _spread(self.shifts))
        if self.rounding is Rounding.SINGLE_HALF_UP:
            return fx.multiply_single_rounding(acc, _spread(self.multipliers), _spread(self.shifts))
        scale = np.asarray(self.scales[0] if len(self.scales) == 1 else self.scales)
        if self.rounding is Rounding.ONCE_HALF_AWAY:
            return fx.multiply_once_half_away(acc, scale)
        return fx.multiply_float32_half_even(acc, scale)


@dataclass(frozen=True)
class Contraction:
    """conv2d and fully_connected: ``acc = sum (q_x - input_zero_point) * (q_w - filter_zero_point) + bias``,
    then ``rescale``.

    ``filter_zero_points`` has one entry or one per output channel. :func:`.rescale.folded_bias` moves the
    input's zero point into the bias.
    """

    input_zero_point: int
    filter_zero_points: tuple[int, ...]
    rescale: Rescale


@dataclass(frozen=True)
class Sum:
    """add and sub: both inputs are brought to a common scale ``T / 2^left_shift``, ``T = 2 * max(s_lhs,
    s_rhs)``.

    ``a = mbqm((q_lhs - z_lhs) << left_shift, lhs)``, ``b`` alike, ``result = output(clip(a +- b, -sum_limit,
    sum_limit))`` with ``mbqm`` the double-rounding multiply. ``sum_limit`` keeps ``output``'s left shift
    inside 32 bits; it is None when that cannot overflow (the usual case: output multiplier below one).
    """

    left_shift: int
    lhs_zero_point: int
    lhs_multiplier: int
    lhs_shift: int
    rhs_zero_point: int
    rhs_multiplier: int
    rhs_shift: int
    sum_limit: int | None
    output: Rescale

    def apply(self, lhs: npt.ArrayLike, rhs: npt.ArrayLike, sign: int = 1) -> Ints:
        """Stored integers (int64) of the sum, or with ``sign`` -1 of the difference."""
        left = self._scaled(lhs, self.lhs_zero_point, self.lhs_multiplier, self.lhs_shift)
        right = self._scaled(rhs, self.rhs_zero_point, self.rhs_multiplier, self.rhs_shift)
        total = fx.wrap_int32(left + sign * right)
        if self.sum_limit is not None:
            total = np.clip(total, -self.sum_limit, self.sum_limit)
        return self.output.apply(total)

    def _scaled(self, stored: npt.ArrayLike, zero_point: int, multiplier: int, shift: int) -> Ints:
        shifted = fx.wrap_int32((np.asarray(stored, np.int64) - zero_point) << self.left_shift)
        return fx.multiply_double_rounding(shifted, multiplier, shift)


@dataclass(frozen=True)
class ShiftSum:
    """add and sub as XNNPACK computes them: in int32, rounded once, half up.

    ``a = (q_lhs - lhs_zero_point) * lhs_factor``, ``b`` alike, ``result = [low, high](((a +- b + 2^(shift -
    1)) >> shift) + zero_point)``, an arithmetic shift.
    """

    lhs_zero_point: int
    lhs_factor: int
    rhs_zero_point: int
    rhs_factor: int
    shift: int
    zero_point: int
    low: int
    high: int

    def apply(self, lhs: npt.ArrayLike, rhs: npt.ArrayLike, sign: int = 1) -> Ints:
        """Stored integers (int64) of the sum, or with ``sign`` -1 of the difference."""
        left = (np.asarray(lhs, np.int64) - self.lhs_zero_point) * self.lhs_factor
        right = (np.asarray(rhs, np.int64) - self.rhs_zero_point) * (sign * self.rhs_factor)
        rounded = (left + right + (1 << (self.shift - 1))) >> self.shift
        result: Ints = np.clip(rounded + self.zero_point, self.low, self.high)
        return result


@dataclass(frozen=True)
class Product:
    """mul: ``output((q_lhs - lhs_zero_point) * (q_rhs - rhs_zero_point))``."""

    lhs_zero_point: int
    rhs_zero_point: int
    output: Rescale

    def apply(self, lhs: npt.ArrayLike, rhs: npt.ArrayLike) -> Ints:
        """Stored integers (int64) of the product."""
        left = np.asarray(lhs, np.int64) - self.lhs_zero_point
        return self.output.apply(fx.wrap_int32(left * (np.asarray(rhs, np.int64) - self.rhs_zero_point)))


@dataclass(frozen=True)
class Requantize:
    """requantize, clamp and every change of parameters: ``rescale(q - input_zero_point)``."""

    input_zero_point: int
    rescale: Rescale


@dataclass(frozen=True)
class FloatRescale:
    """A uint8 input of concat: ``[low, high](round_half_away(f32(q) * scale + offset) + zero_point)``, every
    step in float32.
    """

    scale: float
    offset: float
    zero_point: int
    low: int
    high: int

    def apply(self, stored: npt.ArrayLike) -> Ints:
        """Stored integers (int64) of the result's parameters."""
        reals = np.asarray(stored, np.float32) * np.float32(self.scale) + np.float32(self.offset)
        result: Ints = np.clip(fx.round_half_away_array(reals) + self.zero_point, self.low, self.high).astype(
            np.int64
        )
        return result


@dataclass(frozen=True)
class Mean:
    """mean: ``rescale(sum(q) - sum_zero_point)``, ``sum_zero_point = N * z_in``.

    ``1/N`` is inside the multiplier.
    """

    count: int
    sum_zero_point: int
    rescale: Rescale


@dataclass(frozen=True)
class FloatMean:
    """mean as XNNPACK computes it: ``[low, high](round_half_even(f32(sum(q)) * scale + offset))``.

    ``sum(q)`` is of stored values; product and sum round to float32 one after the other (no fused
    multiply-add); the zero point is inside ``offset``, hence inside the rounding.
    """

    count: int
    scale: float
    offset: float
    low: int
    high: int

    def apply(self, total: npt.ArrayLike) -> Ints:
        """Stored integers (int64) of integer sums."""
        reals = np.asarray(total, np.int64).astype(np.float32) * np.float32(self.scale)
        rounded = np.rint(reals + np.float32(self.offset)).astype(np.float64)
        result: Ints = np.clip(rounded, self.low, self.high).astype(np.int64)
        return result


def _spread(values: tuple[int, ...]) -> Ints:
    return np.asarray(values[0] if len(values) == 1 else values, dtype=np.int64)
