"""reduce, reduce_max, reduce_min and cumsum."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import reduce_constants
from ..fixed_point import wrap_int32
from ..op_constants import FloatMean
from ..types import TensorType
from .call import Array, Call, to_result


def reduce(call: Call) -> Array:
    """sum, prod, all or any over axes.

    Floats are summed in float64. Quantized: see :mod:`...reduce_constants`.
    """
    (x,), (source,), function = call.inputs, call.types, call["function"]
    if source.is_quantized:
        return (_quantized_sum if function == "sum" else _quantized_product)(call)
    if function in ("all", "any"):
        return _over_axes(np.all if function == "all" else np.any, call, x)
    combine = np.sum if function == "sum" else np.prod
    if source.is_float:
        with np.errstate(over="ignore", invalid="ignore"):
            return _over_axes(combine, call, x.astype(np.float64)).astype(np.float32)
    return _over_axes(combine, call, x, dtype=x.dtype)


def _over_axes(combine: Callable[..., Any], call: Call, x: Array, **options: Any) -> Array:
    return np.asarray(combine(x, axis=tuple(call["axes"]), keepdims=bool(call["keep_dims"]), **options))


def _count(call: Call) -> int:
    return math.prod(call.inputs[0].shape[axis] for axis in call["axes"])


def _quantized_sum(call: Call) -> Array:
    constants = reduce_constants.reduce_sum(call.types[0], call.result, _count(call), call.mode)
    total = _over_axes(np.sum, call, call.inputs[0].astype(np.int64))
    if isinstance(constants, FloatMean):
        return constants.apply(total)
    return constants.rescale.apply(wrap_int32(total - constants.sum_zero_point))


def _quantized_product(call: Call) -> Array:
    (x,), axes = call.inputs, list(call["axes"])
    constants = reduce_constants.reduce_product(call.types[0], call.result, _count(call))
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    rows = x.transpose(*kept, *sorted(axes)).reshape(*(x.shape[axis] for axis in kept), -1)
    shape = [1 if axis in axes else n for axis, n in enumerate(x.shape) if call["keep_dims"] or axis in kept]
    return constants.apply(rows).reshape(shape)


def reduce_max(call: Call) -> Array:
    """The largest value (of stored integers, then in the result's parameters); a NaN is none."""
    return _extremum(call, np.max, -np.inf)


def reduce_min(call: Call) -> Array:
    """The smallest value; as :func:`reduce_max`."""
    return _extremum(call, np.min, np.inf)


def _extremum(call: Call, combine: Callable[..., Any], worst: float) -> Array:
    (x,), (source,) = call.inputs, call.types
    if source.is_float:
        x = np.where(np.isnan(x), np.float32(worst), x)
    values = _over_axes(combine, call, x)
    return to_result(call, values, TensorType(values.shape, source.element))


def cumsum(call: Call) -> Array:
    """Running sums, floats in float64; ``reverse`` from the end, ``exclusive`` without the own element."""
    (x,), axis = call.inputs, call["axis"]
    rows = np.moveaxis(x, axis, -1).astype(np.float64 if x.dtype == np.float32 else x.dtype)
    rows = rows[..., ::-1] if call["reverse"] else rows
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.cumsum(rows, axis=-1, dtype=rows.dtype)
    if call["exclusive"]:
        sums = np.concatenate([np.zeros_like(sums[..., :1]), sums[..., :-1]], axis=-1)
    sums = sums[..., ::-1] if call["reverse"] else sums
    return np.moveaxis(sums, -1, axis).astype(x.dtype)
