"""Scales so far apart that their ratio leaves 31 bits or float32: LiteRT's bits, or at least one meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import zeropoint as zp
from tflite_builder import Array, Builder, run_litert
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.frontends import load_bytes

VALUES = np.array([[-128, -100, -3, -1, 0, 1, 5, 127]], np.int8)
SIGNS = np.array([[1, 1, 1, 1, 1, -1, 1, 1]], np.int8)


def build(op: str, scales: list[float], result_scale: float, width: int = 8, **options: Any) -> bytes:
    model = Builder()
    inputs = [model.tensor(f"x{i}", (1, 8), np.int8, scales=scale) for i, scale in enumerate(scales)]
    result = model.tensor("y", (1, width), np.int8, scales=result_scale, zero_points=7)
    axes = [model.constant("axes", np.array([1], np.int32))] if op == "MEAN" else []
    model.op(op, [*inputs, *axes], [result], **options)
    return model.build(inputs, [result])


def compiled_and_evaluated(model: bytes, inputs: list[Array], mode: str) -> tuple[Array, Array]:
    loaded = load_bytes(model, name="extreme.tflite", numerics=mode)
    (evaluated,) = evaluate_module(loaded.module, inputs, mode)
    (compiled,) = zp.compile(loaded, cache=False).run(*inputs)
    return compiled, evaluated


@pytest.mark.parametrize("mode", ["reference", "xnnpack"])
@pytest.mark.parametrize(
    ("op", "scales", "result_scale"),
    [
        ("RELU", [1e5], 0.004),  # a left shift by 25: wraps
        ("RELU", [1e10], 0.004),  # by 42: modulo 32
        ("RELU", [1e20], 1e-18),
        ("RELU", [1e38], 0.004),  # an infinite ratio
        ("MUL", [1e10, 1.0], 0.004),
        ("MUL", [1.0, 1.0], 1.2e-38),  # by 127
        ("MUL", [1e38, 1e38], 1.0),
        ("QUANTIZE", [1e10], 0.004),
        ("QUANTIZE", [1e38], 1e-20),
    ],
)
def test_ratios_beyond_31_bits_give_the_bits_of_litert(
    op: str, scales: list[float], result_scale: float, mode: str
) -> None:
    model, inputs = build(op, scales, result_scale), [VALUES, SIGNS][: len(scales)]
    (expected,) = run_litert(model, inputs, reference=mode == "reference")
    for result in compiled_and_evaluated(model, inputs, mode):
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("mode", ["reference", "xnnpack"])
@pytest.mark.parametrize("result_scale", [0.004, 1e-6])
def test_a_mean_whose_ratio_overflows_has_one_meaning(result_scale: float, mode: str) -> None:
    """LiteRT's default kernel computes with NaN there, so nobody judges ``xnnpack``; nothing may depend on a
    NaN."""
    model = build("MEAN", [3e38], result_scale, width=1, KeepDims=True)
    compiled, evaluated = compiled_and_evaluated(model, [VALUES], mode)
    np.testing.assert_array_equal(compiled, evaluated)
    if mode == "reference":
        np.testing.assert_array_equal(compiled, run_litert(model, [VALUES])[0])
