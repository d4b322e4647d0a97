"""add, sub and mul, with numpy's broadcasting."""

from __future__ import annotations

import numpy as np

from .. import rescale
from ..fixed_point import wrap_int32
from ..numerics import Rounding
from .call import Array, Call, clamp_float


def add(call: Call) -> Array:
    """``lhs + rhs`` in reals; quantized: at a common scale, rounded thrice (see :class:`...rescale.Sum`).

    Accumulators (i32) have one scale: ``[low, high](wrap(lhs + rhs))``.
    """
    return _sum(call, 1)


def sub(call: Call) -> Array:
    """``lhs - rhs``; as :func:`add`."""
    return _sum(call, -1)


def mul(call: Call) -> Array:
    """``lhs * rhs``.

    Quantized: the product of the centred values, rescaled (see :class:`...rescale.Product`).
    """
    lhs, rhs = call.inputs
    if not call.result.is_quantized:
        return _plain(call, lhs * rhs)
    constants = rescale.mul(call.types[0], call.types[1], call.result, call.clamp, call.mode)
    return constants.apply(lhs, rhs)


def _sum(call: Call, sign: int) -> Array:
    lhs, rhs = call.inputs
    if not call.result.is_quantized:
        return _plain(call, lhs + rhs if sign > 0 else lhs - rhs)
    if call.result.params.storage.bits == 32:
        total = wrap_int32(lhs.astype(np.int64) + sign * rhs.astype(np.int64))
        return rescale.make_rescale([1.0], call.result.params, call.clamp, Rounding.EXACT).apply(total)
    constants = rescale.add(call.types[0], call.types[1], call.result, call.clamp, call.mode)
    return constants.apply(lhs, rhs, sign)


def _plain(call: Call, values: Array) -> Array:
    """A result in floats or ordinary integers (which wrap around), clamped."""
    if call.result.is_float:
        return clamp_float(values, call.clamp)
    return np.clip(values, *rescale.integer_bounds(call.result.element, call.clamp))
