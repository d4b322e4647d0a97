"""Border kernels: every byte of the border, and no other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elementwise_kernels import ISAS
from kernel_runner import buffer, launch_of, run
from zeropoint.kernels.border import Border, plan
from zeropoint.kernels.image import Image
from zeropoint.kernels.instruction_set import INSTRUCTION_SETS
from zeropoint.kernels.launch import Launch


def check(image: Image, value: int, isa: str) -> None:
    launch = launch_of(Border(image, value), isa)
    assert isinstance(launch, Launch), launch
    rng = np.random.default_rng(0)
    shape = (image.batch, image.height, image.width, image.channels * image.element_bytes)
    values = rng.integers(0, 256, shape).astype(np.uint8)
    filled, expected = buffer(image, values, border=0x11), buffer(image, values, border=value & 0xFF)
    run(launch, [], [filled], pieces=launch.units)
    assert np.array_equal(filled, expected)


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=100, deadline=None)
@given(
    size=st.tuples(*[st.integers(1, 3)] * 3),
    channels=st.sampled_from([1, 2, 3, 4, 16, 24, 33, 64, 96, 200]),
    border=st.tuples(*[st.integers(0, 3)] * 4).filter(any),
    value=st.integers(-128, 255),
)
def test_borders(
    isa: str, size: tuple[int, int, int], channels: int, border: tuple[int, int, int, int], value: int
) -> None:
    check(Image(*size, channels, border), value, isa)


@pytest.mark.parametrize("isa", ISAS)
def test_large_images(isa: str) -> None:
    check(Image(1, 112, 112, 96, (1, 1, 1, 1)), -3, isa)
    check(Image(2, 224, 224, 3, (3, 3, 3, 3)), 128, isa)
    check(Image(1, 9, 9, 5, (0, 1, 0, 1), element_bytes=4), 0, isa)


def test_what_has_no_kernel_says_why() -> None:
    isa = INSTRUCTION_SETS["avx2"]
    assert "slice" in str(plan(Border(Image(1, 4, 4, 8, (1, 1, 1, 1), 16), 0), isa))
    assert "no border" in str(plan(Border(Image(1, 4, 4, 8), 0), isa))
