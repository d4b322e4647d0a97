"""Strict checks of what a caller hands in: nothing is cast, reshaped or guessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..dialect.tensor_info import TensorInfo
from ..errors import InputError, did_you_mean

Array = npt.NDArray[np.generic]


def arrange(inputs: Sequence[TensorInfo], values: Sequence[Any]) -> list[Array]:
    """The arrays for a network's inputs, in its order, from positional arguments or one dict by name.

    Each is C-contiguous and aligned (copied if the caller's is not). Inputs that the network does not read
    may be left out; they become zeros.

    Raises:
        InputError: wrong count, an unknown or missing name, a wrong dtype or shape.
    """
    if len(values) == 1 and isinstance(values[0], Mapping):
        values = _by_name(inputs, values[0])
    if len(values) != len(inputs):
        values = _with_unread(inputs, values)
    if len(values) != len(inputs):
        names = ", ".join(f"'{info.name}'" for info in inputs)
        raise InputError(f"got {len(values)} inputs, expected {len(inputs)}: {names}")
    return [
        np.require(check_array(info, value), requirements=("C", "A"))
        for info, value in zip(inputs, values, strict=True)
    ]


def check_array(info: TensorInfo, value: Any) -> Array:
    """``value`` as an array, if it has exactly the dtype and shape of ``info``; no copy of an array.

    Raises:
        InputError: it has not; says what to do.
    """
    try:
        array = np.asarray(value)
    except Exception as error:  # whatever the object's __array__ raises
        raise InputError(
            f"input '{info.name}': got {type(value).__name__}, which is not an array ({error})"
        ) from error
    if array.dtype != info.dtype:
        raise InputError(
            f"input '{info.name}': dtype: got {array.dtype}, expected {info.dtype}; "
            + _dtype_hint(info, array)
        )
    if tuple(array.shape) != tuple(info.shape):
        raise InputError(
            f"input '{info.name}': shape: got {list(array.shape)}, expected {list(info.shape)}; "
            + _shape_hint(info, array)
        )
    return array


def _with_unread(inputs: Sequence[TensorInfo], values: Sequence[Any]) -> Sequence[Any]:
    """``values`` with zeros for the unread inputs, if it has exactly the others."""
    if len(values) != sum(info.is_read for info in inputs):
        return values
    given = iter(values)
    return [next(given) if info.is_read else np.zeros(info.shape, info.dtype) for info in inputs]


def _by_name(inputs: Sequence[TensorInfo], values: Mapping[Any, Any]) -> list[Any]:
    known = [info.name for info in inputs]
    for name in values:
        if name not in known:
            hint = did_you_mean(str(name), known) or "; the inputs are " + ", ".join(f"'{n}'" for n in known)
            raise InputError(f"no input is named '{name}'{hint}")
    for info in inputs:
        if info.is_read and info.name not in values:
            raise InputError(f"input '{info.name}' is missing")
    return [values[info.name] if info.name in values else np.zeros(info.shape, info.dtype) for info in inputs]


def _dtype_hint(info: TensorInfo, array: Array) -> str:
    if array.dtype.kind == "f" and isinstance(info.scale, float) and isinstance(info.zero_point, int):
        low, high = np.iinfo(info.dtype).min, np.iinfo(info.dtype).max
        sign, offset = "-+"[info.zero_point >= 0], abs(info.zero_point)
        steps = f"np.round(x / {info.scale!r}) {sign} {offset}"
        return f"quantize with np.clip({steps}, {low}, {high}).astype(np.{info.dtype})"
    if array.dtype.kind not in "biuf":
        return "give numbers"
    return f"if the values are right, cast with .astype(np.{info.dtype})"


def _shape_hint(info: TensorInfo, array: Array) -> str:
    if array.size == np.prod(info.shape, dtype=np.int64):
        return f"if the order of the elements is right, use .reshape({list(info.shape)})"
    if len(array.shape) + 1 == len(info.shape) and tuple(info.shape[1:]) == tuple(array.shape):
        return "add the batch dimension with x[np.newaxis]"
    return f"for another size, load the model with shapes={{'{info.name}': {list(array.shape)}}}"
