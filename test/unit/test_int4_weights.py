"""Weights of four and two bits, packed: convolutions and matrix products equal LiteRT."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operator_models import check_model
from random_tensors import quantized, same_padding, seeds, values, zero_points
from tflite_builder import Builder, packed
from zeropoint.errors import ImportModelError, UnsupportedOpError
from zeropoint.frontends import load_bytes


@settings(max_examples=20)
@given(
    seeds,
    st.sampled_from(["CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"]),
    zero_points("i8"),
    st.booleans(),
)
def test_int8_activations(seed: int, name: str, point: int, per_channel: bool) -> None:
    """Rows of odd length are packed without gaps: a byte may hold values of two of them."""
    rng = np.random.default_rng(seed)
    channels, outputs = rng.integers(1, 6, 2).tolist()
    options: dict[str, Any] = {}
    if name == "FULLY_CONNECTED":
        x_shape: tuple[int, ...] = (2, channels * 5)
        w_shape: tuple[int, ...] = (outputs, channels * 5)
        y_shape: tuple[int, ...] = (2, outputs)
    else:
        depthwise = name == "DEPTHWISE_CONV_2D"
        kernel, size = rng.integers(1, 4, 2).tolist(), rng.integers(3, 7, 2).tolist()
        outputs = channels * int(rng.integers(1, 3)) if depthwise else outputs
        axes = [same_padding(n, k, 1, 1, "SAME") for n, k in zip(size, kernel, strict=True)]
        x_shape = (2, *size, channels)
        w_shape = (1, *kernel, outputs) if depthwise else (outputs, *kernel, channels)
        y_shape = (2, axes[0][0], axes[1][0], outputs)
        options = {"Padding": "SAME", "StrideH": 1, "StrideW": 1}
        options |= {"DepthMultiplier": outputs // channels} if depthwise else {}
        per_channel = per_channel or depthwise
    model = Builder()
    s_x = float(np.float32(2.0 ** rng.uniform(-8, -2)))
    s_w = (2.0 ** rng.uniform(-8, -3, outputs if per_channel else 1)).astype(np.float32)
    x = model.tensor("x", x_shape, np.int8, scales=s_x, zero_points=point)
    axis = 3 if name == "DEPTHWISE_CONV_2D" else 0
    data = packed(rng.integers(-8, 8, w_shape))
    w = model.tensor("w", w_shape, "int4", scales=s_w, axis=axis, data=data)
    b = model.constant("b", rng.integers(-999, 999, outputs).astype(np.int32), scales=s_x * s_w)
    s_y = s_x * float(s_w.mean()) * 2.0 ** rng.uniform(0, 7)
    y = model.tensor("y", y_shape, np.int8, scales=s_y, zero_points=-3)
    model.op(name, [x, w, b], [y], **options)
    array = values(rng, quantized(x_shape, "i8", s_x, point))
    check_model(model, [x], [y], [array], compiled=seed % 16 == 0)


@settings(max_examples=20)
@given(seeds, st.sampled_from([np.int8, np.float32]), st.booleans())
def test_two_bits(seed: int, dtype: Any, per_channel: bool) -> None:
    """Matrix products only, of integers and of floats."""
    rng = np.random.default_rng(seed)
    rows, depth, outputs = rng.integers(1, (4, 30, 9)).tolist()
    s_w = rng.uniform(0.01, 0.5, outputs if per_channel else 1).astype(np.float32)
    model, data = Builder(), packed(rng.integers(-2, 2, (outputs, depth)), 2)
    where = {"scales": 0.25, "zero_points": -7} if dtype == np.int8 else {}
    x = model.tensor("x", (rows, depth), dtype, **where)
    w = model.tensor("w", (outputs, depth), "int2", scales=s_w, data=data)
    y = model.tensor("y", (rows, outputs), dtype, **({"scales": 2.0} if where else {}))
    model.op("FULLY_CONNECTED", [x, w], [y])
    array = rng.standard_normal((rows, depth)).astype(np.float32)
    if where:
        array = rng.integers(-128, 128, (rows, depth)).astype(np.int8)
    check_model(model, [x], [y], [array], compiled=seed % 16 == 0)


def test_values_without_scales_are_refused() -> None:
    for kind in ("int4", "int2"):
        model = Builder()
        x, y = model.tensor("x", (2, 4), kind), model.tensor("y", (2, 4), kind)
        model.op("RELU", [x], [y])
        with pytest.raises(UnsupportedOpError) as caught:
            load_bytes(model.build([x], [y]), name="m.tflite")
        assert caught.value.faults == [f"graph input 'x' has type {kind.upper()} without scales"]


def test_two_bits_are_for_weights() -> None:
    model = Builder()
    x, y = model.tensor("x", (2, 4), "int2", scales=0.5), model.tensor("y", (2, 4), "int2", scales=0.5)
    model.op("RELU", [x], [y])
    with pytest.raises(ImportModelError):
        load_bytes(model.build([x], [y]), name="m.tflite")
