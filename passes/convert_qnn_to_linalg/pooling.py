"""max_pool2d and avg_pool2d: one reduction over windows, channels innermost; then rounding and change of
parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...dialect import rescale
from ...dialect.numerics import rule
from .arith import clamp_float, require_per_tensor, round_half_away_ratio, stored_bits, to_result, widen
from .builder import Builder, Value
from .core import Array, Call, storage_kind
from .scalar import Number, Scalar


def max_pool2d(builder: Builder, call: Call) -> Value:
    """The largest stored value of each window; borders are padded with the smallest one."""
    source = call.types[0]
    kind = storage_kind(source)
    if source.is_float:
        pooled = _pool(builder, call, kind, -np.inf, lambda x, best: x.maximum(best))
        return to_result(builder, call, pooled, source, call.clamp)
    signed = source.params.storage.signed
    lowest = int(np.iinfo(str(source.dtype)).min)
    pooled = _pool(builder, call, kind, lowest, lambda x, best: x.maximum(best, signed=signed))
    return to_result(builder, call, pooled, source, call.clamp)


def avg_pool2d(builder: Builder, call: Call) -> Value:
    """The mean of the taps inside the input, stored integers rounded half away from zero."""
    source = call.types[0]
    count = _counts(call)
    counts = None if (count == count.flat[0]).all() else builder.constant(count, f"{call.name}_count")
    extra = [] if counts is None else [counts]
    shared = int(count.flat[0])
    if source.is_float:
        total = _pool(builder, call, "f64", 0.0, lambda x, acc: acc + x.extend("f64"))

        def quotient(acc: Scalar, *taps: Scalar) -> Scalar:
            return (acc / (taps[0].to_float("f64") if taps else float(shared))).truncate("f32")

        mean = builder.elementwise([total, *extra], call.result.shape, "f32", quotient)
        return clamp_float(builder, mean, call.clamp)
    params = require_per_tensor(source, "the input")
    total = _pool(builder, call, "i32", 0, lambda x, acc: acc + widen(x, params))
    same = params.same_values(call.result.params)
    rounding = rule(call.mode, "avg_pool2d", params.storage.bits)
    low, high = rescale.clamp_bounds(call.result.params, call.clamp, rounding) if same else (0, 0)
    kind = storage_kind(source)

    def rounded(acc: Scalar, *taps: Scalar) -> Scalar:
        count: Number = taps[0] if taps else shared
        ratio = round_half_away_ratio(acc, count)
        return (ratio.clip(low, high) if same else ratio).truncate(kind)

    mean = builder.elementwise([total, *extra], call.result.shape, kind, rounded)
    return (
        mean if same else to_result(builder, call, mean, replace(source, shape=call.result.shape), call.clamp)
    )


def _pool(
    builder: Builder, call: Call, kind: str, start: float, combine: Callable[[Scalar, Scalar], Scalar]
) -> Value:
    """``combine`` over the windows of the input padded with ``start``, in element type ``kind``."""
    top, bottom, left, right = call["padding"]
    (sh, sw), window = call["strides"], call["window"]
    source_kind = storage_kind(call.types[0])
    stored = start if source_kind[0] == "f" else stored_bits(int(start), source_kind)
    padded = builder.pad(call.operand(0), [0, top, left, 0], [0, bottom, right, 0], stored)
    first = start if kind[0] == "f" else stored_bits(int(start), kind)
    # An operand that only says how large the window is: loop bounds come from operand shapes.
    extent = builder.empty(window, kind)
    return builder.generic(
        "n y x +i +j c",
        [(padded, f"n, y * {sh} + i, x * {sw} + j, c"), (extent, "i, j")],
        [(builder.filled(call.result.shape, kind, first), "n, y, x, c")],
        lambda x, _, acc: combine(x, acc),
    )[0]


def _counts(call: Call) -> Array:
    """Valid taps of each window, ``[1, OH, OW, 1]``, int32, at least one."""
    top, _, left, _ = call["padding"]
    _, height, width, _ = call.types[0].shape
    _, out_rows, out_columns, _ = call.result.shape
    (sh, sw), (kh, kw) = call["strides"], call["window"]
    rows = _valid(np.arange(out_rows) * sh - top, kh, height)
    columns = _valid(np.arange(out_columns) * sw - left, kw, width)
    counts: Array = np.maximum(rows[:, None] * columns, 1).astype(np.int32)
    return counts[None, :, :, None]


def _valid(first: Array, window: int, extent: int) -> Array:
    inside: Array = np.minimum(first + window, extent) - np.maximum(first, 0)
    return np.maximum(inside, 0)
