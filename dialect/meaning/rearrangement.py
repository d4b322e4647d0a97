"""broadcast, reverse, reverse_sequence, select and cast."""

from __future__ import annotations

import numpy as np

from .call import Array, Call, to_result


def broadcast(call: Call) -> Array:
    """``x`` repeated as numpy broadcasts it."""
    (x,) = call.inputs
    return to_result(call, np.broadcast_to(x, call.result.shape), call.types[0])


def reverse(call: Call) -> Array:
    """``y[..., i, ...] = x[..., n - 1 - i, ...]`` for every one of ``axes``."""
    (x,) = call.inputs
    return to_result(call, np.flip(x, tuple(call["axes"])), call.types[0])


def reverse_sequence(call: Call) -> Array:
    """The first ``lengths[b]`` values of batch ``b`` in reverse order; no more than there are."""
    x, lengths = call.inputs
    axis, batch_axis = call["axis"], call["batch_axis"]

    def along(dimension: int, values: Array) -> Array:
        return values.reshape([-1 if d == dimension else 1 for d in range(x.ndim)])

    place = along(axis, np.arange(x.shape[axis]))
    length = along(batch_axis, np.clip(lengths.astype(np.int64), 0, x.shape[axis]))
    source = np.broadcast_to(np.where(place < length, length - 1 - place, place), x.shape)
    return to_result(call, np.take_along_axis(x, source, axis), call.types[0])


def select(call: Call) -> Array:
    """``on_true`` where the condition holds, else ``on_false``, both in the result's parameters."""
    on_true, on_false, condition = call.inputs
    then, otherwise = to_result(call, on_true, call.types[0]), to_result(call, on_false, call.types[1])
    return np.where(condition, then, otherwise)


def cast(call: Call) -> Array:
    """Floats are cut off and saturate, NaN becomes the largest integer; integers wrap around."""
    (x,), target = call.inputs, call.result.dtype
    if x.dtype.kind != "f" or target.kind not in "iu":
        with np.errstate(over="ignore"):
            return x.astype(target)
    limits = call.result.stored
    # 2^bits is a float, the largest integer below it is not; f16 has neither.
    x = x.astype(np.float64)
    beyond = np.isnan(x) | (x >= 2.0 ** (limits.bits - limits.signed))
    below = x <= limits.minimum
    inside = np.where(beyond | below, 0, x).astype(target)
    result: Array = np.where(beyond, limits.maximum, np.where(below, limits.minimum, inside)).astype(target)
    return result
