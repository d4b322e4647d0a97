"""Weights stored in another way than they are used: in half precision, behind DEQUANTIZE, sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from operator_models import check_model
from sparse_tensors import encode
from tflite_builder import Builder, run_litert
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.dialect.model import find_main
from zeropoint.frontends import load_bytes

Shape = tuple[int, ...]
OPERATORS: dict[str, tuple[Shape, Shape, Shape, dict[str, Any]]] = {
    "CONV_2D": ((1, 5, 5, 8), (4, 3, 3, 8), (1, 3, 3, 4), {"Padding": "VALID", "StrideH": 1, "StrideW": 1}),
    "FULLY_CONNECTED": ((2, 8), (4, 8), (2, 4), {}),
    "TRANSPOSE_CONV": (
        (1, 3, 3, 8),
        (4, 2, 2, 8),
        (1, 6, 6, 4),
        {"Padding": "SAME", "StrideH": 2, "StrideW": 2},
    ),
    "BATCH_MATMUL": ((2, 3, 8), (2, 8, 4), (2, 3, 4), {}),
}
"""Operator -> shapes of input, weights and result, options."""


def _add_operator(model: Builder, name: str, w: int) -> tuple[int, int]:
    x_shape, _, y_shape, options = OPERATORS[name]
    x, y = model.tensor("x", x_shape, np.float32), model.tensor("y", y_shape, np.float32)
    inputs = [x, w]
    if name == "CONV_2D":
        inputs.append(model.constant("b", np.arange(4, dtype=np.float32)))
    if name == "TRANSPOSE_CONV":
        inputs = [model.constant("shape", np.array(y_shape, np.int32)), w, x]
    model.op(name, inputs, [y], **options)
    return x, y


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("kind", ["float16", "int8"])
def test_weights_behind_dequantize_are_constants(name: str, kind: str) -> None:
    rng = np.random.default_rng(0)
    model, shape = Builder(), OPERATORS[name][1]
    where: dict[str, Any] = {"scales": 0.03} if kind == "int8" else {}
    data = rng.integers(-9, 9, shape) if kind == "int8" else rng.standard_normal(shape)
    stored = model.constant("stored", data.astype(kind), **where)
    w = model.tensor("w", shape, np.float32)
    model.op("DEQUANTIZE", [stored], [w])
    x, y = _add_operator(model, name, w)
    array = rng.standard_normal(OPERATORS[name][0]).astype(np.float32)
    check_model(model, [x], [y], [array], rtol=1e-5, atol=1e-5)
    module = load_bytes(model.build([x], [y]), name="m.tflite").module
    assert "qnn.dequantize" not in str(find_main(module))


@pytest.mark.parametrize("kind", ["float32", "float16"])
def test_sparse_floats(kind: str) -> None:
    """DENSIFY, and DEQUANTIZE behind it where they are stored in half precision."""
    rng = np.random.default_rng(1)
    dense = (rng.standard_normal((4, 8)) * (rng.random((4, 8)) < 0.4)).astype(kind)
    model = Builder()
    w = model.sparse("sparse", dense.shape, encode(dense, [0, 1], {}, [False, True]))
    full = model.tensor("dense", dense.shape, kind)
    model.op("DENSIFY", [w], [full])
    if kind == "float16":
        real = model.tensor("real", dense.shape, np.float32)
        model.op("DEQUANTIZE", [full], [real])
        full = real
    x, y = _add_operator(model, "FULLY_CONNECTED", full)
    array = rng.standard_normal((2, 8)).astype(np.float32)
    check_model(model, [x], [y], [array], rtol=1e-5, atol=1e-5)


def test_sparse_weights_without_densify() -> None:
    """An operator may read them as they are: LiteRT's kernel for blocks of 16 int8 is the judge."""
    rng = np.random.default_rng(2)
    dense = rng.integers(-99, 99, (4, 64)).astype(np.int8)
    dense[:, 16:32] = 0
    sparse = encode(dense, [0, 1, 2], {1: 16}, [False, True, False])
    model, scales = Builder(), [0.5]
    x = model.tensor("x", (1, 64), np.int8, scales=0.5, zero_points=3)
    w = model.sparse("w", dense.shape, sparse, scales=scales)
    b = model.constant("b", np.arange(4, dtype=np.int32), scales=0.25)
    y = model.tensor("y", (1, 4), np.int8, scales=64.0)
    model.op("FULLY_CONNECTED", [x, w, b], [y])
    data = model.build([x], [y])
    array = rng.integers(-128, 128, (1, 64)).astype(np.int8)
    (meant,) = evaluate_module(load_bytes(data, name="m.tflite").module, [array])
    real = 0.5 * (array.astype(int) - 3) @ (0.5 * dense.astype(int)).T + 0.25 * np.arange(4)
    assert (np.abs(meant * 64.0 - real) <= 32.0).all()
    (judged,) = run_litert(data, [array])
    np.testing.assert_array_equal(meant, judged)
