"""Recurrent operators on floats, with weights of floats or integers, over sequences of invocations."""

from __future__ import annotations

import numpy as np
import pytest

from random_tensors import Array
from sequences import check_sequence
from tflite_builder import Builder

RUNS, BATCH, TIME, DEPTH, UNITS = 10, 2, 4, 5, 3
WEIGHTS = ["float", "int8"]


class Layers(Builder):
    """A builder of constants for recurrent layers."""

    rng: np.random.Generator
    kind: str

    def weights(self, name: str, rows: int, columns: int) -> int:
        if self.kind == "float":
            return self.constant(name, self.rng.normal(size=(rows, columns)).astype(np.float32))
        array = self.rng.integers(-127, 128, (rows, columns)).astype(np.int8)
        return self.constant(name, array, scales=float(self.rng.uniform(0.002, 0.01)))

    def bias(self, name: str, count: int) -> int:
        return self.constant(name, self.rng.normal(size=count).astype(np.float32))

    def peephole(self, name: str) -> int:
        if self.kind == "float":
            return self.bias(name, UNITS)
        return self.constant(name, self.rng.integers(-127, 128, UNITS).astype(np.int8), scales=0.01)

    def state(self, name: str, width: int) -> int:
        return self.tensor(name, (BATCH, width), np.float32, variable=True)

    def rnn(self, name: str) -> list[int]:
        """Weights, recurrent weights, bias and state."""
        weights, recurrent = self.weights(f"{name} w", UNITS, DEPTH), self.weights(f"{name} r", UNITS, UNITS)
        return [weights, recurrent, self.bias(f"{name} b", UNITS), self.state(f"{name} h", UNITS)]

    def lstm(
        self, name: str, coupled: bool, projection: bool, peepholes: bool
    ) -> tuple[list[int], list[int]]:
        """Inputs 1 to 17 and the states of an LSTM."""
        outputs = 4 if projection else UNITS
        gates = range(1 if coupled else 0, 4)
        absent = [-1] * (4 - len(gates))
        inputs = [*absent, *(self.weights(f"{name} w{g}", UNITS, DEPTH) for g in gates)]
        inputs += [*absent, *(self.weights(f"{name} r{g}", UNITS, outputs) for g in gates)]
        seen = [-1 if g == 0 and coupled else self.peephole(f"{name} p{g}") for g in range(3)]
        inputs += seen if peepholes else [-1] * 3
        inputs += [*absent, *(self.bias(f"{name} b{g}", UNITS) for g in gates)]
        pair = [self.weights(f"{name} pw", outputs, UNITS), self.bias(f"{name} pb", outputs)]
        inputs += pair if projection else [-1, -1]
        return inputs, [self.state(f"{name} h", outputs), self.state(f"{name} c", UNITS)]


def layers(seed: int, kind: str) -> Layers:
    model = Layers()
    model.rng, model.kind = np.random.default_rng(seed), kind
    return model


def runs(shape: tuple[int, ...]) -> list[list[Array]]:
    rng = np.random.default_rng(1)
    return [[rng.normal(size=shape).astype(np.float32)] for _ in range(RUNS)]


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("activation", ["TANH", "RELU"])
def test_rnn(kind: str, activation: str) -> None:
    model = layers(2, kind)
    x, y = model.tensor("x", (BATCH, DEPTH), np.float32), model.tensor("y", (BATCH, UNITS), np.float32)
    model.op("RNN", [x, *model.rnn("")], [y], FusedActivationFunction=activation)
    check_sequence(model, [x], [y], runs((BATCH, DEPTH)), pipelines=["optimized"], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("time_major", [False, True])
def test_unidirectional_sequence_rnn(kind: str, time_major: bool) -> None:
    model = layers(3, kind)
    lead = (TIME, BATCH) if time_major else (BATCH, TIME)
    x, y = model.tensor("x", (*lead, DEPTH), np.float32), model.tensor("y", (*lead, UNITS), np.float32)
    options = {"TimeMajor": time_major, "FusedActivationFunction": "TANH"}
    model.op("UNIDIRECTIONAL_SEQUENCE_RNN", [x, *model.rnn("")], [y], **options)
    check_sequence(model, [x], [y], runs((*lead, DEPTH)), pipelines=["optimized"], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("merged", [False, True])
def test_bidirectional_sequence_rnn(kind: str, merged: bool) -> None:
    model = layers(4, kind)
    x = model.tensor("x", (BATCH, TIME, DEPTH), np.float32)
    widths = [2 * UNITS] if merged else [UNITS, UNITS]
    ys = [model.tensor(f"y{i}", (BATCH, TIME, width), np.float32) for i, width in enumerate(widths)]
    options = {"TimeMajor": False, "FusedActivationFunction": "TANH", "MergeOutputs": merged}
    inputs = [x, *model.rnn("f"), *model.rnn("b"), -1, -1, -1]
    model.op("BIDIRECTIONAL_SEQUENCE_RNN", inputs, ys, **options)
    check_sequence(model, [x], ys, runs((BATCH, TIME, DEPTH)), pipelines=["optimized"], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize(
    ("coupled", "projection", "peepholes"),
    [(False, False, False), (True, False, True), (False, True, True), (False, True, False)],
)
def test_unidirectional_sequence_lstm(kind: str, coupled: bool, projection: bool, peepholes: bool) -> None:
    model = layers(5, kind)
    x = model.tensor("x", (BATCH, TIME, DEPTH), np.float32)
    inputs, states = model.lstm("", coupled, projection, peepholes)
    y = model.tensor("y", (BATCH, TIME, 4 if projection else UNITS), np.float32)
    options = {"FusedActivationFunction": "TANH", "CellClip": 0.8 if projection else 0.0}
    model.op("UNIDIRECTIONAL_SEQUENCE_LSTM", [x, *inputs, *states, -1, -1, -1, -1], [y], **options)
    check_sequence(model, [x], [y], runs((BATCH, TIME, DEPTH)), pipelines=["optimized"], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("merged", [False, True])
def test_bidirectional_sequence_lstm(kind: str, merged: bool) -> None:
    model = layers(6, kind)
    x = model.tensor("x", (TIME, BATCH, DEPTH), np.float32)
    inputs, states = [], []
    for name in ("f", "b"):
        one, held = model.lstm(name, False, False, False)
        inputs += one
        states += held
    widths = [2 * UNITS] if merged else [UNITS, UNITS]
    ys = [model.tensor(f"y{i}", (TIME, BATCH, width), np.float32) for i, width in enumerate(widths)]
    options = {"TimeMajor": True, "FusedActivationFunction": "TANH", "MergeOutputs": merged}
    model.op("BIDIRECTIONAL_SEQUENCE_LSTM", [x, *inputs, *states, *[-1] * 9], ys, **options)
    check_sequence(model, [x], ys, runs((TIME, BATCH, DEPTH)), pipelines=["optimized"], rtol=1e-4, atol=1e-5)
