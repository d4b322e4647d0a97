"""CONV_3D and CONV_3D_TRANSPOSE: what they become equals LiteRT, up to the order of sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operator_models import check_model
from random_tensors import seeds
from tflite_builder import ACTIVATIONS, Builder
from zeropoint.errors import ImportModelError
from zeropoint.frontends import load_bytes

activations = st.sampled_from(["NONE", *sorted(ACTIVATIONS)])


def _options(strides: np.ndarray, padding: str, activation: str = "NONE") -> dict[str, Any]:
    named = dict(zip(("StrideD", "StrideH", "StrideW"), strides.tolist(), strict=True))
    return {"Padding": padding, "FusedActivationFunction": activation} | named


@settings(max_examples=20)
@given(seeds, activations, st.booleans(), st.sampled_from(["SAME", "VALID"]))
def test_convolutions(seed: int, activation: str, with_bias: bool, padding: str) -> None:
    rng = np.random.default_rng(seed)
    batch, channels, outputs = rng.integers(1, (3, 5, 5)).tolist()
    kernel, strides, dilations = (rng.integers(1, 4, 3) for _ in range(3))
    span = (kernel - 1) * dilations + 1
    size = span + rng.integers(0, 4, 3)
    out = -(-size // strides) if padding == "SAME" else (size - span) // strides + 1
    model = Builder()
    x = model.tensor("x", (batch, *size.tolist(), channels), np.float32)
    weights = rng.standard_normal((*kernel.tolist(), channels, outputs)).astype(np.float32)
    inputs = [x, model.constant("w", weights)]
    if with_bias:
        inputs.append(model.constant("b", rng.standard_normal(outputs).astype(np.float32)))
    y = model.tensor("y", (batch, *out.tolist(), outputs), np.float32)
    names = ("DilationDFactor", "DilationHFactor", "DilationWFactor")
    options = _options(strides, padding, activation) | dict(zip(names, dilations.tolist(), strict=True))
    model.op("CONV_3D", inputs, [y], **options)
    array = rng.standard_normal((batch, *size.tolist(), channels)).astype(np.float32)
    check_model(model, [x], [y], [array], compiled=seed % 16 == 0, rtol=1e-5, atol=1e-4)


@settings(max_examples=20)
@given(seeds, st.booleans(), st.sampled_from(["SAME", "VALID"]))
def test_transposed_convolutions(seed: int, with_bias: bool, padding: str) -> None:
    rng = np.random.default_rng(seed)
    batch, channels, outputs = rng.integers(1, (3, 4, 4)).tolist()
    size, kernel, strides = rng.integers(1, 4, 3), rng.integers(1, 5, 3), rng.integers(1, 4, 3)
    out = (size - 1) * strides + (1 if padding == "SAME" else kernel) + rng.integers(0, strides)
    shape = (batch, *out.tolist(), outputs)
    model = Builder()
    order = model.constant("shape", np.array(shape, np.int32))
    weights = rng.standard_normal((*kernel.tolist(), outputs, channels)).astype(np.float32)
    w = model.constant("w", weights)
    x = model.tensor("x", (batch, *size.tolist(), channels), np.float32)
    inputs = [order, w, x]
    if with_bias:
        inputs.append(model.constant("b", rng.standard_normal(outputs).astype(np.float32)))
    y = model.tensor("y", shape, np.float32)
    model.op("CONV_3D_TRANSPOSE", inputs, [y], **_options(strides, padding))
    array = rng.standard_normal((batch, *size.tolist(), channels)).astype(np.float32)
    check_model(model, [x], [y], [array], compiled=seed % 16 == 0, rtol=1e-5, atol=1e-4)


def _volume(operator: str, shape: tuple[int, ...], **options: Any) -> tuple[Builder, int, int]:
    """Two ones by two ones in every dimension, two channels."""
    model = Builder()
    order = model.constant("shape", np.array(shape, np.int32))
    w = model.constant("w", np.ones((2, 2, 2, 2, 2), np.float32))
    x = model.tensor("x", (1, 2, 2, 2, 2), np.float32)
    y = model.tensor("y", shape, np.float32)
    inputs = [x, w] if operator == "CONV_3D" else [order, w, x]
    model.op(operator, inputs, [y], **(_options(np.array([1, 1, 1]), "VALID") | options))
    return model, x, y


@pytest.mark.parametrize(
    ("operator", "shape", "options", "message"),
    [
        ("CONV_3D", (1, 2, 1, 1, 2), {}, r"declares output shape \[1, 2, 1, 1, 2\]"),
        ("CONV_3D", (1, 1, 1, 1, 2), {"StrideD": 0}, "stride d must be positive"),
        ("CONV_3D", (1, 1, 1, 1, 2), {"DilationWFactor": 5}, "does not fit into the padded input"),
        ("CONV_3D", (1, 1, 1, 1, 2), {"DilationDFactor": 1 << 30, "Padding": "SAME"}, "more than the limit"),
        ("CONV_3D_TRANSPOSE", (1, 3, 3, 3, 3), {}, "output shape .* does not fit"),
        ("CONV_3D_TRANSPOSE", (1, 3, 3, 0, 2), {}, "extents must be positive"),
        ("CONV_3D_TRANSPOSE", (1, 3, 3, 4, 2), {}, r"an input of \[2, 2, 2\] does not give the output"),
    ],
)
def test_faults(operator: str, shape: tuple[int, ...], options: dict[str, Any], message: str) -> None:
    model, x, y = _volume(operator, shape, **options)
    with pytest.raises(ImportModelError, match=message):
        load_bytes(model.build([x], [y]), name="m.tflite")
