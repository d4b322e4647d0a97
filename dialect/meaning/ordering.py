"""arg_min, top_k and nonzero."""

from __future__ import annotations

import numpy as np

from .call import Array, Call


def arg_min(call: Call) -> Array:
    """The index of the smallest value along ``axis`` (removed from the shape); the first one wins a tie."""
    result: Array = np.argmin(call.inputs[0], axis=call["axis"]).astype(call.result.dtype)
    return result


def top_k(call: Call) -> Array:
    """Indices of the largest values of the last axis; the first one wins a tie, NaN counts as -inf."""
    (x,), count = call.inputs, call.result.shape[-1]
    is_float = x.dtype.kind == "f"
    rising = np.where(np.isnan(x), np.float32(-np.inf), x) if is_float else x.astype(np.int64)
    # ~x is -x - 1: every integer has one.
    order: Array = np.argsort(-rising if is_float else ~rising, axis=-1, kind="stable")[..., :count]
    return order.astype(call.result.dtype)


def nonzero(call: Call) -> Array:
    """Indices of what is true, then -1."""
    found = np.flatnonzero(call.inputs[0])
    result = np.full(call.inputs[0].shape, -1, call.result.dtype)
    result[: found.size] = found
    return result
