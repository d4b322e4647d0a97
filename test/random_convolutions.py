"""Random convolutions and what they compute in numpy, for tests of kernels."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from hypothesis import strategies as st

import kernel_runner as runner
from zeropoint.dialect import fixed_point as fx
from zeropoint.dialect import rescale
from zeropoint.dialect.numerics import Rounding
from zeropoint.dialect.op_constants import Rescale
from zeropoint.dialect.types import QuantParams, Storage, TensorType
from zeropoint.kernels.conv import Conv, Residual
from zeropoint.kernels.image import Image
from zeropoint.kernels.instruction_set import INSTRUCTION_SETS
from zeropoint.kernels.launch import Launch

seeds = st.integers(0, 2**32 - 1)


def meaning(spec: Conv, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The convolution of ``x [batch, height, width, channels]``; outside of it is the border's byte."""
    out, (top, left) = spec.output, spec.padding
    count, per_group = out.channels, spec.input.channels // spec.groups
    points = np.broadcast_to(np.asarray(spec.filter_zero_points, np.int64), (count,))
    weights = spec.filter.astype(np.int64) - points[:, None, None, None]
    total = np.zeros((out.batch, out.height, out.width, count), np.int64) + spec.bias
    border = spec.input.border
    padded = np.pad(x.astype(np.int64), ((0, 0), border[:2], border[2:], (0, 0)), constant_values=BORDER)
    for i in range(spec.kernel[0]):
        for j in range(spec.kernel[1]):
            y0 = border[0] - top + i * spec.dilations[0]
            x0 = border[2] - left + j * spec.dilations[1]
            part = padded[
                :,
                y0 : y0 + (out.height - 1) * spec.strides[0] + 1 : spec.strides[0],
                x0 : x0 + (out.width - 1) * spec.strides[1] + 1 : spec.strides[1],
            ]
            for o in range(spec.groups):
                mine = slice(o * count // spec.groups, (o + 1) * count // spec.groups)
                taps = weights[mine, i, j]
                total[..., mine] += part[..., o * per_group : (o + 1) * per_group] @ taps.T
    return spec.rescale.apply(fx.wrap_int32(total))


BORDER = 77


def compare(spec: Conv, isa: str, rng: np.random.Generator, pieces: int = 3) -> Launch | None:
    signed = not INSTRUCTION_SETS[isa].unsigned_inputs
    spec = dataclasses.replace(spec, input_signed=signed)
    launch = runner.launch_of(spec, isa)
    if spec.residual and isinstance(launch, str):
        assert "residual" in launch
        return None
    assert isinstance(launch, Launch), launch
    image, result = spec.input, spec.output
    x = rng.integers(0, 256, (image.batch, image.height, image.width, image.channels)).astype(np.uint8)
    x = np.where(rng.random(x.shape) < 0.2, rng.choice([0, 127, 128, 255], x.shape), x).astype(np.uint8)
    x = x.view(np.int8) if signed else x
    sources = [runner.buffer(image, x, BORDER)]
    expected = meaning(spec, x)
    if spec.residual is not None:
        other, signed = spec.residual.other, spec.residual.other_signed
        y = rng.integers(-128 if signed else 0, 128 if signed else 256, expected.shape)
        sources.append(runner.buffer(other, y.astype(np.int8 if signed else np.uint8), BORDER))
        operands = (y, expected) if spec.residual.conv_is_rhs else (expected, y)
        expected = spec.residual.constants.apply(*operands)
    target = rng.integers(0, 256, result.buffer_bytes).astype(np.uint8)
    into = runner.aligned(result.buffer_bytes)
    into[:] = target
    runner.run(launch, sources, [into], pieces)
    kind = np.int8 if (spec.residual or spec).result_signed else np.uint8
    actual = runner.inside(result, into, kind).astype(np.int64)
    np.testing.assert_array_equal(actual, expected, err_msg=f"{launch.code.symbol} {spec}")
    assert runner.untouched(result, target, into)
    return launch


@st.composite
def images(draw: st.DrawFn, batch: int, height: int, width: int, channels: int, border: bool) -> Image:
    rng = np.random.default_rng(draw(seeds))
    edges = tuple(int(n) for n in rng.integers(0, 3, 4)) if border else (0, 0, 0, 0)
    if draw(st.integers(0, 3)) == 0:
        return Image(batch, height, width, channels, edges, channels + 5, int(rng.integers(0, 6)))
    return Image(batch, height, width, channels, edges)


@st.composite
def rescales(draw: st.DrawFn, count: int, signed: bool, reach: float, rng: np.random.Generator) -> Rescale:
    """Scales such that typical accumulators fill the result's range, or far from it."""
    rounding = draw(
        st.sampled_from([Rounding.DOUBLE] * 3 + [Rounding.FLOAT32_HALF_EVEN, Rounding.ONCE_HALF_AWAY])
    )
    entries = count if draw(st.booleans()) else 1
    exponents = np.log2(128 / reach) + rng.uniform(-1, 3, entries)
    if draw(st.integers(0, 2)) == 0:
        exponents = rng.uniform(-12, -0.01, entries)
    if draw(st.integers(0, 3)) == 0:  # next to nothing in some channels
        exponents = np.where(rng.random(entries) < 0.3, rng.uniform(-34, -12, entries), exponents)
    if draw(st.booleans()):
        exponents = np.round(exponents)  # ties
    scales = tuple(float(2.0 ** min(e, -0.001)) for e in exponents)
    if rounding is Rounding.FLOAT32_HALF_EVEN:
        scales = tuple(fx.float32(scale) for scale in scales)
    pairs = [fx.quantize_multiplier(scale) for scale in scales]
    first, last = (-128, 127) if signed else (0, 255)
    zero_point = draw(st.sampled_from([first, last, first + 1, 3, int(rng.integers(first, last + 1))]))
    low, high = draw(
        st.sampled_from(
            [(first, last), (zero_point, last), (first + 3, last - 7), (max(first, zero_point - 9), last)]
        )
    )
    multipliers, shifts = (tuple(part) for part in zip(*pairs, strict=True))
    return Rescale(rounding, scales, multipliers, shifts, zero_point, low, high)


@st.composite
def convs(draw: st.DrawFn) -> tuple[Conv, np.random.Generator]:
    rng = np.random.default_rng(draw(seeds))
    groups = draw(st.sampled_from([1, 1, 1, 2, 3]))
    inputs = groups * draw(st.sampled_from([1, 2, 3, 4, 5, 8, 16, 17, 36, 70]))
    outputs = groups * draw(
        st.sampled_from([1, 2, 3, 8, 10, 11, 15, 16, 17, 24, 31, 32, 33, 48, 64, 65, 80, 97, 128, 144])
    )
    batch = draw(st.integers(1, 2))
    if draw(st.integers(0, 2)) == 0:  # a matrix product, or a pointwise convolution
        kernel = strides = dilations = (1, 1)
        padding = (0, 0)
        out = (int(rng.integers(1, 3)), int(rng.choice([1, 2, 3, 5, 7, 13, 17, 29])))
        size = out
        border = draw(st.booleans())
    else:
        kernel, strides = ((int(rng.choice(c)), int(rng.choice(c))) for c in ([1, 2, 3, 5], [1, 1, 2, 3]))
        dilations = (int(rng.choice([1, 1, 2])), int(rng.choice([1, 1, 2])))
        out = (int(rng.integers(1, 4)), int(rng.integers(1, 18)))
        padding = (int(rng.integers(0, 2)), int(rng.integers(0, 2)))
        size = tuple(
            max(1, (o - 1) * s + (k - 1) * d + 1 - p)
            for o, s, k, d, p in zip(out, strides, kernel, dilations, padding, strict=True)
        )
        border = True
    image = draw(images(batch, size[0], size[1], inputs, border))
    least = (padding[0], max(kernel), padding[1], max(kernel))
    image = (
        dataclasses.replace(image, border=tuple(max(a, b) for a, b in zip(image.border, least, strict=True)))
        if kernel != (1, 1) or padding != (0, 0)
        else image
    )
    result = draw(images(batch, out[0], out[1], outputs, draw(st.booleans())))
    filter_signed = draw(st.booleans())
    span = (-128, 128) if filter_signed else (0, 256)
    shape = (outputs, *kernel, inputs // groups)
    filter = rng.integers(*span, shape).astype(np.int8 if filter_signed else np.uint8)
    points: tuple[int, ...] = (0,) if filter_signed else (128,)
    if draw(st.booleans()):
        points = tuple(int(n) for n in rng.integers(*span, draw(st.sampled_from([1, outputs]))))
        if draw(st.booleans()):  # few weights that differ from their zero point by more than a byte holds
            near = np.reshape(points, (-1, 1, 1, 1)) + rng.integers(-60, 61, shape)
            near = np.where(rng.random(shape) < 1 / filter.size, filter, near)
            filter = np.clip(near, span[0], span[1] - 1).astype(filter.dtype)
    taps = int(np.prod(shape[1:]))
    if draw(st.integers(0, 5)) == 0:  # sums that wrap
        bias = rng.integers(-(2**31), 2**31, outputs)
    else:
        bias = rng.integers(-5000 * taps, 5000 * taps + 1, outputs)
    signed = draw(st.booleans())
    rescale = draw(rescales(outputs, signed, 20000 * taps**0.5, rng))
    spec = Conv(
        "conv2d", image, result, kernel, strides, dilations, padding, groups, False, filter_signed, points,
        signed, rescale, filter, bias.astype(np.int32),
    )  # fmt: skip
    return spec, rng


@st.composite
def residuals(draw: st.DrawFn) -> tuple[Conv, np.random.Generator]:
    """A convolution with the add behind it."""
    spec, rng = draw(convs())
    signs = [draw(st.booleans()), draw(st.booleans())]
    kinds = []
    for signed in (spec.result_signed, *signs):
        storage, point = Storage.of("i8" if signed else "u8"), int(rng.integers(0, 256)) - 128 * signed
        kinds.append(TensorType((1,), QuantParams(storage, (2.0 ** rng.uniform(-6, -4),), (point,))))
    conv_is_rhs = draw(st.booleans())
    operands = (kinds[1], kinds[0]) if conv_is_rhs else (kinds[0], kinds[1])
    mode = draw(st.sampled_from(["reference", "xnnpack"]))
    constants = rescale.add(*operands, kinds[2], draw(st.sampled_from([(), (0.0, math.inf)])), mode)
    out = spec.output
    other = draw(images(out.batch, out.height, out.width, out.channels, draw(st.booleans())))
    residual = Residual(other, signs[0], constants, conv_is_rhs, signs[1])
    return dataclasses.replace(spec, residual=residual), rng


def spec_of(filter: np.ndarray[Any, Any], zero_point: int, width: int = 5, **changes: Any) -> Conv:
    """A pointwise convolution of a u8 or i8 filter ``[outputs, inputs]``."""
    outputs, inputs = filter.shape
    scale = 0.0113 / inputs**0.5
    multiplier, shift = fx.quantize_multiplier(scale)
    spec = Conv(
        "conv2d",
        Image(1, 1, width, inputs),
        Image(1, 1, width, outputs),
        (1, 1),
        (1, 1),
        (1, 1),
        (0, 0),
        1,
        False,
        filter.dtype == np.int8,
        (zero_point,),
        False,
        Rescale(Rounding.DOUBLE, (scale,), (multiplier,), (shift,), 7, 0, 255),
        filter.reshape(outputs, 1, 1, inputs),
        np.zeros(outputs, np.int32),
    )
    return dataclasses.replace(spec, **changes)
