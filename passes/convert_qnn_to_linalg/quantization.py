"""quantize, dequantize, requantize and clamp."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...dialect import rescale
from ...dialect.numerics import Rounding, rule
from ...dialect.types import QuantParams, broadcast_along
from .arith import centred, clamp_float, require_per_tensor, rescaled, to_result
from .builder import Builder, Value
from .core import Call, storage_kind
from .scalar import Number, Scalar


def quantize(builder: Builder, call: Call) -> Value:
    """``[low, high](round(x / s) + z)``: a true float32 division, limited before it becomes an integer; NaN
    gives ``z``.

    XNNPACK multiplies by ``1 / s`` and rounds half to even; there NaN gives the highest value.
    """
    params, kind = call.result.params, storage_kind(call.result)
    half_even = rule(call.mode, "quantize", params.storage.bits) is Rounding.FLOAT32_HALF_EVEN
    scales = np.asarray(params.scales, np.float32)
    if half_even:
        scales = np.float32(1.0) / scales
    parameters = _AlongAxis(builder, call, params)
    scale = parameters.add("scale", [float(s) for s in scales], "float32")
    zero_point = parameters.add("zero_point", params.zero_points, "int32")
    low, high = params.storage.minimum, params.storage.maximum
    # Wide enough for every zero point, and exact in the float type it is applied in.
    float_low, float_high = low - max(params.zero_points), high - min(params.zero_points)
    float_kind, integer_kind = ("f64", "i64") if params.storage.bits > 16 else ("f32", "i32")

    def formula(x: Scalar, *rest: Scalar) -> Scalar:
        steps = x * _pick(scale, rest) if half_even else x / _pick(scale, rest)
        instead = steps.body.constant("f32", np.inf if half_even else 0.0)
        number = steps.compare("unordered", steps).select(instead, steps)
        rounded = (
            number.call("roundeven" if half_even else "round")
            .extend(float_kind)
            .clip(float_low, float_high)
            .to_integer(integer_kind)
        )
        offset = _pick(zero_point, rest)
        shifted = rounded + (offset.extend(integer_kind) if isinstance(offset, Scalar) else offset)
        return (shifted.clip(low, high) if isinstance(offset, Scalar) else shifted).truncate(kind)

    return builder.elementwise([call.operand(0), *parameters.tensors], call.result.shape, kind, formula)


def dequantize(builder: Builder, call: Call) -> Value:
    """``f32((q - z) * s)``: exact in float64, rounded once."""
    params = call.types[0].params
    parameters = _AlongAxis(builder, call, params)
    scale = parameters.add("scale", params.scales, "float64")
    zero_point = parameters.add("zero_point", params.zero_points, "int32")
    wide = "i64" if params.storage.bits > 16 else "i32"

    def formula(q: Scalar, *rest: Scalar) -> Scalar:
        offset = _pick(zero_point, rest)
        steps = q.extend(wide, signed=params.storage.signed)
        steps = steps - (offset.extend(wide) if isinstance(offset, Scalar) else offset)
        return (steps.to_float("f64") * _pick(scale, rest)).truncate("f32")

    return builder.elementwise([call.operand(0), *parameters.tensors], call.result.shape, "f32", formula)


def requantize(builder: Builder, call: Call) -> Value:
    """``[low, high](round((q - z_x) * s_x / s_y) + z_y)``; nothing if the parameters are equal."""
    return to_result(builder, call, call.operand(0), call.types[0])


def clamp(builder: Builder, call: Call) -> Value:
    """The RELU family: the result's parameters, then the real bounds."""
    source = call.types[0]
    if not source.is_quantized:
        return clamp_float(builder, call.operand(0), call.clamp)
    require_per_tensor(source, "the input")
    require_per_tensor(call.result, "the result")
    constants = rescale.clamp(source, call.result, call.clamp, call.mode)
    return rescaled(builder, call, [call.operand(0)], constants.rescale, lambda x: centred(x, source.params))


class _AlongAxis:
    """Parameters of a type as constant tensors that broadcast over the values; shared ones stay numbers."""

    def __init__(self, builder: Builder, call: Call, params: QuantParams) -> None:
        self._builder = builder
        self._name = call.name
        self._params, self._shape = params, call.result.shape
        self.tensors: list[Value] = []

    def add(self, what: str, values: Sequence[float], dtype: str) -> int | float | _Position:
        if all(value == values[0] for value in values):
            return values[0]
        array = broadcast_along(values, self._params, self._shape).astype(dtype)
        self.tensors.append(self._builder.constant(array, f"{self._name}_{what}"))
        return _Position(len(self.tensors) - 1)


class _Position:
    """Which of the extra scalars of the body holds a parameter."""

    def __init__(self, index: int) -> None:
        self.index = index


def _pick(parameter: int | float | _Position, scalars: Sequence[Scalar]) -> Number:
    return scalars[parameter.index] if isinstance(parameter, _Position) else parameter
