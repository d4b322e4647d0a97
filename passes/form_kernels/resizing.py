"""Resizes of 8-bit images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...dialect import resampling
from ...kernels.resize import Resize
from .. import graph
from .groups import Around, Group, Part, Parts, Stored, Want, is_8bit


def resize(op: Any, attributes: Mapping[str, Any], around: Around) -> Group | str:
    """``resize_bilinear`` and ``resize_nearest`` whose result has the input's parameters."""
    source, result_type = graph.type_of(op.operands[0]), graph.type_of(op.results[0])
    if not is_8bit(source) or not is_8bit(result_type):
        return "input and result are not both 8-bit"
    if not source.params.same_values(result_type.params):
        return "its result has other parameters than its input"
    sizes = [(source.shape[axis], result_type.shape[axis]) for axis in (1, 2)]
    options = bool(attributes["align_corners"]), bool(attributes["half_pixel_centers"])
    weights = None
    if graph.name_of(op) == "resize_bilinear":
        weights = resampling.bilinear_weights(source, around.mode)
        axes = [resampling.bilinear(weights, *size, *options) for size in sizes]
    else:
        axes = [_copies(resampling.nearest(*size, *options)) for size in sizes]

    def make(inputs: Sequence[Stored], result: Stored) -> Parts:
        if inputs[0].shift != result.shift:
            return "its input and result are kept in different forms"
        spec = Resize(inputs[0].image, result.image, axes[0], axes[1], weights, result.signed, result.shift)
        return [Part(spec)]

    return Group(op, (op.operands[0],), (Want(like_result=True),), make)


def _copies(lower: Any) -> resampling.Axis:
    return resampling.Axis(lower, lower, np.zeros(lower.size))
