"""Convolutions on AArch64, under an emulator: what :mod:`test_kernel_conv2d` does not reach by chance."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernel_runner as runner
from random_convolutions import compare, convs, residuals, spec_of
from zeropoint.dialect import fixed_point as fx
from zeropoint.dialect.numerics import Rounding
from zeropoint.dialect.op_constants import Rescale
from zeropoint.kernels import conv2d
from zeropoint.kernels.aarch64_conv2d import products_of
from zeropoint.kernels.conv import Conv
from zeropoint.kernels.image import Image
from zeropoint.kernels.instruction_set import INSTRUCTION_SETS
from zeropoint.kernels.launch import Launch

ISAS = runner.each_of("neon", "dotprod", "i8mm")
KINDS = [
    pytest.param(isa, products, marks=pytest.mark.skipif(not runner.has(isa), reason=f"no {isa} here"))
    for isa in ("neon", "dotprod", "i8mm")
    for products in products_of(INSTRUCTION_SETS[isa])
]


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=20, deadline=None)
@given(case=convs(), pieces=st.integers(1, 5))
def test_convolutions(isa: str, case: tuple[Conv, np.random.Generator], pieces: int) -> None:
    compare(case[0], isa, case[1], pieces)


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=10, deadline=None)
@given(case=residuals(), pieces=st.integers(1, 5))
def test_residuals(isa: str, case: tuple[Conv, np.random.Generator], pieces: int) -> None:
    compare(case[0], isa, case[1], pieces)


def signed(spec: Conv, **changes: Any) -> Conv:
    """With i8 inputs and results."""
    rescale = dataclasses.replace(spec.rescale, zero_point=-128, low=-128, high=127)
    return dataclasses.replace(spec, input_signed=True, result_signed=True, rescale=rescale, **changes)


def plan_with(spec: Conv, isa: str, products: str, rows: int, vectors: int) -> Launch:
    options = (("rows", rows), ("vectors", vectors), ("halved", False), ("products", products))
    launch = conv2d.plan_as(spec, INSTRUCTION_SETS[isa], options)
    assert isinstance(launch, Launch), launch
    return launch


@pytest.mark.parametrize(("isa", "products"), KINDS)
@pytest.mark.parametrize("taps", [1, 7, 8, 15, 16, 17, 24, 29, 40, 63])
def test_tails_of_runs(isa: str, products: str, taps: int) -> None:
    """Of one run, and of three."""
    rng = np.random.default_rng(taps)
    for kernel in ((1, 1), (3, 1)):
        filter = rng.integers(-128, 128, (10, *kernel, taps)).astype(np.int8)
        spec = signed(
            spec_of(np.ones((10, taps), np.int8), 0),
            kernel=kernel,
            filter=filter,
            input=Image(1, kernel[0] + 1, 7, taps),
            output=Image(1, 2, 7, 10),
        )
        launch = plan_with(spec, isa, products, 2, 2)
        assert launch.code["products"] == products
        run_and_compare(spec, launch, rng)


def run_and_compare(spec: Conv, launch: Launch, rng: np.random.Generator) -> None:
    image, result = spec.input, spec.output
    shape = (image.batch, image.height, image.width, image.channels)
    for x in (rng.integers(-128, 128, shape), np.full(shape, -128), np.full(shape, 127)):
        into = runner.aligned(result.buffer_bytes)
        runner.run(launch, [runner.buffer(image, x.astype(np.int8))], [into])
        windows = np.lib.stride_tricks.sliding_window_view(x[0], spec.kernel, (0, 1))
        total = np.einsum("yxcij,oijc->yxo", windows.astype(np.int64), spec.filter.astype(np.int64))
        expected = spec.rescale.apply(fx.wrap_int32(total + spec.bias))
        np.testing.assert_array_equal(runner.inside(result, into, np.int8)[0], expected)


@pytest.mark.parametrize("products", ["smull", "smull-pairs"])
@pytest.mark.skipif(not runner.has("neon"), reason="no neon here")
def test_two_weights_of_minus_128_are_not_added_in_i16(products: str) -> None:
    """Times inputs of -128 their sum is 2^15."""
    far = {"smull": 8, "smull-pairs": 2}[products]
    filter = np.full((8, 32), -128, np.int8)
    filter[:, far] = -127
    for first in (0, 1):
        filter[:, first] = -128
        spec = signed(spec_of(filter, 0))
        launch = plan_with(spec, "neon", products, 2, 2)
        assert launch.code["chain"] == 1
        run_and_compare(spec, launch, np.random.default_rng(0))
    spec = signed(spec_of(np.maximum(filter, -127), 0))
    assert plan_with(spec, "neon", products, 2, 2).code["chain"] == 2


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize(("scale", "fits"), [(0.9, False), (0.001, True)])
@pytest.mark.parametrize("zero_point", [-128, -20])
def test_results_beyond_i16_are_saturated(isa: str, scale: float, fits: bool, zero_point: int) -> None:
    rng = np.random.default_rng(1)
    multiplier, shift = fx.quantize_multiplier(scale)
    rescale = Rescale(Rounding.DOUBLE, (scale,), (multiplier,), (shift,), zero_point, -128, 127)
    spec = dataclasses.replace(
        signed(spec_of(rng.integers(-127, 128, (16, 64)).astype(np.int8), 0, 6)), rescale=rescale
    )
    launch = runner.launch_of(spec, isa)
    assert isinstance(launch, Launch)
    assert launch.code["fits_words"] is fits
    assert launch.code["flips"] is (zero_point == -128)
    run_and_compare(spec, launch, rng)


@pytest.mark.parametrize(
    ("isa", "products", "tiles"),
    [
        ("dotprod", "sdot", [(6, 4), (5, 4), (4, 6), (7, 3), (8, 2), (1, 8)]),
        ("i8mm", "smmla", [(4, 4), (8, 2)]),
        ("neon", "smull-pairs", [(2, 8), (4, 4), (2, 6), (3, 5)]),
    ],
)
def test_tiles_stay_in_registers(isa: str, products: str, tiles: list[tuple[int, int]]) -> None:
    """With a tail behind the loop, and an addition of the zero point."""
    spec = signed(spec_of(np.ones((64, 40), np.int8), 0, 196))
    spec = dataclasses.replace(spec, rescale=dataclasses.replace(spec.rescale, zero_point=5))
    for rows, vectors in tiles:
        text = runner.assembly(plan_with(spec, isa, products, rows, vectors).code)
        assert not re.findall(r"\bq\d+.*\[sp", text), (rows, vectors)


def test_one_pixel_has_no_products_of_matrices() -> None:
    launch = runner.launch_of(signed(spec_of(np.ones((32, 64), np.int8), 0, 1)), "i8mm")
    assert isinstance(launch, Launch)
    assert launch.code.isa == "dotprod"


def test_long_sums_and_short_ones_have_other_products() -> None:
    found = []
    for inputs in (16, 2048):
        launch = runner.launch_of(signed(spec_of(np.ones((64, inputs), np.int8), 0, 196)), "neon")
        assert isinstance(launch, Launch)
        found.append(launch.code["products"])
    assert found == ["smull-pairs", "smull"]


@pytest.mark.parametrize("isa", ISAS)
def test_unsigned_inputs_are_refused(isa: str) -> None:
    spec = dataclasses.replace(signed(spec_of(np.ones((32, 64), np.int8), 0, 4)), input_signed=False)
    assert "unsigned bytes" in str(runner.launch_of(spec, isa))
