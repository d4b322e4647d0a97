"""mean, arg_max and arg_min."""

from __future__ import annotations

import numpy as np

from ...dialect import rescale
from ...dialect.types import TensorType
from .arith import require_per_tensor, rescaled, stored_bits, widen
from .builder import Builder, Value
from .core import Call, is_signed, storage_kind
from .scalar import Scalar
from .sort_key import HIGHEST, NO_KEY, place_of_key, sort_key


def mean(builder: Builder, call: Call) -> Value:
    """``rescale(sum(q) - N * z)`` with ``1 / N`` in the multiplier; floats are summed in f64."""
    source = call.types[0]
    rank = len(source.shape)
    axes = {axis % rank for axis in call["axes"]} if rank else set()
    count = int(np.prod([source.shape[axis] for axis in axes], dtype=np.int64))
    if source.is_float:
        total = _sum(builder, call, axes, "f64")
        return builder.elementwise(
            [total], call.result.shape, "f32", lambda acc: (acc / float(count)).truncate("f32")
        )
    if not source.is_quantized:
        total, kind = _sum(builder, call, axes, "i64"), storage_kind(call.result)
        return builder.elementwise(
            [total],
            call.result.shape,
            kind,
            lambda acc: (acc / acc.body.constant("i64", count)).truncate(kind),
        )
    require_per_tensor(source, "the input")
    require_per_tensor(call.result, "the result")
    constants = rescale.mean(source, call.result, count, call.mode)
    total = _sum(builder, call, axes, "i32")
    if isinstance(constants, rescale.FloatMean):
        return float_mean(builder, call, total, constants)
    sum_zero_point = constants.sum_zero_point
    return rescaled(builder, call, [total], constants.rescale, lambda acc: acc - sum_zero_point)


def float_mean(builder: Builder, call: Call, total: Value, constants: rescale.FloatMean) -> Value:
    """``[low, high](round_half_even(f32(sum) * scale + offset))``, product and sum rounded one after the
    other.
    """
    kind = storage_kind(call.result)

    def formula(acc: Scalar) -> Scalar:
        real = acc.to_float("f32") * constants.scale + constants.offset
        return real.call("roundeven").clip(constants.low, constants.high).to_integer("i32").truncate(kind)

    return builder.elementwise([total], call.result.shape, kind, formula)


def _sum(builder: Builder, call: Call, axes: set[int], kind: str) -> Value:
    """The input summed over ``axes`` in ``kind``, in the result's shape."""
    source = call.types[0]
    names = [f"d{axis}" for axis in range(len(source.shape))]
    kept = [axis for axis in range(len(source.shape)) if axis not in axes]

    def accumulate(x: Scalar, acc: Scalar) -> Scalar:
        if source.is_quantized:
            return acc + widen(x, source.params)
        return acc + x.extend(kind)

    (total,) = builder.generic(
        " ".join(f"+{name}" if axis in axes else name for axis, name in enumerate(names)),
        [(call.operand(0), ", ".join(names))],
        [
            (
                builder.filled([source.shape[axis] for axis in kept], kind, 0),
                ", ".join(names[axis] for axis in kept),
            )
        ],
        accumulate,
    )
    return builder.reshape(total, call.result.shape)


def arg_max(builder: Builder, call: Call) -> Value:
    """The index of the largest value along ``axis``; the first one wins a tie, and a NaN wins over every
    number.
    """
    return _arg_extreme(builder, call, largest=True)


def arg_min(builder: Builder, call: Call) -> Value:
    """The index of the smallest value along ``axis``; ties and NaN as in :func:`arg_max`."""
    return _arg_extreme(builder, call, largest=False)


def _arg_extreme(builder: Builder, call: Call, *, largest: bool) -> Value:
    """The best value so far and its index, along ``axis``."""
    source = call.types[0]
    axis = call["axis"] % len(source.shape)
    if axis == len(source.shape) - 1 and storage_kind(source) != "i64":
        return _last_arg_extreme(builder, call, largest=largest)
    names = [f"d{i}" for i in range(len(source.shape))]
    kept = ", ".join(name for i, name in enumerate(names) if i != axis)
    shape = [extent for i, extent in enumerate(source.shape) if i != axis]
    kind, index_kind = storage_kind(source), storage_kind(call.result)
    signed = is_signed(source)

    def better(x: Scalar, best: Scalar) -> Scalar:
        if source.is_float:
            one, other = (x, best) if largest else (best, x)
            return one.compare("ugt", other) & best.compare("ordered", best)
        wide = "i64" if kind in ("i32", "i64") else "i32"
        x, best = x.extend(wide, signed=signed), best.extend(wide, signed=signed)
        return x > best if largest else x < best

    def formula(x: Scalar, best: Scalar, index: Scalar) -> tuple[Scalar, Scalar]:
        wins = better(x, best)
        here = x.body.index(axis).index_to(index_kind)
        return wins.select(x, best), wins.select(here, index)

    worst = _worst(source, largest=largest)
    start = [builder.filled(shape, kind, worst), builder.filled(shape, index_kind, 0)]
    results = builder.generic(
        " ".join(f"+{name}" if i == axis else name for i, name in enumerate(names)),
        [(call.operand(0), ", ".join(names))],
        [(value, kept) for value in start],
        formula,
    )
    return results[1]


def _last_arg_extreme(builder: Builder, call: Call, *, largest: bool) -> Value:
    """Along the last axis, whose values lie next to each other: the largest key."""
    source, shape = call.types[0], call.result.shape
    index_kind, signed = storage_kind(call.result), is_signed(source)
    rows = [f"d{i}" for i in range(len(shape))]

    def formula(x: Scalar, best: Scalar) -> Scalar:
        value = x if source.is_float else x.extend("i64", signed=signed)
        if not largest:
            value = value * -1.0 if source.is_float else value * -1
        return best.maximum(sort_key(value, x.body.index(len(shape)), nan=HIGHEST))

    (keys,) = builder.generic(
        " ".join([*rows, "+n"]),
        [(call.operand(0), ", ".join([*rows, "n"]))],
        [(builder.filled(shape, "i64", NO_KEY), ", ".join(rows))],
        formula,
    )
    return builder.elementwise([keys], shape, index_kind, lambda key: place_of_key(key).truncate(index_kind))


def _worst(source: TensorType, *, largest: bool) -> float:
    """What no stored value is worse than, as a constant of the storage type."""
    if source.is_float:
        return -np.inf if largest else np.inf
    limits = source.stored
    return stored_bits(limits.minimum if largest else limits.maximum, storage_kind(source))
