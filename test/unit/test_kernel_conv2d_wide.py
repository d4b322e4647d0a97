"""Contractions with results of four bytes: i32 sums against numpy, float32 against the meaning of the dynamic
ops, bit by bit.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernel_runner as runner
from random_tensors import floating, quantized, seeds
from zeropoint.dialect import fixed_point as fx
from zeropoint.dialect.meaning import evaluate
from zeropoint.dialect.types import QuantParams, Storage, TensorType
from zeropoint.kernels import conv2d_wide
from zeropoint.kernels.conv import Reals, Sums, WideConv
from zeropoint.kernels.image import Image
from zeropoint.kernels.instruction_set import INSTRUCTION_SETS
from zeropoint.kernels.launch import Launch
from zeropoint.kernels.quantize_rows import QuantizeRows
from zeropoint.passes.form_kernels.dynamic_range import NO_RESCALE

Array = np.ndarray[Any, Any]
ISAS = runner.each_of("avx512vnni", "avx2", "sse4", "avxvnni", "neon", "dotprod", "i8mm")
CHANNELS = [1, 2, 3, 7, 8, 11, 16, 17, 24, 32, 33, 48, 65, 100, 144]


@dataclasses.dataclass(frozen=True)
class Window:
    """A convolution without its numbers."""

    batch: int
    size: tuple[int, int]
    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    padding: tuple[int, int, int, int]
    groups: int
    inputs: int
    outputs: int

    @property
    def result(self) -> tuple[int, int]:
        top, bottom, left, right = self.padding
        extents = self.size[0] + top + bottom, self.size[1] + left + right
        return tuple(  # type: ignore[return-value]
            (extent - (k - 1) * d - 1) // s + 1
            for extent, k, s, d in zip(extents, self.kernel, self.strides, self.dilations, strict=True)
        )

    @property
    def attributes(self) -> dict[str, Any]:
        names = ("strides", "dilations", "padding", "groups")
        return {name: getattr(self, name) for name in names}

    def spec(self, filter: Array, bias: Array, isa: str, **changes: Any) -> WideConv:
        source = Image(self.batch, *self.size, self.inputs, self.padding)
        target = Image(self.batch, *self.result, self.outputs, element_bytes=4)
        spec = WideConv(
            kind="conv2d",
            input=source,
            output=target,
            kernel=self.kernel,
            strides=self.strides,
            dilations=self.dilations,
            padding=(self.padding[0], self.padding[2]),
            groups=self.groups,
            input_signed=not INSTRUCTION_SETS[isa].unsigned_inputs,
            filter_signed=filter.dtype == np.int8,
            filter_zero_points=(0,),
            result_signed=True,
            rescale=NO_RESCALE,
            filter=filter,
            bias=bias.astype(np.int32),
        )
        return dataclasses.replace(spec, **changes)


@st.composite
def windows(draw: st.DrawFn) -> Window:
    rng = np.random.default_rng(draw(seeds))
    groups = draw(st.sampled_from([1, 1, 1, 2, 3]))
    inputs = groups * draw(st.sampled_from([1, 2, 3, 4, 5, 8, 16, 17, 36, 70])) + (groups > 1)
    inputs -= inputs % groups
    if inputs == groups > 1:
        inputs *= 2  # else it is depthwise
    outputs = groups * draw(st.sampled_from(CHANNELS))
    batch = draw(st.integers(1, 2))
    if draw(st.booleans()):
        size = (int(rng.integers(1, 3)), int(rng.choice([1, 2, 3, 5, 7, 13, 17, 29])))
        return Window(batch, size, (1, 1), (1, 1), (1, 1), (0, 0, 0, 0), groups, inputs, outputs)
    kernel, strides, dilations = (
        (int(rng.choice(choices)), int(rng.choice(choices))) for choices in ([1, 2, 3], [1, 1, 2], [1, 1, 2])
    )
    padding = tuple(int(n) for n in rng.integers(0, 2, 4))
    size = tuple(int(rng.integers((k - 1) * d + 1, 12)) for k, d in zip(kernel, dilations, strict=True))
    return Window(batch, size, kernel, strides, dilations, padding, groups, inputs, outputs)


def run(spec: WideConv, source: Array, isa: str, pieces: int) -> Array:
    """The result's bytes as i32."""
    launch = runner.launch_of(spec, isa)
    assert isinstance(launch, Launch), launch
    target = runner.aligned(spec.output.buffer_bytes)
    before = np.random.default_rng(0).integers(0, 256, target.size).astype(np.uint8)
    target[:] = before
    runner.run(launch, [source], [target], pieces)
    assert runner.untouched(spec.output, before, target)
    return runner.inside(spec.output, target, np.int32)


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=40, deadline=None)
@given(window=windows(), seed=seeds, pieces=st.integers(1, 4))
def test_sums(isa: str, window: Window, seed: int, pieces: int) -> None:
    """Also of weights with zero points, of slices of channels, and such that wrap."""
    rng = np.random.default_rng(seed)
    shape = (window.outputs, *window.kernel, window.inputs // window.groups)
    is_signed = rng.random() < 0.7
    span, kind = ((-128, 128), np.int8) if is_signed else ((0, 256), np.uint8)
    filter = rng.integers(*span, shape).astype(kind)
    points = tuple(int(n) for n in rng.integers(*span, window.outputs)) if rng.random() < 0.3 else (0,)
    if not is_signed and points == (0,):
        points = (128,)
    bias = rng.integers(-(2**31), 2**31, window.outputs)
    target = Image(window.batch, *window.result, window.outputs, (1, 0, 2, 1), window.outputs + 3, 2, 4)
    spec = window.spec(filter, bias, isa, filter_zero_points=points)
    spec = dataclasses.replace(spec, output=target) if rng.random() < 0.3 else spec
    border = 77
    dtype = np.int8 if spec.input_signed else np.uint8
    x = rng.integers(
        np.iinfo(dtype).min, np.iinfo(dtype).max + 1, (window.batch, *window.size, window.inputs)
    )
    got = run(spec, runner.buffer(spec.input, x.astype(dtype), border), isa, pieces)
    centred = filter.astype(np.int64) - np.reshape(np.asarray(points), (-1, 1, 1, 1))
    expected = convolved(window, x, centred, border) + bias
    np.testing.assert_array_equal(got, fx.wrap_int32(expected))


def convolved(window: Window, x: Array, filter: Array, border: int) -> Array:
    top, bottom, left, right = window.padding
    padded = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=border)
    (rows, columns), (down, across) = window.result, window.strides
    total = np.zeros((window.batch, rows, columns, window.outputs), np.int64)
    depth, width = filter.shape[3], window.outputs // window.groups
    for i in range(window.kernel[0]):
        for j in range(window.kernel[1]):
            y0, x0 = i * window.dilations[0], j * window.dilations[1]
            part = padded[
                :, y0 : y0 + (rows - 1) * down + 1 : down, x0 : x0 + (columns - 1) * across + 1 : across
            ]
            for group in range(window.groups):
                mine = slice(group * width, (group + 1) * width)
                total[..., mine] += part[..., group * depth : (group + 1) * depth] @ filter[mine, i, j].T
    return total


