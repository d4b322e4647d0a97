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

    int8 and int16 use 10-bit weights and round half away from zero; uint8 and floats use float32 weights,
    uint8 rounds half up.
    """
    (x,), (source,) = call.inputs, call.types
    integral = source.is_quantized and source.params.storage.signed
    tables = resampling.bilinear_integer if integral else resampling.bilinear_float
    y_axis, x_axis = (
        tables(x.shape[axis], call.result.shape[axis], call["align_corners"], call["half_pixel_centers"])
        for axis in (1, 2)
    )
    mixed = _mix(
        x.astype(np.int64 if integral else np.float32), y_axis, x_axis, 1024 if integral else np.float32(1.0)
    )
    if integral:
        values = np.sign(mixed) * ((np.abs(mixed) + (1 << 19)) >> 20)
    elif source.is_quantized:
        values = np.trunc(mixed + np.float32(0.5))
    else:
        values = mixed
    return to_result(call, values, source)


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
