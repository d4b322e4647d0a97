"""conv2d and fully_connected: one tagged contraction, then one elementwise rescale.

The contraction is a single ``linalg.generic`` with the discardable attribute ``qnn.contraction``:

* ``conv2d``: filter ``[O, KH, KW, C]`` (grouped: ``[G, O/G, KH, KW, C/G]``), innermost loop a sum over
  contiguous channels;
* ``depthwise_conv2d``: filter rearranged at compile time to ``[KH, KW, C]`` (or ``[KH, KW, C, M]``),
  innermost loop parallel over contiguous channels;
* ``matmul``: input ``[M, K]``, filter ``[N, K]``.

The sum of floats may not be reordered, so their innermost loop is parallel over outputs where the filter is a
constant: ``[KH, KW, C, O]``, ``[K, N]``.

Its accumulator starts as the broadcast bias (``linalg.broadcast``; ``linalg.fill`` if the channels agree),
into which the input's zero point is folded; borders are padded with that zero point. Where the filter or bias
is not a constant, the zero point is subtracted in the loop instead.

The accumulator is an i32. With an i64 bias it is an i64, unless the weights are constants that cannot exceed
32 bits: then the sum starts at zero in i32, and the rescale adds the bias.

The rescale works on the accumulator in the result's number of dimensions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...dialect import rescale
from ...dialect.fixed_point import INT32_MAX, INT32_MIN
from ...dialect.numerics import Rounding
from ...dialect.types import QuantParams
from .arith import clamp_float, require_per_tensor, rescaled, stored_bits, widen
from .builder import Builder, Formula, Value
from .core import Array, Call
from .scalar import Scalar


@dataclass(frozen=True)
class Terms:
    """What goes into a contraction besides input and filter."""

    kind: str
    """The accumulator's: i32, i64 or f32."""
    bias: Value | float
    """``[O]``, or the number that all channels share."""
    filter_zero_points: Value | None
    """``[O]`` i32, if the channels differ; it is then the formula's third operand."""
    product: Formula
    """``(x, w[, filter_zero_point], acc) -> acc + x * w``."""
    late_bias: Array | None = None
    """``[O]`` int64: what the rescale adds."""


def conv2d(builder: Builder, call: Call) -> Value:
    """``clamp(rescale(sum x * w + bias))`` over windows; see the module's docstring for the form."""
    constants = _constants(call, rescale.conv2d)
    terms = _terms(builder, call, constants)
    acc = contract_convolution(builder, call, _padded(builder, call), terms)
    return _epilogue(builder, call, builder.reshape(acc, call.result.shape), constants, terms)