def reals(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    size = (shape[0], *[1] * (len(shape) - 1))
    spread = 2.0 ** rng.uniform(-10, 10, size) * rng.choice([0.0, 1.0, 1.0, 1.0], size)
    return ((rng.standard_normal(shape) + rng.choice([0.0, 1.5, -3.0], size)) * spread).astype(np.float32)


@dataclasses.dataclass(frozen=True)
class Ending:
    """What is around the products."""

    asymmetric: bool
    clamp: tuple[float, float] | None
    per_channel: bool
    with_bias: bool

    def attributes(self) -> dict[str, Any]:
        return {"asymmetric": self.asymmetric, "clamp": self.clamp or ()}


endings = st.builds(
    Ending,
    st.booleans(),
    st.sampled_from([None, (0.0, 6.0), (0.0, np.inf)]),
    st.booleans(),
    st.booleans(),
)


def check(
    spec: WideConv,
    rows: QuantizeRows,
    x: Array,
    isa: str,
    expected: Array,
    pieces: int,
) -> None:
    launch = runner.launch_of(rows, isa)
    assert isinstance(launch, Launch), launch
    source, between = runner.aligned(x.nbytes), runner.aligned(rows.buffer_bytes)
    source[:] = x.reshape(-1).view(np.uint8)
    runner.run(launch, [source], [between])
    got = run(spec, between, isa, pieces).view(np.float32).reshape(expected.shape)
    np.testing.assert_array_equal(got, expected)


def started(filter: Array, rows: QuantizeRows) -> Array:
    if rows.signed or rows.asymmetric:
        return np.zeros(len(filter), np.int32)
    return -128 * filter.reshape(len(filter), -1).sum(1, dtype=np.int64)


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=40, deadline=None)
@given(window=windows(), ending=endings, scales_first=st.booleans(), seed=seeds, pieces=st.integers(1, 4))
def test_images(isa: str, window: Window, ending: Ending, scales_first: bool, seed: int, pieces: int) -> None:
    rng = np.random.default_rng(seed)
    shape = (window.outputs, *window.kernel, window.inputs // window.groups)
    filter = rng.integers(-128, 128, shape).astype(np.int8)
    scales = rng.uniform(0.001, 0.1, window.outputs if ending.per_channel else 1)
    kind = quantized(shape, "i8", scales, 0, 0 if ending.per_channel else None)
    x = reals(rng, (window.batch, *window.size, window.inputs))
    bias = rng.standard_normal(window.outputs).astype(np.float32) if ending.with_bias else None
    arrays = [x, filter, *([] if bias is None else [bias])]
    types = [floating(x.shape), kind, *([] if bias is None else [floating(bias.shape)])]
    result = floating((window.batch, *window.result, window.outputs))
    attributes = window.attributes | ending.attributes() | {"scales_first": scales_first}
    (expected,) = evaluate("dynamic_conv2d", arrays, types, [result], attributes)
    plain = window.spec(filter, np.zeros(window.outputs), isa)
    rows = QuantizeRows(window.batch, plain.input, ending.asymmetric, plain.input_signed)
    columns = np.broadcast_to(np.asarray(kind.params.scales, np.float32), (1, window.outputs))
    end = Reals(columns, bias, ending.clamp, ending.asymmetric, scales_first, False, False, rows.parameters)
    spec = dataclasses.replace(plain, ending=end, bias=started(filter, rows).astype(np.int32))
    check(spec, rows, x, isa, expected, pieces)


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=40, deadline=None)
@given(ending=endings, blocks=st.integers(0, 4), seed=seeds, pieces=st.integers(1, 4))
def test_rows(isa: str, ending: Ending, blocks: int, seed: int, pieces: int) -> None:
    """Matrix products; also with a filter in blocks."""
    rng = np.random.default_rng(seed)
    count = int(rng.choice([1, 1, 2, 5, 17]))
    size = int(rng.choice([4, 8, 32] if INSTRUCTION_SETS[isa].unsigned_inputs else [16, 32]))
    depth = size * blocks if blocks else int(rng.choice([1, 3, 4, 17, 64, 130]))
    check_rows(isa, rng, ending, (count, depth), blocks, 128, pieces)


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=30, deadline=None)
@given(ending=endings, blocks=st.sampled_from([0, 0, 1, 3]), seed=seeds)
def test_rows_of_four_bits(isa: str, ending: Ending, blocks: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    depth = int(rng.choice([8, 16, 32] if INSTRUCTION_SETS[isa].unsigned_inputs else [16, 32])) * max(
        1, blocks
    )
    check_rows(isa, rng, ending, (int(rng.integers(1, 4)), depth), blocks, 8, 2)


def check_rows(
    isa: str,
    rng: np.random.Generator,
    ending: Ending,
    rows_of: tuple[int, int],
    blocks: int,
    span: int,
    pieces: int,
) -> None:
    """Weights are from ``-span`` on, below ``span``."""
    (count, depth), outputs = rows_of, int(rng.choice(CHANNELS))
    size = depth // max(1, blocks)
    weights = rng.integers(-span, span, (outputs, depth)).astype(np.int8)
    scales = rng.uniform(0.001, 0.1, outputs * max(1, blocks))
    kind = quantized(weights.shape, "i8", scales[:outputs], 0, 0)
    if blocks:
        kept = tuple(float(np.float32(scale)) for scale in scales)
        sizes = ((0, 1), (1, size))
        params = QuantParams(Storage.of("i8"), kept, (0,) * len(kept), block_sizes=sizes)
        kind = TensorType(weights.shape, params)
    x = reals(rng, (count, depth))
    bias = rng.standard_normal(outputs).astype(np.float32) if ending.with_bias else None
    arrays = [x, weights, *([] if bias is None else [bias])]
    types = [floating(x.shape), kind, *([] if bias is None else [floating(bias.shape)])]
    attributes = ending.attributes()
    result = floating((count, outputs))
    (expected,) = evaluate("dynamic_fully_connected", arrays, types, [result], attributes)
    window = Window(1, (1, count), (1, 1), (1, 1), (1, 1), (0, 0, 0, 0), 1, depth, outputs)
    plain = window.spec(weights[:, None, None], np.zeros(outputs), isa)
    rows = QuantizeRows(count, plain.input, ending.asymmetric, plain.input_signed)
    columns = np.asarray(kind.params.scales, np.float32).reshape(outputs, -1).T
    end = Reals(
        columns,
        bias,
        ending.clamp,
        ending.asymmetric,
        not blocks,
        bool(blocks),
        rows.per_pixel,
        rows.parameters,
    )
    start = np.zeros(outputs, np.int32) if blocks else started(weights, rows).astype(np.int32)
    check(dataclasses.replace(plain, ending=end, bias=start), rows, x, isa, expected, pieces)


def plain_spec(**changes: Any) -> WideConv:
    window = Window(1, (1, 5), (1, 1), (1, 1), (1, 1), (0, 0, 0, 0), 1, 32, 16)
    return window.spec(np.ones((16, 1, 1, 32), np.int8), np.zeros(16), "avx512vnni", **changes)


def blocked(count: int) -> Reals:
    return Reals(np.ones((count, 16), np.float32), None, None, False, False, True, True, 192)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"input_signed": True}, "sign"),
        ({"kind": "depthwise_conv2d"}, "depthwise"),
        ({"output": Image(1, 1, 5, 16)}, "elements of other sizes"),
        ({"filter_zero_points": (3,), "ending": blocked(1)}, "zero point"),
        ({"ending": blocked(16)}, "whole steps"),
    ],
)
def test_reasons(changes: dict[str, Any], reason: str) -> None:
    launch = conv2d_wide.plan(plain_spec(**changes), INSTRUCTION_SETS["avx512vnni"])
    assert isinstance(launch, str)
    assert reason in launch


