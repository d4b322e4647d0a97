"""Softmax kernels against the numpy meaning: short and long rows, flat and steep ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernel_runner
from random_tensors import quantized, seeds
from zeropoint.dialect.activation_tables import softmax_8bit
from zeropoint.dialect.meaning import evaluate
from zeropoint.kernels.image import Image
from zeropoint.kernels.softmax import Softmax

ISAS = kernel_runner.each_of("avx512vnni", "avx2", "sse4", "neon")


@st.composite
def softmaxes(draw: st.DrawFn) -> tuple[Softmax, np.ndarray, np.ndarray]:
    """A spec, its stored input and the stored result."""
    rng = np.random.default_rng(draw(seeds))
    classes = draw(st.sampled_from([1, 2, 3, 10, 12, 15, 16, 17, 21, 64, 100, 511, 512, 1001, 4095]))
    shape = (*draw(st.sampled_from([(1, 1, 1), (1, 1, 5), (2, 3, 2)])), classes)
    storage, encoded = draw(st.sampled_from(["i8", "u8"])), draw(st.booleans())
    x = quantized(shape, storage, draw(st.sampled_from([1e-7, 1e-3, 0.02, 0.0625, 0.1, 0.7, 30.0])), 3)
    y = quantized(shape, storage, 2.0**-8, -128 if storage == "i8" else 0)
    beta = draw(st.sampled_from([1.0, 0.5, 2.0]))
    limits = np.iinfo(x.dtype)
    low = draw(st.sampled_from([limits.min, -1, 0, limits.max - 1]))
    values = np.clip(
        rng.integers(low, low + draw(st.sampled_from([1, 2, 20, 256])), shape), limits.min, limits.max
    )
    values = values.astype(x.dtype)
    expected = evaluate("softmax", [values], [x], [y], {"axis": -1, "beta": beta}, "reference")[0]
    signed = storage == "i8"
    if encoded and signed:
        signed = False
        values, expected = ((a.astype(np.int64) + 128).astype(np.uint8) for a in (values, expected))
    border = tuple(int(n) for n in rng.integers(0, 2, 4))
    source = Image(*shape, border, classes + 3, 1) if draw(st.booleans()) else Image(*shape)
    target = Image(*shape, border, classes + 2, 2) if draw(st.booleans()) else Image(*shape)
    return Softmax(source, target, signed, signed, softmax_8bit(x.params.scale, beta)), values, expected


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=60, deadline=None)
@given(case=softmaxes())
def test_softmaxes_equal_their_meaning(isa: str, case: tuple[Softmax, np.ndarray, np.ndarray]) -> None:
    spec, values, expected = case
    launch = kernel_runner.launch_of(spec, isa)
    assert not isinstance(launch, str), launch
    target = kernel_runner.buffer(spec.output, np.zeros_like(expected))
    before = target.copy()
    kernel_runner.run(launch, [kernel_runner.buffer(spec.input, values, 0xFF)], [target], pieces=2)
    np.testing.assert_array_equal(kernel_runner.inside(spec.output, target, expected.dtype), expected)
    assert kernel_runner.untouched(spec.output, before, target)


def test_more_classes_than_a_sum_holds_are_no_kernel() -> None:
    image = Image(1, 1, 1, 4096)
    spec = Softmax(image, image, False, False, softmax_8bit(1.0, 1.0))
    assert kernel_runner.launch_of(spec, "avx2") == "more than 4095 classes"
