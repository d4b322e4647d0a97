"""TRANSPOSE_CONV: what it becomes equals LiteRT, in every kind of quantization."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operator_models import check_model
from random_tensors import floating, quantized, seeds, values
from tflite_builder import ACTIVATIONS, Builder
from zeropoint.errors import ImportModelError
from zeropoint.frontends import load_bytes

KINDS = ["i8", "i8", "u8", "i16", "f32", "hybrid"]
DTYPES = {"i8": np.int8, "u8": np.uint8, "i16": np.int16, "f32": np.float32, "hybrid": np.float32}


@settings(max_examples=30)
@given(seeds, st.sampled_from(KINDS), st.booleans(), st.sampled_from(["NONE", "NONE", *sorted(ACTIVATIONS)]))
def test_transposed_convolutions(seed: int, kind: str, with_bias: bool, activation: str) -> None:
    """Kernels smaller and larger than the stride; all outputs whose convolution gives the input."""
    rng = np.random.default_rng(seed)
    batch, channels, outputs = int(rng.integers(1, 3)), *rng.integers(1, 6, 2).tolist()
    size, kernel, strides = rng.integers(1, 6, 2), rng.integers(1, 6, 2), rng.integers(1, 4, 2)
    padding = str(rng.choice(["SAME", "VALID"]))
    out = (size - 1) * strides + (1 if padding == "SAME" else kernel) + rng.integers(0, strides)
    model, dtype = Builder(), DTYPES[kind]
    shape = (batch, *out.tolist(), outputs)
    scales: dict[str, Any] = {"x": {}, "w": {}, "b": {}, "y": {}}
    x_type = floating((batch, *size.tolist(), channels))
    w_data = rng.standard_normal((outputs, *kernel.tolist(), channels)).astype(np.float32)
    b_data = rng.standard_normal(outputs).astype(np.float32)
    if kind != "f32":
        s_w = rng.uniform(0.01, 0.1, 1 if kind == "u8" else outputs).astype(np.float32)
        low, high = (0, 256) if kind == "u8" else (-127, 128)
        w_data = rng.integers(low, high, w_data.shape).astype(np.uint8 if kind == "u8" else np.int8)
        scales["w"] = {"scales": s_w, "zero_points": 117 if kind == "u8" else 0}
    if kind in ("i8", "u8", "i16"):
        s_x = float(np.float32(rng.uniform(0.1, 1.0) * (2**-8 if kind == "i16" else 1)))
        point = 0 if kind == "i16" else int(rng.integers(0, 100))
        x_type = quantized(x_type.shape, kind, s_x, point)
        scales["x"] = {"scales": s_x, "zero_points": point}
        s_y = s_x * float(s_w.mean()) * 2.0 ** rng.uniform(4, 9) * np.sqrt(channels)
        scales["y"] = {"scales": s_y, "zero_points": 0 if kind == "i16" else int(rng.integers(0, 100))}
        b_data = rng.integers(-5000, 5000, outputs).astype(np.int64 if kind == "i16" else np.int32)
        scales["b"] = {"scales": s_x * s_w}
    order = model.constant("shape", np.array(shape, np.int32))
    w = model.constant("w", w_data, **scales["w"])
    x = model.tensor("x", x_type.shape, dtype, **scales["x"])
    inputs = [order, w, x, *([model.constant("b", b_data, **scales["b"])] if with_bias else [])]
    y = model.tensor("y", shape, dtype, **scales["y"])
    options = {"Padding": padding, "StrideH": int(strides[0]), "StrideW": int(strides[1])}
    model.op("TRANSPOSE_CONV", inputs, [y], FusedActivationFunction=activation, **options)
    # Sums of floats; of hybrids, LiteRT scales and rounds every product before the sum.
    tolerance = 1e-5 if kind in ("f32", "hybrid") else 0.0
    compiled = seed % 16 == 0
    check_model(
        model, [x], [y], [values(rng, x_type)], compiled=compiled, rtol=tolerance, atol=10 * tolerance
    )


def upsampling(output: tuple[int, ...] = (1, 4, 4, 2), **options: Any) -> tuple[Builder, int, int]:
    """TRANSPOSE_CONV of [1, 2, 2, 3] by a filter [2, 2, 2, 3], stride 2."""
    model = Builder()
    shape = model.constant("shape", np.array(output, np.int32))
    w = model.constant("w", np.ones((2, 2, 2, 3), np.int8), scales=0.5)
    x = model.tensor("x", (1, 2, 2, 3), np.int8, scales=0.5)
    y = model.tensor("y", output, np.int8, scales=1.0)
    strides = {"StrideH": 2, "StrideW": 2} | options
    model.op("TRANSPOSE_CONV", [shape, w, x], [y], Padding="SAME", **strides)
    return model, x, y


def test_no_product_with_a_stuffed_zero() -> None:
    """A convolution of a single tap makes all four phases: as many products as the transposed one has."""
    model, x, y = upsampling()
    module = str(load_bytes(model.build([x], [y]), name="m.tflite").module)
    assert "tensor<8x1x1x3x!quant" in module
    assert "qnn.slice" not in module


@pytest.mark.parametrize(
    ("output", "options", "message"),
    [
        ((1, 4, 4, 3), {}, "output shape .* does not fit"),
        ((2, 4, 4, 2), {}, "output shape .* does not fit"),
        ((1, 4, 0, 2), {}, "output width must be positive"),
        ((1, 4, 6, 2), {}, r"an input of \[2, 2\] does not give the output \[4, 6\], \[2, 3\] does"),
        ((1, 4, 4, 2), {"StrideH": 0}, "stride h must be positive"),
        ((1, 4, 4, 2), {"StrideH": 1 << 15, "StrideW": 1 << 15}, "does not give the output"),
    ],
)
def test_faults(output: tuple[int, ...], options: dict[str, Any], message: str) -> None:
    model, x, y = upsampling(output, **options)
    with pytest.raises(ImportModelError, match=message):
        load_bytes(model.build([x], [y]), name="m.tflite")


@settings(max_examples=20)
@given(seeds)
def test_xnnpack_rounds_as_in_convolutions(seed: int) -> None:
    """(It takes no stride beyond the kernel: there LiteRT's own kernel rounds twice.)"""
    rng = np.random.default_rng(seed)
    size, channels, outputs, stride = rng.integers(1, (5, 6, 6, 4)).tolist()
    kernel = stride + int(rng.integers(0, 3))
    s_w, out = rng.uniform(0.01, 0.1, outputs).astype(np.float32), size * stride
    model = Builder()
    shape = model.constant("shape", np.array([1, out, out, outputs], np.int32))
    weights = rng.integers(-127, 128, (outputs, kernel, kernel, channels)).astype(np.int8)
    w = model.constant("w", weights, scales=s_w)
    x_type = quantized((1, size, size, channels), "i8", 0.25, 3)
    x = model.tensor("x", x_type.shape, np.int8, scales=0.25, zero_points=3)
    b = model.constant("b", rng.integers(-999, 999, outputs).astype(np.int32), scales=0.25 * s_w)
    y = model.tensor("y", (1, out, out, outputs), np.int8, scales=float(s_w.mean()) * 40, zero_points=-9)
    model.op("TRANSPOSE_CONV", [shape, w, x, b], [y], Padding="SAME", StrideH=stride, StrideW=stride)
    check_model(model, [x], [y], [values(rng, x_type)], compiled=seed % 16 == 0, numerics="xnnpack")
