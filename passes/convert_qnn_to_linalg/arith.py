"""The building blocks of integer kernels as scalar arithmetic: rescaling, saturation, changes of parameters.

Each is the ``arith`` twin of a function of ``dialect/fixed_point.py`` or ``dialect/rescale.py`` and gives the
same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from ...dialect import rescale
from ...dialect.fixed_point import INT32_MAX, INT32_MIN, q15_multiplier
from ...dialect.numerics import Rounding, rule
from ...dialect.rescale import Rescale
from ...dialect.types import QuantParams, Storage, TensorType
from .builder import Builder, Formula, Value
from .core import Call, UnsupportedFormError, storage_kind
from .scalar import Number, Scalar

_EXACT_IN_FLOAT32 = 1 << 24

Parameter: TypeAlias = "Callable[[Sequence[Scalar]], Scalar | int | float]"
"""Finds a parameter among the extra scalars of a body: the channel's value, or the number all share."""

Rule: TypeAlias = "Callable[[Scalar, Sequence[Scalar]], Scalar]"
"""``round(acc * scale)`` of an i32 (or i64) accumulator: an i32, saturated, or an i64."""


class ChannelParameters:
    """Per-channel numbers of an elementwise op: a constant tensor ``[C]`` each, or no tensor when all
    channels agree.
    """

    def __init__(self, builder: Builder, name: str) -> None:
        self._builder = builder
        self._name = name
        self.tensors: list[Value] = []

    def add(self, what: str, values: Sequence[float], dtype: str) -> Parameter:
        shared = values[0]
        if all(value == shared for value in values):
            return lambda scalars: shared
        position = len(self.tensors)
        self.tensors.append(self._builder.constant(np.asarray(values, dtype), f"{self._name}_{what}"))
        return lambda scalars: scalars[position]


def rescaled(
    builder: Builder, call: Call, inputs: Sequence[Value], constants: Rescale, accumulator: Formula
) -> Value:
    """ONE elementwise op: ``[low, high](round(accumulator(inputs...) * scale) + zero_point)`` in the result's
    storage.

    ``accumulator`` gives an i32 (or i64) scalar; several scales belong to the channels of the last axis.
    """
    parameters = ChannelParameters(builder, call.name)
    rule = _RULES[constants.rounding](constants, parameters)
    kind = storage_kind(call.result)

    def formula(*scalars: Scalar) -> Scalar:
        acc = accumulator(*scalars[: len(inputs)])
        assert isinstance(acc, Scalar)
        return _finish(rule(acc, scalars[len(inputs) :]), constants, kind)

    return builder.elementwise([*inputs, *parameters.tensors], call.result.shape, kind, formula)


def rescaled_scalar(builder: Builder, accumulator: Scalar, constants: Rescale, kind: str) -> Scalar:
    """What :func:`rescaled` does, of one scalar inside a body; for constants with one scale."""
    assert len(constants.scales) == 1, "one scale expected"
    rule = _RULES[constants.rounding](constants, ChannelParameters(builder, ""))
    return _finish(rule(accumulator, ()), constants, kind)


def _exact(constants: Rescale, parameters: ChannelParameters) -> Rule:
    return lambda acc, scalars: acc


def _double(constants: Rescale, parameters: ChannelParameters) -> Rule:
    """``rdivpot(srdhm(int32(acc << left), multiplier), right)``; the left shift is modulo 32."""
    multiplier = parameters.add("multiplier", constants.multipliers, "int32")
    left = parameters.add("left_shift", [max(shift, 0) % 32 for shift in constants.shifts], "int32")
    right = parameters.add("right_shift", [max(-shift, 0) for shift in constants.shifts], "int32")
    return lambda acc, scalars: multiply_double_rounding(
        acc.truncate("i32"), multiplier(scalars), left(scalars), right(scalars)
    )


def _once_half_away(constants: Rescale, parameters: ChannelParameters) -> Rule:
    """``round_half_away(f64(acc) * scale)``."""
    scale = parameters.add("scale", constants.scales, "float64")
    low, high = _saturation(constants)
    return lambda acc, scalars: (
        (acc.to_float("f64") * scale(scalars)).call("round").clip(low, high).to_integer("i32")
    )


