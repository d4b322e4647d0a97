"""max_pool2d, avg_pool2d and mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import rescale
from ..binary_functions import INTEGER
from ..fixed_point import wrap_int32
from .call import Array, Call, to_result


def max_pool2d(call: Call) -> Array:
    """The largest stored value of each window (taps outside the input do not count), requantized if the
    parameters differ.
    """
    (x,) = call.inputs
    lowest = -np.inf if call.types[0].is_float else np.iinfo(x.dtype).min
    pooled = _windows(call, x, lowest).max(axis=(-2, -1))
    return to_result(call, pooled, call.types[0], call.clamp)


def avg_pool2d(call: Call) -> Array:
    """The mean of the taps inside the input, rounded half away from zero *as stored integers*, requantized if
    parameters differ.

    ``(sum +- n / 2) / n`` with C's truncating division, ``n`` the number of valid taps, ``+`` for a positive
    sum.
    """
    (x,) = call.inputs
    count = _windows(call, np.ones((1, *x.shape[1:3], 1), np.int64), 0).sum(axis=(-2, -1))
    if call.types[0].is_float:
        average = _windows(call, x.astype(np.float64), 0).sum(axis=(-2, -1)) / count
        return to_result(call, average.astype(np.float32), call.types[0], call.clamp)
    total = _windows(call, x.astype(np.int64), 0).sum(axis=(-2, -1))
    rounded = np.sign(total) * ((np.abs(total) + count // 2) // count)
    return to_result(call, rounded, call.types[0], call.clamp)


def _windows(call: Call, x: Array, fill: float) -> Array:
    """A view ``[N, OH, OW, C, KH, KW]`` of the pooling windows of ``x`` padded with ``fill``."""
    top, bottom, left, right = call["padding"]
    padded = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=fill)
    view = np.lib.stride_tricks.sliding_window_view(padded, tuple(call["window"]), axis=(1, 2))
    return view[:, :: call["strides"][0], :: call["strides"][1]]


def mean(call: Call) -> Array:
    """The mean over ``axes``: ``rescale(sum(q) - N * z_x)`` with ``1 / N`` in the multiplier (see
    :func:`...rescale.mean`). Of ordinary integers it is truncated.
    """
    (x,), keep_dims = call.inputs, bool(call["keep_dims"])
    axes = _normalized(call["axes"], x.ndim)
    if call.types[0].is_float:
        return np.asarray(x.astype(np.float64).mean(axis=axes, keepdims=keep_dims), np.float32)
    count = int(np.prod([x.shape[axis] for axis in axes], dtype=np.int64))
    if not call.types[0].is_quantized:
        total = np.asarray(x.astype(np.int64).sum(axis=axes, keepdims=keep_dims))
        return INTEGER["div"](total, np.full_like(total, count)).astype(x.dtype)
    constants = rescale.mean(call.types[0], call.result, count, call.mode)
    total = x.astype(np.int64).sum(axis=axes, keepdims=keep_dims)
    if isinstance(constants, rescale.FloatMean):
        return constants.apply(total)
    return constants.rescale.apply(wrap_int32(total - constants.sum_zero_point))


def _normalized(axes: Sequence[int], rank: int) -> tuple[int, ...]:
    return tuple(sorted({axis % rank for axis in axes})) if rank else ()
