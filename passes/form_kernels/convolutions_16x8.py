"""conv2d and fully_connected of int16 tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ...dialect import rescale
from ...dialect.op_constants import Contraction
from ...dialect.types import TensorType
from ...kernels.conv2d_16x8 import Conv16x8
from .. import graph
from .groups import NO_BORDER, Around, Group, Part, Parts, Stored, Want, is_16bit

Arrays: TypeAlias = tuple[npt.NDArray[Any], npt.NDArray[Any]]
_FEWEST_CHANNELS = 4
"""Of a group, if there are several: most lanes of a vector would be idle."""


def conv2d(op: Any, attributes: Mapping[str, Any], around: Around, arrays: Arrays) -> Group | str:
    """A convolution of int16 whose filter and bias are ``arrays``."""
    filter_, groups = arrays[0], attributes["groups"]
    if groups > 1 and filter_.shape[0] // groups < _FEWEST_CHANNELS:
        return "int16 in groups of few channels"
    types = [graph.type_of(value) for value in (op.operands[0], op.operands[1], op.results[0])]
    numbers = rescale.conv2d(types[0], types[1], types[2], attributes["clamp"], around.mode, _bias_type(op))
    return _group(op, types, arrays, numbers, attributes)


def fully_connected(op: Any, attributes: Mapping[str, Any], around: Around, arrays: Arrays) -> Group | str:
    """A matrix product of int16 whose weights and bias are ``arrays``."""
    weights, bias = arrays
    types = [graph.type_of(value) for value in (op.operands[0], op.operands[1], op.results[0])]
    numbers = rescale.fully_connected(
        types[0], types[1], types[2], attributes["clamp"], around.mode, _bias_type(op)
    )
    fields = {"strides": (1, 1), "dilations": (1, 1), "padding": NO_BORDER, "groups": 1}
    return _group(op, types, (weights[:, None, None], bias), numbers, fields)


def _bias_type(op: Any) -> TensorType | None:
    return graph.type_of(op.operands[2]) if len(op.operands) > 2 else None


def _group(
    op: Any, types: Sequence[TensorType], arrays: Arrays, numbers: Contraction, fields: Mapping[str, Any]
) -> Group | str:
    filter_, bias = arrays
    if filter_.dtype.itemsize != 1 or not is_16bit(types[2]):
        return "it is not of int16 with 8-bit weights"
    top, bottom, left, right = fields["padding"]
    if any(fields["padding"]) and numbers.input_zero_point:
        return "a border of int16 that are not zero"
    points = np.asarray(numbers.filter_zero_points, np.int16).reshape(-1, 1, 1, 1)
    folded = rescale.folded_bias(filter_, bias, numbers)

    def make(inputs: Sequence[Stored], result: Stored) -> Parts:
        spec = Conv16x8(
            inputs[0].image,
            result.image,
            (filter_.shape[1], filter_.shape[2]),
            tuple(fields["strides"]),
            tuple(fields["dilations"]),
            (top, left),
            fields["groups"],
            filter_.astype(np.int16) - points,
            folded,
            rescale.is_wide(_bias_type(op)),
            numbers.rescale,
        )
        return [Part(spec)]

    return Group(op, (op.operands[0],), (Want(border=(top, bottom, left, right)),), make)
