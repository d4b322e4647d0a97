"""FULLY_CONNECTED with shuffled weights: what they become equals LiteRT."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operator_models import check_model
from random_tensors import Array, seeds
from tflite_builder import ACTIVATIONS, Builder
from zeropoint.errors import ImportModelError
from zeropoint.frontends import load_bytes


def _model(
    rows: int, weights: Array, s_y: float, activation: str = "NONE", point: int = 128
) -> tuple[Builder, int, int]:
    """``weights`` [N, K] are int8, as the kernel multiplies them."""
    outputs, features = weights.shape
    model = Builder()
    x = model.tensor("x", (rows, features), np.uint8, scales=0.05, zero_points=point)
    blocks = weights.reshape(outputs // 4, 4, features // 16, 16).transpose(0, 2, 1, 3)
    stored = np.ascontiguousarray(blocks).view(np.uint8).reshape(weights.shape)
    w = model.constant("w", stored, scales=0.02, zero_points=128)
    b = model.constant("b", np.arange(outputs, dtype=np.int32) * 37, scales=0.001)
    y = model.tensor("y", (rows, outputs), np.int16, scales=s_y)
    room = model.tensor("room", (rows, features), np.uint8, scales=0.05, zero_points=128)
    options = {"WeightsFormat": 1, "FusedActivationFunction": activation}
    model.op("FULLY_CONNECTED", [x, w, b], [y, room], **options)
    return model, x, y


@settings(max_examples=20)
@given(seeds, st.sampled_from([1, 4]), st.sampled_from(sorted(ACTIVATIONS)))
def test_products_are_litert_s(seed: int, rows: int, activation: str) -> None:
    """(LiteRT takes one row, or four.)"""
    rng = np.random.default_rng(seed)
    outputs, features = 4 * int(rng.integers(1, 5)), 16 * int(rng.integers(1, 5))
    weights = rng.integers(-127, 128, (outputs, features)).astype(np.int8)
    s_y = float(np.float32(2.0 ** rng.uniform(-12, -4)))
    model, x, y = _model(rows, weights, s_y, activation)
    array = rng.integers(0, 256, (rows, features)).astype(np.uint8)
    check_model(model, [x], [y], [array], compiled=seed % 16 == 0)


def _spoilt(what: str) -> Any:
    model, x, y = _model(1, np.ones((4, 16), np.int8), 2.0**-8, point=3 if what == "zero point" else 128)
    if what == "shape":
        model.tensors[1].shape = (2, 32)
    if what == "room":
        model.operators[0].outputs.pop()
    return model.build([x], [y])


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("zero point", "need zero points of 128"),
        ("shape", "do not divide into blocks of 4 x 16"),
        ("room", "got 1 outputs, expected 2"),
    ],
)
def test_faults(what: str, message: str) -> None:
    with pytest.raises(ImportModelError, match=message):
        load_bytes(_spoilt(what), name="m.tflite")
