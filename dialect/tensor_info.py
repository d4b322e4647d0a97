"""What a caller has to know of a network's inputs and outputs, readable without MLIR."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .types import QuantParams, TensorType


@dataclass(frozen=True)
class TensorInfo:
    """One input or output of a model: what a caller has to know to hand over or to read a numpy array.

    ``shape`` has -1 for dynamic extents; ``dtype`` is the array's. ``scale`` and ``zero_point`` are a number
    each (per-tensor), a tuple each (per-axis along ``axis``), or None (not quantized).
    """

    name: str
    type: TensorType
    is_read: bool = True
    """False for an input that nothing in the model reads: it may be left out of a run."""

    length: str = ""
    """The output that says how many elements of the first extent there are, where only a run can tell; those
    behind them mean nothing. Empty: all of them.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        return self.type.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.type.dtype

    @property
    def scale(self) -> float | tuple[float, ...] | None:
        params = self._params
        if params is None:
            return None
        return params.scale if params.is_per_tensor else params.scales

    @property
    def zero_point(self) -> int | tuple[int, ...] | None:
        params = self._params
        if params is None:
            return None
        return params.zero_point if params.is_per_tensor else params.zero_points

    @property
    def axis(self) -> int | None:
        return self._params.axis if self._params else None

    @property
    def _params(self) -> QuantParams | None:
        return self.type.params if self.type.is_quantized else None
