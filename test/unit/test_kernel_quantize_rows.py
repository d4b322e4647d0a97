"""Rows of floats quantized by the range they have, against ``dialect/dynamic_range.py``, bit by bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernel_runner as runner
from random_tensors import seeds
from zeropoint.dialect.dynamic_range import asymmetric_parameters, quantize_rows
from zeropoint.kernels.image import Image
from zeropoint.kernels.instruction_set import INSTRUCTION_SETS
from zeropoint.kernels.launch import Launch
from zeropoint.kernels.quantize_rows import QuantizeRows, plan

Array = np.ndarray[Any, Any]
ISAS = runner.each_of("avx512vnni", "avx2", "sse4", "neon")


def zeros_of(rows: Array, asymmetric: bool) -> Array:
    """The zero points."""
    if not asymmetric:
        return np.zeros(len(rows), np.int64)
    zero = np.float32(0)
    ends = -np.fmax.reduce(-rows, axis=1, initial=zero), np.fmax.reduce(rows, axis=1, initial=zero)
    return asymmetric_parameters(*ends)[1]


def check(spec: QuantizeRows, rows: Array, isa: str, pieces: int = 1) -> None:
    launch = runner.launch_of(spec, isa)
    assert isinstance(launch, Launch), launch
    source, target = runner.aligned(rows.nbytes), runner.aligned(spec.buffer_bytes)
    source[:] = rows.reshape(-1).view(np.uint8)
    target[:] = 0xA5
    runner.run(launch, [source], [target], pieces)
    centred, scales = quantize_rows(rows, spec.asymmetric)
    stored_zeros = zeros_of(rows, spec.asymmetric) + (0 if spec.signed else 128)
    parameters = target[spec.parameters :].view(np.int32).reshape(-1, 2)
    np.testing.assert_array_equal(parameters[:, 0], scales.view(np.int32))
    np.testing.assert_array_equal(parameters[:, 1], stored_zeros)
    kind, image = np.int8 if spec.signed else np.uint8, spec.output
    numbers = runner.inside(image, target[: image.buffer_bytes], kind).reshape(rows.shape).astype(np.int64)
    np.testing.assert_array_equal(numbers, centred + stored_zeros[:, None])
    if any(image.border):
        zeros = stored_zeros.astype(kind).view(np.uint8).reshape(-1, 1, 1, 1)
        whole = target[: image.buffer_bytes].copy().reshape(image.buffer_shape)
        top, _, left, _ = image.border
        whole[:, top : top + image.height, left : left + image.width] = zeros
        assert (whole == zeros).all()
    assert (target[image.buffer_bytes : spec.parameters] == 0xA5).all()


def reals(rng: np.random.Generator, count: int, length: int) -> Array:
    """Values on one or both sides of zero, of very different sizes; ties; rows of zeros among them."""
    centre = rng.choice([0.0, 0.0, 1.5, -3.0], (count, 1))
    spread = 2.0 ** rng.uniform(-140, 100, (count, 1)) * rng.choice([0.0, 1.0, 1.0, 1.0], (count, 1))
    rows = ((rng.standard_normal((count, length)) + centre) * spread).astype(np.float32)
    halves = rng.integers(-254, 255, rows.shape).astype(np.float32) / 2
    halves[:, :1] = 127
    return np.where(rng.random((count, 1)) < 0.3, halves, rows).astype(np.float32)


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=60, deadline=None)
@given(seed=seeds, asymmetric=st.booleans(), pieces=st.integers(1, 3))
def test_rows(isa: str, seed: int, asymmetric: bool, pieces: int) -> None:
    rng = np.random.default_rng(seed)
    count, length = int(rng.integers(1, 5)), int(rng.choice([1, 2, 3, 4, 7, 16, 17, 31, 64, 65, 300, 515]))
    signed = not INSTRUCTION_SETS[isa].unsigned_inputs
    spec = QuantizeRows(count, Image(1, 1, count, length), asymmetric, signed)
    check(spec, reals(rng, count, length), isa, pieces)


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=60, deadline=None)
@given(seed=seeds, asymmetric=st.booleans())
def test_images(isa: str, seed: int, asymmetric: bool) -> None:
    rng = np.random.default_rng(seed)
    batch, height, width, channels = (int(n) for n in rng.integers(1, (4, 7, 20, 20)))
    border = tuple(int(n) for n in rng.integers(0, 3, 4))
    signed = not INSTRUCTION_SETS[isa].unsigned_inputs
    spec = QuantizeRows(batch, Image(batch, height, width, channels, border), asymmetric, signed)
    check(spec, reals(rng, batch, height * width * channels), isa)


@pytest.mark.parametrize("isa", ISAS)
def test_what_is_not_a_number_counts_as_the_lowest(isa: str) -> None:
    rows = np.array([[np.nan, 1.0, -0.5, -np.nan], [np.inf, 1.0, 0.0, -np.inf], [np.nan] * 4], np.float32)
    signed = not INSTRUCTION_SETS[isa].unsigned_inputs
    check(QuantizeRows(3, Image(1, 1, 3, 4), False, signed), rows, isa)
    check(QuantizeRows(1, Image(1, 1, 1, 4), True, signed), rows[:1], isa)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("asymmetric", [False, True])
def test_next_to_ties(isa: str, asymmetric: bool) -> None:
    """Whole and half steps, and their neighbours."""
    steps = np.arange(-127, 127.5, 0.5, np.float32)
    up, down = (np.nextafter(steps, np.float32(end)) for end in (np.inf, -np.inf))
    rows = np.clip(np.concatenate([steps, up, down]), -127, 127)[None]
    signed = not INSTRUCTION_SETS[isa].unsigned_inputs
    check(QuantizeRows(1, Image(1, 1, 1, rows.size), asymmetric, signed), rows, isa)


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (QuantizeRows(2, Image(1, 2, 1, 4), False, False), "neither images nor the pixels"),
        (QuantizeRows(1, Image(1, 2, 1, 4, pixel_channels=8), False, False), "slice"),
    ],
)
def test_reasons(spec: QuantizeRows, reason: str) -> None:
    launch = plan(spec, INSTRUCTION_SETS["avx2"])
    assert isinstance(launch, str)
    assert reason in launch
