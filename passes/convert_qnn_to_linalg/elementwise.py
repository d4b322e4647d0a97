"""add, sub and mul with numpy's broadcasting: one elementwise op each."""

from __future__ import annotations

import operator
from collections.abc import Callable

from ...dialect import rescale
from ...dialect.numerics import Rounding
from ...dialect.types import QuantParams
from .arith import clamp_float, multiply_double_rounding, require_per_tensor, rescaled, widen
from .builder import Builder, Value
from .core import Call, storage_kind
from .scalar import Scalar


def add(builder: Builder, call: Call) -> Value:
    """``lhs + rhs``; quantized: at a common scale (see ``rescale.Sum``)."""
    return _sum(builder, call, 1)


def sub(builder: Builder, call: Call) -> Value:
    """``lhs - rhs``; as :func:`add`."""
    return _sum(builder, call, -1)


def mul(builder: Builder, call: Call) -> Value:
    """``lhs * rhs``; quantized: ``rescale((q_lhs - z_lhs) * (q_rhs - z_rhs))``."""
    if not call.result.is_quantized:
        return _plain(builder, call, operator.mul)
    _require_per_tensor(call)
    constants = rescale.mul(call.types[0], call.types[1], call.result, call.clamp, call.mode)
    left, right = call.types[0].params, call.types[1].params

    def product(lhs: Scalar, rhs: Scalar) -> Scalar:
        return (widen(lhs, left) - constants.lhs_zero_point) * (widen(rhs, right) - constants.rhs_zero_point)

    return rescaled(builder, call, call.operands(), constants.output, product)


def _sum(builder: Builder, call: Call, sign: int) -> Value:
    if not call.result.is_quantized:
        return _plain(builder, call, operator.add if sign > 0 else operator.sub)
    _require_per_tensor(call)
    if call.result.params.storage.bits == 32:
        exact = rescale.make_rescale([1.0], call.result.params, call.clamp, Rounding.EXACT)
        operation = operator.add if sign > 0 else operator.sub
        return rescaled(builder, call, call.operands(), exact, operation)
    constants = rescale.add(call.types[0], call.types[1], call.result, call.clamp, call.mode)
    if isinstance(constants, rescale.ShiftSum):
        return _shift_sum(builder, call, sign, constants)
    limit = constants.sum_limit

    def scaled(q: Scalar, params: QuantParams, multiplier: int, shift: int) -> Scalar:
        steps = (widen(q, params) - params.zero_point) << constants.left_shift
        return multiply_double_rounding(steps, multiplier, max(shift, 0), max(-shift, 0))

    def total(lhs: Scalar, rhs: Scalar) -> Scalar:
        left = scaled(lhs, call.types[0].params, constants.lhs_multiplier, constants.lhs_shift)
        right = scaled(rhs, call.types[1].params, constants.rhs_multiplier, constants.rhs_shift)
        result = left + right if sign > 0 else left - right
        return result if limit is None else result.clip(-limit, limit)

    return rescaled(builder, call, call.operands(), constants.output, total)


def _shift_sum(builder: Builder, call: Call, sign: int, constants: rescale.ShiftSum) -> Value:
    """``[low, high](((a +- b + 2^(shift - 1)) >> shift) + zero_point)``; nothing exceeds i32."""
    left, right = call.types[0].params, call.types[1].params
    kind = storage_kind(call.result)

    def formula(lhs: Scalar, rhs: Scalar) -> Scalar:
        a = (widen(lhs, left) - constants.lhs_zero_point) * constants.lhs_factor
        b = (widen(rhs, right) - constants.rhs_zero_point) * (sign * constants.rhs_factor)
        rounded = (a + b + (1 << (constants.shift - 1))) >> constants.shift
        return (rounded + constants.zero_point).clip(constants.low, constants.high).truncate(kind)

    return builder.elementwise(call.operands(), call.result.shape, kind, formula)


def _plain(builder: Builder, call: Call, operation: Callable[[Scalar, Scalar], Scalar]) -> Value:
    """Floats or ordinary integers, clamped."""
    kind = storage_kind(call.result)
    if call.result.is_float or not call.clamp:
        value = builder.elementwise(call.operands(), call.result.shape, kind, operation)
        return clamp_float(builder, value, call.clamp)
    low, high = rescale.integer_bounds(call.result.element, call.clamp)
    return builder.elementwise(
        call.operands(), call.result.shape, kind, lambda a, b: operation(a, b).clip(low, high)
    )


def _require_per_tensor(call: Call) -> None:
    for type_, what in zip((*call.types, call.result), ("lhs", "rhs", "the result"), strict=True):
        require_per_tensor(type_, what)
