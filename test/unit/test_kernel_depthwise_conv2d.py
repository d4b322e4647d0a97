"""Depthwise convolution kernels against the numpy meaning: windows, borders, tails of channels, zero points,
ties, sums that wrap.
"""

from __future__ import annotations

import dataclasses
import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernel_runner
from random_tensors import quantized, seeds
from zeropoint.codegen.machine import host
from zeropoint.dialect import rescale
from zeropoint.dialect.meaning import evaluate
from zeropoint.dialect.numerics import Rounding
from zeropoint.dialect.op_constants import Rescale
from zeropoint.kernels import depthwise_conv2d
from zeropoint.kernels.conv import Conv
from zeropoint.kernels.depthwise_tile import Sharing
from zeropoint.kernels.image import Image
from zeropoint.kernels.instruction_set import INSTRUCTION_SETS
from zeropoint.kernels.launch import Launch

ISAS = kernel_runner.each_of("avx512vnni", "avxvnni", "avx2", "sse4", "neon", "dotprod")
CLAMPS = [(), (), (0.0, math.inf), (0.0, 6.0), (-1.0, 1.0), (-math.inf, 0.5)]
WINDOWS = [((3, 3), (1, 1)), ((3, 3), (2, 2)), ((5, 5), (1, 1)), ((5, 5), (2, 2))]


