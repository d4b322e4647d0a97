"""dynamic_conv2d and dynamic_fully_connected: range, quantization, an integer contraction, a float epilogue.

The input is stored less its zero point, in i16, so that the contraction is one of plain integers and pads
with zero. (Where i8 would do, too: machines multiply and add pairs of i16.)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...dialect.dynamic_range import ASYMMETRIC_RANGE, SYMMETRIC_MAXIMUM
from .arith import ChannelParameters, widen
from .builder import Builder, Value
from .contraction import Terms, contract_convolution, contract_rows
from .core import Call
from .scalar import Scalar

_LANES = 32
"""Neighbours that the first step of a range keeps apart: a vector's worth, since a maximum of floats is not
vectorized along its reduction.
"""


def dynamic_conv2d(builder: Builder, call: Call) -> Value:
    """``clamp(scales * sum(centred * w) + b)``; one row per image."""
    images, *extents = call.types[0].shape
    rows, scale = _quantized(builder, call, images, bool(call["asymmetric"]))
    top, bottom, left, right = call["padding"]
    image = builder.reshape(rows, [images, *extents])
    padded = builder.pad(image, [0, top, left, 0], [0, bottom, right, 0], 0)
    acc = builder.reshape(contract_convolution(builder, call, padded, _terms(call)), call.result.shape)
    scales = builder.reshape(scale, [images, 1, 1, 1])
    return _epilogue(builder, call, acc, scales, bool(call["scales_first"]))


def dynamic_fully_connected(builder: Builder, call: Call) -> Value:
    """``clamp(scales * (centred @ w.T) + b)``; leading dimensions of the input collapsed to one."""
    depth = call.types[1].shape[1]
    count = call.types[0].elements // depth
    rows, scale = _quantized(builder, call, count, bool(call["asymmetric"]))
    column = builder.reshape(scale, [count, 1])
    if call.types[1].params.block_sizes:
        result = _finished(builder, call, _sum_of_blocks(builder, call, rows), column)
    else:
        acc = contract_rows(builder, call, rows, _terms(call))
        result = _epilogue(builder, call, acc, column, scales_first=True)
    return builder.reshape(result, call.result.shape)


def _sum_of_blocks(builder: Builder, call: Call, rows: Value) -> Value:
    """``sum_j (sum_k centred[r, j, k] * w[n, j, k]) * s_w[n, j]``, f32 ``[R, N]``."""
    params, (outputs, depth) = call.types[1].params, call.types[1].shape
    size, count = dict(params.block_sizes)[1], rows.type.shape[0]
    blocks = depth // size
    terms = _terms(call)
    split = (builder.reshape(rows, [count, blocks, size]), "r, j, k")
    filter_ = (builder.reshape(call.operand(1), [outputs, blocks, size]), "n, j, k")
    start = builder.filled([count, outputs, blocks], "i32", 0)
    (acc,) = builder.generic("r n j +k", [split, filter_], [(start, "r, n, j")], terms.product)
    array = np.asarray(params.scales, np.float32).reshape(outputs, blocks)
    scales = (builder.constant(array, f"{call.name}_scale"), "n, j")

    def total(number: Scalar, scale: Scalar, so_far: Scalar) -> Scalar:
        return so_far + number.to_float("f32") * scale

    zero = builder.filled([count, outputs], "f32", 0.0)
    return builder.generic("r n +j", [(acc, "r, n, j"), scales], [(zero, "r, n")], total)[0]


def _finished(builder: Builder, call: Call, total: Value, scale: Value) -> Value:
    """``clamp(total * s_x + b)`` in f32."""
    bias = [call.operand(2)] if len(call.types) > 2 else []

    def formula(real: Scalar, step: Scalar, *rest: Scalar) -> Scalar:
        result = real * step
        return _clamped(call, result + rest[0] if rest else result)

    return builder.elementwise([total, scale, *bias], total.type.shape, "f32", formula)


def _clamped(call: Call, value: Scalar) -> Scalar:
    bounds = [float(np.float32(bound)) for bound in call.clamp]
    return value.clip_keeping_nan(*bounds) if bounds else value


def _terms(call: Call) -> Terms:
    """A sum of plain integers from zero."""
    kind = call.types[1].params

    def product(x: Scalar, w: Scalar, acc: Scalar) -> Scalar:
        return acc + x.extend("i32") * widen(w, kind)

    return Terms("i32", 0, None, product)


def _quantized(builder: Builder, call: Call, count: int, asymmetric: bool) -> tuple[Value, Value]:
    """The input as ``count`` rows of centred stored values, and the rows' scales, f32 ``[count]``."""
    rows = builder.reshape(call.operand(0), [count, call.types[0].elements // count])
    return _asymmetric(builder, rows) if asymmetric else _symmetric(builder, rows)


def _symmetric(builder: Builder, rows: Value) -> tuple[Value, Value]:
    """``q = clip(round(x * (127 / r)))`` in i16, ``s = r / 127``, ``r = max(abs(x))``; 1 where r is 0."""
    count, depth = rows.type.shape
    top = float(SYMMETRIC_MAXIMUM)
    largest = _largest(builder, rows, lambda x: x.call("absf"))

    def quantized(x: Scalar, r: Scalar) -> Scalar:
        inverse = (r > 0.0).select(r.body.constant("f32", top) / r, 1.0)
        return (x * inverse).call("round").clip(-top, top).to_integer("i16")

    def scale(r: Scalar) -> Scalar:
        return (r > 0.0).select(r / top, 1.0)

    column = builder.reshape(largest, [count, 1])
    return (
        builder.elementwise([rows, column], [count, depth], "i16", quantized),
        builder.elementwise([largest], [count], "f32", scale),
    )


def _asymmetric(builder: Builder, rows: Value) -> tuple[Value, Value]:
    """``clip(round(x * (1 / s)) + z) - z`` in i16; see ``dialect/dynamic_range.py``."""
    count, depth = rows.type.shape
    low, high = ASYMMETRIC_RANGE
    largest = _largest(builder, rows, lambda x: x)
    lowered = _largest(builder, rows, lambda x: x * -1.0)  # the smallest value, times -1

    def scale(maximum: Scalar, negated: Scalar) -> Scalar:
        return _scale(maximum, negated).truncate("f32")

    def zero_point(maximum: Scalar, negated: Scalar) -> Scalar:
        step = _scale(maximum, negated)
        below, above = negated.extend("f64") / step, maximum.extend("f64") / step  # both >= 0
        nearer = (below - float(low)).compare("lt", above + float(high))
        point = nearer.select(below + float(low), above * -1.0 + float(high)).call("round")
        known = (maximum + negated > 0.0).select(point, 0.0)  # a row of zeros has no range
        return known.clip(float(low), float(high)).to_integer("i32")

    ends = [largest, lowered]
    scales = builder.elementwise(ends, [count], "f32", scale)
    points = builder.elementwise(ends, [count], "i32", zero_point)

    def quantized(x: Scalar, s: Scalar, z: Scalar) -> Scalar:
        inverse, point = s.body.constant("f32", 1.0) / s, z.to_float("f32")
        first, last = point * -1.0 + float(low), point * -1.0 + float(high)
        rounded = (x * inverse).call("round")
        raised = (rounded > first).select(rounded, first)  # NaN is not above
        return (raised < last).select(raised, last).to_integer("i16")

    columns = [builder.reshape(value, [count, 1]) for value in (scales, points)]
    return builder.elementwise([rows, *columns], [count, depth], "i16", quantized), scales


def _scale(maximum: Scalar, negated: Scalar) -> Scalar:
    """``(maximum - minimum) / 255``, the difference in f32 and the rest in f64; 1 for a row of zeros."""
    low, high = ASYMMETRIC_RANGE
    span = (maximum + negated).extend("f64")
    return (span > 0.0).select(span / float(high - low), 1.0)


def _largest(builder: Builder, rows: Value, of: Callable[[Scalar], Scalar]) -> Value:
    """``max(0, of(x))`` over each row ``[R, K]``, ``[R]``; NaN is no value."""
    count, depth = rows.type.shape

    def larger(x: Scalar, most: Scalar) -> Scalar:
        value = of(x)
        return (value > most).select(value, most)

    if depth % _LANES or depth == _LANES:
        start = builder.filled([count], "f32", 0.0)
        return builder.generic("r +k", [(rows, "r, k")], [(start, "r")], larger)[0]
    split = builder.reshape(rows, [count, depth // _LANES, _LANES])
    lanes = builder.filled([count, _LANES], "f32", 0.0)
    partial = builder.generic("r +k l", [(split, "r, k, l")], [(lanes, "r, l")], larger)[0]
    start = builder.filled([count], "f32", 0.0)

    def largest(x: Scalar, most: Scalar) -> Scalar:
        return (x > most).select(x, most)

    return builder.generic("r +l", [(partial, "r, l")], [(start, "r")], largest)[0]


def _epilogue(builder: Builder, call: Call, acc: Value, scale: Value, scales_first: bool) -> Value:
    """``clamp(acc * (s_x * s_w) + b)`` or ``clamp((acc * s_w) * s_x + b)``, in f32."""
    parameters = ChannelParameters(builder, call.name)
    scales = [float(np.float32(s)) for s in call.types[1].params.scales]
    filter_scale = parameters.add("scale", scales, "float32")
    bias = [call.operand(2)] if len(call.types) > 2 else []

    def formula(number: Scalar, step: Scalar, *rest: Scalar) -> Scalar:
        factor = filter_scale(rest)
        real = number.to_float("f32")
        result = real * (step * factor) if scales_first else (real * factor) * step
        if bias:
            result = result + rest[-1]
        return _clamped(call, result)

    inputs = [acc, scale, *parameters.tensors, *bias]
    return builder.elementwise(inputs, acc.type.shape, "f32", formula)
