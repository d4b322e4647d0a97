"""Outputs whose length is known after a run: cut to it."""

from __future__ import annotations

from collections.abc import Sequence

from ..dialect.tensor_info import TensorInfo
from .inputs import Array


def has_lengths(infos: Sequence[TensorInfo]) -> bool:
    """Whether there is anything to cut."""
    return any(info.length for info in infos)


def cut(infos: Sequence[TensorInfo], arrays: Sequence[Array]) -> list[Array]:
    """Views of arrays (one per output) without what lies behind their lengths."""
    by_name = {info.name: array for info, array in zip(infos, arrays, strict=True)}
    return [
        array[: int(by_name[info.length].reshape(-1)[0])] if info.length else array
        for info, array in zip(infos, arrays, strict=True)
    ]
