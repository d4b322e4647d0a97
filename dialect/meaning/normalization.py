"""log_softmax, l2_normalization and local_response_normalization.

Quantized kernels give fixed parameters; others are reached by a requantize after them, as for softmax.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .. import fixed_point as fx
from .. import normalization as constants
from ..activation_tables import is_natural
from ..fixed_point_functions import inverse_square_root, logarithm
from ..types import QuantParams, TensorType
from .call import Array, Call, to_result


def log_softmax(call: Call) -> Array:
    """``x - log(sum(exp(x)))`` along ``axis``; quantized: fixed point, see ``LogSoftmax8``."""
    return _along_rows(call, _log_softmax_float, _log_softmax_8bit)


def l2_normalization(call: Call) -> Array:
    """``x / sqrt(sum(x^2))`` along ``axis``; quantized: by a fixed-point inverse square root."""
    return _along_rows(call, _l2_normalization_float, _l2_normalization_8bit)


def _along_rows(
    call: Call, floats: Callable[[Array], Array], kernel: Callable[[Array, QuantParams], Array]
) -> Array:
    (x,), (source,) = call.inputs, call.types
    rows = np.moveaxis(x, call["axis"], -1)
    if not source.is_quantized:
        return np.asarray(np.moveaxis(floats(rows.astype(np.float64)), -1, call["axis"]), np.float32)
    produced = constants.natural_params(call.op, source.params.storage)
    steps = np.moveaxis(kernel(rows.astype(np.int64), source.params), -1, call["axis"])
    values: Array = np.clip(steps + produced.zero_point, produced.storage.minimum, produced.storage.maximum)
    if is_natural(call.result.params, produced):
        return values
    return to_result(call, values, TensorType(source.shape, produced))


def _log_softmax_float(x: Array) -> Array:
    distance = x - x.max(axis=-1, keepdims=True)
    return np.asarray(distance - np.log(np.exp(distance).sum(axis=-1, keepdims=True)))


def _log_softmax_8bit(q: Array, source: QuantParams) -> Array:
    numbers = constants.log_softmax_8bit(source.scale)
    distance = q.max(axis=-1, keepdims=True) - q
    exps = np.asarray(numbers.exps, np.int64)[distance]
    log = logarithm(fx.wrap_int32(fx.rounding_divide_by_pot(exps, 12).sum(axis=-1, keepdims=True)))
    reverse = fx.multiply_double_rounding(
        log + fx.INT32_MIN, numbers.reverse_multiplier, numbers.reverse_shift
    )
    values = fx.rounding_divide_by_pot(np.asarray(numbers.differences, np.int64)[distance] - log, 22)
    return np.where(-distance > np.maximum(numbers.diff_min - 1, reverse), values, -256)


def _l2_normalization_float(x: Array) -> Array:
    return np.asarray(x / np.maximum(np.sqrt(np.square(x).sum(axis=-1, keepdims=True)), 1e-6))


def _l2_normalization_8bit(q: Array, source: QuantParams) -> Array:
    """``mbqm(q - z, 128 / norm)``; of uint8 ``128 * (q - z)`` is multiplied instead."""
    steps = q - source.zero_point
    inverse, shift = inverse_square_root(np.square(steps).sum(axis=-1, keepdims=True))
    if source.storage.signed:
        return fx.multiply_double_rounding(steps, inverse, 7 - shift)
    return fx.multiply_double_rounding(steps << 7, inverse, -shift)


def local_response_normalization(call: Call) -> Array:
    """``x / (bias + alpha * sum of squares)^beta``, sums of up to ``radius`` neighbours on both sides."""
    (x,), radius = call.inputs, call["radius"]
    squares = np.square(x.astype(np.float64))
    depth = x.shape[-1]
    bounds = [(max(0, c - radius), min(depth, c + radius + 1)) for c in range(depth)]
    sums = np.stack([squares[..., low:high].sum(axis=-1) for low, high in bounds], axis=-1)
    with np.errstate(all="ignore"):
        factor = np.power(call["bias"] + call["alpha"] * sums, -call["beta"])
        return np.asarray(x * factor, np.float32)