@st.composite
def convolutions(draw: st.DrawFn) -> tuple[Conv, np.ndarray, np.ndarray, int]:
    """A spec, its stored input, the stored result and the zero point that fills the input's border."""
    rng = np.random.default_rng(draw(seeds))
    usual = st.sampled_from(WINDOWS)
    odd = st.tuples(
        st.sampled_from([(1, 1), (2, 3), (3, 2), (1, 7), (4, 1), (9, 8), (10, 3)]),
        st.tuples(st.integers(1, 3), st.integers(1, 3)),
    )
    kernel, strides = draw(usual | usual | odd)
    dilations = draw(st.sampled_from([(1, 1), (1, 1), (1, 1), (2, 2), (3, 1), (1, 4)]))
    out = (draw(st.integers(1, 6)), draw(st.sampled_from([1, 2, 3, 4, 5, 7, 8, 11, 14, 17, 28])))
    multiplier = draw(st.sampled_from([1, 1, 1, 1, 2, 3, 8]))
    channels = draw(st.sampled_from([1, 2, 3, 4, 7, 8, 12, 16, 17, 24, 31, 32, 33, 48, 64, 65, 72, 96, 130]))
    channels = max(1, channels // multiplier)
    outputs = channels * multiplier
    batch = draw(st.sampled_from([1, 1, 1, 2]))
    padding = tuple(int(n) for n in rng.integers(0, 3, 4))
    size = [
        max(1, (o - 1) * s + (k - 1) * d + 1 - before - after + int(rng.integers(0, s)))
        for o, s, k, d, before, after in zip(
            out, strides, kernel, dilations, padding[::2], padding[1::2], strict=True
        )
    ]
    out = tuple(
        (n + before + after - (k - 1) * d - 1) // s + 1
        for n, s, k, d, before, after in zip(
            size, strides, kernel, dilations, padding[::2], padding[1::2], strict=True
        )
    )
    storage = draw(st.sampled_from(["i8 as u8", "u8"]))
    filter_storage = draw(st.sampled_from(["i8", "u8"]))
    ends = st.sampled_from([0, 255]) | st.integers(0, 255)
    offset = 0 if storage == "u8" else 128
    x = quantized((batch, *size, channels), storage[:2], 2.0 ** rng.uniform(-8, -2), draw(ends) - offset)
    per_axis = filter_storage == "i8" and draw(st.booleans())
    exponents = rng.uniform(-9, -4, outputs if per_axis else 1)
    if draw(st.booleans()):
        exponents = np.round(exponents)  # ties
    point = draw(ends) if filter_storage == "u8" else 0
    w = quantized((outputs, *kernel, 1), filter_storage, 2.0**exponents, point, 0 if per_axis else None)
    bias_scales = np.float32(x.params.scale) * np.asarray(w.params.scales, np.float32)
    b = quantized((outputs,), "i32", bias_scales, 0, 0 if per_axis else None)
    taps = kernel[0] * kernel[1]
    spread = 2.0 ** rng.uniform(-2, 6)
    y_scale = float(np.max(bias_scales)) * math.sqrt(taps) * 5000 / (40 * spread)
    y = quantized((batch, *out, outputs), storage[:2], y_scale, draw(ends) - offset)
    reach = draw(
        st.sampled_from([5000 * taps, 5000 * taps, 5000 * taps, 2**31 - 1])
    )  # the last: sums that wrap
    bias = rng.integers(-reach, reach + 1, outputs).astype(np.int32)
    arrays = [_values(draw, rng, kind.shape, kind.dtype) for kind in (x, w)] + [bias]
    clamp, mode = draw(st.sampled_from(CLAMPS)), draw(st.sampled_from(["reference", "xnnpack"]))
    attributes = {
        "strides": strides,
        "dilations": dilations,
        "padding": padding,
        "groups": channels,
        "clamp": clamp,
    }
    expected = evaluate("conv2d", arrays, [x, w, b], [y], attributes, mode)[0]
    constants = rescale.conv2d(x, w, y, clamp, mode)
    stored = arrays[0]
    numbers = constants.rescale
    if offset:
        stored, expected = ((a.astype(np.int64) + 128).astype(np.uint8) for a in (stored, expected))
        constants = dataclasses.replace(constants, input_zero_point=constants.input_zero_point + 128)
        numbers = dataclasses.replace(
            numbers, zero_point=numbers.zero_point + 128, low=numbers.low + 128, high=numbers.high + 128
        )
    border = tuple(n + int(more) for n, more in zip(padding, rng.integers(0, 2, 4), strict=True))
    spec = Conv(
        "depthwise_conv2d",
        _image(rng, x.shape, border),
        _image(rng, y.shape, tuple(int(n) for n in rng.integers(0, 3, 4))),
        kernel,
        strides,
        dilations,
        (padding[0], padding[2]),
        channels,
        False,
        filter_storage == "i8",
        constants.filter_zero_points,
        False,
        numbers,
        arrays[1],
        rescale.folded_bias(arrays[1], bias, constants).astype(np.int32),
    )
    return spec, stored, expected, constants.input_zero_point


def _values(draw: st.DrawFn, rng: np.random.Generator, shape: Any, dtype: Any) -> np.ndarray:
    """Bytes: anything, or only the two ends."""
    limits = np.iinfo(dtype)
    if draw(st.integers(0, 4)) == 0:
        return rng.choice(np.array([limits.min, limits.max], dtype), shape)
    return rng.integers(limits.min, limits.max + 1, shape).astype(dtype)


def _image(rng: np.random.Generator, shape: tuple[int, ...], border: Any) -> Image:
    """An image of ``shape``, perhaps a slice of a wider one."""
    others = int(rng.choice([0, 0, 0, 5, 16]))
    return Image(*shape, border, shape[3] + others if others else 0, int(rng.integers(0, others + 1)))


def signed_twin(spec: Conv, result_signed: bool) -> Conv:
    """The same convolution of inputs that are kept 128 lower, as i8; and perhaps of such results."""
    points = np.asarray(spec.filter_zero_points, np.int64).reshape(-1, 1, 1, 1)
    sums = (spec.filter.astype(np.int64) - points).sum((1, 2, 3))
    bias = (spec.bias.astype(np.int64) + 128 * sums).astype(np.int32)
    numbers, moved = spec.rescale, -128 if result_signed else 0
    numbers = dataclasses.replace(
        numbers, zero_point=numbers.zero_point + moved, low=numbers.low + moved, high=numbers.high + moved
    )
    return dataclasses.replace(
        spec, input_signed=True, result_signed=result_signed, rescale=numbers, bias=bias
    )


def check(
    spec: Conv, isa: str, values: np.ndarray, expected: np.ndarray, border: int, pieces: int = 3
) -> None:
    """``values`` and ``expected`` are u8."""
    if not INSTRUCTION_SETS[isa].unsigned_inputs:
        spec = signed_twin(spec, result_signed=bool(spec.output.channels % 3))
        values, border = values ^ 0x80, border ^ 0x80
        expected = (expected ^ 0x80).view(np.int8) if spec.result_signed else expected
    launch = kernel_runner.launch_of(spec, isa)
    assert not isinstance(launch, str), launch
    target = kernel_runner.buffer(spec.output, np.zeros_like(expected))
    before = target.copy()
    kernel_runner.run(launch, [kernel_runner.buffer(spec.input, values, border)], [target], pieces)
    np.testing.assert_array_equal(kernel_runner.inside(spec.output, target, expected.dtype), expected)
    assert kernel_runner.untouched(spec.output, before, target)


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=100, deadline=None)
@given(case=convolutions())
def test_convolutions_equal_their_meaning(isa: str, case: tuple[Conv, np.ndarray, np.ndarray, int]) -> None:
    check(case[0], isa, *case[1:])


