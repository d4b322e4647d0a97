"""Kernels of add and sub against the numpy meaning: all pairs of bytes, many scales, images of every form."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elementwise_kernels import ISAS, all_pairs, images, meaning, run_elementwise, tails, types
from random_tensors import quantized, seeds, values
from zeropoint.dialect import rescale
from zeropoint.dialect.types import TensorType
from zeropoint.kernels.image import Image
from zeropoint.kernels.instruction_set import INSTRUCTION_SETS
from zeropoint.kernels.launch import Launch
from zeropoint.kernels.sums import Add, plan

MODES = ["reference", "xnnpack"]


def spec_of(op: str, kinds: list[TensorType], clamp: tuple[float, ...], mode: str, forms: list[Image]) -> Add:
    signed = [kind.params.storage.signed for kind in kinds]
    return Add(*forms, *signed, rescale.add(*kinds, clamp, mode), op == "sub")


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=40, deadline=None)
@given(
    seed=seeds,
    op=st.sampled_from(["add", "sub"]),
    storages=st.sampled_from([("i8",) * 3, ("u8",) * 3, ("i8", "u8", "i8"), ("u8", "i8", "u8")]),
    relu=st.booleans(),
)
def test_all_pairs_of_bytes(
    isa: str, mode: str, seed: int, op: str, storages: tuple[str, str, str], relu: bool
) -> None:
    rng = np.random.default_rng(seed)
    kinds, clamp = types(rng, storages), (0.0, 6.0) if relu else ()
    arrays, image = all_pairs(kinds), Image(1, 1, 256, 256)
    spec = spec_of(op, kinds, clamp, mode, [image] * 3)
    got = run_elementwise(spec, isa, [(image, array) for array in arrays], image, kinds[2].dtype)
    assert np.array_equal(got, meaning(op, arrays, kinds, clamp, mode))


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("mode", MODES)
def test_every_tail(isa: str, mode: str) -> None:
    rng = np.random.default_rng(3)
    kinds = types(rng, ("i8", "i8", "i8"))
    for count in [*tails(isa), 4095, 4097, 9000]:
        image = Image(1, 1, 1, count)
        arrays = [values(rng, replace(kind, shape=(1, 1, 1, count))) for kind in kinds[:2]]
        spec = spec_of("add", kinds, (), mode, [image] * 3)
        got = run_elementwise(spec, isa, [(image, array) for array in arrays], image, np.int8)
        assert np.array_equal(got, meaning("add", arrays, kinds, (), mode))


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=30, deadline=None)
@given(forms=images(3), seed=seeds, repeated=st.sampled_from([None, None, "pixel", "row", "batch"]))
def test_images(isa: str, mode: str, forms: list[Image], seed: int, repeated: str | None) -> None:
    rng = np.random.default_rng(seed)
    if repeated is not None:
        whole = {"pixel": {"height": 1, "width": 1}, "row": {"height": 1}, "batch": {"batch": 1}}
        forms[1] = replace(forms[1], **whole[repeated])
    kinds = types(rng, ("u8", "u8", "u8"))
    arrays = [
        rng.integers(0, 256, (form.batch, form.height, form.width, form.channels)).astype(np.uint8)
        for form in forms[:2]
    ]
    spec = spec_of("add", kinds, (), mode, forms)
    got = run_elementwise(spec, isa, list(zip(forms, arrays, strict=False)), forms[2], np.uint8)
    assert np.array_equal(got, meaning("add", arrays, kinds, (), mode))


def test_what_has_no_kernel_says_why() -> None:
    isa, image = INSTRUCTION_SETS["sse4"], Image(1, 4, 4, 8)
    kinds = [quantized((1,), "i8", scale, 0) for scale in (1.0, 1.0, 2.0**-22)]
    assert "scale of one" in str(plan(spec_of("add", kinds, (), "reference", [image] * 3), isa))
    kinds = [quantized((1,), "i8", scale, 0) for scale in (1.0, 1.0, 1.0)]
    forms = [image, Image(1, 4, 4, 1), image]
    assert "repeated" in str(plan(spec_of("add", kinds, (), "reference", forms), isa))
    wide = [image, image, replace(image, element_bytes=2)]
    assert "more than one byte" in str(plan(spec_of("add", kinds, (), "reference", wide), isa))


def test_equal_code_for_every_layer() -> None:
    rng = np.random.default_rng(5)
    codes = set()
    for size in (7, 14, 28):
        kinds = [quantized((1,), "i8", float(scale), 0) for scale in rng.uniform(0.9, 1.1, 3)]
        launch = plan(
            spec_of("add", kinds, (), "xnnpack", [Image(1, size, size, 64)] * 3), INSTRUCTION_SETS["sse4"]
        )
        assert isinstance(launch, Launch)
        codes.add(launch.code)
    assert len(codes) == 1
