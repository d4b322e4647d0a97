"""Pools, means, softmax and arg_max of 8-bit tensors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from ...dialect import activation_tables, rescale
from ...dialect.numerics import rule
from ...dialect.op_constants import FloatMean
from ...dialect.op_constants import Mean as MeanConstants
from ...dialect.reduce_constants import reduce_sum
from ...dialect.types import TensorType
from ...kernels.arg_max import ArgMax
from ...kernels.image import Image
from ...kernels.mean import Mean
from ...kernels.pool import Pool
from ...kernels.softmax import Softmax
from .. import graph
from .groups import NO_BORDER, Around, Group, Part, Parts, Stored, Want, is_8bit

_ANY = Want(any_sign=True)


def pool(op: Any, attributes: Mapping[str, Any], around: Around) -> Group | str:
    """``max_pool2d`` and ``avg_pool2d`` whose result has the input's parameters."""
    types = graph.type_of(op.operands[0]), graph.type_of(op.results[0])
    if not all(is_8bit(type_) for type_ in types):
        return "input and result are not both 8-bit"
    if not types[0].params.same_values(types[1].params):
        return "its result has other parameters than its input"
    name = graph.name_of(op)
    kind: Literal["max", "average"] = "max" if name == "max_pool2d" else "average"
    rounding = rule(around.mode, name, 8)
    low, high = rescale.clamp_bounds(types[1].params, attributes["clamp"], rounding)
    top, _, left, _ = attributes["padding"]

    def make(inputs: Sequence[Stored], result: Stored) -> Parts:
        if inputs[0].shift != result.shift:
            return "its input and result are kept in different forms"
        spec = Pool(
            kind,
            inputs[0].image,
            result.image,
            tuple(attributes["window"]),
            tuple(attributes["strides"]),
            (top, left),
            result.signed,
            low + result.shift,
            high + result.shift,
            result.shift,
        )
        return [Part(spec)]

    return Group(op, (op.operands[0],), (Want(like_result=True),), make)


def mean(op: Any, attributes: Mapping[str, Any], around: Around) -> Group | str:
    """``mean`` over neighbouring dimensions, but not the last."""
    types = graph.type_of(op.operands[0]), graph.type_of(op.results[0])
    return _summed(op, types, attributes["axes"], lambda count: rescale.mean(*types, count, around.mode))


def reduce(op: Any, attributes: Mapping[str, Any], around: Around) -> Group | str:
    """``reduce`` that sums up, over neighbouring dimensions, but not the last."""
    if attributes["function"] != "sum":
        return f"a reduction by '{attributes['function']}'"
    types = graph.type_of(op.operands[0]), graph.type_of(op.results[0])
    return _summed(op, types, attributes["axes"], lambda count: reduce_sum(*types, count, around.mode))


def _summed(
    op: Any,
    types: tuple[TensorType, TensorType],
    axes: Sequence[int],
    constants_of: Callable[[int], MeanConstants | FloatMean],
) -> Group | str:
    if not all(is_8bit(type_) for type_ in types):
        return "input and result are not both 8-bit"
    shape = types[0].shape
    summed = sorted(axis % len(shape) for axis in axes)
    if not summed or summed != list(range(summed[0], summed[-1] + 1)) or summed[-1] == len(shape) - 1:
        return "it is not over neighbouring dimensions before the last"
    outer, inner = shape[: summed[0]], shape[summed[-1] + 1 :]
    count = math.prod(shape[axis] for axis in summed)
    constants = constants_of(count)
    is_image = len(shape) == 4 and summed == [1, 2]

    def make(inputs: Sequence[Stored], result: Stored) -> Parts:
        source, target = inputs[0].image, result.image
        if not is_image:
            if not (source.is_dense and target.is_dense):
                return "its input or result has a border"
            source = Image(math.prod(outer), 1, count, math.prod(inner))
            target = Image(1, 1, math.prod(outer), math.prod(inner))
        return [Part(Mean(source, target, inputs[0].signed, constants, inputs[0].shift, result.shift))]

    return Group(op, (op.operands[0],), (_ANY,), make, result_has_border=is_image)


def softmax(op: Any, attributes: Mapping[str, Any], around: Around) -> Group | str:
    """``softmax`` of 8-bit rows that lie one behind the other, in the parameters that the kernel gives."""
    types = graph.type_of(op.operands[0]), graph.type_of(op.results[0])
    if not all(is_8bit(type_) for type_ in types):
        return "input and result are not both 8-bit"
    if attributes["axis"] % len(types[0].shape) != len(types[0].shape) - 1:
        return "it is not along the last axis"
    storages = types[1].params.storage, types[0].params.storage
    natural = activation_tables.natural_params("softmax", *storages)
    if not activation_tables.is_natural(types[1].params, natural):
        return "its result has other parameters than the kernel gives"
    constants = activation_tables.softmax_8bit(types[0].params.scale, attributes["beta"])

    def make(inputs: Sequence[Stored], result: Stored) -> Parts:
        return [Part(Softmax(inputs[0].image, result.image, inputs[0].signed, result.signed, constants))]

    return Group(op, (op.operands[0],), (_ANY,), make)


def arg_max(op: Any, attributes: Mapping[str, Any], around: Around) -> Group | str:
    """``arg_max`` along the last axis."""
    type_, result_type = graph.type_of(op.operands[0]), graph.type_of(op.results[0])
    if not is_8bit(type_) or not result_type.is_static:
        return "its input is not 8-bit"
    if attributes["axis"] % len(type_.shape) != len(type_.shape) - 1:
        return "it is not along the last axis"

    def make(inputs: Sequence[Stored], result: Stored) -> Parts:
        source = inputs[0].image
        numbers = replace(
            source,
            channels=1,
            border=NO_BORDER,
            pixel_channels=0,
            first_channel=0,
            element_bytes=result_type.dtype.itemsize,
        )
        return [Part(ArgMax(source, numbers, inputs[0].signed))]

    return Group(op, (op.operands[0],), (_ANY,), make)
