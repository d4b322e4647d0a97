"""Ops that move values: concat, reshape, transpose, pad, slice; a change of parameters follows where they
differ.
"""

from __future__ import annotations

from ...dialect import rescale
from ...dialect.types import TensorType
from .arith import require_per_tensor, stored_bits, to_result
from .builder import Builder, Value
from .core import Call, storage_kind
from .scalar import Scalar


def reshape(builder: Builder, call: Call) -> Value:
    """The same values in row-major order: collapse and expand, which move nothing."""
    return to_result(builder, call, builder.reshape(call.operand(0), call.result.shape), call.types[0])


def transpose(builder: Builder, call: Call) -> Value:
    """An elementwise copy whose input is read through the permutation."""
    moved = builder.transpose(call.operand(0), call["permutation"])
    return to_result(builder, call, moved, call.types[0])


def slice_(builder: Builder, call: Call) -> Value:
    """``tensor.extract_slice``."""
    part = builder.extract_slice(call.operand(0), call["offsets"], call["sizes"], call["strides"])
    return to_result(builder, call, part, call.types[0])


def pad(builder: Builder, call: Call) -> Value:
    """``tensor.pad`` with the real ``value``, quantized by the input's parameters."""
    source, value = call.types[0], float(call["value"])
    kind = storage_kind(source)
    if source.is_quantized:
        require_per_tensor(source, "the input")
        value = stored_bits(rescale.stored_value(source.params, value), kind)
    padded = builder.pad(call.operand(0), call["low"], call["high"], value)
    return to_result(builder, call, padded, source)


def concat(builder: Builder, call: Call) -> Value:
    """``tensor.concat`` of the inputs, each brought to the result's parameters before."""
    parts = [_concat_part(builder, call, call.operand(i), type_) for i, type_ in enumerate(call.types)]
    return parts[0] if len(parts) == 1 else builder.concat(parts, call["axis"], call.result.shape)


def _concat_part(builder: Builder, call: Call, value: Value, source: TensorType) -> Value:
    """One input in the result's parameters; uint8 changes them in float32, as TFLite's kernel does."""
    if not source.is_quantized or source.params.same_values(call.result.params):
        return to_result(builder, call, value, source)
    constants = rescale.concat_input(source, call.result, call.mode)
    if not isinstance(constants, rescale.FloatRescale):
        return to_result(builder, call, value, source)
    low, high = constants.low - constants.zero_point, constants.high - constants.zero_point

    def formula(q: Scalar) -> Scalar:
        real = q.extend("i32", signed=False).to_float("f32") * constants.scale + constants.offset
        return (real.call("round").clip(low, high).to_integer("i32") + constants.zero_point).truncate("i8")

    return builder.elementwise([value], source.shape, "i8", formula)
