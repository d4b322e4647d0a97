"""add, sub and mul, with numpy's broadcasting."""

from __future__ import annotations

import numpy as np

from .. import rescale
from ..fixed_point import Ints, multiply_double_rounding, wrap_int32
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
    product = (lhs.astype(np.int64) - constants.lhs_zero_point) * (
        rhs.astype(np.int64) - constants.rhs_zero_point
    )
    return constants.output.apply(wrap_int32(product))


def _sum(call: Call, sign: int) -> Array:
    lhs, rhs = call.inputs
    if not call.result.is_quantized:
        return _plain(call, lhs + rhs if sign > 0 else lhs - rhs)
    if call.result.params.storage.bits == 32:
        total = wrap_int32(lhs.astype(np.int64) + sign * rhs.astype(np.int64))
        return rescale.make_rescale([1.0], call.result.params, call.clamp, Rounding.EXACT).apply(total)
    constants = rescale.add(call.types[0], call.types[1], call.result, call.clamp, call.mode)
    if isinstance(constants, rescale.ShiftSum):
        return _shift_sum(lhs, rhs, sign, constants)
    left = _scaled(
        lhs, constants.lhs_zero_point, constants.left_shift, constants.lhs_multiplier, constants.lhs_shift
    )
    right = _scaled(
        rhs, constants.rhs_zero_point, constants.left_shift, constants.rhs_multiplier, constants.rhs_shift
    )
    total = wrap_int32(left + sign * right)
    if constants.sum_limit is not None:
        total = np.clip(total, -constants.sum_limit, constants.sum_limit)
    return constants.output.apply(total)


def _shift_sum(lhs: Array, rhs: Array, sign: int, constants: rescale.ShiftSum) -> Array:
    left = (lhs.astype(np.int64) - constants.lhs_zero_point) * constants.lhs_factor
    right = (rhs.astype(np.int64) - constants.rhs_zero_point) * (sign * constants.rhs_factor)
    rounded = (left + right + (1 << (constants.shift - 1))) >> constants.shift
    result: Array = np.clip(rounded + constants.zero_point, constants.low, constants.high)
    return result


def _scaled(values: Array, zero_point: int, left_shift: int, multiplier: int, shift: int) -> Ints:
    shifted = wrap_int32((values.astype(np.int64) - zero_point) << left_shift)
    return multiply_double_rounding(shifted, multiplier, shift)


def _plain(call: Call, values: Array) -> Array:
    """A result in floats (clamped) or ordinary integers (which wrap, and have no activation)."""
    return clamp_float(values, call.clamp) if call.result.is_float else values
