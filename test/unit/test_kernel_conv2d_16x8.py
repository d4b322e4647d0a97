"""Kernels of int16 activations against the numpy meaning: all tiles and tails, borders, both accumulators,
sums beyond 32 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elementwise_kernels import ISAS
from kernel_runner import buffer, inside, launch_of, run, untouched
from random_tensors import Array, quantized, seeds
from zeropoint.dialect import rescale
from zeropoint.dialect.meaning import evaluate
from zeropoint.dialect.types import TensorType
from zeropoint.kernels.conv2d_16x8 import Conv16x8, plan
from zeropoint.kernels.image import Image
from zeropoint.kernels.instruction_set import INSTRUCTION_SETS
from zeropoint.kernels.launch import Launch

EXTREMES = st.sampled_from(["", "", "largest", "smallest"])


def check(
    isa: str,
    rng: np.random.Generator,
    shape: tuple[int, int, int, int],
    filter_shape: tuple[int, int, int, int],
    *,
    strides: tuple[int, int] = (1, 1),
    dilations: tuple[int, int] = (1, 1),
    padding: tuple[int, int, int, int] = (0, 0, 0, 0),
    groups: int = 1,
    wide: bool = True,
    slices: bool = False,
    extremes: str = "",
    scale: float = 0.0,
) -> Launch:
    """One convolution, whatever its units' order; nothing but the inside of its result is written."""
    outputs, *kernel, depth = filter_shape
    x_type = quantized(shape, "i16", 2.0**-8, 0)
    w_type = quantized(filter_shape, "i8", 2.0**-7, int(rng.integers(-3, 4)))
    x = rng.integers(-32768, 32768, shape).astype(np.int16)
    w = rng.integers(-128, 128, filter_shape).astype(np.int8)
    if extremes:
        x[:], w[:] = -32768, 127 if extremes == "largest" else -128
    limit = 1 << (40 if wide and extremes else 20)
    bias = rng.integers(-limit, limit, outputs).astype(np.int64 if wide else np.int32)
    size = [
        (extent + before + after - (k - 1) * d - 1) // s + 1
        for extent, before, after, k, d, s in zip(
            shape[1:3], padding[::2], padding[1::2], kernel, dilations, strides, strict=True
        )
    ]
    scale = scale or 2.0**-15 * np.sqrt(depth * kernel[0] * kernel[1]) * 64
    y_type = quantized((shape[0], *size, outputs), "i16", float(scale), 0)
    bias_type = TensorType((outputs,), "i64")
    if not wide:
        bias_type = quantized((outputs,), "i32", 2.0**-15, 0)
    attributes: dict[str, Any] = {
        "strides": strides,
        "dilations": dilations,
        "padding": padding,
        "groups": groups,
        "clamp": (),
    }
    numbers = rescale.conv2d(x_type, w_type, y_type, (), "reference", bias_type)
    (expected,) = evaluate(
        "conv2d", [x, w, bias], [x_type, w_type, bias_type], [y_type], attributes, "reference"
    )
    border = tuple(p + int(rng.integers(0, 2)) if any(padding) else 0 for p in padding)
    source = Image(*shape, border, element_bytes=2)  # type: ignore[arg-type]
    wider = outputs + 5 if slices else 0
    target = Image(*y_type.shape, (1, 0, 2, 1) if slices else (0,) * 4, wider, 3 if slices else 0, 2)  # type: ignore[arg-type]
    spec = Conv16x8(
        source,
        target,
        (kernel[0], kernel[1]),
        strides,
        dilations,
        (padding[0], padding[2]),
        groups,
        w.astype(np.int16) - np.int16(w_type.params.zero_point),
        rescale.folded_bias(w, bias, numbers),
        wide,
        numbers.rescale,
    )
    launch = launch_of(spec, isa)
    assert isinstance(launch, Launch), launch
    given_ = buffer(source, x)
    for pieces in (1, launch.units):
        before, after = (buffer(target, np.zeros(y_type.shape, np.int16), border=0x77) for _ in range(2))
        run(launch, [given_], [after], pieces)
        assert untouched(target, before, after)
        got: Array = inside(target, after, np.int16)
        np.testing.assert_array_equal(got, expected)
    return launch


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=40, deadline=None)
@given(
    seed=seeds,
    depth=st.sampled_from([1, 2, 3, 4, 7, 8, 16, 33]),
    outputs=st.sampled_from([1, 2, 3, 4, 5, 8, 13, 16, 17, 32, 40, 64, 70]),
    width=st.integers(1, 20),
    slices=st.booleans(),
    wide=st.booleans(),
    extremes=EXTREMES,
)
def test_convolutions(
    isa: str, seed: int, depth: int, outputs: int, width: int, slices: bool, wide: bool, extremes: str
) -> None:
    rng = np.random.default_rng(seed)
    kernel = rng.integers(1, 4, 2).tolist()
    strides, dilations = (tuple(rng.choice([1, 1, 2], 2).tolist()) for _ in range(2))
    padding = tuple(rng.integers(0, 3, 4).tolist())
    height = int(rng.integers(1, 4))
    shape = (int(rng.integers(1, 3)), height + (kernel[0] - 1) * 2, width + (kernel[1] - 1) * 2, depth)
    check(
        isa,
        rng,
        shape,
        (outputs, *kernel, depth),
        strides=strides,
        dilations=dilations,
        padding=padding,
        wide=wide,
        slices=slices,
        extremes=extremes,
    )


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("extremes", ["", "largest", "smallest"])
@pytest.mark.parametrize("depth", [511, 1500, 4100])
def test_sums_beyond_32_bits(isa: str, extremes: str, depth: int) -> None:
    """Taps in several blocks."""
    rng = np.random.default_rng(depth)
    for rows in (1, 3, 9):
        scale = 2.0**-15 * depth * (2.0**14 if extremes else 64)
        launch = check(isa, rng, (1, 1, rows, depth), (24, 1, 1, depth), extremes=extremes, scale=scale)
        assert launch.code["folds"] or depth == 511


@pytest.mark.parametrize("isa", ISAS)
def test_groups(isa: str) -> None:
    rng = np.random.default_rng(1)
    for groups, outputs in ((2, 8), (3, 15), (4, 80), (4, 4)):
        check(isa, rng, (1, 5, 6, 6 * groups), (outputs, 3, 3, 6), groups=groups, padding=(1, 1, 1, 1))


def test_what_has_no_kernel_says_why() -> None:
    kinds = [quantized((1, 2, 2, 4), "i16", 1.0, 0), quantized((4, 1, 1, 4), "i8", 1.0, 0)]
    numbers = rescale.conv2d(kinds[0], kinds[1], kinds[0], (), "reference", None)
    image, zeros = Image(1, 2, 2, 4), np.zeros((4, 1, 1, 4), np.int16)
    spec = Conv16x8(
        image, image, (1, 1), (1, 1), (1, 1), (0, 0), 1, zeros, np.zeros(4, np.int64), True, numbers.rescale
    )
    assert "two bytes" in str(plan(spec, INSTRUCTION_SETS["sse4"]))
