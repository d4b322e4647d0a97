"""Transpose kernels against numpy: every permutation, tails of both axes, borders."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernel_runner
from random_tensors import seeds
from zeropoint.kernels.image import Image
from zeropoint.kernels.transpose import Transpose

ISAS = kernel_runner.each_of("avx512vnni", "avx2", "sse4", "neon")


@st.composite
def cases(draw: st.DrawFn) -> tuple[Transpose, np.ndarray]:
    rng = np.random.default_rng(draw(seeds))
    sizes = st.sampled_from([1, 1, 2, 3, 5, 8, 15, 16, 17, 21, 35])
    shape = (draw(st.integers(1, 3)), draw(sizes), draw(sizes), draw(sizes))
    permutation = draw(
        st.sampled_from([(0, 3, 1, 2), (0, 2, 3, 1), (0, 2, 3, 1), *itertools.permutations(range(4))])
    )
    values = rng.integers(0, 256, shape, np.uint8)
    result = values.transpose(permutation).shape
    border = tuple(int(n) for n in rng.integers(0, 3, 4))
    source = Image(*shape, border, shape[3] + 3, 1) if draw(st.booleans()) else Image(*shape)
    target = Image(*result, border, result[3] + 2, 2) if draw(st.booleans()) else Image(*result)
    return Transpose(source, target, permutation), values


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=150, deadline=None)
@given(case=cases())
def test_results_are_those_of_numpy(isa: str, case: tuple[Transpose, np.ndarray]) -> None:
    spec, values = case
    launch = kernel_runner.launch_of(spec, isa)
    assert not isinstance(launch, str), launch
    expected = values.transpose(spec.permutation)
    target = kernel_runner.buffer(spec.output, np.zeros_like(expected))
    before = target.copy()
    kernel_runner.run(launch, [kernel_runner.buffer(spec.input, values)], [target], pieces=3)
    np.testing.assert_array_equal(kernel_runner.inside(spec.output, target, np.uint8), expected)
    assert kernel_runner.untouched(spec.output, before, target)


def test_a_permutation_that_moves_no_byte_is_one_run() -> None:
    image = Image(1, 4, 6, 7)
    launch = kernel_runner.launch_of(Transpose(image, image, (0, 1, 2, 3)), "avx2")
    assert not isinstance(launch, str)
    assert launch.units == 1
    assert launch.code["kind"] == "copy"
