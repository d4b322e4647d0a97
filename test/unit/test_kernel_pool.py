"""Pooling kernels against the numpy meaning: windows, strides, borders, tails of channels, ties."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernel_runner
from random_tensors import quantized, same_padding, seeds
from zeropoint.dialect.meaning import evaluate
from zeropoint.kernels.image import Image
from zeropoint.kernels.pool import Pool

ISAS = kernel_runner.each_of("avx512vnni", "avx2", "sse4", "neon")
OPS = {"max": "max_pool2d", "average": "avg_pool2d"}


def images(rng: np.random.Generator, shape: tuple[int, ...]) -> Image:
    """An image of ``shape`` in a larger buffer."""
    border = tuple(int(n) for n in rng.integers(0, 3, 4))
    others = int(rng.choice([0, 0, 5, 16]))
    first = int(rng.integers(0, others + 1))
    return Image(*shape, border, shape[3] + others if others else 0, first)


@st.composite
def pools(draw: st.DrawFn) -> tuple[Pool, np.ndarray, np.ndarray]:
    """A spec, its stored input and the stored result."""
    rng = np.random.default_rng(draw(seeds))
    kind = draw(st.sampled_from(sorted(OPS)))
    size = np.array(draw(st.sampled_from([(8, 8), (9, 6), (17, 5), (4, 19), (1, 12)])))
    window = draw(st.sampled_from([(3, 3), (3, 3), (2, 2), (1, 1), (5, 3), (2, 6), (12, 12), tuple(size)]))
    strides = draw(st.sampled_from([(1, 1), (2, 2), (3, 2), (1, 4)]))
    padding = draw(st.sampled_from(["SAME", "VALID"]))
    if any(np.array(window) > size):
        padding = "SAME"
    axes = [same_padding(int(s), w, t, 1, padding) for s, w, t in zip(size, window, strides, strict=True)]
    channels = draw(st.sampled_from([1, 3, 8, 16, 21, 32, 40, 64, 65, 96, 130]))
    batch = draw(st.sampled_from([1, 1, 2]))
    storage = draw(st.sampled_from(["i8", "u8", "i8 as u8"]))
    x = quantized((batch, *map(int, size), channels), storage[:2], 0.05, draw(st.sampled_from([0, 7])))
    y = dataclasses.replace(x, shape=(batch, axes[0][0], axes[1][0], channels))
    clamp = draw(st.sampled_from([(), (), (0.0, 1.5)]))
    attributes = {
        "window": window,
        "strides": strides,
        "padding": (axes[0][1], axes[0][2], axes[1][1], axes[1][2]),
        "clamp": clamp,
    }
    limits = np.iinfo(x.dtype)
    spread = draw(st.sampled_from([2, 256]))
    values = rng.integers(limits.min, limits.max + 1, x.shape)
    values = np.clip(
        values % spread + draw(st.sampled_from([limits.min, -1, 0, limits.max - 1])), limits.min, limits.max
    )
    values = values.astype(x.dtype)
    expected = evaluate(OPS[kind], [values], [x], [y], attributes, "reference")[0]
    bounds = [limits.min, limits.max]
    if clamp:
        bounds = [x.params.zero_point + round(bound / x.params.scale) for bound in clamp]
    offset = 128 if storage == "i8 as u8" else 0
    if offset:
        values, expected = ((a.astype(np.int64) + 128).astype(np.uint8) for a in (values, expected))
    spec = Pool(
        kind,
        images(rng, x.shape),
        images(rng, y.shape),
        window,
        strides,
        (axes[0][1], axes[1][1]),
        storage == "i8",
        bounds[0] + offset,
        bounds[1] + offset,
        offset,
    )
    return spec, values, expected


def check(spec: Any, isa: str, values: np.ndarray, expected: np.ndarray, pieces: int = 3) -> None:
    launch = kernel_runner.launch_of(spec, isa)
    assert not isinstance(launch, str), launch
    target = kernel_runner.buffer(spec.output, np.zeros_like(expected))
    before = target.copy()
    kernel_runner.run(launch, [kernel_runner.buffer(spec.input, values, 0x5A)], [target], pieces)
    np.testing.assert_array_equal(kernel_runner.inside(spec.output, target, expected.dtype), expected)
    assert kernel_runner.untouched(spec.output, before, target)


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=60, deadline=None)
@given(case=pools())
def test_pools_equal_their_meaning(isa: str, case: tuple[Pool, np.ndarray, np.ndarray]) -> None:
    check(case[0], isa, *case[1:])


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("taps", [*range(1, 20), 49, 64, 127, 128, 129, 1000, 4095, 65535])
@pytest.mark.parametrize("offset", [0, 128])
def test_every_sum_of_a_window_is_divided_exactly(isa: str, taps: int, offset: int) -> None:
    """One window a channel, with sums around every tie and both ends."""
    sums = np.unique(np.clip(np.arange(256)[:, None] * taps + taps // 2 + np.arange(-1, 3), 0, 255 * taps))
    channels = sums.size
    values = np.repeat((sums // taps)[None], taps, 0)
    values += np.arange(taps)[:, None] < sums % taps
    image, pixel = Image(1, 1, taps, channels), Image(1, 1, 1, channels)
    spec = Pool("average", image, pixel, (1, taps), (1, 1), (0, 0), False, 0, 255, offset)
    total = sums - offset * taps
    expected = np.sign(total) * ((np.abs(total) + taps // 2) // taps) + offset
    check(
        spec,
        isa,
        values.astype(np.uint8).reshape(1, 1, taps, channels),
        expected.astype(np.uint8)[None, None, None],
    )


def test_what_no_kernel_pools_is_said() -> None:
    image = Image(1, 300, 300, 4)
    spec = Pool("average", image, Image(1, 1, 1, 4), (300, 300), (1, 1), (0, 0), False, 0, 255)
    assert kernel_runner.launch_of(spec, "avx2") == "an average of more than 65535 taps"
    spec = dataclasses.replace(spec, window=(1, 1), padding=(1, 0))
    assert kernel_runner.launch_of(spec, "avx2") == "a window that lies outside the image"
