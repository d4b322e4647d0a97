"""16-bit logistic and tanh, every input value, against LiteRT in both modes."""

from __future__ import annotations

import numpy as np
import pytest

import zeropoint as zp
from tflite_builder import Builder, run_litert
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.frontends import load_bytes


@pytest.mark.parametrize("mode", ["reference", "xnnpack"])
@pytest.mark.parametrize("scale", [2.0**-12, 2.0**-11, 2.0**-12 * 1.0005, 2.0**-12 * 1.002, 2.0**-13])
@pytest.mark.parametrize("op", ["LOGISTIC", "TANH"])
def test_every_input_gives_the_bits_of_litert(op: str, scale: float, mode: str) -> None:
    """LiteRT's default interpreter has a kernel of its own for power-of-two scales."""
    model = Builder()
    x = model.tensor("x", (1 << 16,), np.int16, scales=scale)
    y = model.tensor("y", (1 << 16,), np.int16, scales=2.0**-15)
    model.op(op, [x], [y])
    content = model.build([x], [y])
    values = np.arange(-(1 << 15), 1 << 15).astype(np.int16)
    (expected,) = run_litert(content, [values], reference=mode == "reference")
    loaded = load_bytes(content, name="activation.tflite", numerics=mode)
    np.testing.assert_array_equal(evaluate_module(loaded.module, [values], mode)[0], expected)
    np.testing.assert_array_equal(zp.compile(loaded, cache=False).run(values)[0], expected)
