"""What a meaning is called with, and the change of parameters that nearly every op may end with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .. import rescale
from ..numerics import rule
from ..types import TensorType

Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True)
class Call:
    """One op with its operands: arrays and types (absent optional operands left out), result type,
    attributes, numerics mode.
    """

    op: str
    inputs: tuple[Array, ...]
    types: tuple[TensorType, ...]
    result: TensorType
    attributes: Mapping[str, Any]
    mode: str

    def __getitem__(self, attribute: str) -> Any:
        return self.attributes[attribute]

    @property
    def clamp(self) -> tuple[float, ...]:
        """The fused activation's real bounds, empty if there is none."""
        return tuple(self.attributes["clamp"])


def to_result(call: Call, values: Array, source: TensorType, clamp: Sequence[float] = ()) -> Array:
    """``values`` held in ``source``'s element type, brought to the result's (requantized if the parameters
    differ) and clamped.
    """
    if not call.result.is_quantized:
        return clamp_float(values, clamp).astype(call.result.dtype)
    target = call.result.params
    if source.params.same_values(target):
        if target.is_per_tensor:
            rounding = rule(call.mode, call.op, target.storage.bits)
            values = np.clip(values, *rescale.clamp_bounds(target, clamp, rounding))
        return values.astype(call.result.dtype)
    constants = rescale.requantize(source, replace(call.result, shape=source.shape), clamp, call.mode)
    wide = values.astype(np.int64) - constants.input_zero_point
    return constants.rescale.apply(wide).astype(call.result.dtype)


def clamp_float(values: Array, clamp: Sequence[float]) -> Array:
    """``values`` limited to the real bounds, NaN kept."""
    return np.clip(values, np.float32(clamp[0]), np.float32(clamp[1])) if clamp else values