def _float32_half_even(constants: Rescale, parameters: ChannelParameters) -> Rule:
    """``round_half_even(f32(acc) * f32(scale))``."""
    scale = parameters.add("scale", [float(np.float32(s)) for s in constants.scales], "float32")
    low, high = _saturation(constants)
    wide = "f32" if max(abs(low), abs(high)) <= _EXACT_IN_FLOAT32 else "f64"
    return lambda acc, scalars: (
        (acc.to_float("f32") * scale(scalars))
        .call("roundeven")
        .extend(wide)
        .clip(low, high)
        .to_integer("i32")
    )


def _q15_half_up(constants: Rescale, parameters: ChannelParameters) -> Rule:
    """``(acc * m15 + 2^(right - 1)) >> right`` of an i64 accumulator, in i64."""
    m15, right = q15_multiplier(constants.multipliers, constants.shifts)
    multiplier = parameters.add("multiplier", m15.tolist(), "int64")
    shift = parameters.add("right_shift", right.tolist(), "int64")
    half = parameters.add("half", (np.int64(1) << (right - 1)).tolist(), "int64")
    return lambda acc, scalars: (acc.extend("i64") * multiplier(scalars) + half(scalars)) >> shift(scalars)


def _single_half_up(constants: Rescale, parameters: ChannelParameters) -> Rule:
    """``(acc * multiplier + 2^(30 - shift)) >> (31 - shift)`` in i64; one multiplier and shift for all
    channels.
    """
    (multiplier,), (shift,) = constants.multipliers, constants.shifts
    total = 31 - shift
    return lambda acc, scalars: (acc.extend("i64") * multiplier + (1 << (total - 1))) >> total


_RULES: dict[Rounding, Callable[[Rescale, ChannelParameters], Rule]] = {
    Rounding.EXACT: _exact,
    Rounding.DOUBLE: _double,
    Rounding.ONCE_HALF_AWAY: _once_half_away,
    Rounding.FLOAT32_HALF_EVEN: _float32_half_even,
    Rounding.Q15_HALF_UP: _q15_half_up,
    Rounding.SINGLE_HALF_UP: _single_half_up,
}


def _saturation(constants: Rescale) -> tuple[int, int]:
    """What a float is limited to before it becomes an i32: the result's range before the zero point, inside
    i32.
    """
    low, high = constants.low - constants.zero_point, constants.high - constants.zero_point
    return max(INT32_MIN, min(low, INT32_MAX)), max(INT32_MIN, min(high, INT32_MAX))


def _finish(rounded: Scalar, constants: Rescale, kind: str) -> Scalar:
    """``[low, high](rounded + zero_point)``, in i32 where nothing can overflow: there the limits move before
    the sum.
    """
    low, high = constants.low - constants.zero_point, constants.high - constants.zero_point
    narrow = rounded.kind == "i32" and kind != "i64"
    if narrow and low == INT32_MIN and high == INT32_MAX:
        return rounded.truncate(kind)
    if narrow and low >= INT32_MIN and high <= INT32_MAX and low <= high:
        return (rounded.clip(low, high) + constants.zero_point).truncate(kind)
    wide = rounded.extend("i64") + constants.zero_point
    return wide.clip(constants.low, constants.high).truncate(kind)


def srdhm(a: Scalar, b: Number) -> Scalar:
    """``floor((a * b + 2^30) / 2^31)`` of i32 scalars of every sign; only the product needs 64 bits."""
    wide = b.extend("i64") if isinstance(b, Scalar) else b
    return ((a.extend("i64") * wide + (1 << 30)) >> 31).truncate("i32")


def rounding_divide_by_pot(x: Scalar, exponent: Number) -> Scalar:
    """``x / 2^exponent`` to nearest, ties away from zero; ``0 <= exponent <= bits - 1``.

    By the remainder, ``(x >> e) + (x mod 2^e > (2^e - 1) / 2 + (x < 0))``: no intermediate can overflow.
    """
    if not isinstance(exponent, Scalar) and exponent == 0:
        return x
    if isinstance(exponent, Scalar):
        mask = (x.body.constant(x.kind, 1) << exponent) - 1
        half = mask >> 1
    else:
        mask = x.body.constant(x.kind, (1 << int(exponent)) - 1)
        half = x.body.constant(x.kind, ((1 << int(exponent)) - 1) >> 1)
    sign = x >> (int(x.kind[1:]) - 1)
    up = (x & mask) > (half - sign)
    return (x >> exponent) + up.extend(x.kind, signed=False)


