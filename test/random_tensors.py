"""Random tensor types and values for tests that compare systems bit by bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from hypothesis import reject
from hypothesis import strategies as st

from tflite_builder import Builder, run_litert
from zeropoint.dialect.types import QuantParams, Storage, TensorType

Array: TypeAlias = npt.NDArray[Any]


def quantized(
    shape: Sequence[int],
    storage: str,
    scales: float | Sequence[float],
    zero_points: int | Sequence[int] = 0,
    axis: int | None = None,
) -> TensorType:
    """A quantized type; scales are rounded to float32, as a file holds them."""
    scale_list = tuple(np.atleast_1d(np.asarray(scales, np.float32)).tolist())
    points = tuple(np.broadcast_to(np.asarray(zero_points), (len(scale_list),)).tolist())
    return TensorType(tuple(shape), QuantParams(Storage.of(storage), scale_list, points, axis))


def floating(shape: Sequence[int]) -> TensorType:
    """A float32 type."""
    return TensorType(tuple(shape), "f32")


def add_tensor(
    model: Builder,
    name: str,
    kind: TensorType,
    data: Array | None = None,
    axis: int | None = None,
    shape: Sequence[int] = (),
) -> int:
    """``kind`` as a tensor of ``model``.

    ``axis`` and ``shape`` override what the file's layout has otherwise.
    """
    where: dict[str, Any] = {}
    if kind.is_quantized:
        params = kind.params
        where = {
            "scales": params.scales,
            "zero_points": params.zero_points,
            "axis": axis if axis is not None else params.axis or 0,
        }
    return model.tensor(name, shape or kind.shape, kind.dtype, data=data, **where)


def values(rng: np.random.Generator, kind: TensorType) -> Array:
    """Uniform storage values (floats: normal), with the extremes and the zero point among them."""
    if not kind.is_quantized:
        return rng.standard_normal(kind.shape).astype(np.float32)
    storage = kind.params.storage
    result = rng.integers(storage.minimum, storage.maximum, kind.shape, endpoint=True)
    special = rng.choice([storage.minimum, storage.maximum, kind.params.zero_points[0]], kind.shape)
    return np.where(rng.random(kind.shape) < 0.2, special, result).astype(kind.dtype)


seeds = st.integers(0, 2**32 - 1)
"""Seeds of numpy's generator."""


@st.composite
def scales(draw: st.DrawFn, low: float = -12.0, high: float = 3.0) -> float:
    """A scale between ``2^low`` and ``2^high``, a power of two now and then (ties)."""
    exponent = draw(st.floats(low, high))
    return float(np.float32(2.0 ** (round(exponent) if draw(st.booleans()) else exponent)))


def zero_points(storage: str) -> st.SearchStrategy[int]:
    """A zero point of ``storage``: often the ends or the middle of the range.

    16- and 32-bit storage is symmetric.
    """
    kind = Storage.of(storage)
    if kind.bits > 8:
        return st.just(0)
    middle = (kind.minimum + kind.maximum + 1) // 2
    return st.sampled_from([kind.minimum, middle, kind.maximum]) | st.integers(kind.minimum, kind.maximum)


def same_padding(size: int, window: int, stride: int, dilation: int, padding: str) -> tuple[int, int, int]:
    """(result size, padding before, padding after) of one axis under TFLite's ``SAME`` or ``VALID``."""
    span = (window - 1) * dilation + 1
    if padding == "VALID":
        return int((size - span) // stride + 1), 0, 0
    result = -(-size // stride)
    total = max((result - 1) * stride + span - size, 0)
    return int(result), int(total // 2), int(total - total // 2)


def judge(
    model: Builder,
    inputs: Sequence[int],
    outputs: Sequence[int],
    arrays: Sequence[Array],
    reference: bool = True,
) -> Array:
    """LiteRT's only result; the hypothesis example is dropped if LiteRT refuses its extreme scales."""
    try:
        return run_litert(model.build(inputs, outputs), arrays, reference)[0]
    except RuntimeError as error:
        if not any(text in str(error) for text in _REFUSALS):
            raise
        reject()


_REFUSALS = ("no_integer_overflow_from_quantization", "failed to create XNNPACK runtime")