def fully_connected(builder: Builder, call: Call) -> Value:
    """``clamp(rescale(x @ w.T + bias))``, leading dimensions of the input collapsed to one."""
    constants = _constants(call, rescale.fully_connected)
    terms = _terms(builder, call, constants)
    depth = call.types[1].shape[1]
    rows = builder.reshape(call.operand(0), [call.types[0].elements // depth, depth])
    acc = contract_rows(builder, call, rows, terms)
    return builder.reshape(_epilogue(builder, call, acc, constants, terms), call.result.shape)


def contract_convolution(builder: Builder, call: Call, padded: Value, terms: Terms) -> Value:
    """The accumulators of a convolution by ``call``'s filter and window, in the result's shape up to a
    reshape.
    """
    if call["groups"] == call.types[0].shape[3]:
        return _depthwise(builder, call, padded, terms)
    return (_dense if call["groups"] == 1 else _grouped)(builder, call, padded, terms)


def contract_rows(builder: Builder, call: Call, rows: Value, terms: Terms) -> Value:
    """The accumulators ``[M, N]`` of ``rows`` [M, K] and ``call``'s filter [N, K]."""
    loops, filter_ = "m o +k", (call.operand(1), "o, k")
    if terms.kind == "f32" and call.array(1) is not None:
        loops, filter_ = "m +k o", (_outputs_last_filter(builder, call), "k, o")
    shape = [rows.type.shape[0], call.types[1].shape[0]]
    return _contract(builder, loops, (rows, "m, k"), filter_, terms, shape, "o", "matmul")


def _constants(call: Call, derive: Callable[..., rescale.Contraction]) -> rescale.Contraction | None:
    """The integer arithmetic's constants; None for floats."""
    if not call.types[0].is_quantized:
        return None
    require_per_tensor(call.types[0], "the input")
    require_per_tensor(call.result, "the result")
    return derive(call.types[0], call.types[1], call.result, call.clamp, call.mode, *call.types[2:])


def _dense(builder: Builder, call: Call, padded: Value, terms: Terms) -> Value:
    rows, columns = _window(call)
    x = (padded, f"n, {rows}, {columns}, c")
    loops, filter_ = "n y x o +i +j +c", (call.operand(1), "o, i, j, c")
    if terms.kind == "f32" and call.array(1) is not None:
        loops, filter_ = "n y x +i +j +c o", (_outputs_last_filter(builder, call), "i, j, c, o")
    return _contract(builder, loops, x, filter_, terms, call.result.shape, "o", "conv2d")


def _outputs_last_filter(builder: Builder, call: Call) -> Value:
    """A constant float filter with its outputs innermost: ``[KH, KW, C, O]`` or ``[K, N]``."""
    array = call.array(1)
    assert array is not None
    return builder.constant(np.moveaxis(array, 0, -1), f"{call.name}_filter")


def _depthwise(builder: Builder, call: Call, padded: Value, terms: Terms) -> Value:
    rows, columns = _window(call)
    outputs, height, width, _ = call.types[1].shape
    channels = call.types[0].shape[3]
    copies = outputs // channels
    batch, out_rows, out_columns, _ = call.result.shape
    if copies > 1 and channels > 1:
        axes, shape, read = "c, m", [channels, copies], "c"
    else:  # one input channel is all that there is to read
        axes, shape, read = "c", [outputs], "c" if copies == 1 else "0"
    return _contract(
        builder,
        "n y x +i +j " + axes.replace(",", ""),
        (padded, f"n, {rows}, {columns}, {read}"),
        (_channels_last_filter(builder, call, [height, width, *shape]), f"i, j, {axes}"),
        terms,
        [batch, out_rows, out_columns, *shape],
        axes,
        "depthwise_conv2d",
    )


def _channels_last_filter(builder: Builder, call: Call, shape: Sequence[int]) -> Value:
    """The depthwise filter ``[C * M, KH, KW, 1]`` as ``[KH, KW, C]`` or ``[KH, KW, C, M]``."""
    height, width = shape[0], shape[1]
    array = call.array(1)
    if array is not None:
        return builder.constant(array[..., 0].transpose(1, 2, 0).reshape(shape), f"{call.name}_filter")
    outputs = call.types[1].shape[0]
    flat = builder.reshape(call.operand(1), [outputs, height, width])
    moved = builder.transpose(flat, [1, 2, 0])
    return builder.reshape(moved, shape)


def _grouped(builder: Builder, call: Call, padded: Value, terms: Terms) -> Value:
    rows, columns = _window(call)
    groups = call["groups"]
    outputs, height, width, depth = call.types[1].shape
    split_input = builder.reshape(padded, [*padded.type.shape[:3], groups, depth])
    split_filter = builder.reshape(call.operand(1), [groups, outputs // groups, height, width, depth])
    return _contract(
        builder,
        "n y x g o +i +j +c",
        (split_input, f"n, {rows}, {columns}, g, c"),
        (split_filter, "g, o, i, j, c"),
        terms,
        [*call.result.shape[:3], groups, outputs // groups],
        "g, o",
        "conv2d",
    )


def _window(call: Call) -> tuple[str, str]:
    """Where output ``y, x`` reads the padded input at tap ``i, j``."""
    (sh, sw), (dh, dw) = call["strides"], call["dilations"]
    return f"y * {sh} + i * {dh}", f"x * {sw} + j * {dw}"


def _padded(builder: Builder, call: Call) -> Value:
    top, bottom, left, right = call["padding"]
    x, source = call.operand(0), call.types[0]
    fill = stored_bits(source.params.zero_point, str(x.type.element_type)) if source.is_quantized else 0.0
    return builder.pad(x, [0, top, left, 0], [0, bottom, right, 0], fill)


def _contract(
    builder: Builder,
    loops: str,
    x: tuple[Value, str],
    w: tuple[Value, str],
    terms: Terms,
    shape: Sequence[int],
    channel_axes: str,
    tag: str,
) -> Value:
    """The tagged contraction.

    ``channel_axes`` are the loops of the bias; they are the last axes of the result.
    """
    parallel = [name for name in loops.split() if name[0] != "+"]
    channel_shape = list(shape[len(shape) - len(channel_axes.split(",")) :])
    if isinstance(terms.bias, (int, float)):
        start = builder.filled(shape, terms.kind, terms.bias)
    else:
        bias = builder.reshape(terms.bias, channel_shape)
        start = builder.broadcast(bias, shape, range(len(shape) - len(channel_shape)))
    inputs = [x, w]
    if terms.filter_zero_points is not None:
        inputs.append((builder.reshape(terms.filter_zero_points, channel_shape), channel_axes))
    return builder.generic(loops, inputs, [(start, ", ".join(parallel))], terms.product, tag=tag)[0]


def _terms(builder: Builder, call: Call, constants: rescale.Contraction | None) -> Terms:
    has_bias = len(call.types) > 2
    if constants is None:
        start = call.operand(2) if has_bias else 0.0
        return Terms("f32", start, None, lambda x, w, acc: acc + x * w)
    weights, bias_array = call.array(1), call.array(2)
    kind = "i64" if rescale.is_wide(call.types[2] if has_bias else None) else "i32"
    late_bias = None
    folded = weights is not None and (bias_array is not None or not has_bias)
    bias: Value | float
    if folded:
        assert weights is not None
        values = rescale.folded_bias(weights, bias_array, constants)
        if kind == "i64" and _fits_32_bits(weights, call.types[0].params, constants):
            kind, bias, late_bias = "i32", 0, values
        else:
            bias = _constant_bias(builder, call, values, kind)
    else:
        bias = call.operand(2) if has_bias else 0
    zero_points = constants.filter_zero_points
    differ = len(set(zero_points)) > 1
    tensor = (
        builder.constant(np.asarray(zero_points, np.int32), f"{call.name}_filter_zero_point")
        if differ
        else None
    )
    input_params, filter_params = call.types[0].params, call.types[1].params
    input_zero_point = 0 if folded else constants.input_zero_point

    def product(x: Scalar, w: Scalar, *rest: Scalar) -> Scalar:
        filter_zero_point = rest[0] if differ else zero_points[0]
        factor = widen(w, filter_params) - filter_zero_point
        term = (widen(x, input_params) - input_zero_point) * factor
        return rest[-1] + term.extend(kind)

    return Terms(kind, bias, tensor, product, late_bias)


def _fits_32_bits(weights: Array, source: QuantParams, constants: rescale.Contraction) -> bool:
    """Whether no sum of products with the stored inputs can leave 32 bits."""
    flat = weights.reshape(weights.shape[0], -1).astype(np.int64)
    centred = flat - np.asarray(constants.filter_zero_points, np.int64).reshape(-1, 1)
    largest = max(abs(source.storage.minimum), abs(source.storage.maximum))
    return int(np.abs(centred).sum(axis=1).max(initial=0)) * largest <= INT32_MAX


def _constant_bias(builder: Builder, call: Call, bias: Array, kind: str) -> Value | float:
    """A number if the channels agree.

    Upstream would fold the broadcast of such a constant into a constant as large as the result.
    """
    if bias.size and (bias == bias[0]).all():
        return int(bias[0])
    return builder.constant(bias.astype(np.int64 if kind == "i64" else np.int32), f"{call.name}_bias")


def _epilogue(
    builder: Builder, call: Call, acc: Value, constants: rescale.Contraction | None, terms: Terms
) -> Value:
    if constants is None:
        return clamp_float(builder, acc, call.clamp)
    narrow = terms.kind == "i32" and terms.late_bias is None
    if narrow and _is_identity(constants.rescale) and call.result.params.storage.bits == 32:
        return acc
    flat = replace(call, result=replace(call.result, shape=tuple(acc.type.shape)))
    if terms.late_bias is not None:
        bias = builder.constant(terms.late_bias, f"{call.name}_bias")
        return rescaled(builder, flat, [acc, bias], constants.rescale, lambda x, b: x.extend("i64") + b)
    return rescaled(builder, flat, [acc], constants.rescale, lambda x: x)


def _is_identity(constants: rescale.Rescale) -> bool:
    full_range = constants.low <= INT32_MIN and constants.high >= INT32_MAX
    return constants.rounding is Rounding.EXACT and constants.zero_point == 0 and full_range