def multiply_double_rounding(x: Scalar, multiplier: Number, left: Number, right: Number) -> Scalar:
    """TFLite's ``MultiplyByQuantizedMultiplier`` of an i32; ``x << left`` wraps."""
    return rounding_divide_by_pot(srdhm(x << left, multiplier), right)


def saturate16(x: Scalar) -> Scalar:
    """The nearest int16, in the type of ``x``."""
    return x.clip(-32768, 32767)


def round_half_away_ratio(total: Scalar, count: Number) -> Scalar:
    """``total / count`` to nearest, ties away from zero, ``count > 0``: ``(total +- count / 2) / count``,
    truncated.
    """
    half = count >> 1 if isinstance(count, Scalar) else int(count) // 2
    return (total > 0).select(total + half, total - half) / count


def widen(x: Scalar, params: QuantParams) -> Scalar:
    """A stored integer in i32."""
    return x.extend("i32", signed=params.storage.signed)


def centred(x: Scalar, params: QuantParams) -> Scalar:
    """``q - zero_point``, in i32 (in i64 where it might overflow)."""
    wide = widen(x, params)
    if params.storage.bits >= 32 and params.zero_point != 0:
        wide = wide.extend("i64")
    return wide - params.zero_point


def stored_bits(value: int, kind: str) -> int:
    """The signed number with the bits of the stored ``value``: 200 in u8 is -56 in i8."""
    bits = int(kind[1:])
    return (value + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


def require_per_tensor(type_: TensorType, what: str) -> QuantParams:
    """The parameters of a type that has one scale; raises :class:`UnsupportedFormError` for any other."""
    if not type_.params.is_per_tensor:
        raise UnsupportedFormError(f"{what} has per-channel parameters, expected one scale and zero point")
    return type_.params


def to_result(
    builder: Builder, call: Call, value: Value, source: TensorType, clamp: Sequence[float] = ()
) -> Value:
    """``value``, held in ``source``'s element type, brought to the result's parameters and clamped; no op if
    nothing changes.
    """
    shape = tuple(value.type.shape)
    if not call.result.is_quantized:
        return clamp_float(builder, value, clamp) if call.result.is_float else value
    target = call.result.params
    if source.params.same_values(target):
        if not target.is_per_tensor:
            return value
        rounding = rule(call.mode, call.op.name.removeprefix("qnn."), target.storage.bits)
        return _clamp_stored(builder, value, target, rescale.clamp_bounds(target, clamp, rounding))
    require_per_tensor(source, "the input")
    require_per_tensor(call.result, "the result")
    constants = rescale.requantize(source, call.result, clamp, call.mode)
    part = replace(call, result=replace(call.result, shape=shape))
    return rescaled(builder, part, [value], constants.rescale, lambda x: centred(x, source.params))


def _clamp_stored(builder: Builder, value: Value, params: QuantParams, bounds: tuple[int, int]) -> Value:
    low, high = bounds
    full = Storage.of(params.storage.name)
    if low <= full.minimum and high >= full.maximum:
        return value
    kind = str(value.type.element_type)
    wide = "i64" if kind == "i64" else "i32"

    def formula(x: Scalar) -> Scalar:
        return x.extend(wide, signed=params.storage.signed).clip(low, high).truncate(kind)

    return builder.elementwise([value], value.type.shape, kind, formula)


def clamp_float(builder: Builder, value: Value, clamp: Sequence[float]) -> Value:
    """A float tensor limited to the real bounds, NaN kept; ``value`` itself if there are none."""
    if not clamp or (np.isneginf(clamp[0]) and np.isposinf(clamp[1])):
        return value
    kind = str(value.type.element_type)

    def formula(x: Scalar) -> Scalar:
        return x.clip_keeping_nan(float(np.float32(clamp[0])), float(np.float32(clamp[1])))

    return builder.elementwise([value], value.type.shape, kind, formula)


def lookup(body_source: Any, x: Scalar) -> Scalar:
    """Element ``x`` (read as unsigned) of the constant tensor ``body_source``; see :func:`by_unsigned`."""
    return x.body.extract(body_source, [x.to_index(signed=False)])


def by_unsigned(table: np.ndarray[Any, Any], *, signed: bool) -> np.ndarray[Any, Any]:
    """A table indexed by ``q - lowest stored value``, reordered to be indexed by the stored bits read as
    unsigned.
    """
    return np.roll(table, len(table) // 2) if signed else table
