"""reduce, reduce_max, reduce_min and cumsum."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ...dialect import reduce_constants
from ...dialect.fixed_point import INT32_MAX, INT32_MIN, q15_multiplier
from ...dialect.op_constants import FloatMean
from ...dialect.types import TensorType
from .arith import require_per_tensor, rescaled, stored_bits, to_result, widen
from .builder import Builder, Value
from .core import Call, storage_kind
from .reduction import float_mean
from .scalar import Scalar

Step = Callable[[Scalar, Scalar], Scalar]


def reduce(builder: Builder, call: Call) -> Value:
    """sum, prod, all or any over axes; floats are combined in f64."""
    source, function, kind = call.types[0], call["function"], storage_kind(call.types[0])
    if source.is_quantized:
        return (_quantized_sum if function == "sum" else _quantized_product)(builder, call)
    if function in ("all", "any"):
        start = 1 if function == "all" else 0
        step: Step = (lambda x, acc: x & acc) if function == "all" else (lambda x, acc: x | acc)
        return _over_axes(builder, call, kind, start, step)
    wide = "f64" if source.is_float else kind

    def combine(x: Scalar, acc: Scalar) -> Scalar:
        operand = x.extend("f64") if source.is_float else x
        return acc + operand if function == "sum" else acc * operand

    total = _over_axes(builder, call, wide, 0 if function == "sum" else 1, combine)
    if not source.is_float:
        return total
    return builder.elementwise([total], call.result.shape, kind, lambda acc: acc.truncate(kind))


def _over_axes(builder: Builder, call: Call, kind: str, start: float, step: Step) -> Value:
    """``step(element, value so far)`` over the axes, from ``start``, in the result's shape."""
    source = call.types[0]
    names = [f"d{axis}" for axis in range(len(source.shape))]
    axes = set(call["axes"])
    kept = [axis for axis in range(len(source.shape)) if axis not in axes]
    output = builder.filled([source.shape[axis] for axis in kept], kind, start)
    (total,) = builder.generic(
        " ".join(f"+{name}" if axis in axes else name for axis, name in enumerate(names)),
        [(call.operand(0), ", ".join(names))],
        [(output, ", ".join(names[axis] for axis in kept))],
        step,
    )
    return builder.reshape(total, call.result.shape)


def _count(call: Call) -> int:
    return math.prod(call.types[0].shape[axis] for axis in call["axes"])


def _quantized_sum(builder: Builder, call: Call) -> Value:
    source = require_per_tensor(call.types[0], "the input")
    require_per_tensor(call.result, "the result")
    constants = reduce_constants.reduce_sum(call.types[0], call.result, _count(call), call.mode)
    total = _over_axes(builder, call, "i32", 0, lambda x, acc: acc + widen(x, source))
    if isinstance(constants, FloatMean):
        return float_mean(builder, call, total, constants)
    sum_zero_point = constants.sum_zero_point
    return rescaled(builder, call, [total], constants.rescale, lambda acc: acc - sum_zero_point)


def _quantized_product(builder: Builder, call: Call) -> Value:
    """Every step but the first is rescaled, and so is the whole (see ``reduce_constants.ReduceProduct``)."""
    source = require_per_tensor(call.types[0], "the input")
    require_per_tensor(call.result, "the result")
    constants = reduce_constants.reduce_product(call.types[0], call.result, _count(call))
    step_numbers = q15_multiplier(constants.step.multipliers[0], constants.step.shifts[0])
    multiplier, right = (int(number) for number in step_numbers)

    def scaled(x: Scalar) -> Scalar:
        """In i64, saturated at 32 bits."""
        return ((x * multiplier + (1 << (right - 1))) >> right).clip(INT32_MIN, INT32_MAX)

    def step(x: Scalar, acc: Scalar) -> Scalar:
        factor = (widen(x, source) - constants.input_zero_point).extend("i64")
        first = x.body.constant("i1", 1)
        for axis in call["axes"]:
            first = first & x.body.index(axis).compare("eq", 0)
        return first.select(factor, scaled(acc * factor))

    total = _over_axes(builder, call, "i64", 0, step)
    kind = storage_kind(call.result)
    return builder.elementwise(
        [total],
        call.result.shape,
        kind,
        lambda acc: (scaled(acc) + constants.zero_point).clip(constants.low, constants.high).truncate(kind),
    )


def reduce_max(builder: Builder, call: Call) -> Value:
    """The largest value, then in the result's parameters."""
    return _extremum(builder, call, largest=True)


def reduce_min(builder: Builder, call: Call) -> Value:
    """The smallest value, then in the result's parameters."""
    return _extremum(builder, call, largest=False)


def _extremum(builder: Builder, call: Call, *, largest: bool) -> Value:
    source, kind = call.types[0], storage_kind(call.types[0])
    signed = not source.is_quantized or source.params.storage.signed

    def step(x: Scalar, acc: Scalar) -> Scalar:
        one, other = x, acc
        if not signed:
            one, other = (value.extend("i32", signed=False) for value in (x, acc))
        return one.compare("gt" if largest else "lt", other).select(x, acc)

    value = _over_axes(builder, call, kind, _worst(source, largest=largest), step)
    return to_result(builder, call, value, TensorType(call.result.shape, source.element))


def _worst(source: TensorType, *, largest: bool) -> float:
    if source.is_float:
        return -np.inf if largest else np.inf
    kind = storage_kind(source)
    if source.is_quantized:
        storage = source.params.storage
        return stored_bits(storage.minimum if largest else storage.maximum, kind)
    low = -(1 << (int(kind[1:]) - 1))
    return low if largest else -1 - low


def cumsum(builder: Builder, call: Call) -> Value:
    """Sums of 1, 2, 4 ... neighbours: each step adds the tensor to itself, moved by a power of two."""
    source, axis, kind = call.types[0], call["axis"], storage_kind(call.types[0])
    extent = source.shape[axis]
    sums = call.operand(0)
    if source.is_float:
        sums = builder.elementwise([sums], source.shape, "f64", lambda x: x.extend("f64"))
    by = 1
    while by < extent:
        moved = _moved(builder, sums, axis, by, reverse=call["reverse"])
        wide = str(sums.type.element_type)
        sums = builder.elementwise([sums, moved], source.shape, wide, lambda x, y: x + y)
        by *= 2
    if call["exclusive"] and extent:
        sums = _moved(builder, sums, axis, 1, reverse=call["reverse"])
    if not source.is_float:
        return sums
    return builder.elementwise([sums], source.shape, kind, lambda x: x.truncate(kind))


def _moved(builder: Builder, x: Value, axis: int, by: int, *, reverse: bool) -> Value:
    """``x`` moved by some places along an axis, zeros behind it."""
    shape: Sequence[int] = list(x.type.shape)
    border = [by if i == axis else 0 for i in range(len(shape))]
    none = [0] * len(shape)
    padded = builder.pad(x, none if reverse else border, border if reverse else none, 0)
    return builder.extract_slice(padded, border if reverse else none, shape, [1] * len(shape))
