"""AMX kernels against the numpy meaning, emulated where the CPU has no AMX: all tilings, windows, borders,
tails, zero points, sums that wrap.
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
from zeropoint.codegen import amx_permission
from zeropoint.dialect import rescale
from zeropoint.dialect.meaning import evaluate
from zeropoint.dialect.numerics import Rounding
from zeropoint.dialect.op_constants import Rescale
from zeropoint.kernels import amx_conv2d, amx_tiling
from zeropoint.kernels.conv import Conv, Residual
from zeropoint.kernels.image import Image
from zeropoint.kernels.instruction_set import INSTRUCTION_SETS
from zeropoint.kernels.launch import Launch

needs_vectors = pytest.mark.skipif(not kernel_runner.has("amx"), reason="this CPU has no AVX512-VNNI")
NO_AMX = amx_permission.why_not()
needs_amx = pytest.mark.skipif(NO_AMX is not None, reason=f"AMX: {NO_AMX}")

CLAMPS = [(), (), (0.0, math.inf), (0.0, 6.0), (-1.0, 1.0), (-math.inf, 0.5)]
WINDOWS = [
    ((1, 1), (1, 1)),
    ((1, 1), (2, 2)),
    ((3, 3), (1, 1)),
    ((3, 3), (2, 2)),
    ((1, 5), (1, 1)),
    ((2, 3), (3, 1)),
]
CHANNELS = [1, 3, 4, 16, 17, 31, 32, 48, 63, 64, 65, 80, 96, 130]
Case = tuple[Conv, np.ndarray, np.ndarray, int]


@st.composite
def contractions(draw: st.DrawFn) -> Case:
    """A spec, its stored input, the stored result and the zero point that fills the input's border."""
    rng = np.random.default_rng(draw(seeds))
    if draw(st.integers(0, 3)) == 0:
        return _fully_connected(draw, rng)
    return _conv2d(draw, rng)


