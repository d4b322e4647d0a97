"""Mean kernels against the numpy meaning: both numerics modes, tails of channels, borders, encodings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernel_runner
from random_tensors import quantized, scales, seeds, zero_points
from zeropoint.dialect import rescale
from zeropoint.dialect.meaning import evaluate
from zeropoint.kernels.image import Image
from zeropoint.kernels.mean import Mean

ISAS = kernel_runner.each_of("avx512vnni", "avx2", "sse4", "neon")


@st.composite
def means(draw: st.DrawFn) -> tuple[Mean, np.ndarray, np.ndarray]:
    """A spec, its stored input and the stored result."""
    rng = np.random.default_rng(draw(seeds))
    height, width = draw(st.sampled_from([(1, 1), (7, 7), (8, 8), (3, 50), (13, 1), (2, 300), (40, 26)]))
    channels = draw(st.sampled_from([1, 3, 7, 8, 16, 21, 32, 40, 64, 65, 130]))
    shape = (draw(st.sampled_from([1, 1, 3])), height, width, channels)
    storage = draw(st.sampled_from(["i8", "u8"]))
    x = quantized(shape, storage, draw(scales()), draw(zero_points(storage)))
    ratio = draw(st.sampled_from([1.0, 1.0, 0.999, 1.7, 2.0, 40.0, 1e-3]))
    scale = x.params.scale * ratio if np.isfinite(np.float32(x.params.scale * ratio)) else x.params.scale
    y = quantized((shape[0], channels), storage, scale, draw(zero_points(storage)))
    limits = np.iinfo(x.dtype)
    # Sums near a tie are as frequent as extreme ones.
    low = draw(st.sampled_from([limits.min, limits.max - 1, x.params.zero_point - 1]))
    values = rng.integers(low, low + draw(st.sampled_from([2, 4, 256])), shape)
    values = np.clip(values, limits.min, limits.max).astype(x.dtype)
    mode = draw(st.sampled_from(["reference", "xnnpack"]))
    attributes = {"axes": (1, 2), "keep_dims": False}
    expected = evaluate("mean", [values], [x], [y], attributes, mode)[0]
    constants = rescale.mean(x, y, height * width, mode)
    input_offset, result_offset = (128 if storage == "i8" and draw(st.booleans()) else 0 for _ in range(2))
    if input_offset:
        values = (values.astype(np.int64) + 128).astype(np.uint8)
    if result_offset:
        expected = (expected.astype(np.int64) + 128).astype(np.uint8)
    border = tuple(int(n) for n in rng.integers(0, 3, 4))
    source = Image(*shape, border, channels + 5, 2) if draw(st.booleans()) else Image(*shape)
    target = Image(shape[0], 1, 1, channels) if draw(st.booleans()) else Image(1, 1, shape[0], channels)
    return (
        Mean(source, target, storage == "i8" and not input_offset, constants, input_offset, result_offset),
        values,
        expected,
    )


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=80, deadline=None)
@given(case=means())
def test_means_equal_their_meaning(isa: str, case: tuple[Mean, np.ndarray, np.ndarray]) -> None:
    spec, values, expected = case
    launch = kernel_runner.launch_of(spec, isa)
    if isinstance(launch, str):
        assert launch.startswith("a shift outside")
        return
    target = kernel_runner.buffer(spec.output, np.zeros_like(expected))
    before = target.copy()
    kernel_runner.run(launch, [kernel_runner.buffer(spec.input, values, 0x5A)], [target], pieces=2)
    actual = kernel_runner.inside(spec.output, target, expected.dtype).reshape(expected.shape)
    np.testing.assert_array_equal(actual, expected)
    assert kernel_runner.untouched(spec.output, before, target)


def test_what_no_kernel_averages_is_said() -> None:
    x, y = quantized((1, 1, 1, 1), "i8", 1.0), quantized((1, 1), "i8", 0.25)
    spec = Mean(Image(1, 1, 1, 1), Image(1, 1, 1, 1), True, rescale.mean(x, y, 1))
    assert kernel_runner.launch_of(spec, "avx2") == "a shift outside -31..0 (scales of one and more)"
    image = Image(1, 4096, 4096, 1)
    spec = Mean(image, Image(1, 1, 1, 1), True, rescale.mean(x, y, 1 << 24))
    assert kernel_runner.launch_of(spec, "avx2") == "a mean of more than 8388608 elements"
