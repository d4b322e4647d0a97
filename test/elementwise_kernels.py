"""What the tests of elementwise kernels share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import emulated_kernels
from kernel_runner import buffer, has, inside, launch_of, run, untouched
from random_tensors import quantized
from zeropoint.dialect.meaning import evaluate
from zeropoint.dialect.types import TensorType
from zeropoint.kernels.image import Image
from zeropoint.kernels.launch import Launch

ISAS = [
    pytest.param(isa, marks=pytest.mark.skipif(not has(isa), reason=f"the machine has no {isa}"))
    for isa in ("avx512vbmi", "avx512vnni", "avxvnni", "avx2", "sse4", "neon")
]


def tails(isa: str) -> range:
    """Lengths with every remainder; where a kernel is a process of its own, up to two vectors and a bit."""
    return range(1, 38 if emulated_kernels.is_foreign(isa) else 201)


STORAGES = {"i8": (-128, 127), "u8": (0, 255)}


@st.composite
def images(draw: st.DrawFn, count: int, element_bytes: int = 1) -> list[Image]:
    """Images of one shape, each with a border and slice of its own."""
    batch, height = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    width = draw(st.integers(1, 9))
    channels = draw(st.sampled_from([1, 2, 3, 4, 7, 8, 15, 16, 17, 24, 31, 33, 58, 64, 65, 96, 130, 192]))
    result = []
    for _ in range(count):
        border = draw(st.sampled_from([(0, 0, 0, 0), (0, 0, 0, 0), (1, 1, 1, 1), (0, 1, 0, 1), (2, 0, 0, 3)]))
        first = draw(st.sampled_from([0, 0, 1, 5]))
        after = draw(st.sampled_from([0, 0, 3])) if first == 0 else 2
        wide = first + channels + after if first or after else 0
        result.append(Image(batch, height, width, channels, border, wide, first, element_bytes))
    return result


def types(rng: np.random.Generator, storages: tuple[str, str, str], spread: float = 4.0) -> list[TensorType]:
    """Of both operands and the result: zero points at the ends now and then, powers of two now and then."""
    result = []
    scales = 2.0 ** rng.uniform(-spread, spread, 3)
    if rng.random() < 0.3:
        scales = 2.0 ** np.round(np.log2(scales))
    if rng.random() < 0.5:  # a result that does not saturate much
        scales[2] = scales[:2].max() * rng.uniform(1, 2)
    for storage, scale in zip(storages, scales, strict=True):
        low, high = STORAGES[storage]
        point = [low, high, int(rng.integers(low, high + 1)), int(rng.integers(low, high + 1))]
        result.append(quantized((1, 1, 256, 256), storage, float(scale), point[int(rng.integers(0, 4))]))
    return result


def run_elementwise(
    spec: Any, isa: str, inputs: list[tuple[Image, np.ndarray[Any, Any]]], result: Image, dtype: Any
) -> np.ndarray[Any, Any]:
    """The tensor that ``spec``'s kernel computes; nothing else of its buffer may change, however units are
    grouped.
    """
    launch = launch_of(spec, isa)
    assert isinstance(launch, Launch), launch
    buffers = [buffer(image, values, border=0x5A) for image, values in inputs]
    results = []
    for pieces in (1, launch.units):
        shape = (result.batch, result.height, result.width, result.channels)
        before = buffer(result, np.zeros(shape, dtype), border=0x77)
        after = buffer(result, np.zeros(shape, dtype), border=0x77)
        run(launch, buffers, [after], pieces)
        assert untouched(result, before, after)
        results.append(inside(result, after, dtype))
    assert np.array_equal(results[0], results[1], equal_nan=np.issubdtype(dtype, np.floating))
    return results[0]


def all_pairs(kinds: list[TensorType]) -> list[np.ndarray[Any, Any]]:
    """Two arrays ``[1, 1, 256, 256]`` that hold every pair of stored values of the first two types."""
    lhs, rhs = (
        np.arange(kind.params.storage.minimum, kind.params.storage.maximum + 1).astype(kind.dtype)
        for kind in kinds[:2]
    )
    return [np.ascontiguousarray(np.broadcast_to(part, (1, 1, 256, 256))) for part in (lhs[:, None], rhs)]


def meaning(
    op: str, arrays: list[np.ndarray[Any, Any]], kinds: list[TensorType], clamp: tuple[float, ...], mode: str
) -> np.ndarray[Any, Any]:
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    inputs = [replace(kind, shape=array.shape) for kind, array in zip(kinds, arrays, strict=False)]
    result = replace(kinds[2], shape=shape)
    (array,) = evaluate(op, arrays, inputs, [result], {"clamp": clamp}, mode)
    return array
