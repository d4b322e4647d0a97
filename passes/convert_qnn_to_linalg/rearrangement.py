"""broadcast, reverse, reverse_sequence, select and cast: one elementwise op each."""

from __future__ import annotations

from dataclasses import replace

from ...dialect.types import TensorType
from .arith import stored_bits, to_result
from .builder import Builder, Value
from .core import Call, is_signed, storage_kind
from .scalar import Scalar


def operand_as_result(builder: Builder, call: Call, index: int) -> Value:
    """An operand in the result's parameters, in its own shape."""
    source = call.types[index]
    part = replace(call, result=replace(call.result, shape=source.shape))
    return to_result(builder, part, call.operand(index), source)


def broadcast(builder: Builder, call: Call) -> Value:
    """The input, read at 0 along the dimensions that are repeated."""
    source = call.types[0]
    value = builder.elementwise([call.operand(0)], call.result.shape, storage_kind(source), lambda x: x)
    return to_result(builder, call, value, source)


def reverse(builder: Builder, call: Call) -> Value:
    """The input, read from the end along ``axes``."""
    source, axes = call.types[0], set(call["axes"])
    names = [f"d{i}" for i in range(len(source.shape))]
    read = [
        f"{extent - 1} - {name}" if d in axes else name
        for d, (name, extent) in enumerate(zip(names, source.shape, strict=True))
    ]
    output = (builder.empty(source.shape, storage_kind(source)), ", ".join(names))
    inputs = [(call.operand(0), ", ".join(read))]
    value = builder.generic(" ".join(names), inputs, [output], lambda x, _: x)[0]
    return to_result(builder, call, value, source)


def reverse_sequence(builder: Builder, call: Call) -> Value:
    """``result[b, i] = input[b, i < lengths[b] ? lengths[b] - 1 - i : i]``."""
    source, axis, batch_axis = call.types[0], call["axis"], call["batch_axis"]
    x, extent = call.operand(0), source.shape[axis]
    names = [f"d{i}" for i in range(len(source.shape))]

    def element(stored: Scalar, _: Scalar) -> Scalar:
        body = stored.body
        length, here = stored.extend("i64").clip(0, extent), body.index(axis).index_to("i64")
        places = [body.index(d) for d in range(len(names))]
        places[axis] = (here < length).select(length - 1 - here, here).to_index()
        return body.extract(x, places)

    output = (builder.empty(source.shape, storage_kind(source)), ", ".join(names))
    value = builder.generic(" ".join(names), [(call.operand(1), names[batch_axis])], [output], element)[0]
    return to_result(builder, call, value, source)


def select(builder: Builder, call: Call) -> Value:
    """``condition ? on_true : on_false``, both in the result's parameters."""
    then, otherwise = (operand_as_result(builder, call, i) for i in (0, 1))
    return builder.elementwise(
        [then, otherwise, call.operand(2)],
        call.result.shape,
        storage_kind(call.result),
        lambda a, b, condition: condition.select(a, b),
    )


def cast(builder: Builder, call: Call) -> Value:
    """Stored values in another type; see the op."""
    source, target = call.types[0], call.result
    kind = storage_kind(target)
    if storage_kind(source) == kind and (source.is_float or target.element != "i1"):
        return call.operand(0)

    def formula(x: Scalar) -> Scalar:
        if target.element == "i1":
            return x.compare("ne", 0)
        if source.is_float:
            return _resized_float(x, kind) if target.is_float else _saturated(x, target)
        if target.is_float:
            wide = x.extend("i64", signed=is_signed(source))
            return _resized_float(wide.to_float("f64" if kind == "f64" else "f32"), kind)
        signed = is_signed(source)
        wider = int(kind[1:]) > int(x.kind[1:])
        return x.extend(kind, signed=signed) if wider else x.truncate(kind)

    return builder.elementwise([call.operand(0)], target.shape, kind, formula)


def _resized_float(x: Scalar, kind: str) -> Scalar:
    return x.extend(kind) if int(kind[1:]) > int(x.kind[1:]) else x.truncate(kind)


def _saturated(x: Scalar, target: TensorType) -> Scalar:
    """The integer part, limited to the target's range; NaN gives its largest value."""
    limits, kind = target.stored, storage_kind(target)
    # Wide enough to hold 2^bits: f16 ends at 65504.
    real = x.extend("f32") if x.kind == "f16" else x
    end = 2.0 ** (limits.bits - limits.signed)
    beyond = real.compare("unordered", real) | (real >= end)
    below = real.compare("le", float(limits.minimum))
    # What is out of range must not reach the conversion.
    harmless = (beyond | below).select(real.body.constant(real.kind, 0.0), real)
    low, high = (
        real.body.constant(kind, stored_bits(value, kind)) for value in (limits.minimum, limits.maximum)
    )
    return beyond.select(high, below.select(low, harmless.to_integer("i64").truncate(kind)))
