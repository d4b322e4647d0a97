"""dynamic_conv2d and dynamic_fully_connected: floats times integer weights, quantized at run time.

The integer sums are exact; what follows is float32, in the order that the functions say.
"""

from __future__ import annotations

import numpy as np

from ..dynamic_range import quantize_rows
from ..fixed_point import wrap_int32
from .call import Array, Call, clamp_float
from .contraction import convolve


def dynamic_conv2d(call: Call) -> Array:
    """``clamp(acc * (s_x[n] * s_w[o]) + b[o])``; without ``scales_first`` the factor is ``(acc * s_w[o]) *
    s_x[n]``.

    ``acc`` is the convolution of the image's centred stored values with the filter's; see
    :func:`...dynamic_range.quantize_rows`.
    """
    x, w = call.inputs[0], call.inputs[1]
    centred, scale = quantize_rows(x.reshape(x.shape[0], -1), call["asymmetric"])
    acc = convolve(call, centred.reshape(x.shape).astype(np.float64), w.astype(np.float64))
    return _finish(call, acc, scale.reshape(-1, 1, 1, 1), call["scales_first"])


def dynamic_fully_connected(call: Call) -> Array:
    """``clamp(acc * (s_x[...] * s_w[n]) + b[n])``, ``acc[..., n] = sum_k centred[..., k] * w[n, k]``.

    By blocks: ``clamp(sum_j (acc[..., n, j] * s_w[n, j]) * s_x[...] + b[n])``, block after block.
    """
    x, w = call.inputs[0], call.inputs[1]
    centred, scale = quantize_rows(x.reshape(-1, x.shape[-1]), call["asymmetric"])
    if call.types[1].params.block_sizes:
        total = _by_blocks(call, centred) * scale[:, None]
        if len(call.inputs) > 2:
            total = total + call.inputs[2]
        return clamp_float(total, call.clamp).reshape(*x.shape[:-1], w.shape[0])
    acc = centred.astype(np.float64) @ w.astype(np.float64).T
    result = _finish(call, acc, scale.reshape(-1, 1), scales_first=True)
    return result.reshape(*x.shape[:-1], w.shape[0])


def _by_blocks(call: Call, centred: Array) -> Array:
    """``sum_j acc[r, n, j] * s_w[n, j]`` in float32, with ``acc`` the sum of the products of block ``j``."""
    params, w = call.types[1].params, call.inputs[1]
    size = dict(params.block_sizes)[1]
    scales = np.asarray(params.scales, np.float32).reshape(w.shape[0], -1)
    total = np.zeros((centred.shape[0], w.shape[0]), np.float32)
    for j in range(scales.shape[1]):
        part = slice(j * size, (j + 1) * size)
        acc = centred[:, part].astype(np.float64) @ w[:, part].astype(np.float64).T
        total += acc.astype(np.float32) * scales[:, j]
    return total


def _finish(call: Call, acc: Array, scale: Array, scales_first: bool) -> Array:
    number = wrap_int32(acc.astype(np.int64)).astype(np.float32)
    filter_scale = np.asarray(call.types[1].params.scales, np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        result = number * (scale * filter_scale) if scales_first else number * filter_scale * scale
        if len(call.inputs) > 2:
            result = result + call.inputs[2]
    return clamp_float(result, call.clamp)
