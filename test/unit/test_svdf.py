"""SVDF over sequences of invocations, against LiteRT's reference kernels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_tensors import Array, seeds
from sequences import check_sequence
from tflite_builder import Builder

RUNS = 12


def integer_model(rng: np.random.Generator, rank: int, batch: int) -> tuple[Builder, list[int], list[int]]:
    depth, units, memory = (int(n) for n in rng.integers(1, 9, 3))
    filters = units * rank
    s_x, s_f, s_s, s_t, s_y = (float(np.float32(s)) for s in 2.0 ** rng.uniform(-10, -3, 5))
    s_s = float(np.float32(s_x * s_f * 2.0 ** rng.uniform(-4, 2)))
    s_y = float(np.float32(s_s * s_t * 2.0 ** rng.uniform(2, 14)))
    model = Builder()
    x = model.tensor("x", (batch, depth), np.int8, s_x, int(rng.integers(-128, 128)))
    feature = model.constant("feature", rng.integers(-127, 128, (filters, depth)).astype(np.int8), scales=s_f)
    time = model.constant("time", rng.integers(-2000, 2001, (filters, memory)).astype(np.int16), scales=s_t)
    bias = model.constant("bias", rng.integers(-9999, 9999, units).astype(np.int32), scales=s_s * s_t)
    state = model.tensor("state", (batch, filters * memory), np.int16, s_s, variable=True)
    y = model.tensor("y", (batch, units), np.int8, s_y, int(rng.integers(-128, 128)))
    bias = bias if rng.integers(4) else -1
    model.op("SVDF", [x, feature, time, bias, state], [y], Rank=rank, FusedActivationFunction="RELU")
    return model, [x], [y]


def input_runs(rng: np.random.Generator, model: Builder) -> list[list[Array]]:
    shape = model.tensors[0].shape
    return [[rng.integers(-128, 128, shape).astype(np.int8)] for _ in range(RUNS)]


@settings(max_examples=15, deadline=None)
@given(seeds, st.integers(1, 3), st.integers(1, 3))
def test_integer(seed: int, rank: int, batch: int) -> None:
    rng = np.random.default_rng(seed)
    model, inputs, outputs = integer_model(rng, rank, batch)
    check_sequence(model, inputs, outputs, input_runs(rng, model))


@pytest.mark.parametrize("pipeline", ["optimized", "reference"])
def test_integer_compiled(pipeline: str) -> None:
    rng = np.random.default_rng(7)
    model, inputs, outputs = integer_model(rng, 2, 2)
    check_sequence(model, inputs, outputs, input_runs(rng, model), pipelines=[pipeline])


@pytest.mark.parametrize("weights", ["float", "int8"])
@pytest.mark.parametrize("activation", ["NONE", "RELU"])
def test_float(activation: str, weights: str) -> None:
    rng = np.random.default_rng(8)
    model = Builder()
    x = model.tensor("x", (2, 5), np.float32)
    constants = []
    for index, shape in enumerate(((6, 5), (6, 4))):
        if weights == "float":
            constants.append(model.constant(f"w{index}", rng.normal(size=shape).astype(np.float32)))
        else:
            array = rng.integers(-127, 128, shape).astype(np.int8)
            constants.append(model.constant(f"w{index}", array, scales=0.01))
    constants.append(model.constant("bias", rng.normal(size=3).astype(np.float32)))
    state = model.tensor("state", (2, 24), np.float32, variable=True)
    y = model.tensor("y", (2, 3), np.float32)
    model.op("SVDF", [x, *constants, state], [y], Rank=2, FusedActivationFunction=activation)
    runs = [[rng.normal(size=(2, 5)).astype(np.float32)] for _ in range(RUNS)]
    check_sequence(model, [x], [y], runs, pipelines=["optimized"], rtol=1e-5, atol=1e-5)


def test_states_of_one_name_are_two() -> None:
    rng = np.random.default_rng(11)
    model, (x,), (y,) = integer_model(rng, 1, 1)
    first, units = model.operators[0], model.tensors[y].shape[1]
    weights = rng.integers(-127, 128, (3, units)).astype(np.int8)
    feature = model.constant("feature 2", weights, scales=0.01)
    time = model.constant("time 2", rng.integers(-99, 99, (3, 4)).astype(np.int16), scales=0.001)
    bias = model.constant("bias 2", np.zeros(3, np.int32), scales=1e-4)
    state = model.tensor("state", (1, 12), np.int16, 0.002, variable=True)
    z = model.tensor("z", (1, 3), np.int8, 0.01, 4)
    model.op("SVDF", [y, feature, time, bias, state], [z], **{**first.options, "Rank": 1})
    check_sequence(model, [x], [z], input_runs(rng, model))
