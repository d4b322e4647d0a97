"""Ops whose places are values: gather, scatter_nd, dynamic_slice, dynamic_update_slice, one_hot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .call import Array, Call, to_result


def gather(call: Call) -> Array:
    """``y[p, q, s] = x[p, indices[p[:batch_dims], q, :], s]``, coordinates limited to what exists."""
    x, indices = call.inputs
    axis, batch_dims, depth = call["axis"], call["batch_dims"], indices.shape[-1]
    middle = indices.ndim - 1 - batch_dims
    rank = axis + middle + x.ndim - axis - depth

    def place(values: Array, dims: Sequence[int]) -> Array:
        """``values``, whose dimensions are the result's ``dims``, laid out to broadcast."""
        shape = [1] * rank
        for extent, d in zip(values.shape, dims, strict=True):
            shape[d] = extent
        return values.reshape(shape)

    dims = [*range(batch_dims), *range(axis, axis + middle)]
    coordinates = [place(np.arange(x.shape[d]), [d]) for d in range(axis)]
    for k in range(depth):
        limited = np.clip(indices[..., k].astype(np.int64), 0, x.shape[axis + k] - 1)
        coordinates.append(place(limited, dims))
    coordinates += [place(np.arange(x.shape[d]), [d - depth + middle]) for d in range(axis + depth, x.ndim)]
    return to_result(call, x[tuple(coordinates)], call.types[0])


def scatter_nd(call: Call) -> Array:
    """Sums of updates by place, those outside of the result dropped; quantized: ``clamp(z + sum(q - z))``."""
    updates, indices = call.inputs
    shape, depth = call.result.shape, indices.shape[-1]
    flat = indices.reshape(-1, depth).astype(np.int64)
    inside = np.all((flat >= 0) & (flat < np.asarray(shape[:depth])), axis=1)
    values = updates.reshape(len(flat), *shape[depth:])[inside]
    where = tuple(flat[inside].T)
    if call.result.element == "i1":
        flags = np.zeros(shape, bool)
        np.logical_or.at(flags, where, values)
        return flags
    if not call.result.is_quantized:
        sums = np.zeros(shape, call.result.dtype)
        np.add.at(sums, where, values)
        return sums
    params = call.result.params
    total = np.zeros(shape, np.int64)
    np.add.at(total, where, values.astype(np.int64) - params.zero_point)
    limited = np.clip(total + params.zero_point, params.storage.minimum, params.storage.maximum)
    return limited.astype(call.result.dtype)


def dynamic_slice(call: Call) -> Array:
    """``y[i] = x[start + i]``, ``start`` limited to where ``y`` fits."""
    x, begin = call.inputs
    return to_result(call, x[_window(begin, x.shape, call.result.shape)], call.types[0])


def dynamic_update_slice(call: Call) -> Array:
    """``x`` with ``update`` at ``start``, limited to where it fits; both in the result's parameters."""
    x, update, begin = call.inputs
    result: Array = to_result(call, x, call.types[0]).copy()
    result[_window(begin, x.shape, update.shape)] = to_result(call, update, call.types[1])
    return result


def _window(begin: Array, shape: Sequence[int], sizes: Sequence[int]) -> tuple[slice, ...]:
    starts: Array = np.clip(begin.astype(np.int64), 0, np.subtract(shape, sizes))
    return tuple(slice(start, start + size) for start, size in zip(starts.tolist(), sizes, strict=True))


def one_hot(call: Call) -> Array:
    """``on_value`` where the index along ``axis`` is the one given, else ``off_value``."""
    indices = call.inputs[2]
    axis, shape = call["axis"], call.result.shape
    places = np.arange(shape[axis]).reshape([-1 if d == axis else 1 for d in range(len(shape))])
    on, off = (to_result(call, call.inputs[i], call.types[i]) for i in (0, 1))
    return np.where(np.expand_dims(indices, axis) == places, on, off)
