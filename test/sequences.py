"""Run a stateful TFLite model over a sequence of inputs in every way there is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import zeropoint
from random_tensors import Array
from tflite_builder import Builder, invoke_litert, start_litert
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.dialect.variables import initial_values
from zeropoint.frontends import load_bytes


def check_sequence(
    model: Builder,
    inputs: Sequence[int],
    outputs: Sequence[int],
    runs: Sequence[Sequence[Array]],
    *,
    pipelines: Sequence[str] = (),
    rtol: float = 0.0,
    atol: float = 0.0,
) -> None:
    """Run after run the meaning of the imported model equals LiteRT's reference kernels, and so does code
    that ``pipelines`` compile, before and after a reset. Bit by bit, unless a tolerance is given.
    """
    data = model.build(inputs, outputs)
    runner = start_litert(data)
    expected = [invoke_litert(runner, arrays) for arrays in runs]
    imported = load_bytes(data, name="m.tflite")
    with imported.context:
        state = initial_values(imported.module)
    for arrays, wanted in zip(runs, expected, strict=True):
        _compare(evaluate_module(imported.module, arrays, state=state), wanted, rtol, atol)
    for pipeline in pipelines:
        executable = zeropoint.compile(imported, pipeline=pipeline, cache=False)
        for _ in range(2):
            for arrays, wanted in zip(runs, expected, strict=True):
                _compare(executable.run(*arrays), wanted, rtol, atol)
            executable.reset()


def _compare(got: Sequence[Array], wanted: Sequence[Array], rtol: float, atol: float) -> None:
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=atol)
