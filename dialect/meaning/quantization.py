"""constant, quantize, dequantize, requantize and the clamp op."""

from __future__ import annotations

import numpy as np

from .. import rescale
from ..fixed_point import round_half_away_array
from ..numerics import Rounding, rule
from ..types import broadcast_along
from .call import Array, Call, clamp_float, to_result


def constant(call: Call) -> Array:
    """The attribute ``value``, storage integers or floats."""
    return np.asarray(call["value"], dtype=call.result.dtype)


def quantize(call: Call) -> Array:
    """``clamp(round_half_away(f32(x) / f32(s)) + z)``, a float32 division; per-tensor or per-axis.

    The value is limited to the storage range before it becomes an integer, so infinities saturate; NaN gives
    the zero point (the reference's cast is undefined for both). ``xnnpack``, 8-bit: ``round_half_even(x *
    f32(1 / s))``, and NaN gives the highest value.
    """
    (x,), params = call.inputs, call.result.params
    scale = broadcast_along(params.scales, params, x.shape).astype(np.float32)
    zero_point = broadcast_along(params.zero_points, params, x.shape)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        if rule(call.mode, "quantize", params.storage.bits) is Rounding.FLOAT32_HALF_EVEN:
            rounded, nan = np.rint(x.astype(np.float32) * (np.float32(1.0) / scale)), np.inf
        else:
            rounded, nan = round_half_away_array(x.astype(np.float32) / scale), 0.0
    rounded = np.nan_to_num(rounded.astype(np.float64), nan=nan, posinf=np.inf, neginf=-np.inf)
    result: Array = np.clip(rounded + zero_point, params.storage.minimum, params.storage.maximum).astype(
        call.result.dtype
    )
    return result


def dequantize(call: Call) -> Array:
    """``f32((q - z) * s)``, the product rounded once; per-tensor, per-axis or sub-channel."""
    (q,), params = call.inputs, call.types[0].params
    scale = broadcast_along(params.scales, params, q.shape).astype(np.float64)
    zero_point = broadcast_along(params.zero_points, params, q.shape).astype(np.int64)
    result: Array = ((q.astype(np.int64) - zero_point) * scale).astype(np.float32)
    return result


def requantize(call: Call) -> Array:
    """``clamp(round((q - z_x) * s_x / s_y) + z_y)``; see :func:`...rescale.requantize`."""
    return to_result(call, call.inputs[0], call.types[0])


def clamp(call: Call) -> Array:
    """RELU and its family: ``[low, high](requantize(q))``, bounds in real values.

    See :func:`...rescale.clamp`.
    """
    (x,), (source,) = call.inputs, call.types
    if not source.is_quantized:
        return clamp_float(x, call.clamp)
    constants = rescale.clamp(source, call.result, call.clamp, call.mode)
    return constants.rescale.apply(x.astype(np.int64) - constants.input_zero_point)
