"""unary and leaky_relu: a table lookup on quantized tensors, arithmetic and ``math`` functions on others."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...dialect.types import TensorType
from ...dialect.unary_tables import leaky_relu_table, unary_table
from .arith import by_unsigned, lookup, require_per_tensor
from .builder import Builder, Value
from .core import Call, storage_kind
from .scalar import Scalar


def unary(builder: Builder, call: Call) -> Value:
    """``function(x)`` of every element."""
    source, function = call.types[0], call["function"]
    if source.is_quantized:
        entries = unary_table(function, source.params, call.result.params, call.mode)
        return _look_up(builder, call, entries)
    formulas = _REAL if source.is_float else _INTEGER
    return builder.elementwise([call.operand(0)], source.shape, storage_kind(call.result), formulas[function])


def leaky_relu(builder: Builder, call: Call) -> Value:
    """``x if x > 0 else alpha * x``."""
    source, alpha = call.types[0], float(call["alpha"])
    if source.is_quantized:
        entries = leaky_relu_table(alpha, source.params, call.result.params, call.mode)
        return _look_up(builder, call, entries)
    return builder.elementwise(
        [call.operand(0)], source.shape, "f32", lambda x: (x > 0.0).select(x, x * alpha)
    )


def _look_up(builder: Builder, call: Call, entries: np.ndarray) -> Value:
    source = require_per_tensor(call.types[0], "the input")
    kind = storage_kind(TensorType((), require_per_tensor(call.result, "the result")))
    table = builder.constant(by_unsigned(entries, signed=source.storage.signed), f"{call.name}_table")
    return builder.elementwise([call.operand(0)], call.types[0].shape, kind, lambda x: lookup(table, x))


def _wide(function: Callable[[Scalar], Scalar]) -> Callable[[Scalar], Scalar]:
    """``function`` computed in f64 and rounded once."""
    return lambda x: function(x.extend("f64")).truncate("f32")


def _constant(x: Scalar, value: float) -> Scalar:
    return x.body.constant(x.kind, value)


def _elu(x: Scalar) -> Scalar:
    below = (x.call("exp") - 1.0).truncate("f32").extend("f64")
    return (x < 0.0).select(below, x)


def _gelu(x: Scalar) -> Scalar:
    """``x / 2 * erfc(-x / sqrt(2))``, in f64 so that ``1 + erf`` keeps enough digits."""
    tail = _constant(x, 1.0) + (x * math.sqrt(0.5)).call("erf")
    # No tail is left of -6 standard deviations in the result's precision; -inf times 0 would be undefined.
    return (x < -14.0).select(_constant(x, -0.0), x * 0.5 * tail)


def _gelu_tanh(x: Scalar) -> Scalar:
    inner = (x + x * x * x * 0.044715) * math.sqrt(2.0 / math.pi)
    value = x * 0.5 * (inner.call("tanh") + 1.0)
    return (x < -14.0).select(_constant(x, -0.0), value)


def _hard_swish(x: Scalar) -> Scalar:
    return x * (x + 3.0).clip_keeping_nan(0.0, 6.0) / _constant(x, 6.0)


def _sign(x: Scalar) -> Scalar:
    """-1, 0 or 1; of NaN NaN."""
    one, minus_one = _constant(x, 1), _constant(x, -1)
    return (x > 0).select(one, (x < 0).select(minus_one, x))


_REAL: dict[str, Callable[[Scalar], Scalar]] = {
    "abs": lambda x: x.call("absf"),
    "ceil": lambda x: x.call("ceil"),
    "cos": lambda x: x.call("cos"),
    "elu": _wide(_elu),
    "exp": lambda x: x.call("exp"),
    "floor": lambda x: x.call("floor"),
    "gelu": _wide(_gelu),
    "gelu_tanh": _wide(_gelu_tanh),
    "hard_swish": _hard_swish,
    "log": lambda x: x.call("log"),
    "neg": lambda x: x * -1.0,
    "round": lambda x: x.call("roundeven"),
    "rsqrt": lambda x: _constant(x, 1.0) / x.call("sqrt"),
    "sign": _sign,
    "sin": lambda x: x.call("sin"),
    "sqrt": lambda x: x.call("sqrt"),
    "square": lambda x: x * x,
}

_INTEGER: dict[str, Callable[[Scalar], Scalar]] = {
    "abs": lambda x: x.call("absi"),
    "logical_not": lambda x: x ^ 1,
    "neg": lambda x: _constant(x, 0) - x,
    "sign": _sign,
    "square": lambda x: x * x,
}
