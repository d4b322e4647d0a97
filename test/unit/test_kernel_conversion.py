"""Kernels of quantize and dequantize against the numpy meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elementwise_kernels import ISAS, STORAGES, images, run_elementwise
from random_tensors import quantized, seeds
from zeropoint.dialect.meaning import evaluate
from zeropoint.dialect.numerics import Rounding, rule
from zeropoint.dialect.types import TensorType
from zeropoint.kernels.conversion import Dequantize, Quantize, plan
from zeropoint.kernels.image import Image
from zeropoint.kernels.instruction_set import INSTRUCTION_SETS

MODES = ["reference", "xnnpack"]


def quantize_spec(kind: TensorType, mode: str, source: Image, target: Image) -> Quantize:
    params = kind.params
    low, high = STORAGES[params.storage.name]
    rounding = rule(mode, "quantize")
    return Quantize(
        source, target, params.storage.signed, params.scale, params.zero_point, low, high, rounding
    )


def hard_values(rng: np.random.Generator, scale: float, count: int) -> np.ndarray[Any, Any]:
    """Ties and what is next to them, the ends, huge and tiny numbers, NaN and infinities."""
    steps = np.arange(-300, 300.5, 0.5)
    ties = (steps * np.float32(scale)).astype(np.float32)
    near = np.concatenate(
        [ties, np.nextafter(ties, np.float32(np.inf)), np.nextafter(ties, -np.float32(np.inf))]
    )
    special = np.array(
        [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 3e38, -3e38, 1e-45, -1e-45, 2.0**31, -(2.0**31)],
        np.float32,
    )
    random = (rng.normal(0, 100, count) * scale).astype(np.float32)
    return np.concatenate([near, special, random])


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=40, deadline=None)
@given(seed=seeds, storage=st.sampled_from(["i8", "u8"]), power=st.booleans())
def test_quantize_of_hard_values(isa: str, mode: str, seed: int, storage: str, power: bool) -> None:
    rng = np.random.default_rng(seed)
    exponent = rng.uniform(-20, 20)
    scale = float(np.float32(2.0 ** (np.round(exponent) if power else exponent)))
    low, high = STORAGES[storage]
    point = (low, high, int(rng.integers(low, high + 1)))[int(rng.integers(0, 3))]
    reals = hard_values(rng, scale, int(rng.integers(1, 200))).reshape(1, 1, 1, -1)
    kind = quantized(reals.shape, storage, scale, point)
    source = Image(1, 1, 1, reals.size, element_bytes=4)
    target = Image(1, 1, 1, reals.size)
    got = run_elementwise(
        quantize_spec(kind, mode, source, target), isa, [(source, reals)], target, kind.dtype
    )
    (expected,) = evaluate("quantize", [reals], [TensorType(reals.shape, "f32")], [kind], {}, mode)
    assert np.array_equal(got, expected)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scale", [1e-40, 1e-44, 3e38])
def test_quantize_at_the_ends_of_float32(isa: str, mode: str, scale: float) -> None:
    scale = float(np.float32(scale))
    reals = hard_values(np.random.default_rng(0), 1.0, 50).reshape(1, 1, 1, -1)
    kind = quantized(reals.shape, "i8", scale, -7)
    source = Image(1, 1, 1, reals.size, element_bytes=4)
    target = Image(1, 1, 1, reals.size)
    got = run_elementwise(quantize_spec(kind, mode, source, target), isa, [(source, reals)], target, np.int8)
    (expected,) = evaluate("quantize", [reals], [TensorType(reals.shape, "f32")], [kind], {}, mode)
    assert np.array_equal(got, expected)


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=40, deadline=None)
@given(seed=seeds, storage=st.sampled_from(["i8", "u8"]))
def test_dequantize(isa: str, seed: int, storage: str) -> None:
    rng = np.random.default_rng(seed)
    low, high = STORAGES[storage]
    scale = float(np.float32(2.0 ** rng.uniform(-140, 120)))
    count = int(rng.integers(1, 600))
    stored = np.resize(np.arange(low, high + 1), count).reshape(1, 1, 1, -1)
    kind = quantized(stored.shape, storage, scale, int(rng.integers(low, high + 1)))
    stored = stored.astype(kind.dtype)
    source, target = Image(1, 1, 1, count), Image(1, 1, 1, count, element_bytes=4)
    spec = Dequantize(source, target, kind.params.storage.signed, scale, kind.params.zero_point)
    got = run_elementwise(spec, isa, [(source, stored)], target, np.float32)
    (expected,) = evaluate("dequantize", [stored], [kind], [TensorType(stored.shape, "f32")], {}, "reference")
    assert np.array_equal(got, expected)


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=30, deadline=None)
@given(floats=images(2, element_bytes=4), seed=seeds)
def test_images(isa: str, floats: list[Image], seed: int) -> None:
    source, target = floats[0], floats[1]
    bytes_ = Image(
        target.batch,
        target.height,
        target.width,
        target.channels,
        target.border,
        target.pixel_channels,
        target.first_channel,
    )
    rng = np.random.default_rng(seed)
    shape = (source.batch, source.height, source.width, source.channels)
    reals = rng.normal(0, 60, shape).astype(np.float32)
    kind = quantized(shape, "u8", 0.75, 100)
    got = run_elementwise(
        quantize_spec(kind, "reference", source, bytes_), isa, [(source, reals)], bytes_, np.uint8
    )
    (expected,) = evaluate("quantize", [reals], [TensorType(shape, "f32")], [kind], {}, "reference")
    assert np.array_equal(got, expected)
    back = run_elementwise(
        Dequantize(bytes_, source, False, 0.75, 100), isa, [(bytes_, got)], source, np.float32
    )
    assert np.array_equal(back, (expected.astype(np.float32) - 100) * np.float32(0.75))


def test_what_has_no_kernel_says_why() -> None:
    isa, floats, bytes_ = INSTRUCTION_SETS["avx2"], Image(1, 1, 1, 9, element_bytes=4), Image(1, 1, 1, 9)
    assert "another size" in str(plan(Dequantize(floats, bytes_, True, 1.0, 0), isa))
    assert "no positive float32" in str(plan(Dequantize(bytes_, floats, True, 0.1, 0), isa))
    spec = Quantize(floats, bytes_, True, 1.0, 0, -128, 127, Rounding.DOUBLE)
    assert "rounding 'double'" in str(plan(spec, isa))
