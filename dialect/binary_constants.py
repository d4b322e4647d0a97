"""The constants of maximum, div, squared_difference, compare and prelu on quantized tensors, and what is done
with them.

Notation as in :mod:`.op_constants`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import fixed_point as fx
from .binary_functions import PREDICATES
from .fixed_point import Ints
from .fixed_point_functions import reciprocal
from .numerics import Rounding
from .op_constants import Rescale
from .rescale import clamp_bounds, make_rescale
from .types import TensorType

COMPARE_SHIFT = 8
"""Values are compared in steps of ``2^-8`` (of whatever the scales are measured in)."""


@dataclass(frozen=True)
class Scaled:
    """``mbqm((q - zero_point) << left_shift, multiplier, shift)``: an operand at the common scale."""

    zero_point: int
    left_shift: int
    multiplier: int
    shift: int

    def apply(self, stored: npt.ArrayLike) -> Ints:
        steps = fx.wrap_int32((np.asarray(stored, np.int64) - self.zero_point) << self.left_shift)
        return fx.multiply_double_rounding(steps, self.multiplier, self.shift)


@dataclass(frozen=True)
class SquaredDifference:
    """squared_difference: ``output((lhs - rhs)^2)``, both at a common scale."""

    lhs: Scaled
    rhs: Scaled
    output: Rescale

    def apply(self, lhs: npt.ArrayLike, rhs: npt.ArrayLike) -> Ints:
        difference = self.lhs.apply(lhs) - self.rhs.apply(rhs)
        return self.output.apply(fx.wrap_int32(difference * difference))


def squared_difference(lhs: TensorType, rhs: TensorType, result: TensorType) -> SquaredDifference:
    """T = 2 * max(s_lhs, s_rhs); operand scales s / T on values shifted left by 7, output scale T^2 / (2^14 *
    s_y), in float64.
    """
    twice_max = 2 * max(lhs.params.scale, rhs.params.scale)
    left, right = (
        Scaled(kind.params.zero_point, 7, *fx.quantize_multiplier(kind.params.scale / twice_max))
        for kind in (lhs, rhs)
    )
    # Beyond 2^30 every non-zero square saturates anyway, and a larger left shift would lose it.
    scale = min(twice_max * twice_max / ((1 << 14) * result.params.scale), float(1 << 29))
    return SquaredDifference(left, right, make_rescale([scale], result.params, (), Rounding.DOUBLE))


@dataclass(frozen=True)
class Quotient:
    """div: the dividend times the divisor's fixed-point reciprocal.

    ``a = q_lhs - z_lhs`` and ``b = q_rhs - z_rhs``, both negated if ``b < 0``; ``(r, bits) = reciprocal(b,
    31)``; ``h`` the headroom of ``a`` (how far it can be shifted to the left); ``result = [low,
    high](rdivpot(srdhm(srdhm(a << h, r), multiplier), h + bits - shift) + zero_point)``. Division by 0
    saturates by the sign of ``a``; ``0 / 0`` is the zero point.
    """

    lhs_zero_point: int
    rhs_zero_point: int
    multiplier: int
    shift: int
    zero_point: int
    low: int
    high: int

    def apply(self, lhs: npt.ArrayLike, rhs: npt.ArrayLike) -> Ints:
        a = np.asarray(lhs, np.int64) - self.lhs_zero_point
        b = np.asarray(rhs, np.int64) - self.rhs_zero_point
        a, b = np.where(b < 0, -a, a), np.abs(b)
        inverse, bits = reciprocal(np.maximum(b, 1), 31)
        headroom = headroom_of(a)
        quotient = fx.srdhm(fx.srdhm(a << headroom, inverse), self.multiplier)
        right = headroom + bits - self.shift
        shifted = fx.rounding_divide_by_pot(quotient << np.maximum(-right, 0), np.clip(right, 0, 62))
        value = np.where(b == 0, np.sign(a) << 31, shifted) + self.zero_point
        result: Ints = np.clip(value, self.low, self.high)
        return result


def headroom_of(a: Ints) -> Ints:
    """How often an int32 can be doubled; 31 for 0."""
    magnitude = np.where(a < 0, ~a, a)
    bits = np.zeros_like(a)
    for k in range(31):
        bits += magnitude >= 1 << k
    return 31 - bits


def div(lhs: TensorType, rhs: TensorType, result: TensorType) -> Quotient:
    """Output scale s_lhs / (s_rhs * s_y), each step in *float32*."""
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        product = np.float32(rhs.params.scale) * np.float32(result.params.scale)
        scale = float(np.float32(lhs.params.scale) / product)
    # Beyond 2^30 every quotient but 0 saturates anyway.
    multiplier, shift = fx.quantize_multiplier(min(scale, float(1 << 30)))
    bounds = clamp_bounds(result.params)
    zero_points = lhs.params.zero_point, rhs.params.zero_point
    return Quotient(*zero_points, multiplier, shift, result.params.zero_point, *bounds)


@dataclass(frozen=True)
class Comparison:
    """compare: ``lhs predicate rhs`` at the common scale, or (``lhs`` is None) of the exact reals."""

    predicate: str
    lhs: Scaled | None
    rhs: Scaled | None
    scales: tuple[float, float]
    zero_points: tuple[int, int]

    def apply(self, lhs: npt.ArrayLike, rhs: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        if self.lhs is not None and self.rhs is not None:
            values = self.lhs.apply(lhs), self.rhs.apply(rhs)
            return PREDICATES[self.predicate](*values)
        left, right = (
            (np.asarray(stored, np.int64) - zero_point) * scale  # exact: 17 bits times 24
            for stored, zero_point, scale in zip((lhs, rhs), self.zero_points, self.scales, strict=True)
        )
        return PREDICATES[self.predicate](left, right)


def compare(predicate: str, lhs: TensorType, rhs: TensorType) -> Comparison:
    """Both operands in steps of 2^-8: ``mbqm((q - z) << 8, s)``.

    Where a scale is below 2^-8, neighbours of its operand would become equal, and from 1 on LiteRT's shifts
    are undefined: there the reals are compared, exactly.
    """
    scales = lhs.params.scale, rhs.params.scale
    zero_points = lhs.params.zero_point, rhs.params.zero_point
    if not all(2.0**-COMPARE_SHIFT <= scale < 1.0 for scale in scales):
        return Comparison(predicate, None, None, scales, zero_points)
    left, right = (
        Scaled(zero_point, COMPARE_SHIFT, *fx.quantize_multiplier(scale))
        for zero_point, scale in zip(zero_points, scales, strict=True)
    )
    return Comparison(predicate, left, right, scales, zero_points)


@dataclass(frozen=True)
class Prelu:
    """prelu: ``positive(q - input_zero_point)``, below 0 ``negative((q - input_zero_point) * (q_alpha -
    alpha_zero_point))``.
    """

    input_zero_point: int
    alpha_zero_point: int
    positive: Rescale
    negative: Rescale

    def apply(self, stored: npt.ArrayLike, alpha: npt.ArrayLike) -> Ints:
        x = np.asarray(stored, np.int64) - self.input_zero_point
        product = x * (np.asarray(alpha, np.int64) - self.alpha_zero_point)
        return np.where(x >= 0, self.positive.apply(x), self.negative.apply(fx.wrap_int32(product)))


def prelu(input: TensorType, alpha: TensorType, result: TensorType) -> Prelu:
    """Scales s_x / s_y and s_x * s_alpha / s_y, each step in *float32*."""
    with np.errstate(over="ignore", under="ignore"):
        s_x, s_y = np.float32(input.params.scale), np.float32(result.params.scale)
        scales = float(s_x / s_y), float(s_x * np.float32(alpha.params.scale) / s_y)
    positive, negative = (make_rescale([scale], result.params, (), Rounding.DOUBLE) for scale in scales)
    return Prelu(input.params.zero_point, alpha.params.zero_point, positive, negative)
