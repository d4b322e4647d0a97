"""conv2d, fully_connected and batch_matmul of a constant, alone or with the residual add behind."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ...dialect import rescale
from ...dialect.numerics import Rounding
from ...dialect.op_constants import Contraction, Rescale, ShiftSum, Sum
from ...dialect.types import TensorType
from ...kernels.conv import Conv, Residual, WideConv
from ...kernels.image import Image
from .. import graph
from . import convolutions_16x8, matrix_products
from .groups import (
    PLAIN,
    Around,
    Group,
    Part,
    Parts,
    Stored,
    Want,
    constant_array,
    is_8bit,
    is_16bit,
    of_four,
)


def conv2d(op: Any, attributes: Mapping[str, Any], around: Around) -> Group | str:
    """A convolution whose filter and bias are constants."""
    x, *constants = list(op.operands)
    arrays = _constants(constants)
    if isinstance(arrays, str):
        return arrays
    if is_16bit(graph.type_of(x)):
        return convolutions_16x8.conv2d(op, attributes, around, arrays)
    filter_, bias = arrays
    if not is_8bit(graph.type_of(x)) or not is_8bit(graph.type_of(op.results[0])):
        return "input and result are not both 8-bit"
    channels = graph.type_of(x).shape[3]
    groups = attributes["groups"]
    kind: Literal["conv2d", "depthwise_conv2d"] = (
        "depthwise_conv2d" if groups == channels and groups > 1 else "conv2d"
    )
    top, bottom, left, right = attributes["padding"]
    filter_type = graph.type_of(constants[0])

    def make(inputs: Sequence[Stored], result: Stored) -> Parts:
        types = inputs[0].type, filter_type, result.type
        numbers = rescale.conv2d(*types, attributes["clamp"], around.mode)
        return [
            Part(
                _conv(
                    kind,
                    (inputs[0], result),
                    (inputs[0].image, result.image),
                    numbers,
                    (filter_, bias),
                    attributes["strides"],
                    attributes["dilations"],
                    (top, left),
                    groups,
                )
            )
        ]

    want = Want(around.signed_inputs, (top, bottom, left, right))
    return Group(op, (x,), (want,), make)


def fully_connected(op: Any, attributes: Mapping[str, Any], around: Around) -> Group | str:
    """A matrix product whose weights and bias are constants."""
    x, *constants = list(op.operands)
    arrays = _constants(constants)
    if isinstance(arrays, str):
        return arrays
    if is_16bit(graph.type_of(x)):
        return convolutions_16x8.fully_connected(op, attributes, around, arrays)
    weights, bias = arrays
    filter_type, result_type = graph.type_of(constants[0]), graph.type_of(op.results[0])
    gives_sums = _is_sum(result_type)
    if not is_8bit(graph.type_of(x)) or not (is_8bit(result_type) or gives_sums):
        return "input and result are not both 8-bit"
    rows, depth = weights.shape
    if gives_sums:
        numbers = rescale.fully_connected(
            graph.type_of(x), filter_type, result_type, attributes["clamp"], around.mode
        )
        if numbers.rescale.rounding is not Rounding.EXACT or attributes["clamp"]:
            return "its result is neither 8-bit nor the sums as they are"

    def make(inputs: Sequence[Stored], result: Stored) -> Parts:
        types = inputs[0].type, filter_type, result.type
        numbers = rescale.fully_connected(*types, attributes["clamp"], around.mode)
        images = inputs[0].image, result.image  # of the same rows, since leading dimensions stay
        arrays = weights.reshape(rows, 1, 1, depth), bias
        conv = _conv("conv2d", (inputs[0], result), images, numbers, arrays, (1, 1), (1, 1), (0, 0), 1)
        return [Part(WideConv(**vars(conv)) if gives_sums else conv)]

    return Group(op, (x,), (Want(around.signed_inputs),), make)


def _is_sum(type_: TensorType) -> bool:
    """Whether a tensor has i32 numbers, with one scale."""
    return (
        type_.is_quantized
        and type_.params.storage.name == "i32"
        and type_.params.is_per_tensor
        and type_.is_static
    )


def batch_matmul(op: Any, attributes: Mapping[str, Any], around: Around) -> Group | str:
    """A product with one constant matrix for all batches, or of two matrices that are both computed."""
    x, factor = op.operands[0], op.operands[1]
    types = graph.type_of(x), graph.type_of(factor), graph.type_of(op.results[0])
    if not all(is_8bit(type_) for type_ in types):
        return "factors and result are not all 8-bit"
    if attributes["transpose_lhs"]:
        return "its left factor is transposed"
    matrix = constant_array(factor)
    if matrix is None or math.prod(matrix.shape[:-2]) != 1:
        return matrix_products.computed(op, types, bool(attributes["transpose_rhs"]), around)
    matrix = matrix.reshape(matrix.shape[-2:])
    rows = matrix if attributes["transpose_rhs"] else matrix.T
    filter_ = np.ascontiguousarray(rows)[:, None, None]
    numbers = rescale.batch_matmul(*types, around.mode)

    def make(inputs: Sequence[Stored], result: Stored) -> Parts:
        image = inputs[0].image
        if (image.height, image.width) != (result.image.height, result.image.width):
            image = of_four(inputs[0])  # the result may have more dimensions
            if len(types[2].shape) > 4:
                return "its result has more than four dimensions, its left factor has not"
        images = image, result.image
        arrays = filter_, np.zeros(len(filter_), np.int32)
        return [
            Part(_conv("conv2d", (inputs[0], result), images, numbers, arrays, (1, 1), (1, 1), (0, 0), 1))
        ]

    return Group(op, (x,), (Want(around.signed_inputs),), make)


def with_residual(conv: Group, add: Any, attributes: Mapping[str, Any], around: Around) -> Group | str:
    """A convolution and the add that alone reads it."""
    lhs, rhs = add.operands[0], add.operands[1]
    conv_is_rhs = rhs == conv.result
    other = lhs if conv_is_rhs else rhs
    types = graph.type_of(lhs), graph.type_of(rhs), graph.type_of(add.results[0])
    if not all(is_8bit(type_) for type_ in types) or len({type_.shape for type_ in types}) != 1:
        return "the add's operands are not 8-bit tensors of one shape"
    conv_type = graph.type_of(conv.result)

    def make(inputs: Sequence[Stored], result: Stored) -> Parts:
        # The convolution's own result is never stored: it is what it would be in the plain form.
        middle = Stored(conv_type, PLAIN, result.image)
        parts = conv.make(inputs[:1], middle)
        if isinstance(parts, str):
            return parts
        numbers = rescale.add(*types, attributes["clamp"], around.mode)
        shifts = (inputs[1].shift, 0) if conv_is_rhs else (0, inputs[1].shift)
        residual = Residual(
            inputs[1].image,
            inputs[1].signed,
            shifted_sum(numbers, *shifts, result.shift),
            conv_is_rhs,
            result.signed,
        )
        return [Part(replace(parts[0].spec, output=result.image, residual=residual), (0, 1))]

    return Group(
        add, (*conv.inputs, other), (*conv.wants, Want(any_sign=True)), make, inner=(*conv.inner, conv.op)
    )


def shifted_sum(numbers: Sum | ShiftSum, lhs: int, rhs: int, result: int) -> Sum | ShiftSum:
    """The constants of a sum whose stored numbers are higher by ``lhs``, ``rhs`` and ``result``."""
    moved = replace(
        numbers,
        lhs_zero_point=numbers.lhs_zero_point + lhs,
        rhs_zero_point=numbers.rhs_zero_point + rhs,
    )
    if isinstance(moved, Sum):
        return replace(moved, output=shifted_rescale(moved.output, result))
    return replace(
        moved, zero_point=moved.zero_point + result, low=moved.low + result, high=moved.high + result
    )


def shifted_rescale(rescale_: Rescale, shift: int) -> Rescale:
    """A rescale whose stored results are higher by ``shift``."""
    if not shift:
        return rescale_
    return replace(
        rescale_,
        zero_point=rescale_.zero_point + shift,
        low=rescale_.low + shift,
        high=rescale_.high + shift,
    )


def _constants(operands: Sequence[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]] | str:
    """Filter and bias (zeros if there is none)."""
    arrays = [constant_array(value) for value in operands]
    filter_ = arrays[0] if arrays else None
    if filter_ is None:
        return "its filter is not a constant"
    if len(arrays) < 2:
        return filter_, np.zeros(filter_.shape[0], np.int32)
    bias = arrays[1]
    if bias is None:
        return "its bias is not a constant"
    return filter_, bias


def _conv(
    kind: Literal["conv2d", "depthwise_conv2d"],
    ends: tuple[Stored, Stored],
    images: tuple[Image, Image],
    numbers: Contraction,
    arrays: tuple[npt.NDArray[Any], npt.NDArray[Any]],
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: Sequence[int],
    groups: int,
) -> Conv:
    x, result = ends
    filter_, bias = arrays
    shifted = replace(numbers, input_zero_point=numbers.input_zero_point + x.shift)
    folded = rescale.folded_bias(filter_, bias, shifted)
    return Conv(
        kind=kind,
        input=images[0],
        output=images[1],
        kernel=(filter_.shape[1], filter_.shape[2]),
        strides=(strides[0], strides[1]),
        dilations=(dilations[0], dilations[1]),
        padding=(padding[0], padding[1]),
        groups=groups,
        input_signed=x.signed,
        filter_signed=filter_.dtype == np.int8,
        filter_zero_points=numbers.filter_zero_points,
        result_signed=result.signed,
        rescale=shifted_rescale(numbers.rescale, result.shift),
        filter=filter_,
        bias=folded.astype(np.int32),
    )