def plain(
    shape: tuple[int, int, int],
    filter: np.ndarray,
    zero_point: int = 0,
    strides: tuple[int, int] = (1, 1),
    dilations: tuple[int, int] = (1, 1),
    shift: int = -8,
) -> Conv:
    """A convolution of ``[height, width, channels]`` without a border, whose sums are divided by ``2^(1 -
    shift)``.
    """
    outputs, *kernel, _ = filter.shape
    span = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    out = [(n - s) // t + 1 for n, s, t in zip(shape, span, strides, strict=False)]
    numbers = Rescale(Rounding.DOUBLE, (2.0 ** (shift - 1),), (1 << 30,), (shift,), 128, 0, 255)
    return Conv(
        "depthwise_conv2d",
        Image(1, *shape),
        Image(1, *out, outputs),
        (kernel[0], kernel[1]),
        strides,
        dilations,
        (0, 0),
        shape[2],
        False,
        filter.dtype == np.int8,
        (zero_point,),
        False,
        numbers,
        filter,
        np.zeros(outputs, np.int32),
    )


def expected_of(spec: Conv, values: np.ndarray) -> np.ndarray:
    """``values`` is ``[height, width, channels]``; tap by tap."""
    multiplier = spec.output.channels // spec.input.channels
    filter = spec.filter[..., 0].astype(np.int64) - spec.filter_zero_points[0]
    sums = np.zeros((spec.output.height, spec.output.width, spec.output.channels), np.int64)
    for i in range(spec.kernel[0]):
        for j in range(spec.kernel[1]):
            rows = i * spec.dilations[0] + spec.strides[0] * np.arange(spec.output.height)
            columns = j * spec.dilations[1] + spec.strides[1] * np.arange(spec.output.width)
            taps = values.astype(np.int64)[rows[:, None], columns].repeat(multiplier, 2)
            sums += taps * filter[:, i, j]
    return spec.rescale.apply(sums + spec.bias)[None].astype(np.uint8)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("channels", [1, 3, 8, 16, 20, 24, 32, 40, 64, 72, 96, 112, 144])
def test_every_tail_of_channels_and_columns(isa: str, stride: int, channels: int) -> None:
    rng = np.random.default_rng(channels)
    filter = rng.integers(-128, 128, (channels, 3, 3, 1)).astype(np.int8)
    for width in (3, 4, 5, 6, 7, 9, 14, 16, 23, 34):
        spec = plain((5 + width % 2, width, channels), filter, strides=(stride, stride))
        values = rng.integers(0, 256, spec.input.buffer_shape[1:]).astype(np.uint8)
        check(spec, isa, values, expected_of(spec, values), 0)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("zero_point", [0, 1, 127, 128, 129, 254, 255])
def test_every_weight_less_any_zero_point(isa: str, zero_point: int) -> None:
    """From -255 to 255: more than one i8 holds."""
    weights = np.arange(256, dtype=np.uint8)
    filter = np.stack([np.roll(weights, n) for n in range(9)], axis=1).reshape(256, 3, 3, 1)
    spec = plain((5, 6, 256), filter, zero_point, shift=-12)
    for low in (0, 255):
        values = np.full((5, 6, 256), low, np.uint8)
        values[::2, 1::2] = 255 - low
        check(spec, isa, values, expected_of(spec, values), 0)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("kernel", [(8, 8), (10, 8), (1, 65), (65, 1)])
@pytest.mark.parametrize("multiplier", [1, 8])
def test_large_windows(isa: str, kernel: tuple[int, int], multiplier: int) -> None:
    rng = np.random.default_rng(7)
    filter = rng.integers(0, 256, (5 * multiplier, *kernel, 1)).astype(np.uint8)
    shape = (kernel[0] + 4, kernel[1] + 9, 5)
    spec = plain(shape, filter, 77, (2, 2), shift=-14)
    values = rng.integers(0, 256, shape).astype(np.uint8)
    check(spec, isa, values, expected_of(spec, values), 0)


def test_sizes_are_not_in_the_code() -> None:
    """One function serves all layers of one form."""
    filter = np.ones((192, 3, 3, 1), np.int8)
    launches = [
        kernel_runner.launch_of(plain((height, width, channels), filter[:channels]), "avx512vnni")
        for height, width, channels in [(9, 11, 64), (58, 58, 128), (16, 30, 192)]
    ]
    assert len({launch.code for launch in launches if isinstance(launch, Launch)}) == 1


@pytest.mark.parametrize(
    ("stride", "dilation", "apart", "shift"),
    [(1, 1, 1, 1), (2, 1, 1, 2), (1, 4, 4, 1), (2, 2, 1, 1), (4, 6, 3, 2)],
)
def test_outputs_that_share_taps(stride: int, dilation: int, apart: int, shift: int) -> None:
    sharing = Sharing.of(stride, dilation)
    assert sharing == Sharing(apart, shift)
    assert apart * stride == shift * dilation


def test_what_no_kernel_computes_is_said() -> None:
    spec = plain((5, 5, 16), np.ones((16, 3, 3, 1), np.int8))
    for change, reason in [
        ({"kind": "conv2d"}, "kind 'conv2d' is another family's"),
        ({"input_signed": True}, "the input is signed"),
    ]:
        assert depthwise_conv2d.plan(dataclasses.replace(spec, **change), INSTRUCTION_SETS["avx2"]) == reason


@pytest.mark.skipif(not host().triple.startswith("x86_64"), reason="LLVM code for another machine")
@pytest.mark.parametrize("channels", [64, 144])
@pytest.mark.parametrize("stride", [1, 2])
def test_inner_loops_keep_everything_in_registers(channels: int, stride: int) -> None:
    """Three dot products a vector of 3x3 results (four taps each), and no vector on the stack."""
    filter = np.ones((channels, 3, 3, 1), np.int8)
    launch = kernel_runner.launch_of(plain((9, 40, channels), filter, strides=(stride, stride)), "avx512vnni")
    assert isinstance(launch, Launch)
    blocks = re.split(r"\n(?=\.LBB)", kernel_runner.assembly(launch.code))
    loops = [block for block in blocks if "vpdpbusd" in block]
    rows = 2 if stride == 1 else 1
    for loop in loops:
        assert loop.count("vpdpbusd") == 2 * rows * 4 * 3
        assert not re.search(r"rsp.*zmm|zmm.*rsp", loop)
        assert "vpunpcklbw" in loop
    assert len(loops) == (1 if channels == 64 else 2)
