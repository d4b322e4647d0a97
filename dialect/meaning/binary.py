"""maximum, minimum, binary, compare and prelu, with numpy's broadcasting."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .. import binary_constants as constants
from ..binary_functions import BOOLEAN, INTEGER, PREDICATES, REAL
from .call import Array, Call, to_result


def maximum(call: Call) -> Array:
    """The larger one; quantized: of the operands in the result's parameters."""
    return _extremum(call, np.greater)


def minimum(call: Call) -> Array:
    """The smaller one; as :func:`maximum`."""
    return _extremum(call, np.less)


def _extremum(call: Call, better: Callable[[Array, Array], Array]) -> Array:
    """The right operand wins unless the left one is better, so a NaN on the right stays."""
    lhs, rhs = call.inputs
    if call.result.is_quantized:
        lhs, rhs = (to_result(call, x, kind) for x, kind in zip(call.inputs, call.types, strict=True))
    return np.where(better(lhs, rhs), lhs, rhs)


def binary(call: Call) -> Array:
    """``function(lhs, rhs)``; see :mod:`...binary_functions`, quantized :mod:`...binary_constants`."""
    (lhs, rhs), function = call.inputs, call["function"]
    if call.result.is_quantized and function == "div":
        return constants.div(call.types[0], call.types[1], call.result).apply(lhs, rhs)
    if call.result.is_quantized:
        return constants.squared_difference(call.types[0], call.types[1], call.result).apply(lhs, rhs)
    boolean = call.result.element == "i1"
    functions = REAL if call.result.is_float else BOOLEAN if boolean else INTEGER
    with np.errstate(all="ignore"):
        return functions[function](lhs, rhs)


def compare(call: Call) -> Array:
    """``lhs predicate rhs``; quantized: see :func:`...binary_constants.compare`."""
    (lhs, rhs), types = call.inputs, call.types
    if types[0].is_quantized:
        return constants.compare(call["predicate"], *types).apply(lhs, rhs)
    return PREDICATES[call["predicate"]](lhs, rhs)


def prelu(call: Call) -> Array:
    """``input if input >= 0 else input * alpha``."""
    x, alpha = call.inputs
    if not call.result.is_quantized:
        return np.where(x >= 0, x, x * alpha)
    return constants.prelu(call.types[0], call.types[1], call.result).apply(x, alpha)
