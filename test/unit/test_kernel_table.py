"""Table kernels: copies, flips and any table, between images of every form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from elementwise_kernels import ISAS, images, run_elementwise, tails
from random_tensors import seeds
from zeropoint.kernels.image import Image
from zeropoint.kernels.instruction_set import INSTRUCTION_SETS
from zeropoint.kernels.launch import Launch
from zeropoint.kernels.table import Table, plan

BYTES = np.arange(256, dtype=np.uint8)


def tables(rng: np.random.Generator) -> list[np.ndarray[Any, Any]]:
    random = rng.integers(0, 256, 256).astype(np.uint8)
    return [BYTES, BYTES ^ 0x80, random, np.roll(BYTES, 16), np.zeros(256, np.uint8)]


def check(source: Image, target: Image, table: np.ndarray[Any, Any], isa: str, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    shape = (source.batch, source.height, source.width, source.channels)
    values = rng.integers(0, 256, shape).astype(np.uint8)
    got = run_elementwise(Table(source, target, table), isa, [(source, values)], target, np.uint8)
    assert np.array_equal(got, np.broadcast_to(table[values], got.shape))


@pytest.mark.parametrize("isa", ISAS)
def test_every_byte_and_every_tail(isa: str) -> None:
    rng = np.random.default_rng(1)
    for count in [*tails(isa), 256, 4095, 4096, 4097, 9000]:
        for table in tables(rng) if count == 256 else tables(rng)[:3]:
            image = Image(1, 1, 1, count)
            values = np.resize(np.arange(256), count).astype(np.uint8).reshape(1, 1, 1, -1)
            got = run_elementwise(Table(image, image, table), isa, [(image, values)], image, np.uint8)
            assert np.array_equal(got, table[values])


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=60, deadline=None)
@given(pair=images(2), seed=seeds)
def test_images(isa: str, pair: list[Image], seed: int) -> None:
    rng = np.random.default_rng(seed)
    check(pair[0], pair[1], tables(rng)[int(rng.integers(0, 3))], isa, seed)


@pytest.mark.parametrize("isa", ISAS)
def test_first_layers_and_slices(isa: str) -> None:
    check(Image(1, 224, 224, 3), Image(1, 224, 224, 3, (1, 1, 1, 1)), BYTES ^ 0x80, isa)
    check(Image(1, 35, 35, 48), Image(1, 35, 35, 48, pixel_channels=256, first_channel=64), BYTES, isa)
    check(Image(2, 9, 9, 24, (1, 1, 1, 1)), Image(2, 9, 9, 24), np.roll(BYTES, 3), isa)


@pytest.mark.parametrize("isa", ISAS)
def test_repeated_rows(isa: str) -> None:
    check(Image(1, 1, 1, 24), Image(2, 5, 7, 24, (1, 0, 2, 1)), np.roll(BYTES, 3), isa)
    check(Image(2, 1, 6, 5), Image(2, 5, 6, 5), BYTES, isa)


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=20, deadline=None)
@given(pair=images(2, element_bytes=4), seed=seeds)
def test_copies_of_wider_elements(isa: str, pair: list[Image], seed: int) -> None:
    source, target = pair
    rng = np.random.default_rng(seed)
    shape = (source.batch, source.height, source.width, source.channels)
    values = rng.integers(-(2**31), 2**31, shape).astype(np.int32)
    got = run_elementwise(Table(source, target, BYTES), isa, [(source, values)], target, np.int32)
    assert np.array_equal(got, values)


def test_equal_code_for_every_size() -> None:
    codes = set()
    for size in (7, 14, 28, 112):
        image = Image(1, size, size, 64)
        launch = plan(Table(image, image, np.roll(BYTES, 1)), INSTRUCTION_SETS["avx2"])
        assert isinstance(launch, Launch)
        codes.add(launch.code)
    assert len(codes) == 1


def test_what_has_no_kernel_says_why() -> None:
    isa, image = INSTRUCTION_SETS["avx2"], Image(1, 4, 4, 8)
    wide = Image(1, 4, 4, 8, element_bytes=4)
    assert "elements of one size" in str(plan(Table(image, wide, BYTES), isa))
    assert "elements of 4 bytes" in str(plan(Table(wide, wide, BYTES ^ 1), isa))
    assert "repeated" in str(plan(Table(Image(1, 4, 4, 1), image, BYTES), isa))
    assert "another shape" in str(plan(Table(Image(1, 2, 4, 8), image, BYTES), isa))
