"""Random recurrent operators compiled, over sequences of invocations, before and after a reset."""

from __future__ import annotations

import numpy as np
import pytest

import zeropoint as zp
from operator_generator import TOLERANCES, drawn_models, is_exact, operator_of
from random_recurrent_models import MODELS, Stream
from sequences import check_sequence
from tflite_builder import Builder
from zeropoint.errors import ImportModelError, TargetError, UnsupportedOpError
from zeropoint.frontends import load_bytes

KINDS = {"lstm": 6, "unidirectional_sequence_lstm": 6, "svdf": 3}
"""Maker -> examples, where it is not 2: enough for each kind of tensor."""


def examples() -> list[tuple[str, int]]:
    return [(name, number) for name in sorted(MODELS) for number in range(KINDS.get(name, 2))]


@pytest.mark.parametrize(("name", "number"), examples())
def test_compiled(name: str, number: int) -> None:
    ((_, drawn),) = drawn_models(name, 1, number)
    assert isinstance(drawn, Stream)
    operator, kind = operator_of(drawn)
    # Functions of the C library and the order of sums differ, in every step a little.
    rtol, atol = (0.0, 0.0) if is_exact(operator, kind) else TOLERANCES[operator]
    pipelines = ["optimized", "reference"] if number == 0 else ["optimized"]
    check_sequence(
        drawn.model, drawn.inputs, drawn.outputs, drawn.runs, pipelines=pipelines, rtol=rtol, atol=atol
    )


def stream_of(name: str, kind: str) -> Stream:
    """A model of a maker with tensors of this kind."""
    for _, drawn in drawn_models(name, 100):
        if operator_of(drawn)[1] == kind:
            assert isinstance(drawn, Stream)
            return drawn
    raise AssertionError(f"no {name} of {kind}")


def test_a_state_is_an_output() -> None:
    """Of a model that returns it: what it is after the run."""
    drawn = stream_of("rnn", "float32")
    state = drawn.model.operators[-1].inputs[4]
    outputs = [*drawn.outputs, state]
    check_sequence(
        drawn.model, drawn.inputs, outputs, drawn.runs, pipelines=["optimized"], rtol=1e-4, atol=1e-4
    )


def test_8_bit_gates_are_refused() -> None:
    drawn = stream_of("lstm", "q int8")
    model: Builder = drawn.model
    more = [model.tensor(f"more {k}", (), np.int8, 0.1) for k in range(7)]
    model.operators[-1].intermediates = [*model.operators[-1].intermediates, *more]
    with pytest.raises(UnsupportedOpError, match="sums of gates in 8 bits"):
        load_bytes(drawn.build(), name="m.tflite")


def test_targets_that_lack_the_steps_are_told() -> None:
    model = load_bytes(stream_of("lstm", "q int8").build(), name="m.tflite")
    with pytest.raises(TargetError, match=r"'qnn.lstm_\w+': target tvm says .* no such op in float"):
        zp.compile(model, target="tvm")


def test_basic_kernel_on_uint8_is_refused() -> None:
    model = Builder()
    x = model.tensor("x", (1, 2), np.uint8, 1 / 128, 128)
    h = model.tensor("h", (1, 3), np.uint8, 1 / 128, 128, variable=True)
    w = model.constant("w", np.zeros((12, 5), np.uint8), scales=0.01, zero_points=120)
    b = model.constant("b", np.zeros(12, np.int32), scales=0.01 / 128)
    c = model.tensor("c", (1, 3), np.int16, 2.0**-11, variable=True)
    ys = [
        model.tensor("y", (1, 3), np.uint8, 1 / 128, 128),
        model.tensor("state", (1, 3), np.int16, 2.0**-11),
        model.tensor("both", (1, 5), np.uint8, 1 / 128, 128),
        model.tensor("sums", (1, 12), np.int16, 2.0**-12),
    ]
    model.op("LSTM", [x, h, w, b, c], ys, FusedActivationFunction="TANH", KernelType=1)
    with pytest.raises(UnsupportedOpError, match="basic kernel"):
        load_bytes(model.build([x], ys), name="m.tflite")


@pytest.mark.parametrize(
    ("absent", "message"), [(9, "weights of an auxiliary input"), (11, "for both directions, or for none")]
)
def test_auxiliary_inputs_need_their_weights(absent: int, message: str) -> None:
    for _, drawn in drawn_models("bidirectional_sequence_rnn", 100):
        operator = drawn.model.operators[-1]
        if min(operator.inputs[9:12]) < 0:
            continue
        operator.inputs[absent] = -1
        with pytest.raises(ImportModelError, match=message):
            load_bytes(drawn.build(), name="m.tflite")
        return
    raise AssertionError("no model has an auxiliary input with weights")
