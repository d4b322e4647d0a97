"""UNIDIRECTIONAL_SEQUENCE_LSTM over sequences of invocations, against LiteRT's reference kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_tensors import Array, seeds
from sequences import check_sequence
from tflite_builder import Builder

RUNS = 10


@dataclass(frozen=True)
class Form:
    """What an LSTM may have or not."""

    coupled: bool = False
    projection: bool = False
    time_major: bool = False
    clip: float = 0.0
    batch: int = 1


def integer_model(rng: np.random.Generator, form: Form) -> tuple[Builder, list[int], list[int]]:
    depth, units, time = (int(n) for n in rng.integers(1, 8, 3))
    outputs = int(rng.integers(1, 8)) if form.projection else units
    scale = lambda low, high: float(np.float32(2.0 ** rng.uniform(low, high)))  # noqa: E731
    s_x, s_h, exponent = scale(-8, -4), scale(-8, -6), int(rng.integers(-15, -8))
    model = Builder()

    def weights(name: str, rows: int, columns: int) -> int:
        array = rng.integers(-127, 128, (rows, columns)).astype(np.int8)
        return model.constant(name, array, scales=scale(-9, -5))

    def bias(name: str, count: int) -> int:
        return model.constant(name, rng.integers(-9999, 9999, count).astype(np.int32), scales=1e-4)

    shape = (time, form.batch, depth) if form.time_major else (form.batch, time, depth)
    x = model.tensor("x", shape, np.int8, s_x, int(rng.integers(-128, 128)))
    gates = range(1 if form.coupled else 0, 4)
    absent = [-1] * (4 - len(gates))
    inputs = [*absent, *(weights(f"w{g}", units, depth) for g in gates)]
    recurrent = [*absent, *(weights(f"r{g}", units, outputs) for g in gates)]
    biases = [*absent, *(bias(f"b{g}", units) for g in gates)]
    projection = [weights("p", outputs, units), bias("pb", outputs)] if form.projection else [-1, -1]
    zero_point = int(rng.integers(-20, 20))
    s_y = scale(-7, -3) if form.projection else s_h
    h = model.tensor("h", (form.batch, outputs), np.int8, s_y, zero_point, variable=True)
    c = model.tensor("c", (form.batch, units), np.int16, 2.0**exponent, variable=True)
    intermediates = [model.tensor(f"i{g}", (), np.float32) for g in range(4)]
    hidden_zero = int(rng.integers(-20, 20)) if form.projection else zero_point
    intermediates.append(model.tensor("hidden", (), np.int8, s_h, hidden_zero))
    y = model.tensor("y", (*shape[:2], outputs), np.int8, s_y, zero_point)
    operands = [x, *inputs, *recurrent, -1, -1, -1, *biases, *projection, h, c, -1, -1, -1, -1]
    model.op(
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        operands,
        [y],
        intermediates,
        FusedActivationFunction="TANH",
        TimeMajor=form.time_major,
        CellClip=form.clip,
    )
    return model, [x], [y]


def input_runs(rng: np.random.Generator, model: Builder) -> list[list[Array]]:
    return [[rng.integers(-128, 128, model.tensors[0].shape).astype(np.int8)] for _ in range(RUNS)]


forms = st.builds(
    Form, st.booleans(), st.booleans(), st.booleans(), st.sampled_from([0.0, 0.9]), st.integers(1, 3)
)


@settings(max_examples=15, deadline=None)
@given(seeds, forms)
def test_integer(seed: int, form: Form) -> None:
    rng = np.random.default_rng(seed)
    model, inputs, outputs = integer_model(rng, form)
    check_sequence(model, inputs, outputs, input_runs(rng, model))


@pytest.mark.parametrize("pipeline", ["optimized", "reference"])
@pytest.mark.parametrize("form", [Form(), Form(True, True, True, 0.5, 2)])
def test_integer_compiled(pipeline: str, form: Form) -> None:
    rng = np.random.default_rng(9)
    model, inputs, outputs = integer_model(rng, form)
    check_sequence(model, inputs, outputs, input_runs(rng, model), pipelines=[pipeline])
