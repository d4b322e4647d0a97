"""resize_nearest and resize_bilinear, sizes from the result type (``[N, H, W, C]``)."""

from __future__ import annotations

import numpy as np

from .. import resampling
from .call import Array, Call, to_result


def resize_nearest(call: Call) -> Array:
    """Each result element copies one input element; see :func:`...resampling.nearest`."""
    (x,) = call.inputs
    rows, columns = (
        resampling.nearest(
            x.shape[axis], call.result.shape[axis], call["align_corners"], call["half_pixel_centers"]
        )
        for axis in (1, 2)
    )
    return to_result(call, x[:, rows[:, None], columns], call.types[0])


def resize_bilinear(call: Call) -> Array:
    """Each result element mixes four input elements with weights per axis.

    What the weights are and how the sum is rounded says :class:`...resampling.Weights`.
    """
    (x,), (source,) = call.inputs, call.types
    weights = resampling.bilinear_weights(source, call.mode)
    options = bool(call["align_corners"]), bool(call["half_pixel_centers"])
    rows, columns = (
        resampling.bilinear(weights, x.shape[axis], call.result.shape[axis], *options) for axis in (1, 2)
    )
    if weights is resampling.Weights.FLOAT32:
        mixed = _mix(x.astype(np.float32), rows, columns, np.float32(1.0))
        return to_result(call, np.trunc(mixed + np.float32(0.5)) if source.is_quantized else mixed, source)
    mixed = _mix(x.astype(np.int64), rows, columns, weights.one)
    if weights is resampling.Weights.FRACTION_11:
        return to_result(call, (mixed + (1 << 21)) >> 22, source)
    return to_result(call, np.sign(mixed) * ((np.abs(mixed) + (1 << 19)) >> 20), source)


def _mix(x: Array, rows: resampling.Axis, columns: resampling.Axis, one: int | np.float32) -> Array:
    """The weighted sum of four neighbours, in the reference kernel's order of operations (float32 results
    depend on it).
    """
    down, right = rows.fraction[:, None, None], columns.fraction[:, None]
    up, left = one - down, one - right
    top, bottom = x[:, rows.lower], x[:, rows.upper]
    total = top[:, :, columns.lower] * up * left + bottom[:, :, columns.lower] * down * left
    total = total + top[:, :, columns.upper] * up * right
    return np.asarray(total + bottom[:, :, columns.upper] * down * right)
