"""Layers that quantize their input at run time, and products whose sums are results, as kernels of every
instruction set here.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import zeropoint as zp
from guarded_arrays import before_a_gap
from kernel_machines import MACHINES
from tflite_builder import Builder, packed
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.dialect.model import Model
from zeropoint.frontends import load_bytes
from zeropoint.runtime import compiler

pytestmark = pytest.mark.skipif(not MACHINES, reason="no kernels for this machine")
Array = np.ndarray[Any, Any]


@pytest.fixture(params=MACHINES)
def isa(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(compiler, "_machine_here", lambda _: MACHINES[request.param])
    return str(request.param)


def weights(model: Builder, rng: np.random.Generator, shape: tuple[int, ...]) -> int:
    data = rng.integers(-127, 128, shape).astype(np.int8)
    return model.constant("w", data, scales=rng.uniform(0.001, 0.1, shape[0]), axis=0)


def fully_connected(rng: np.random.Generator, rows: int, depth: int, outputs: int, asymmetric: bool) -> Model:
    model = Builder()
    x, y = model.tensor("x", (rows, depth), np.float32), model.tensor("y", (rows, outputs), np.float32)
    bias = model.constant("b", rng.standard_normal(outputs).astype(np.float32))
    operands = [x, weights(model, rng, (outputs, depth)), bias]
    options = {"FusedActivationFunction": "RELU6", "AsymmetricQuantizeInputs": asymmetric}
    model.op("FULLY_CONNECTED", operands, [y], **options)
    return load_bytes(model.build([x], [y]), name="m.tflite")


def convolution(rng: np.random.Generator, batch: int, inputs: int, outputs: int) -> Model:
    model = Builder()
    x = model.tensor("x", (batch, 7, 9, inputs), np.float32)
    y = model.tensor("y", (batch, 4, 5, outputs), np.float32)
    operands = [x, weights(model, rng, (outputs, 3, 3, inputs)), -1]
    model.op("CONV_2D", operands, [y], Padding="SAME", StrideH=2, StrideW=2)
    return load_bytes(model.build([x], [y]), name="m.tflite")


def in_blocks(rng: np.random.Generator, rows: int, depth: int, outputs: int) -> Model:
    model = Builder()
    scales = rng.uniform(0.01, 0.1, (outputs, depth // 32)).astype(np.float16)
    index = model.tensor("scales", scales.shape, "float16", data=scales)
    w = model.tensor("w", (outputs, depth), "int4", data=packed(rng.integers(-8, 8, (outputs, depth))))
    model.tensors[w].blockwise = (index, 32)
    x, y = model.tensor("x", (rows, depth), np.float32), model.tensor("y", (rows, outputs), np.float32)
    model.op("FULLY_CONNECTED", [x, w, -1], [y])
    return load_bytes(model.build([x], [y]), name="m.tflite")


def models(rng: np.random.Generator) -> list[Model]:
    made = [fully_connected(rng, *sizes, sizes[0] == 3) for sizes in ((1, 130, 33), (3, 64, 100), (5, 1, 1))]
    made += [convolution(rng, *sizes) for sizes in ((1, 3, 8), (2, 16, 40))]
    return [*made, in_blocks(rng, 1, 96, 40), in_blocks(rng, 4, 64, 17)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_kernels_equal_the_meaning_and_read_no_further(isa: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that reads or writes behind the caller's arrays dies."""
    rng = np.random.default_rng(0)
    for number, model in enumerate(models(rng)):
        x = rng.standard_normal(model.inputs[0].shape).astype(np.float32) + np.float32(0.5)
        (expected,) = evaluate_module(model.module, [x])
        executable = zp.compile(model)
        families = {code.family for code in executable._program.codes.values()}
        assert families == {"quantize_rows", "conv2d_wide"}
        inputs = [before_a_gap(x)]
        results = [before_a_gap(np.zeros(shape, dtype)) for shape, dtype in executable._made]
        monkeypatch.setattr(executable, "_new_results", lambda results=results: results)
        if not (child := os.fork()):
            (got,) = executable.run(*inputs)
            os._exit(int(not np.array_equal(got, expected)))
        assert os.waitpid(child, 0)[1] == 0, f"model {number}"


def test_several_threads_give_the_same(isa: str) -> None:
    rng = np.random.default_rng(1)
    for model in models(rng):
        x = rng.standard_normal(model.inputs[0].shape).astype(np.float32)
        one, two = (zp.compile(model, threads=threads).run(x)[0] for threads in (1, 2))
        np.testing.assert_array_equal(one, two)


def test_sums_are_results(isa: str) -> None:
    """The features of a recurrent layer, before they are rescaled."""
    rng = np.random.default_rng(2)
    depth, units, memory = 20, 24, 5
    model = Builder()
    x = model.tensor("x", (1, depth), np.int8, 0.02, 3)
    y = model.tensor("y", (1, units), np.int8, 0.1)
    state = model.tensor("s", (1, units * memory), np.int16, 1e-3, variable=True)
    constants = [
        model.constant("f", rng.integers(-127, 128, (units, depth)).astype(np.int8), scales=0.01),
        model.constant("t", rng.integers(-9999, 9999, (units, memory)).astype(np.int16), scales=1e-4),
        model.constant("b", rng.integers(-99, 99, units).astype(np.int32), scales=1e-7),
    ]
    model.op("SVDF", [x, *constants, state], [y], Rank=1, FusedActivationFunction="RELU")
    loaded = load_bytes(model.build([x], [y]), name="m.tflite")
    array = rng.integers(-128, 128, (1, depth)).astype(np.int8)
    (expected,) = evaluate_module(loaded.module, [array])
    executable = zp.compile(loaded)
    assert "conv2d_wide" in {code.family for code in executable._program.codes.values()}
    np.testing.assert_array_equal(executable.run(array)[0], expected)
