"""Kernels of maximum and minimum and of tables of pairs, on images of every form."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elementwise_kernels import ISAS, images, run_elementwise
from random_tensors import seeds
from zeropoint.kernels.extrema import Extremum
from zeropoint.kernels.families import plan
from zeropoint.kernels.image import Image
from zeropoint.kernels.instruction_set import INSTRUCTION_SETS
from zeropoint.kernels.pair_table import PairTable

REPEATED = st.sampled_from([(), (), ("height", "width"), ("batch",)])


def operands(rng: np.random.Generator, forms: list[Image], dtype: type) -> list[np.ndarray]:
    return [
        rng.integers(0, 256, (form.batch, form.height, form.width, form.channels))
        .astype(np.uint8)
        .view(dtype)
        for form in forms[:2]
    ]


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=40, deadline=None)
@given(forms=images(3), seed=seeds, repeated=REPEATED, signed=st.booleans(), largest=st.booleans())
def test_extrema(
    isa: str, forms: list[Image], seed: int, repeated: tuple[str, ...], signed: bool, largest: bool
) -> None:
    forms[1] = replace(forms[1], **dict.fromkeys(repeated, 1))
    dtype = np.int8 if signed else np.uint8
    arrays = operands(np.random.default_rng(seed), forms, dtype)
    spec = Extremum(*forms, signed, largest)
    got = run_elementwise(spec, isa, list(zip(forms, arrays, strict=False)), forms[2], dtype)
    assert np.array_equal(got, (np.maximum if largest else np.minimum)(*arrays))


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=20, deadline=None)
@given(forms=images(3), seed=seeds, repeated=REPEATED)
def test_tables_of_pairs(isa: str, forms: list[Image], seed: int, repeated: tuple[str, ...]) -> None:
    rng = np.random.default_rng(seed)
    forms[0] = replace(forms[0], **dict.fromkeys(repeated, 1))
    arrays = operands(rng, forms, np.uint8)
    table = rng.integers(0, 256, (256, 256)).astype(np.uint8)
    inputs = list(zip(forms, arrays, strict=False))
    got = run_elementwise(PairTable(*forms, table), isa, inputs, forms[2], np.uint8)
    assert np.array_equal(got, table[arrays[0], arrays[1]])


def test_every_pair_of_bytes() -> None:
    """Each entry of a table is where it belongs, and runs of many units are whole."""
    lhs, rhs = (np.ascontiguousarray(part, np.uint8) for part in np.mgrid[:256, :256])
    image, table = Image(1, 256, 256, 1), np.random.default_rng(1).permutation(1 << 16) % 251
    table = table.astype(np.uint8).reshape(256, 256)
    given_ = [(image, part.reshape(1, 256, 256, 1)) for part in (lhs, rhs)]
    for isa in (entry.values[0] for entry in ISAS if not entry.marks[0].args[0]):
        got = run_elementwise(PairTable(image, image, image, table), isa, given_, image, np.uint8)
        assert np.array_equal(got.reshape(256, 256), table)


def test_what_has_no_kernel_says_why() -> None:
    isa, image = INSTRUCTION_SETS["sse4"], Image(1, 4, 4, 8)
    thin, wide = Image(1, 4, 4, 1), replace(image, element_bytes=2)
    table = np.zeros((256, 256), np.uint8)
    assert "repeated" in str(plan(Extremum(image, thin, image, True, True), isa))
    assert "repeated" in str(plan(PairTable(image, thin, image, table), isa))
    assert "more than one byte" in str(plan(Extremum(wide, wide, wide, True, True), isa))
    assert "more than one byte" in str(plan(PairTable(wide, wide, wide, table), isa))
