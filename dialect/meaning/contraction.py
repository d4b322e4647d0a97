"""conv2d (with groups, hence depthwise) and fully_connected.

Accumulators are exact: products of centred integers are summed in float64 (exact below 2^53), then kept
modulo 2^32, or with an int64 bias modulo 2^64.
"""

from __future__ import annotations

import numpy as np

from .. import rescale
from ..fixed_point import wrap_int32
from ..types import TensorType
from .call import Array, Call, clamp_float


def conv2d(call: Call) -> Array:
    """``y[n, i, j, o] = rescale(sum (x[n, i*sh + p*dh - top, ...] - z_x) * (w[o, p, q, c] - z_w[o]) +
    b[o])``.

    Input ``[N, H, W, C]``, filter ``[O, KH, KW, C / groups]``; output channel ``o`` reads group ``o // (O /
    groups)``. Taps outside the input count as zero (that is, as ``z_x``).
    """
    x, w = call.inputs[0], call.inputs[1]
    if not call.types[0].is_quantized:
        acc = convolve(call, x.astype(np.float64), w.astype(np.float64))
        return _finish_float(call, acc)
    constants = rescale.conv2d(
        call.types[0], call.types[1], call.result, call.clamp, call.mode, _bias_type(call)
    )
    return _finish_quantized(call, constants, convolve(call, *_centred(x, w, constants)))


def fully_connected(call: Call) -> Array:
    """``y[..., n] = rescale(sum_k (x[..., k] - z_x) * (w[n, k] - z_w[n]) + b[n])``.

    Input ``[..., K]``, filter ``[N, K]``.
    """
    x, w = call.inputs[0], call.inputs[1]
    if not call.types[0].is_quantized:
        return _finish_float(call, x.astype(np.float64) @ w.astype(np.float64).T)
    constants = rescale.fully_connected(
        call.types[0], call.types[1], call.result, call.clamp, call.mode, _bias_type(call)
    )
    centred_x, centred_w = _centred(x, w, constants)
    return _finish_quantized(call, constants, centred_x @ centred_w.T)


def _bias_type(call: Call) -> TensorType | None:
    return call.types[2] if len(call.types) > 2 else None


def _centred(x: Array, w: Array, constants: rescale.Contraction) -> tuple[Array, Array]:
    zero_points = np.asarray(constants.filter_zero_points, np.float64).reshape(-1, *[1] * (w.ndim - 1))
    return x.astype(np.float64) - constants.input_zero_point, w.astype(np.float64) - zero_points


def _finish_quantized(call: Call, constants: rescale.Contraction, acc: Array) -> Array:
    wide = acc.astype(np.int64)
    if len(call.inputs) > 2:
        wide += call.inputs[2].astype(np.int64)
    return constants.rescale.apply(wide if rescale.is_wide(_bias_type(call)) else wrap_int32(wide))


def _finish_float(call: Call, acc: Array) -> Array:
    if len(call.inputs) > 2:
        acc = acc + call.inputs[2]
    return clamp_float(acc.astype(np.float32), call.clamp)


def convolve(call: Call, x: Array, w: Array) -> Array:
    """The sums of a convolution of float64 arrays, zero padding: ``[N, OH, OW, O]``."""
    top, bottom, left, right = call["padding"]
    padded = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)))
    windows = _windows(padded, w.shape[1:3], call["strides"], call["dilations"])
    groups = call["groups"]
    if groups == x.shape[3]:
        return _depthwise(windows, w, groups)
    channels, outputs = x.shape[3] // groups, w.shape[0] // groups
    results = [
        _dense(windows[..., g * channels : (g + 1) * channels], w[g * outputs : (g + 1) * outputs])
        for g in range(groups)
    ]
    return np.concatenate(results, axis=3)


def _windows(
    x: Array, kernel: tuple[int, ...], strides: tuple[int, int], dilations: tuple[int, int]
) -> Array:
    """A view ``[N, OH, OW, KH, KW, C]`` of the receptive fields."""
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    view = np.lib.stride_tricks.sliding_window_view(x, tuple(spans), axis=(1, 2))
    view = view[:, :: strides[0], :: strides[1], :, :: dilations[0], :: dilations[1]]
    result: Array = view.transpose(0, 1, 2, 4, 5, 3)
    return result


def _dense(windows: Array, w: Array) -> Array:
    batch, height, width = windows.shape[:3]
    columns = windows.reshape(batch * height * width, -1)
    result: Array = (columns @ w.reshape(w.shape[0], -1).T).reshape(batch, height, width, -1)
    return result


def _depthwise(windows: Array, w: Array, groups: int) -> Array:
    batch, height, width, rows, columns, _ = windows.shape
    taps = w.reshape(groups, -1, rows, columns)
    acc = np.zeros((batch, height, width, groups, taps.shape[1]))
    for p in range(rows):
        for q in range(columns):
            acc += windows[:, :, :, p, q, :, None] * taps[:, :, p, q]
    return acc.reshape(batch, height, width, -1)
