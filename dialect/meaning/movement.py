"""Ops that move values: concat, reshape, transpose, pad, slice.

They end with a change of parameters if those differ.
"""

from __future__ import annotations

import numpy as np

from .. import rescale
from ..types import TensorType
from .call import Array, Call, to_result


def reshape(call: Call) -> Array:
    """The same values in row-major order, in the result type's shape."""
    (x,) = call.inputs
    return to_result(call, x.reshape(call.result.shape), call.types[0])


def transpose(call: Call) -> Array:
    """``y[i...] = x[...]`` with result dimension ``d`` the input's dimension ``permutation[d]``."""
    (x,) = call.inputs
    return to_result(call, x.transpose(call["permutation"]), call.types[0])


def slice_(call: Call) -> Array:
    """``y[i] = x[offsets + i * strides]``, ``sizes`` elements per dimension."""
    (x,) = call.inputs
    window = tuple(
        slice(offset, offset + (size - 1) * stride + 1 if size else offset, stride)
        for offset, size, stride in zip(call["offsets"], call["sizes"], call["strides"], strict=True)
    )
    return to_result(call, x[window], call.types[0])


def pad(call: Call) -> Array:
    """``x`` with ``low`` and ``high`` elements of the real ``value`` around it (quantized by the input's
    parameters).
    """
    (x,), (source,), value = call.inputs, call.types, float(call["value"])
    fill = rescale.stored_value(source.params, value) if source.is_quantized else value
    padded = np.pad(x, tuple(zip(call["low"], call["high"], strict=True)), constant_values=fill)
    return to_result(call, padded, source)


def concat(call: Call) -> Array:
    """The inputs one after the other along ``axis``, each requantized to the result's parameters.

    uint8 to uint8 changes parameters in float32, as TFLite's kernel does; see
    :func:`...rescale.concat_input`.
    """
    parts = [_concat_part(call, x, kind) for x, kind in zip(call.inputs, call.types, strict=True)]
    return np.concatenate(parts, axis=call["axis"])


def _concat_part(call: Call, x: Array, source: TensorType) -> Array:
    if not source.is_quantized or source.params.same_values(call.result.params):
        return to_result(call, x, source)
    constants = rescale.concat_input(source, call.result, call.mode)
    if isinstance(constants, rescale.FloatRescale):
        return constants.apply(x).astype(call.result.dtype)
    return constants.rescale.apply(x.astype(np.int64) - constants.input_zero_point).astype(call.result.dtype)
