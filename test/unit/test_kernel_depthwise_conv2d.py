"""Depthwise convolution kernels against the numpy meaning: windows, borders, tails of channels, zero points,
ties, sums that wrap.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernel_runner
from random_tensors import quantized, seeds
from zeropoint.dialect import rescale
from zeropoint.dialect.meaning import evaluate
from zeropoint.kernels.conv import Conv
from zeropoint.kernels.image import Image

ISAS = [
    pytest.param(isa, marks=pytest.mark.skipif(not kernel_runner.has(isa), reason=f"this CPU has no {isa}"))
    for isa in ("avx512vnni", "avxvnni", "avx2", "sse4")
]
CLAMPS = [(), (), (0.0, math.inf), (0.0, 6.0), (-1.0, 1.0), (-math.inf, 0.5)]
WINDOWS = [((3, 3), (1, 1)), ((3, 3), (2, 2)), ((5, 5), (1, 1)), ((5, 5), (2, 2))]


@st.composite
def convolutions(draw: st.DrawFn) -> tuple[Conv, np.ndarray, np.ndarray, int]:
    """A spec, its stored input, the stored result and the zero point that fills the input's border."""
    rng = np.random.default_rng(draw(seeds))
    usual = st.sampled_from(WINDOWS)
    odd = st.tuples(
        st.sampled_from([(1, 1), (2, 3), (3, 2), (1, 7), (4, 1), (9, 8), (10, 3)]),
        st.tuples(st.integers(1, 3), st.integers(1, 3)),
    )
    kernel, strides = draw(usual | usual | odd)
    dilations = draw(st.sampled_from([(1, 1), (1, 1), (1, 1), (2, 2), (3, 1), (1, 4)]))
    out = (draw(st.integers(1, 6)), draw(st.sampled_from([1, 2, 3, 4, 5, 7, 8, 11, 14, 17, 28])))
    multiplier = draw(st.sampled_from([1, 1, 1, 1, 2, 3, 8]))
    channels = draw(st.sampled_from([1, 2, 3, 4, 7, 8, 12, 16, 17, 24, 31, 32, 33, 48, 64, 65, 72, 96, 130]))
    channels = max(1, channels // multiplier)
    outputs = channels * multiplier
    batch = draw(st.sampled_from([1, 1, 1, 2]))
    padding = tuple(int(n) for n in rng.integers(0, 3, 4))
    size = [
        max(1, (o - 1) * s + (k - 1) * d + 1 - before - after + int(rng.integers(0, s)))
        for o, s, k, d, before, after in zip(
            out, strides, kernel, dilations, padding[::2], padding[1::2], strict=True
        )
    ]
    out = tuple(
        (n + before + after - (k - 1) * d - 1) // s + 1
        for n, s, k, d, before, after in zip(
            size, strides, kernel, dilations, padding[::2], padding[1::2], strict=True
        )
    )
    storage = draw(st.sampled_from(["i8 as u8", "u8"]))
    filter_storage = draw(st.sampled_from(["i8", "u8"]))
    ends = st.sampled_from([0, 255]) | st.integers(0, 255)
    offset = 0 if storage == "u8" else 128
    x = quantized((batch, *size, channels), storage[:2], 2.0 ** rng.uniform(-8, -2), draw(ends) - offset)
    per_axis = filter_storage == "i8" and draw(st.booleans())
    exponents = rng.uniform(-9, -4, outputs if per_axis else 1)
    if draw(st.booleans()):
        exponents = np.round(exponents)  # ties
    point = draw(ends) if filter_storage == "u8" else 0
    w = quantized((outputs, *kernel, 1), filter_storage, 2.0**exponents, point, 0 if per_axis else None)
    bias_scales = np.float32(x.params.scale) * np.asarray(w.params.scales, np.float32)
    b = quantized((outputs,), "i32", bias_scales, 0, 0 if per_axis else None)
    taps = kernel[0] * kernel[1]
    spread = 2.0 ** rng.uniform(-2, 6)
    y_scale = float(np.max(bias_scales)) * math.sqrt(taps) * 5000 / (40 * spread)
    y = quantized((batch, *out, outputs), storage[:2], y_scale, draw(ends) - offset)
    reach = draw(
        st.sampled_from([5000 * taps, 5000 * taps, 5000 * taps, 2**31 - 1])
    )  # the last: sums that wrap
    bias = rng.integers(-reach, reach + 1, outputs).astype(np.int32)
    arrays = [_values(draw, rng, kind.shape, kind.dtype) for kind in (x, w)] + [bias]
    clamp, mode = draw(st.sampled_from(CLAMPS)), draw(st.sampled_from(["reference", "xnnpack"]))
    attributes = {
        "strides": strides,
        "dilations": dilations,
        "padding": padding,
        "groups": channels,
        "clamp": clamp,
    }
    expected = evaluate("conv2d", arrays, [x, w, b], [y], attributes, mode)[0]
    constants = rescale.conv2d(x, w, y, clamp, mode)
    stored = arrays[0]
    numbers = constants.rescale
    if offset:
        stored, expected = ((a.astype(np.int64) + 128).astype(np.uint8) for a in (stored, expected))
        constants = dataclasses.replace(constants, input_zero_point=constants.input_zero_point + 128)
        numbers = dataclasses.replace(
            numbers, zero_point=numbers.zero_point + 128, low=numbers.low + 128, high=numbers.high + 128
        )
    border = tuple(n + int(more) for n, more in zip(padding, rng.integers(0, 2, 4), strict=True))
    spec = Conv(
        "depthwise_conv2d",
        _image(rng, x.shape, border),
        _image(rng, y.shape, tuple(int(n) for n in rng.integers(0, 3, 4))),
        kernel,
        strides,
        dilations,
        (padding[0], padding[2]),
        channels,
        False,
        filter_storage == "i8",
        constants.filter_zero_points,
        False,
        numbers,
        arrays[1],
        rescale.folded_bias(arrays[1], bias, constants).astype(np.int32),
    )
    return spec, stored, expected, constants.input_zero_point


def _values(draw: st.DrawFn, rng: np.random.Generator, shape: Any, dtype: Any) -> np.ndarray:
    """Bytes: anything, or only the two ends."""
    limits = np.iinfo(dtype)
    if draw(st.integers(0, 4)) == 0:
        return rng.choice(np.array([limits.min, limits.max], dtype), shape)
    return rng.integers(limits.min, limits.max + 1, shape).astype(dtype)


def _image(rng: np.random.Generator, shape: tuple[int, ...], border: Any) -> Image:
    """An image of ``shape``, perhaps a slice of a wider one."""
    others = int(rng.choice([0, 0, 0, 5, 16]))
    return Image(*shape, border, shape[3] + others if others else 0, int(rng.integers(0, others + 1)))


def check(
    spec: Conv, isa: str, values: np.ndarray, expected: np.ndarray, border: int, pieces: int = 3
) -> None:
    launch = kernel_runner.launch_of(spec, isa)
    assert not isinstance(launch, str), launch
    target = kernel_runner.buffer(spec.output, np.zeros_like(expected))
    before = target.copy()
    kernel_runner.run(launch, [kernel_runner.buffer(spec.input, values, border)], [target], pieces)
    np.testing.assert_array_equal(kernel_runner.inside(spec.output, target, expected.dtype), expected)
    assert kernel_runner.untouched(spec.output, before, target)


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=100, deadline=None)
@given(case=convolutions())
def test_convolutions_equal_their_meaning(isa: str, case: tuple[Conv, np.ndarray, np.ndarray, int]) -> None:
    check(case[0], isa, *case[1:])
