"""Kernels of mul against the numpy meaning: all pairs of bytes, many scales, images of every form."""

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
from zeropoint.kernels.products import Multiply, plan

MODES = ["reference", "xnnpack"]


def spec_of(kinds: list[TensorType], clamp: tuple[float, ...], mode: str, forms: list[Image]) -> Multiply:
    signed = [kind.params.storage.signed for kind in kinds]
    return Multiply(*forms, *signed, rescale.mul(*kinds, clamp, mode))


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=40, deadline=None)
@given(
    seed=seeds,
    storages=st.sampled_from([("i8",) * 3, ("u8",) * 3, ("i8", "u8", "i8"), ("u8", "i8", "u8")]),
    spread=st.sampled_from([0.0, 2.0, 4.0]),
    relu=st.booleans(),
)
def test_all_pairs_of_bytes(
    isa: str, mode: str, seed: int, storages: tuple[str, str, str], spread: float, relu: bool
) -> None:
    rng = np.random.default_rng(seed)
    kinds, clamp = types(rng, storages, spread), (0.0, 6.0) if relu else ()
    if rng.random() < 0.7:  # a result that saturates little
        kinds[2] = quantized((1, 1, 256, 256), storages[2], 2.0 ** rng.uniform(4, 9), 3)
    arrays, image = all_pairs(kinds), Image(1, 1, 256, 256)
    spec = spec_of(kinds, clamp, mode, [image] * 3)
    got = run_elementwise(spec, isa, [(image, array) for array in arrays], image, kinds[2].dtype)
    assert np.array_equal(got, meaning("mul", arrays, kinds, clamp, mode))


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scale", [1.0, 2.0**-7])
def test_every_tail(isa: str, mode: str, scale: float) -> None:
    rng = np.random.default_rng(3)
    kinds = [quantized((1,), "i8", s, z) for s, z in ((scale, -128), (1.0, 5), (1.0, -3))]
    for count in [*tails(isa), 4095, 4097]:
        image = Image(1, 1, 1, count)
        arrays = [values(rng, replace(kind, shape=(1, 1, 1, count))) for kind in kinds[:2]]
        spec = spec_of(kinds, (), mode, [image] * 3)
        got = run_elementwise(spec, isa, [(image, array) for array in arrays], image, np.int8)
        assert np.array_equal(got, meaning("mul", arrays, kinds, (), mode))


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=30, deadline=None)
@given(forms=images(3), seed=seeds, repeated=st.sampled_from([(), ("height", "width"), ("batch",)]))
def test_images(isa: str, forms: list[Image], seed: int, repeated: tuple[str, ...]) -> None:
    """A factor per channel, of each image, as squeeze-and-excite has it, included."""
    rng = np.random.default_rng(seed)
    forms[1] = replace(forms[1], **dict.fromkeys(repeated, 1))
    kinds = types(rng, ("u8", "u8", "u8"))
    arrays = [
        rng.integers(0, 256, (form.batch, form.height, form.width, form.channels)).astype(np.uint8)
        for form in forms[:2]
    ]
    spec = spec_of(kinds, (), "reference", forms)
    got = run_elementwise(spec, isa, list(zip(forms, arrays, strict=False)), forms[2], np.uint8)
    assert np.array_equal(got, meaning("mul", arrays, kinds, (), "reference"))


def test_forms() -> None:
    """Float32 where it is exact; for XNNPACK's rule without a fused multiply-add as well."""
    image = Image(1, 4, 4, 8)
    kinds = [quantized((1,), "i8", scale, 0) for scale in (0.02, 0.03, 0.05)]
    found = {}
    for isa in ("avx512vnni", "avx2", "sse4"):
        for mode in MODES:
            launch = plan(spec_of(kinds, (), mode, [image] * 3), INSTRUCTION_SETS[isa])
            assert isinstance(launch, Launch)
            found[isa, mode] = launch.code["form"]
    assert found["avx512vnni", "reference"] == found["avx2", "reference"] == "linear"
    assert found["sse4", "reference"] == "double"
    assert {found[isa, "xnnpack"] for isa in ("avx512vnni", "avx2", "sse4")} == {"nearest"}


def test_what_has_no_kernel_says_why() -> None:
    isa, image = INSTRUCTION_SETS["sse4"], Image(1, 4, 4, 8)
    kinds = [quantized((1,), "i8", scale, 0) for scale in (1.0, 2.0**14, 1.0)]
    assert "scale of 2^15" in str(plan(spec_of(kinds, (), "reference", [image] * 3), isa))
    forms = [image, Image(1, 4, 4, 1), image]
    assert "repeated" in str(plan(spec_of(kinds, (), "reference", forms), isa))
