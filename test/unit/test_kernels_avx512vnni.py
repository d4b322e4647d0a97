"""The AVX512-VNNI kernels against the numpy meaning, bit by bit: tails, borders, ties, sums that wrap."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zeropoint as zp
from lowered_ops import Case, build_module
from random_tensors import quantized, seeds, values
from zeropoint.codegen.machine import host
from zeropoint.dialect.model import Model
from zeropoint.dialect.numerics import Rounding
from zeropoint.dialect.op_constants import Rescale
from zeropoint.passes import vectorize_kernels
from zeropoint.passes.vectorize_kernels.avx512vnni import FAMILIES, conv2d, depthwise_conv2d, epilogue
from zeropoint.passes.vectorize_kernels.spec import ConvSpec

pytestmark = pytest.mark.skipif(host().isa != "avx512vnni", reason="this CPU has no AVX512-VNNI")

CLAMPS = [(), (), (0.0, math.inf), (0.0, 6.0), (-1.0, 1.0), (-math.inf, 0.5)]


class Watched:
    """The families, counting the kernels they write."""

    def __init__(self) -> None:
        self.written = 0

    def wrap(self, family: Any) -> Any:
        watch = self

        class Family:
            supports = staticmethod(family.supports)
            pack = staticmethod(family.pack)

            @staticmethod
            def emit(name: str, spec: ConvSpec) -> str:
                watch.written += 1
                return str(family.emit(name, spec))

        return Family()


def check(cases: list[Case], mode: str) -> int:
    """Compile all cases in one module with the optimized pipeline, and compare every result; how many kernels
    were written.
    """
    watched = Watched()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(vectorize_kernels.FAMILIES, "avx512vnni", [watched.wrap(f) for f in FAMILIES])
        executable = zp.compile(Model.from_module(build_module(cases, mode), "cases"), cache=False)
    arrays = [array for case in cases for i, array in enumerate(case.arrays) if i not in case.constants]
    for case, actual in zip(cases, executable.run(*arrays), strict=True):
        what = f"{case.op} {dict(case.attributes)} of {[str(t) for t in case.types]} to {case.result}"
        np.testing.assert_array_equal(actual, case.expected(mode), err_msg=what)
    return watched.written


@st.composite
def contractions(draw: st.DrawFn) -> Case:
    """conv2d (plain or depthwise) and fully_connected of widths around multiples of 4 and 16."""
    rng = np.random.default_rng(draw(seeds))
    kind = draw(st.sampled_from(["conv2d", "conv2d", "depthwise", "fully_connected"]))
    outputs = draw(st.sampled_from([8, 11, 15, 16, 17, 24, 31, 33, 48, 65, 80, 97]))
    channels = outputs if kind == "depthwise" else draw(st.sampled_from([1, 2, 3, 4, 5, 8, 16, 17, 36]))
    storage = draw(st.sampled_from(["i8", "u8"]))
    filter_storage = draw(st.sampled_from(["i8", "u8"])) if storage == "u8" else "i8"
    if kind == "fully_connected":
        rows = draw(st.sampled_from([1, 2, 7, 15]))
        shapes = ((rows, channels), (outputs, channels), (rows, outputs))
        attributes: dict[str, Any] = {}
    else:
        shapes, attributes = _window(rng, channels, outputs, kind == "depthwise")
    attributes["clamp"] = draw(st.sampled_from(CLAMPS))
    op = "fully_connected" if kind == "fully_connected" else "conv2d"
    taps = int(np.prod(shapes[1][1:]))
    x = quantized(shapes[0], storage, 2.0 ** rng.uniform(-8, -2), int(rng.integers(*_range(storage))))
    per_axis = filter_storage == "i8" and draw(st.booleans())
    count = outputs if per_axis else 1
    exponents = rng.uniform(-9, -4, count)
    if draw(st.integers(0, 3)) == 0:  # next to nothing in some channels
        exponents = np.where(rng.random(count) < 0.3, rng.uniform(-40, -12, count), exponents)
    if draw(st.booleans()):
        exponents = np.round(exponents)  # ties
    point = int(rng.integers(0, 256)) if filter_storage == "u8" else 0
    w = quantized(shapes[1], filter_storage, 2.0**exponents, point, 0 if per_axis else None)
    bias_scales = np.float32(x.params.scale) * np.asarray(w.params.scales, np.float32)
    b = quantized((outputs,), "i32", bias_scales, 0, 0 if per_axis else None)
    # An accumulator's typical size in steps of the result, from a few to far beyond its range.
    spread = 2.0 ** rng.uniform(-2, 6)
    y_scale = float(np.max(bias_scales)) * math.sqrt(taps) * 5000 / (40 * spread)
    y = quantized(shapes[2], storage, y_scale, int(rng.integers(*_range(storage))))
    arrays = [values(rng, x), values(rng, w), _bias(draw, rng, outputs, taps)]
    return Case(op, arrays, [x, w, b], y, attributes, constants=(1, 2))


def _range(storage: str) -> tuple[int, int]:
    return (0, 256) if storage == "u8" else (-128, 128)


def _bias(draw: st.DrawFn, rng: np.random.Generator, outputs: int, taps: int) -> np.ndarray[Any, Any]:
    if draw(st.integers(0, 4)) == 0:  # sums that wrap
        return rng.integers(-(2**31), 2**31, outputs).astype(np.int32)
    reach = 5000 * taps
    return rng.integers(-reach, reach + 1, outputs).astype(np.int32)


def _window(
    rng: np.random.Generator, channels: int, outputs: int, depthwise: bool
) -> tuple[tuple[tuple[int, ...], ...], dict[str, Any]]:
    kernel = [int(n) for n in rng.choice([1, 1, 2, 3, 5], 2)]
    strides = [int(n) for n in rng.choice([1, 1, 2, 3], 2)]
    dilations = [int(n) for n in rng.choice([1, 1, 2], 2)]
    padding = [int(n) for n in rng.integers(0, 2, 4)] if rng.random() < 0.5 else [0, 0, 0, 0]
    out = [int(rng.integers(1, 4)), int(rng.integers(1, 18))]
    size = [
        max(1, (o - 1) * s + (k - 1) * d + 1 - before - after + int(rng.integers(0, s)))
        for o, s, k, d, before, after in zip(
            out, strides, kernel, dilations, padding[::2], padding[1::2], strict=True
        )
    ]
    out = [
        (n + before + after - (k - 1) * d - 1) // s + 1
        for n, s, k, d, before, after in zip(
            size, strides, kernel, dilations, padding[::2], padding[1::2], strict=True
        )
    ]
    batch = int(rng.integers(1, 3))
    shapes = (
        (batch, *size, channels),
        (outputs, *kernel, 1 if depthwise else channels),
        (batch, *out, outputs),
    )
    attributes = {
        "strides": strides,
        "dilations": dilations,
        "padding": padding,
        "groups": channels if depthwise else 1,
    }
    return shapes, attributes


@pytest.mark.parametrize("mode", ["reference", "xnnpack"])
@settings(max_examples=12, deadline=None)
@given(cases=st.lists(contractions(), min_size=6, max_size=6))
def test_kernels_equal_the_meaning(mode: str, cases: list[Case]) -> None:
    check(cases, mode)


@pytest.mark.parametrize("mode", ["reference", "xnnpack"])
@pytest.mark.parametrize("kind", ["conv2d", "depthwise", "fully_connected"])
def test_ordinary_contractions_have_kernels(kind: str, mode: str) -> None:
    x = quantized((1, 5, 5, 32) if kind != "fully_connected" else (3, 32), "i8", 0.5, 3)
    shape = {"conv2d": (48, 3, 3, 32), "depthwise": (32, 3, 3, 1), "fully_connected": (48, 32)}[kind]
    w = quantized(shape, "i8", 0.25)
    b = quantized(shape[:1], "i32", 0.125)
    y = quantized((1, 3, 3, shape[0]) if kind != "fully_connected" else (3, 48), "i8", 40.0, -5)
    attributes: dict[str, Any] = {"clamp": ()}
    if kind != "fully_connected":
        groups = 32 if kind == "depthwise" else 1
        attributes |= {"strides": (1, 1), "dilations": (1, 1), "padding": (0, 0, 0, 0), "groups": groups}
    rng = np.random.default_rng(0)
    arrays = [values(rng, x), values(rng, w), rng.integers(-9000, 9000, shape[0]).astype(np.int32)]
    op = "fully_connected" if kind == "fully_connected" else "conv2d"
    assert check([Case(op, arrays, [x, w, b], y, attributes, constants=(1, 2))], mode) == 1


SPEC = ConvSpec(
    kind="conv2d",
    batch=1,
    in_height=6,
    in_width=6,
    in_channels=8,
    out_height=4,
    out_width=4,
    out_channels=32,
    kernel_height=3,
    kernel_width=3,
    strides=(1, 1),
    dilations=(1, 1),
    input_signed=False,
    filter_signed=True,
    filter_zero_points=(0,),
    result_signed=True,
    rescale=Rescale(Rounding.DOUBLE, (0.001,), (1 << 30,), (-9,), 0, -128, 127),
    input_slack=False,
)


@pytest.mark.parametrize(
    ("family", "changes", "reason"),
    [
        (conv2d, {}, None),
        (conv2d, {"kind": "depthwise_conv2d"}, "another family"),
        (conv2d, {"out_channels": 7}, "7 output channels"),
        (conv2d, {"in_channels": 3}, "past the end"),
        (conv2d, {"in_channels": 3, "input_slack": True}, None),
        (conv2d, {"result_bits": 32}, "32-bit results"),
        (depthwise_conv2d, {}, "another family"),
        (depthwise_conv2d, {"kind": "depthwise_conv2d"}, "depth multiplier of 4"),
        (depthwise_conv2d, {"kind": "depthwise_conv2d", "in_channels": 32}, None),
        (
            depthwise_conv2d,
            {"kind": "depthwise_conv2d", "in_channels": 8, "out_channels": 8},
            "past the end",
        ),
        (
            depthwise_conv2d,
            {"kind": "depthwise_conv2d", "in_channels": 32, "kernel_height": 9, "kernel_width": 9},
            "64 taps",
        ),
    ],
)
def test_what_has_no_kernel_says_why(family: Any, changes: dict[str, Any], reason: str | None) -> None:
    answer = family.supports(dataclasses.replace(SPEC, **changes))
    assert answer is None if reason is None else reason in answer


@pytest.mark.parametrize(
    ("rounding", "scale", "multiplier", "shift", "reason"),
    [
        (Rounding.DOUBLE, 0.25, 1 << 30, -1, None),
        (Rounding.DOUBLE, 0.5, 1 << 30, 0, None),
        (Rounding.DOUBLE, 1.0, 1 << 30, 1, "a shift outside"),
        (Rounding.DOUBLE, 2.0**-32, 1 << 30, -31, None),
        (Rounding.DOUBLE, 0.0, 0, 0, None),
        (Rounding.FLOAT32_HALF_EVEN, 3.0, 0, 0, None),
        (Rounding.FLOAT32_HALF_EVEN, math.inf, 0, 0, "beyond"),
        (Rounding.EXACT, 1.0, 0, 0, "no vector epilogue"),
    ],
)
def test_scales_without_an_epilogue_say_why(
    rounding: Rounding, scale: float, multiplier: int, shift: int, reason: str | None
) -> None:
    answer = epilogue.why_not(Rescale(rounding, (scale,), (multiplier,), (shift,), 0, -128, 127))
    assert answer is None if reason is None else reason in answer
