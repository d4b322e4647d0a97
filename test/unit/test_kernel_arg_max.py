"""ArgMax kernels against the numpy meaning: ties, tails of channels, both widths of an index."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernel_runner
from random_tensors import seeds
from zeropoint.kernels.arg_max import ArgMax
from zeropoint.kernels.image import Image

ISAS = kernel_runner.each_of("avx512vnni", "avx2", "sse4", "neon")


@st.composite
def cases(draw: st.DrawFn) -> tuple[ArgMax, np.ndarray, np.ndarray]:
    """A spec, its stored input and the indices."""
    rng = np.random.default_rng(draw(seeds))
    channels = draw(st.sampled_from([1, 2, 10, 16, 17, 21, 32, 33, 64, 65, 128, 150, 1001]))
    shape = (*draw(st.sampled_from([(1, 1, 1), (2, 3, 4), (1, 2, 7)])), channels)
    dtype, index = (
        np.dtype(draw(st.sampled_from(["i1", "u1"]))),
        np.dtype(draw(st.sampled_from(["i4", "i8"]))),
    )
    limits = np.iinfo(dtype)
    low, spread = (
        draw(st.sampled_from([limits.min, -1, 0, limits.max - 1])),
        draw(st.sampled_from([1, 2, 256])),
    )
    values = np.clip(rng.integers(low, low + spread, shape), limits.min, limits.max).astype(dtype)
    border = tuple(int(n) for n in rng.integers(0, 2, 4))
    source = Image(*shape, border, channels + 3, 1) if draw(st.booleans()) else Image(*shape)
    target = Image(
        *shape[:3], 1, border if draw(st.booleans()) else (0, 0, 0, 0), element_bytes=index.itemsize
    )
    return ArgMax(source, target, dtype.kind == "i"), values, values.argmax(-1).astype(index)


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=100, deadline=None)
@given(case=cases())
def test_indices_are_those_of_numpy(isa: str, case: tuple[ArgMax, np.ndarray, np.ndarray]) -> None:
    spec, values, expected = case
    launch = kernel_runner.launch_of(spec, isa)
    assert not isinstance(launch, str), launch
    target = kernel_runner.buffer(spec.output, np.zeros_like(expected))
    before = target.copy()
    largest = 127 if spec.signed else 255
    kernel_runner.run(
        launch, [kernel_runner.buffer(spec.input, values, largest, largest)], [target], pieces=2
    )
    actual = kernel_runner.inside(spec.output, target, expected.dtype).reshape(expected.shape)
    np.testing.assert_array_equal(actual, expected)
    assert kernel_runner.untouched(spec.output, before, target)


def test_other_indices_are_no_kernel() -> None:
    spec = ArgMax(Image(1, 1, 1, 3), Image(1, 1, 1, 1, element_bytes=2), True)
    assert kernel_runner.launch_of(spec, "avx2") == "an index of 2 bytes"
