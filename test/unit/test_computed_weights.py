"""Weights, places and shifts that are known at run time only: compiled code, and what is refused."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import zeropoint
from operator_generator import MAKERS, TOLERANCES, is_exact, operator_of
from tflite_builder import Builder
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.errors import UnsupportedOpError
from zeropoint.frontends import load_bytes

NAMES = ("batch_matmul_hybrid", "batch_matmul_integers", "computed_weights", "mul_fractions")


@pytest.mark.parametrize("pipeline", ["optimized", "reference"])
@pytest.mark.parametrize("name", [*NAMES, "strided_slice_computed"])
def test_compiled_code_computes_what_is_meant(name: str, pipeline: str) -> None:
    for seed in range(4):
        drawn = MAKERS[name](np.random.default_rng(seed))
        operator, kind = operator_of(drawn)
        rtol, atol = (0.0, 0.0) if is_exact(operator, kind) else TOLERANCES[operator]
        model = load_bytes(drawn.build(), name="m.tflite")
        meant = evaluate_module(model.module, drawn.arrays)
        computed = zeropoint.compile(model, pipeline=pipeline, cache=False).run(*drawn.arrays)
        for one, other in zip(computed, meant, strict=True):
            np.testing.assert_allclose(one, other, rtol=rtol, atol=atol)


def refusal(model: Builder, inputs: list[int], outputs: list[int]) -> str:
    with pytest.raises(UnsupportedOpError) as raised:
        load_bytes(model.build(inputs, outputs), name="m.tflite")
    return str(raised.value)


def test_accumulators_of_factors_with_zero_points() -> None:
    """LiteRT's kernel leaves them out."""
    model = Builder()
    a = model.tensor("a", (2, 3), np.int8, scales=0.5, zero_points=4)
    b = model.tensor("b", (3, 2), np.int8, scales=0.5)
    y = model.tensor("y", (2, 2), np.int32)
    model.op("BATCH_MATMUL", [a, b], [y])
    assert "an i32 result of factors with zero points" in refusal(model, [a, b], [y])


def test_fractions_have_the_scales_of_the_kernel() -> None:
    model = Builder()
    a, b = (model.tensor(name, (4,), np.int16, scales=2.0**-15) for name in "ab")
    y = model.tensor("y", (4,), np.int8, scales=2.0**-6)
    model.op("MUL", [a, b], [y])
    assert "with scales [3.0517578125e-05, 3.0517578125e-05, 0.015625]" in refusal(model, [a, b], [y])


@pytest.mark.parametrize("where", [{}, {"signature": (-1, 3)}])
def test_a_range_of_unknown_length(where: dict[str, Any]) -> None:
    """What the file does not declare cannot be known."""
    model = Builder()
    x, begin, end = model.tensor("x", (8, 3), np.float32), *(model.tensor(n, (1,), np.int32) for n in "be")
    step = model.constant("s", np.ones(1, np.int32))
    y = model.tensor("y", (2, 3) if where else (), np.float32, **where)
    model.op("STRIDED_SLICE", [x, begin, end, step], [y])
    assert "whose length is not known" in refusal(model, [x, begin, end], [y])


def test_weights_with_several_scales_are_constants() -> None:
    model = Builder()
    x = model.tensor("x", (1, 4), np.int8, scales=0.5)
    stored = model.constant("w", np.ones((3, 4), np.int8), scales=(0.5, 0.25, 0.125))
    w = model.tensor("moved", (3, 4), np.int8, scales=(0.5, 0.25, 0.125))
    index = model.tensor("i", (3,), np.int32)
    y = model.tensor("y", (1, 3), np.int8, scales=1.0)
    model.op("GATHER", [stored, index], [w], Axis=0)
    model.op("FULLY_CONNECTED", [x, w, -1], [y])
    assert re.search("per-channel parameters", refusal(model, [x, index], [y]))


def test_a_computed_weight_is_no_constant_of_any_kernel() -> None:
    """One program, run with two weights."""
    rng = np.random.default_rng(0)
    model = Builder()
    x = model.tensor("x", (1, 9, 9, 16), np.int8, scales=0.5, zero_points=3)
    w = model.tensor("w", (16, 3, 3, 16), np.int8, scales=0.01)
    y = model.tensor("y", (1, 9, 9, 16), np.int8, scales=0.5)
    b = model.constant("b", rng.integers(-99, 99, 16).astype(np.int32), scales=0.005)
    model.op("CONV_2D", [x, w, b], [y], Padding="SAME", StrideH=1, StrideW=1)
    loaded = load_bytes(model.build([x, w], [y]), name="m.tflite")
    executable = zeropoint.compile(loaded, cache=False)
    for _ in range(2):
        arrays = [rng.integers(-127, 128, shape).astype(np.int8) for shape in ((1, 9, 9, 16), (16, 3, 3, 16))]
        (result,) = executable.run(*arrays)
        np.testing.assert_array_equal(result, evaluate_module(loaded.module, arrays)[0])