def _conv2d(draw: st.DrawFn, rng: np.random.Generator) -> Case:
    kernel, strides = draw(st.sampled_from(WINDOWS))
    dilations = draw(st.sampled_from([(1, 1), (1, 1), (1, 1), (2, 1), (1, 2)]))
    groups = draw(st.sampled_from([1, 1, 1, 2, 3]))
    channels = max(1, draw(st.sampled_from(CHANNELS)) // groups) * groups
    outputs = max(1, draw(st.sampled_from(CHANNELS)) // groups) * groups
    batch = draw(st.sampled_from([1, 1, 1, 2]))
    padding = tuple(int(n) for n in rng.integers(0, 3, 4))
    wanted = (draw(st.integers(1, 7)), draw(st.sampled_from([1, 2, 3, 5, 7, 8, 14, 17, 28])))
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    pads = [padding[0] + padding[1], padding[2] + padding[3]]
    size = [
        max(1, (o - 1) * s + span - pad + int(rng.integers(0, s)))
        for o, s, span, pad in zip(wanted, strides, spans, pads, strict=True)
    ]
    out = [(n + pad - span) // s + 1 for n, pad, span, s in zip(size, pads, spans, strides, strict=True)]
    attributes = {"strides": strides, "dilations": dilations, "padding": padding, "groups": groups}
    shapes = ((batch, *size, channels), (outputs, *kernel, channels // groups), (batch, *out, outputs))
    border = tuple(n + int(more) for n, more in zip(padding, rng.integers(0, 2, 4), strict=True))
    around = tuple(int(n) for n in rng.integers(0, 3, 4))
    images = (_image(rng, shapes[0], border), _image(rng, shapes[2], around))
    return _case(draw, rng, "conv2d", shapes, images, attributes)


def _fully_connected(draw: st.DrawFn, rng: np.random.Generator) -> Case:
    rows = draw(st.sampled_from([1, 2, 4, 5, 15, 16, 17, 33, 49, 64, 100]))
    depth, outputs = draw(st.sampled_from([*CHANNELS, 192, 300])), draw(st.sampled_from(CHANNELS))
    shapes = ((rows, depth), (outputs, depth), (rows, outputs))
    images = (_image(rng, (1, 1, rows, depth)), _image(rng, (1, 1, rows, outputs)))
    return _case(draw, rng, "fully_connected", shapes, images, {})


def _case(
    draw: st.DrawFn, rng: np.random.Generator, op: str, shapes: Any, images: tuple[Image, Image], window: Any
) -> Case:
    storage = draw(st.sampled_from(["i8", "i8 as u8", "u8"]))
    filter_storage = draw(st.sampled_from(["i8", "u8"])) if storage == "u8" else "i8"
    offset = 128 if storage == "i8 as u8" else 0
    low, high = (0, 255) if storage == "u8" else (-128, 127)
    ends = st.sampled_from([low, high]) | st.integers(low, high)
    x = quantized(shapes[0], storage[:2], 2.0 ** rng.uniform(-8, -2), draw(ends))
    outputs = shapes[1][0]
    per_axis = filter_storage == "i8" and draw(st.booleans())
    exponents = rng.uniform(-9, -4, outputs if per_axis else 1)
    if draw(st.booleans()):
        exponents = np.round(exponents)  # ties
    point = draw(st.sampled_from([0, 128, 255]) | st.integers(0, 255)) if filter_storage == "u8" else 0
    w = quantized(shapes[1], filter_storage, 2.0**exponents, point, 0 if per_axis else None)
    bias_scales = np.float32(x.params.scale) * np.asarray(w.params.scales, np.float32)
    b = quantized((outputs,), "i32", bias_scales, 0, 0 if per_axis else None)
    taps = math.prod(shapes[1][1:])
    spread = 2.0 ** rng.uniform(-2, 6)
    y_scale = float(np.max(bias_scales)) * math.sqrt(taps) * 5000 / (40 * spread)
    y = quantized(shapes[2], storage[:2], y_scale, draw(ends))
    usual = 5000 * taps
    reach = draw(st.sampled_from([usual, usual, usual, 2**31 - 1]))  # the last: sums that wrap
    bias = rng.integers(-reach, reach + 1, outputs).astype(np.int32)
    arrays = [_values(draw, rng, kind.shape, kind.dtype) for kind in (x, w)] + [bias]
    clamp, mode = draw(st.sampled_from(CLAMPS)), draw(st.sampled_from(["reference", "xnnpack"]))
    expected = evaluate(op, arrays, [x, w, b], [y], {**window, "clamp": clamp}, mode)[0]
    constants = getattr(rescale, op)(x, w, y, clamp, mode)
    stored, numbers = arrays[0], constants.rescale
    if offset:
        stored, expected = ((a.astype(np.int64) + offset).astype(np.uint8) for a in (stored, expected))
        constants = dataclasses.replace(constants, input_zero_point=constants.input_zero_point + offset)
        shifted = {name: getattr(numbers, name) + offset for name in ("zero_point", "low", "high")}
        numbers = dataclasses.replace(numbers, **shifted)
    folded = rescale.folded_bias(arrays[1], bias, constants).astype(np.int32)
    filter_ = arrays[1] if op == "conv2d" else arrays[1].reshape(outputs, 1, 1, -1)
    padding = window.get("padding", (0, 0, 0, 0))
    spec = Conv(
        "conv2d",
        *images,
        filter_.shape[1:3],
        window.get("strides", (1, 1)),
        window.get("dilations", (1, 1)),
        (padding[0], padding[2]),
        window.get("groups", 1),
        storage == "i8",
        filter_storage == "i8",
        constants.filter_zero_points,
        storage == "i8",
        numbers,
        filter_,
        folded,
    )
    return spec, stored, expected, constants.input_zero_point & 0xFF


def _values(draw: st.DrawFn, rng: np.random.Generator, shape: Any, dtype: Any) -> np.ndarray:
    """Bytes: anything, or only the two ends."""
    limits = np.iinfo(dtype)
    if draw(st.integers(0, 4)) == 0:
        return rng.choice(np.array([limits.min, limits.max], dtype), shape)
    return rng.integers(limits.min, limits.max + 1, shape).astype(dtype)


def _image(rng: np.random.Generator, shape: Any, border: Any = (0, 0, 0, 0)) -> Image:
    """An image of ``shape``, perhaps a slice of a wider one."""
    others = int(rng.choice([0, 0, 0, 5, 16]))
    return Image(*shape, border, shape[3] + others if others else 0, int(rng.integers(0, others + 1)))


@st.composite
def residuals(draw: st.DrawFn) -> tuple[Case, np.ndarray]:
    """A convolution with the add behind it, and what is added."""
    spec, stored, conv, border = draw(contractions())
    rng = np.random.default_rng(draw(seeds))
    signs = [spec.result_signed, draw(st.booleans()), draw(st.booleans())]
    points = [int(rng.integers(0, 256)) - 128 * signed for signed in signs]
    conv_type, other_type, sum_type = (
        quantized((1,), "i8" if signed else "u8", 2.0 ** rng.uniform(-6, -4), point)
        for signed, point in zip(signs, points, strict=True)
    )
    image = spec.output
    shape = (image.batch, image.height, image.width, image.channels)
    other = _values(draw, rng, shape, other_type.dtype)
    conv_is_rhs = draw(st.booleans())
    types = (other_type, conv_type) if conv_is_rhs else (conv_type, other_type)
    operands = (other, conv.reshape(shape)) if conv_is_rhs else (conv.reshape(shape), other)
    clamp, mode = (
        draw(st.sampled_from([(), (0.0, math.inf)])),
        draw(st.sampled_from(["reference", "xnnpack"])),
    )
    constants = rescale.add(*types, sum_type, clamp, mode)
    expected = constants.apply(*operands).astype(sum_type.dtype)
    around = tuple(int(n) for n in rng.integers(0, 3, 4))
    residual = Residual(_image(rng, shape, around), signs[1], constants, conv_is_rhs, signs[2])
    return (dataclasses.replace(spec, residual=residual), stored, expected, border), other


def check(launch: Launch, case: Case, pieces: int = 3, other: np.ndarray | None = None) -> None:
    spec, values, expected, border = case
    sources = [kernel_runner.buffer(spec.input, values, border)]
    if spec.residual is not None and other is not None:
        sources.append(kernel_runner.buffer(spec.residual.other, other))
    shaped = expected.reshape(spec.output.batch, spec.output.height, spec.output.width, -1)
    target = kernel_runner.buffer(spec.output, np.zeros_like(shaped))
    before = target.copy()
    kernel_runner.run(launch, sources, [target], pieces)
    np.testing.assert_array_equal(kernel_runner.inside(spec.output, target, expected.dtype), shaped)
    assert kernel_runner.untouched(spec.output, before, target)


def layer(
    size: int,
    channels: int,
    outputs: int,
    kernel: int = 1,
    stride: int = 1,
    values: np.ndarray | None = None,
    **changes: Any,
) -> tuple[Conv, np.ndarray, np.ndarray, int]:
    """A square u8 layer whose expected result comes from the accumulators themselves."""
    rng = np.random.default_rng(size + channels + outputs)
    pad = kernel // 2
    out = (size + 2 * pad - kernel) // stride + 1
    spec = Conv(
        "conv2d",
        Image(1, size, size, channels, (pad,) * 4),
        Image(1, out, out, outputs),
        (kernel, kernel),
        (stride, stride),
        (1, 1),
        (pad, pad),
        1,
        False,
        True,
        (0,),
        False,
        Rescale(Rounding.DOUBLE, (0.0,), (1 << 30,), (-11,), 3, 3, 255),
        rng.integers(-128, 128, (outputs, kernel, kernel, channels)).astype(np.int8),
        rng.integers(-1000, 1000, outputs).astype(np.int32),
    )
    spec = dataclasses.replace(spec, **changes)
    if values is None:
        values = rng.integers(0, 256, (1, size, size, channels)).astype(np.uint8)
    padded = np.pad(values.astype(np.int64), ((0, 0), (pad, pad), (pad, pad), (0, 0)), constant_values=7)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel), (1, 2))
    taken = windows[:, ::stride, ::stride].reshape(1, out, out, -1)  # channels, then taps
    weights = spec.filter.astype(np.int64) - spec.filter_zero_points[0]
    sums = taken @ weights.transpose(3, 1, 2, 0).reshape(-1, outputs) + spec.bias
    return spec, values, spec.rescale.apply(sums).astype(np.uint8), 7


# Sizes, channels and kernels of usual networks.
LAYERS = [
    layer(14, 256, 96),
    layer(7, 320, 64),
    layer(8, 64, 40, 3),
    layer(15, 64, 32, 3, 2),
    layer(30, 3, 64, 7, 2),
    layer(
        14,
        128,
        64,
        filter=np.arange(100, 100 + 64, dtype=np.uint8).repeat(128).reshape(64, 1, 1, 128),
        filter_signed=False,
        filter_zero_points=(128,),
    ),
    layer(
        14,
        128,
        256,
        filter=np.arange(256 * 128, dtype=np.int64).astype(np.uint8).reshape(256, 1, 1, 128),
        filter_signed=False,
        filter_zero_points=(125,),
    ),
]


def launch_of_any_tiling(spec: Conv, which: int) -> Launch | str:
    """One that cost does not decide on."""

    def any_tiling(conv: Conv, reduction: amx_tiling.Reduction) -> amx_tiling.Tiling:
        found = list(amx_tiling.tilings(conv, reduction))
        return found[which % len(found)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(amx_conv2d, "_LEAST_GAIN", 0.0)
        patch.setattr(amx_conv2d, "_FEWEST_PIXELS", 1)
        patch.setattr(amx_conv2d, "best", any_tiling)
        return amx_conv2d.plan(spec, INSTRUCTION_SETS["amx"])


@needs_vectors
@settings(max_examples=150, deadline=None)
@given(case=contractions(), which=st.integers(0, 2**32))
def test_every_tiling_equals_the_meaning(case: Case, which: int) -> None:
    launch = launch_of_any_tiling(case[0], which)
    assert isinstance(launch, Launch), launch
    check(launch, case)


@needs_vectors
@settings(max_examples=80, deadline=None)
@given(case=residuals(), which=st.integers(0, 2**32))
def test_residuals(case: tuple[Case, np.ndarray], which: int) -> None:
    launch = launch_of_any_tiling(case[0][0], which)
    if isinstance(launch, str):
        assert launch == "a residual whose sum has no float32 form"
        return
    check(launch, case[0], other=case[1])


@needs_vectors
@pytest.mark.parametrize("case", LAYERS, ids=lambda case: str(case[0].filter.shape))
@pytest.mark.parametrize("pieces", [1, 3])
def test_layers_of_usual_networks(case: Case, pieces: int) -> None:
    launch = kernel_runner.launch_of(case[0], "amx")
    assert isinstance(launch, Launch), launch
    assert launch.code.family == "amx_conv2d"
    check(launch, case, pieces)


@needs_vectors
def test_each_group_of_channels_has_sums_of_its_own() -> None:
    rng = np.random.default_rng(5)
    parts = [
        layer(
            7,
            64,
            72,
            values=rng.integers(low, low + 128, (1, 7, 7, 64)).astype(np.uint8),
            filter=rng.integers(0, 19, (72, 1, 1, 64), dtype=np.uint8),
            filter_signed=False,
            filter_zero_points=(9,),
            bias=rng.integers(-(2**17), 2**17, 72).astype(np.int32),
        )
        for low in (0, 128)
    ]
    spec = dataclasses.replace(
        parts[0][0],
        input=Image(1, 7, 7, 128),
        output=Image(1, 7, 7, 144),
        groups=2,
        filter=np.concatenate([part[0].filter for part in parts]),
        bias=np.concatenate([part[0].bias for part in parts]),
    )
    values, expected = (np.concatenate([part[i] for part in parts], -1) for i in (1, 2))
    launch = kernel_runner.launch_of(spec, "amx")
    assert isinstance(launch, Launch), launch
    assert launch.code["sums"] is True
    check(launch, (spec, values, expected, 0))


@needs_amx
@pytest.mark.parametrize("case", LAYERS, ids=lambda case: str(case[0].filter.shape))
def test_layers_on_the_hardware(case: Case) -> None:
    launch = kernel_runner.launch_of(case[0], "amx")
    assert isinstance(launch, Launch), launch
    check(launch, case)


@needs_amx
@settings(max_examples=50, deadline=None)
@given(case=contractions(), which=st.integers(0, 2**32))
def test_contractions_on_the_hardware(case: Case, which: int) -> None:
    launch = launch_of_any_tiling(case[0], which)
    assert isinstance(launch, Launch), launch
    check(launch, case)


def test_an_asymmetric_filter_at_the_middle_needs_no_sums() -> None:
    spec = LAYERS[5][0]
    for zero_point, sums in ((0, False), (128, False), (151, True)):
        launch = kernel_runner.launch_of(dataclasses.replace(spec, filter_zero_points=(zero_point,)), "amx")
        assert isinstance(launch, Launch)
        assert launch.code["sums"] is sums


@pytest.mark.parametrize(
    "case",
    [layer(14, 16, 64), layer(1, 1024, 64), layer(12, 3, 32, 3, 2)],
    ids=["short sums", "one pixel", "first layer"],
)
def test_the_base_set_takes_the_rest(case: Case) -> None:
    launch = kernel_runner.launch_of(case[0], "amx")
    assert isinstance(launch, Launch), launch
    assert (launch.code.family, launch.code.isa) == ("conv2d", "avx512vnni")


def test_a_set_without_tiles_does_not_use_them() -> None:
    for isa in (isa for isa in INSTRUCTION_SETS.values() if isa.architecture == "x86_64"):
        launch = kernel_runner.launch_of(LAYERS[0][0], isa.name)
        assert isinstance(launch, Launch), launch
        assert (launch.code.family == "amx_conv2d") == (isa.name == "amx")


@pytest.mark.parametrize(
    ("rows", "tiles"),
    [(49, (13, 4)), (196, (14, 14)), (64, (16, 4)), (17, (9, 2)), (100, (10, 10))],
)
def test_rows_of_tiles_are_equal(rows: int, tiles: tuple[int, int]) -> None:
    spec = dataclasses.replace(
        layer(1, 256, 64)[0], input=Image(1, 1, rows, 256), output=Image(1, 1, rows, 64)
    )
    found = amx_tiling.best(spec, amx_tiling.Reduction.of(spec))
    assert (found.rows, found.scan.count(found.rows)) == tiles


def test_a_window_over_a_bordered_input_is_one_scan_with_junk() -> None:
    spec = layer(7, 64, 64, 3)[0]
    scan = amx_tiling.scans(spec)[-1]
    assert scan.length == 6 * 9 + 7
    pixels = scan.segments[0][1]
    assert pixels[:10].tolist() == [0, 1, 2, 3, 4, 5, 6, amx_tiling.JUNK, amx_tiling.JUNK, 7]
    assert sorted(pixels[pixels >= 0]) == list(range(49))


def test_rows_of_a_kernel_are_summed_in_one_run() -> None:
    by_taps = amx_tiling.Reduction.of(layer(9, 48, 16, 3, input=Image(1, 9, 9, 48, (1,) * 4, 64))[0])
    by_rows = amx_tiling.Reduction.of(layer(9, 48, 16, 3)[0])
    assert (by_taps.steps, by_rows.steps) == (9, 9)
    assert amx_tiling.Reduction.of(layer(9, 32, 16, 3)[0]).steps == 6
    used = by_rows.sources[by_rows.sources >= 0]
    assert sorted(used) == list(range(9 * 48))


INNER_LOOPS = [((1, 4), 5), ((2, 2), 4), ((4, 1), 5)]


@pytest.mark.parametrize(("shape", "loads"), INNER_LOOPS)
@pytest.mark.parametrize("case", [LAYERS[0], LAYERS[6]], ids=["symmetric", "sums"])
def test_the_inner_loop(case: Case, shape: tuple[int, int], loads: int) -> None:
    """Four products a step with as few loads as there are, the rescale inside the loop, nothing but addresses
    on the stack.
    """

    def of_shape(conv: Conv, reduction: amx_tiling.Reduction) -> amx_tiling.Tiling:
        found = [t for t in amx_tiling.tilings(conv, reduction) if t.shape == shape]
        return min(found, key=lambda tiling: tiling.cycles)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(amx_conv2d, "best", of_shape)
        launch = kernel_runner.launch_of(case[0], "amx")
    assert isinstance(launch, Launch), launch
    text = kernel_runner.assembly(launch.code)
    assert not re.findall(r"zmm\d+, -?\d*\(%r[sb]p\)$", text, re.MULTILINE), "a vector on the stack"
    blocks = [block for block in re.split(r"^\.L\w+:", text, flags=re.MULTILINE) if "tdpb" in block]
    main = blocks[-1]
    assert main.count("tdpb") == 4
    assert main.count("tileload") == loads
    assert len(blocks) == (2 if launch.code["sums"] else 1)
    assert "tilestored" not in main
    assert text.count("ldtilecfg") == text.count("tilerelease") == 1
    assert "div" not in main
    assert "call" not in text
