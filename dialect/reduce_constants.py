"""The constants of sums and products of quantized tensors over axes, and what is done with them.

Notation as in :mod:`.op_constants`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import fixed_point as fx
from .fixed_point import Ints
from .numerics import Rounding, rule
from .op_constants import FloatMean, Mean, Rescale
from .rescale import clamp_bounds, make_rescale
from .types import QuantParams, TensorType


def reduce_sum(
    input: TensorType, result: TensorType, count: int, mode: str = "reference"
) -> Mean | FloatMean:
    """Constants of a sum over ``count`` elements: ``rescale(sum(q) - count * z_x)``, scale = s_x / s_y.

    ``xnnpack``: offset = z_y - (z_x * count) * scale, every step in float32; where that overflows, the
    reference's rule.
    """
    z_x, z_y = input.params.zero_point, result.params.zero_point
    low, high = clamp_bounds(result.params)
    bits = result.params.storage.bits
    if rule(mode, "sum", bits) is Rounding.FLOAT32_HALF_EVEN:
        with np.errstate(over="ignore", invalid="ignore"):
            factor = np.float32(input.params.scale) / np.float32(result.params.scale)
            offset = np.float32(z_y) - np.float32(z_x * count) * factor
        if np.isfinite(offset) and np.isfinite(factor):
            return FloatMean(count, float(factor), float(offset), low, high)
    scale = input.params.scale / result.params.scale
    return Mean(count, count * z_x, make_rescale([scale], result.params, (), Rounding.DOUBLE))


@dataclass(frozen=True)
class ReduceProduct:
    """A product over axes, rescaled at every step: ``acc = q_0 - z``, then ``acc = step(acc * (q_i - z))``,
    ``result = step(acc) + zero_point``, clamped.

    ``step`` multiplies by the input's scale and the ``count``-th root of the result's inverse scale, in 48
    bits (``Q15_HALF_UP``), and saturates at 32 bits.
    """

    input_zero_point: int
    step: Rescale
    zero_point: int
    low: int
    high: int

    def apply(self, rows: npt.ArrayLike) -> Ints:
        """Stored integers (int64) of products over the last axis."""
        steps = np.asarray(rows, np.int64) - self.input_zero_point
        total = steps[..., 0]
        for i in range(1, steps.shape[-1]):
            total = self._scaled(total * steps[..., i])
        result: Ints = np.clip(self._scaled(total) + self.zero_point, self.low, self.high)
        return result

    def _scaled(self, product: Ints) -> Ints:
        return np.clip(self.step.multiply(product), fx.INT32_MIN, fx.INT32_MAX)


def reduce_product(input: TensorType, result: TensorType, count: int) -> ReduceProduct:
    """scale of a step = s_x / s_y^(1 / count), in float64."""
    params: QuantParams = result.params
    scale = input.params.scale / params.scale ** (1.0 / count)
    multiplier, shift = fx.quantize_multiplier(scale)
    bounds = clamp_bounds(params)
    step = Rescale(Rounding.Q15_HALF_UP, (scale,), (multiplier,), (shift,), 0, fx.INT32_MIN, fx.INT32_MAX)
    return ReduceProduct(input.params.zero_point, step, params.zero_point, *bounds)
