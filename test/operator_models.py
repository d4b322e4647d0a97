"""Run a small TFLite model in every way there is: LiteRT, the numpy meaning of what is imported, compiled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import zeropoint
from random_tensors import Array, judge
from tflite_builder import Builder
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.frontends import load_bytes


def check_model(
    model: Builder,
    inputs: Sequence[int],
    outputs: Sequence[int],
    arrays: Sequence[Array],
    *,
    compiled: bool = False,
    rtol: float = 0.0,
    atol: float = 0.0,
    numerics: str = "reference",
) -> None:
    """The meaning of the imported model equals LiteRT's reference kernels (its default interpreter, if
    ``numerics`` is xnnpack), and compiled code the meaning.

    Bit by bit, unless a tolerance is given. ``compiled``: as the optimized pipeline compiles it; a test does
    so for few of its examples.
    """
    expected = judge(model, inputs, outputs, arrays, numerics == "reference")
    imported = load_bytes(model.build(inputs, outputs), name="m.tflite", numerics=numerics)
    (meant,) = evaluate_module(imported.module, arrays)
    np.testing.assert_allclose(meant, expected, rtol=rtol, atol=atol)
    if compiled:
        (computed,) = zeropoint.compile(imported, cache=False).run(*arrays)
        np.testing.assert_allclose(computed, meant, rtol=rtol, atol=atol)
