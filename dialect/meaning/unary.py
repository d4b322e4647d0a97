"""unary and leaky_relu."""

from __future__ import annotations

import numpy as np

from ..unary_functions import BOOLEAN, INTEGER, real
from ..unary_tables import leaky_relu_table, unary_table
from .call import Array, Call


def unary(call: Call) -> Array:
    """``function(x)``; quantized: a table (see :mod:`...unary_tables`)."""
    (x,), (source,), function = call.inputs, call.types, call["function"]
    if source.is_quantized:
        return _look_up(unary_table(function, source.params, call.result.params, call.mode), x)
    if source.is_float:
        return real(function, x)
    with np.errstate(over="ignore"):
        return np.asarray((BOOLEAN if function in BOOLEAN else INTEGER)[function](x))


def leaky_relu(call: Call) -> Array:
    """``x if x >= 0 else alpha * x``; quantized: a table."""
    (x,), (source,), alpha = call.inputs, call.types, float(call["alpha"])
    if not source.is_quantized:
        return np.where(x > 0, x, x * np.float32(alpha))
    return _look_up(leaky_relu_table(alpha, source.params, call.result.params, call.mode), x)


def _look_up(table: Array, stored: Array) -> Array:
    result: Array = table[stored.astype(np.int64) - np.iinfo(stored.dtype).min]
    return result