def test_weights_of_four_bits_stay_so_where_they_are_read_once() -> None:
    filter = np.random.default_rng(0).integers(-8, 8, (16, 1, 1, 64)).astype(np.int8)
    sizes = []
    for width in (1, 8):
        window = Window(1, (1, width), (1, 1), (1, 1), (1, 1), (0, 0, 0, 0), 1, 64, 16)
        spec = window.spec(filter, np.zeros(16), "avx512vnni", ending=blocked(2))
        launch = conv2d_wide.plan(spec, INSTRUCTION_SETS["avx512vnni"])
        assert isinstance(launch, Launch)
        sizes.append(launch.constants[0].size)
    assert sizes[1] - sizes[0] == filter.size // 2


def test_few_codes_serve_many_layers() -> None:
    codes = set()
    for inputs, outputs in ((64, 128), (128, 256), (256, 64)):
        window = Window(1, (1, 96), (1, 1), (1, 1), (1, 1), (0, 0, 0, 0), 1, inputs, outputs)
        spec = window.spec(np.ones((outputs, 1, 1, inputs), np.int8), np.zeros(outputs), "avx512vnni")
        launch = conv2d_wide.plan(dataclasses.replace(spec, ending=Sums()), INSTRUCTION_SETS["avx512vnni"])
        assert isinstance(launch, Launch)
        codes.add(launch.code)
    assert len(codes) == 1
