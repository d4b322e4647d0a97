"""batch_matmul: exact integer sums (of int16 below 2^53), then one rescale."""

from __future__ import annotations

import numpy as np

from .. import rescale
from ..fixed_point import wrap_int32
from .call import Array, Call


def batch_matmul(call: Call) -> Array:
    """``rescale(sum_k (a[..., m, k] - z_a) * (b[..., k, n] - z_b))``, batches broadcast as numpy does."""
    lhs, rhs = (array.astype(np.float64) for array in call.inputs)
    if call["transpose_lhs"]:
        lhs = lhs.swapaxes(-1, -2)
    if call["transpose_rhs"]:
        rhs = rhs.swapaxes(-1, -2)
    if not call.types[0].is_quantized:
        return (lhs @ rhs).astype(np.float32)
    constants = rescale.batch_matmul(call.types[0], call.types[1], call.result, call.mode)
    (rhs_zero_point,) = constants.filter_zero_points
    acc = ((lhs - constants.input_zero_point) @ (rhs - rhs_zero_point)).astype(np.int64)
    wide = call.types[0].params.storage.bits == 16
    return constants.rescale.apply(acc if wide else wrap_int32(acc))
