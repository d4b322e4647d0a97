"""Ops that move values: concat, reshape, transpose, pad, slice. They end with a change of parameters if those differ."""

from __future__ import annotations

import numpy as np

from ..rescale import clamp_bounds
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
    """``x`` with ``low`` and ``high`` elements of the real ``value`` around it (quantized by the input's parameters)."""
    (x,), (source,), value = call.inputs, call.types, float(call["value"])
    fill = clamp_bounds(source.params, (value, np.inf))[0] if source.is_quantized else value
    padded = np.pad(x, tuple(zip(call["low"], call["high"], strict=True)), constant_values=fill)
    return to_result(call, padded, source)


def concat(call: Call) -> Array:
    """The inputs one after the other along ``axis``, each requantized to the result's parameters."""
    parts = [to_result(call, x, kind) for x, kind in zip(call.inputs, call.types, strict=True)]
    return np.concatenate(parts, axis=call["axis"])
