"""softmax, logistic and tanh.

Quantized kernels give fixed parameters; others are reached by a requantize after them.
"""

from __future__ import annotations

import numpy as np

from .. import activation_tables as tables
from ..fixed_point import rounding_divide_by_pot, srdhm, wrap_int32
from ..fixed_point_functions import reciprocal
from ..types import QuantParams, TensorType
from .call import Array, Call, to_result


def logistic(call: Call) -> Array:
    """``1 / (1 + exp(-x))``; quantized: a table (see :mod:`...activation_tables`)."""
    return _activation(call, tables.LOGISTIC)


def tanh(call: Call) -> Array:
    """``tanh(x)``; quantized: a table (see :mod:`...activation_tables`)."""
    return _activation(call, tables.TANH)


def _activation(call: Call, op: str) -> Array:
    (x,), (source,) = call.inputs, call.types
    if not source.is_quantized:
        wide = x.astype(np.float64)
        with np.errstate(over="ignore"):
            value = 1.0 / (1.0 + np.exp(-wide)) if op == tables.LOGISTIC else np.tanh(wide)
        return value.astype(np.float32)
    produced = call.result.params
    if source.params.storage.bits == 16:
        produced = tables.natural_params(op, source.params.storage)
    table = tables.activation_table(op, source.params, produced, call.mode)
    values = table[x.astype(np.int64) - np.iinfo(x.dtype).min]
    return to_result(call, values, TensorType(source.shape, produced))


def softmax(call: Call) -> Array:
    """``exp(beta * (x - max)) / sum`` along ``axis``.

    Quantized: fixed point, see ``Softmax8`` and ``Softmax16`` in activation_tables.
    """
    (x,), (source,) = call.inputs, call.types
    rows = np.moveaxis(x, call["axis"], -1)
    if not source.is_quantized:
        wide = rows.astype(np.float64)
        exp = np.exp((wide - wide.max(axis=-1, keepdims=True)) * call["beta"])
        result: Array = np.moveaxis(exp / exp.sum(axis=-1, keepdims=True), -1, call["axis"]).astype(
            np.float32
        )
        return result
    kernel = _softmax_16bit if source.params.storage.bits == 16 else _softmax_8bit
    produced = tables.natural_params(call.op, call.result.params.storage, source.params.storage)
    values = np.moveaxis(kernel(rows.astype(np.int64), source, produced, call["beta"]), -1, call["axis"])
    if tables.is_natural(call.result.params, produced):
        return values
    return to_result(call, values, TensorType(source.shape, produced))


def _softmax_8bit(q: Array, source: TensorType, produced: QuantParams, beta: float) -> Array:
    constants = tables.softmax_8bit(source.params.scale, beta)
    exps = np.asarray(constants.exps, np.int64)[q.max(axis=-1, keepdims=True) - q]
    total = wrap_int32(rounding_divide_by_pot(exps, 12).sum(axis=-1, keepdims=True))
    inverse, bits = reciprocal(total, 12)
    storage = produced.storage
    values = rounding_divide_by_pot(srdhm(inverse, exps), bits + 31 - storage.bits) + storage.minimum
    return np.clip(values, storage.minimum, storage.maximum)


def _softmax_16bit(q: Array, source: TensorType, produced: QuantParams, beta: float) -> Array:
    constants = tables.softmax_16bit(source.params.scale, beta)
    exps = constants.exps[q.max(axis=-1, keepdims=True) - q]
    total = exps.sum(axis=-1, keepdims=True)
    headroom = 31 - np.floor(np.log2(total)).astype(np.int64)
    fraction = (((total << (headroom - 1)) + (1 << 13)) >> 14) - ((1 << 15) + (1 << 16))
    inverse = tables.interpolate(constants.one_over_one_plus, np.clip(fraction, -32768, 32767))
    result: Array = np.clip((exps * inverse + (1 << (30 - headroom))) >> (31 - headroom), 0, 32767)
    return result
