"""Convolutions and fully connected layers against numpy, bit by bit, on every instruction set of this
machine: tails of pixels, channels and runs, borders, slices, groups, zero points, ties, sums that wrap.
"""

from __future__ import annotations

import dataclasses
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
from zeropoint.kernels.conv import Conv
from zeropoint.kernels.conv2d_taps import Taps
from zeropoint.kernels.epilogue import Epilogue
from zeropoint.kernels.image import Image
from zeropoint.kernels.instruction_set import INSTRUCTION_SETS
from zeropoint.kernels.launch import Launch

ISAS = [
    pytest.param(name, marks=pytest.mark.skipif(not runner.has(name), reason=f"this CPU has no {name}"))
    for name in ("avx512vnni", "avx2", "sse4", "avxvnni")
]


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=40, deadline=None)
@given(case=convs(), pieces=st.integers(1, 5), without=st.integers(0, 2))
def test_convolutions(isa: str, case: tuple[Conv, np.random.Generator], pieces: int, without: int) -> None:
    """``without`` the first of the epilogues, so that the others have their turn."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_float32", "_double_fast")[:without]:
            patch.setattr(Epilogue, name, classmethod(lambda *_: None))
        compare(case[0], isa, case[1], pieces)


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=30, deadline=None)
@given(case=residuals(), pieces=st.integers(1, 5))
def test_residuals(isa: str, case: tuple[Conv, np.random.Generator], pieces: int) -> None:
    compare(case[0], isa, case[1], pieces)


def test_a_weight_that_fits_no_byte_has_a_tap_of_its_own() -> None:
    filter = np.full((16, 32), 100, np.uint8)
    filter[3, 9] = 255
    taps = Taps(spec_of(filter, 90))
    assert not taps.needs_sums
    assert taps.runs.tolist() == [[0, 8], [8, 1]]
    assert taps.steps[3, 8].tolist() == [0, 255 - 90 - 127, 0, 0]


def test_what_is_left_of_several_runs_is_gathered() -> None:
    """Three kernel rows of nine bytes: two quads each, and one of the last bytes of all."""
    filter = np.arange(32 * 27, dtype=np.int64).reshape(32, 3, 3, 3).astype(np.int8)
    images = {"input": Image(1, 7, 7, 3), "output": Image(1, 5, 5, 32)}
    plain = spec_of(np.ones((32, 3), np.int8), 0, kernel=(3, 3), **images)
    taps = Taps(dataclasses.replace(plain, filter=filter))
    assert taps.runs.tolist() == [[0, 2], [21, 2], [42, 2]]
    assert taps.gather_places.tolist() == [[8, 29, 50, 50]]
    assert taps.steps[0, 6].tolist() == [8, 17, 26, 0]


def test_many_weights_that_fit_no_byte_need_the_sums_of_pixels() -> None:
    filter = np.random.default_rng(0).integers(0, 256, (16, 32)).astype(np.uint8)
    assert Taps(spec_of(filter, 20)).needs_sums
    assert not Taps(spec_of(filter, 128)).needs_sums


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"input_signed": True}, "signed"),
        ({"kind": "depthwise_conv2d"}, "another family"),
        ({"output": Image(1, 1, 5, 16, element_bytes=2)}, "more than a byte"),
    ],
)
def test_reasons(changes: dict[str, Any], reason: str) -> None:
    launch = conv2d.plan(spec_of(np.ones((16, 32), np.int8), 0, **changes), INSTRUCTION_SETS["avx512vnni"])
    assert isinstance(launch, str)
    assert reason in launch


def test_few_codes_serve_many_layers() -> None:
    """Sizes are in the row, not in the code."""
    rng = np.random.default_rng(0)
    codes = set()
    for width in (196, 784, 3136):
        for inputs, outputs in ((64, 128), (128, 256), (256, 64)):
            filter = rng.integers(-128, 128, (outputs, inputs)).astype(np.int8)
            launch = conv2d.plan(spec_of(filter, 0, width), INSTRUCTION_SETS["avx512vnni"])
            assert isinstance(launch, Launch)
            codes.add(launch.code)
    assert len(codes) == 1


def test_units_of_a_small_image_share_out_its_channels() -> None:
    filter = np.ones((1024, 1024), np.int8)
    launch = conv2d.plan(spec_of(filter, 0, 49), INSTRUCTION_SETS["avx512vnni"])
    assert isinstance(launch, Launch)
    assert launch.units >= 8


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("zero_point", [0, 100])
def test_scales_of_more_than_24_bits(isa: str, zero_point: int) -> None:
    """Two fused multiply-adds, where they are proved; there are many results at every level."""
    rng = np.random.default_rng(5)
    filter = rng.integers(-127, 128, (64, 512)).astype(np.int8)
    scales = tuple(3e-4 * 2.0**exponent for exponent in rng.uniform(-0.5, 0.5, 64))
    multipliers, shifts = zip(*(fx.quantize_multiplier(scale) for scale in scales), strict=True)
    rescale_ = Rescale(Rounding.DOUBLE, scales, multipliers, shifts, zero_point, 0, 255)
    spec = spec_of(filter, 0, 300, rescale=rescale_, bias=rng.integers(-(2**17), 2**17, 64).astype(np.int32))
    launch = compare(spec, isa, rng)
    assert launch is not None
    if isa == "avx512vnni":
        assert launch.code["fused"] == 2


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("outputs", [24, 40, 72, 120, 200])
def test_two_pixels_share_the_vector_of_the_last_channels(isa: str, outputs: int) -> None:
    rng = np.random.default_rng(outputs)
    filter = rng.integers(-128, 128, (outputs, 96)).astype(np.int8)
    for width in (2, 7, 16, 50):
        launch = compare(spec_of(filter, 0, width), isa, rng)
        assert launch is not None
        if isa == "avx512vnni" and outputs == 24 and width >= 16:
            assert launch.code["halved"]
