"""Pools, means, softmax and arg_max of 8-bit tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from ...dialect import activation_tables, rescale
from ...dialect.numerics import rule
from ...kernels.arg_max import ArgMax
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
    """``mean`` over height and width."""
    types = graph.type_of(op.operands[0]), graph.type_of(op.results[0])
    if not all(is_8bit(type_) for type_ in types):
        return "input and result are not both 8-bit"
    if len(types[0].shape) != 4 or sorted(axis % 4 for axis in attributes["axes"]) != [1, 2]:
        return "it is not over height and width"
    count = types[0].shape[1] * types[0].shape[2]
    constants = rescale.mean(*types, count, around.mode)

    def make(inputs: Sequence[Stored], result: Stored) -> Parts:
        source = inputs[0]
        return [Part(Mean(source.image, result.image, source.signed, constants, source.shift, result.shift))]

    return Group(op, (op.operands[0],), (_ANY,), make)


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
