"""Constants next to convolutions and matrix products: one value per output channel, or one for all."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..dialect.constants import has_data
from ..dialect.types import TensorType
from . import graph
from .fold_requantize_into_constant import stored_array

CONTRACTIONS = ("conv2d", "fully_connected")

Array = npt.NDArray[Any]


def constant_data(value: Any) -> Array | None:
    """The stored values of a constant whose data is there, else None."""
    constant = graph.producer(value, "constant")
    if constant is None or not has_data(constant.attributes["value"]):
        return None
    array: Array = stored_array(constant)
    return array


def contraction_and_constant(op: Any) -> tuple[Any, int] | None:
    """For ``op(contraction, constant)``: the contraction and the index of the constant operand."""
    for index in (0, 1):
        first = graph.producer(op.operands[1 - index], *CONTRACTIONS)
        if first is not None and graph.producer(op.operands[index], "constant"):
            return first, index
    return None


def per_channel(array: Array, result: TensorType) -> Array | None:
    """``array`` as one value per index of the result's last axis, if that is how it broadcasts."""
    channels = result.shape[-1]
    if array.ndim > len(result.shape) or array.size not in (1, channels):
        return None
    if array.size > 1 and array.shape[-1] != channels:
        return None
    return np.broadcast_to(array.reshape(-1), (channels,))


def rebuild(first: Any, op: Any, operands: list[Any], clamp: tuple[float, ...]) -> None:
    """Put the contraction ``first``, with other operands and ``op``'s clamp, in ``op``'s place.

    Constants that nobody uses any more go with it.
    """
    attributes = {**graph.attributes_of(first), "clamp": clamp}
    built = graph.build_before(op, graph.name_of(first), operands, graph.type_of(op.results[0]), attributes)
    for name in first.attributes:
        if "." in name:
            built.attributes[name] = first.attributes[name]
    old = [graph.producer(v, "constant") for v in (*op.operands, *first.operands)]
    graph.replace(op, built.results[0])
    graph.erase_if_unused(first)
    graph.erase_if_unused(*_distinct(old))


def _distinct(ops: list[Any]) -> list[Any]:
    found: list[Any] = []
    for op in ops:
        if op is not None and op not in found:
            found.append(op)
    return found
