"""Resize kernels against the numpy meaning: every rule of weights, sizes up and down, tails of channels."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernel_runner
from random_tensors import quantized, seeds
from zeropoint.dialect import resampling
from zeropoint.dialect.meaning import evaluate
from zeropoint.dialect.types import TensorType
from zeropoint.kernels.image import Image
from zeropoint.kernels.resize import Resize

ISAS = kernel_runner.each_of("avx512vnni", "avx2", "sse4", "neon")
SIZES = [(1, 1), (1, 5), (3, 33), (5, 17), (4, 8), (7, 7), (9, 4), (17, 5), (6, 41), (3, 257)]


def spec_of(
    op: str, x: TensorType, source: Image, target: Image, options: tuple[bool, bool], mode: str, offset: int
) -> Resize:
    sizes = [(source.height, target.height), (source.width, target.width)]
    signed = x.params.storage.signed != bool(offset)
    if op == "resize_nearest":
        lower = [resampling.nearest(*size, *options) for size in sizes]
        rows, columns = (resampling.Axis(index, index, np.zeros(index.size)) for index in lower)
        return Resize(source, target, rows, columns, None, signed, offset)
    weights = resampling.bilinear_weights(x, mode)
    rows, columns = (resampling.bilinear(weights, *size, *options) for size in sizes)
    return Resize(source, target, rows, columns, weights, signed, offset)


@st.composite
def resizes(draw: st.DrawFn) -> tuple[Resize, np.ndarray, np.ndarray]:
    """A spec, its stored input and the stored result."""
    rng = np.random.default_rng(draw(seeds))
    op = draw(st.sampled_from(["resize_bilinear", "resize_bilinear", "resize_bilinear", "resize_nearest"]))
    (height, out_height), (width, out_width) = (draw(st.sampled_from(SIZES)) for _ in range(2))
    channels = draw(st.sampled_from([1, 3, 8, 16, 21, 32, 40, 65, 130]))
    batch = draw(st.sampled_from([1, 1, 2]))
    storage, mode = draw(st.sampled_from(["i8", "u8"])), draw(st.sampled_from(["reference", "xnnpack"]))
    options = draw(st.sampled_from([(False, False), (True, False), (False, True)]))
    x = quantized((batch, height, width, channels), storage, 0.1, 3)
    y = dataclasses.replace(x, shape=(batch, out_height, out_width, channels))
    limits = np.iinfo(x.dtype)
    low, spread = (
        draw(st.sampled_from([limits.min, -1, 0, limits.max - 1])),
        draw(st.sampled_from([2, 3, 256])),
    )
    values = np.clip(rng.integers(low, low + spread, x.shape), limits.min, limits.max).astype(x.dtype)
    attributes = {"align_corners": options[0], "half_pixel_centers": options[1]}
    expected = evaluate(op, [values], [x], [y], attributes, mode)[0]
    offset = draw(st.sampled_from([0, 128 if storage == "i8" else -128]))
    if offset:
        kept = np.uint8 if storage == "i8" else np.int8
        values, expected = ((a.astype(np.int64) + offset).astype(kept) for a in (values, expected))
    border = tuple(int(n) for n in rng.integers(0, 3, 4))
    source = Image(*x.shape, border, channels + 3, 1) if draw(st.booleans()) else Image(*x.shape)
    target = Image(*y.shape, border, channels + 2, 2) if draw(st.booleans()) else Image(*y.shape)
    return spec_of(op, x, source, target, options, mode, offset), values, expected


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=120, deadline=None)
@given(case=resizes())
def test_resizes_equal_their_meaning(isa: str, case: tuple[Resize, np.ndarray, np.ndarray]) -> None:
    spec, values, expected = case
    launch = kernel_runner.launch_of(spec, isa)
    assert not isinstance(launch, str), launch
    target = kernel_runner.buffer(spec.output, np.zeros_like(expected))
    before = target.copy()
    kernel_runner.run(launch, [kernel_runner.buffer(spec.input, values, 0x5A)], [target], pieces=3)
    np.testing.assert_array_equal(kernel_runner.inside(spec.output, target, expected.dtype), expected)
    assert kernel_runner.untouched(spec.output, before, target)


@pytest.mark.parametrize(
    ("mode", "size", "result", "kind"),
    [
        ("reference", 33, 513, "words"),
        ("reference", 17, 2049, "integers"),
        ("reference", 33, 512, "float32"),
        ("xnnpack", 33, 513, "words"),
        ("xnnpack", 33, 512, "integers"),
    ],
)
def test_fractions_of_few_bits_are_integers(mode: str, size: int, result: int, kind: str) -> None:
    """uint8 with aligned corners."""
    x = quantized((1, size, size, 4), "u8", 0.1)
    images = (Image(1, n, n, 4) for n in (size, result))
    launch = kernel_runner.launch_of(spec_of("resize_bilinear", x, *images, (True, False), mode, 0), "avx2")
    assert not isinstance(launch, str)
    assert launch.code["kind"] == kind


def test_float32_weights_are_for_uint8() -> None:
    x = quantized((1, 3, 3, 4), "u8", 0.1)
    image = Image(1, 3, 3, 4)
    spec = spec_of("resize_bilinear", x, image, image, (True, False), "reference", 128)
    assert kernel_runner.launch_of(spec, "avx2") == "float32 weights of what is not uint8"
