"""log_softmax, l2_normalization and local_response_normalization: meaning, lowering and import against
LiteRT.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elementwise_models import litert, model_of
from lowered_ops import Case, check_cases
from random_tensors import floating, quantized, scales, seeds, values, zero_points
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.dialect.meaning import evaluate
from zeropoint.dialect.normalization import natural_params
from zeropoint.dialect.types import Storage, TensorType
from zeropoint.errors import ZeropointError
from zeropoint.frontends import load_bytes

OPS = {"log_softmax": "LOG_SOFTMAX", "l2_normalization": "L2_NORMALIZATION"}
RESPONSE = {"radius": 2, "bias": 1.0, "alpha": 0.5, "beta": 0.75}


@pytest.mark.parametrize("op", sorted(OPS))
@pytest.mark.parametrize("storage", ["i8", "u8"])
@settings(max_examples=40)
@given(seeds, st.sampled_from([1, 2, 5, 100]), scales(-10, 3), st.booleans(), st.data())
def test_quantized(
    op: str, storage: str, seed: int, depth: int, scale: float, narrow: bool, data: st.DataObject
) -> None:
    x = quantized((3, depth), storage, scale, data.draw(zero_points(storage)))
    y = TensorType(x.shape, natural_params(op, Storage.of(storage)))
    array = values(np.random.default_rng(seed), x)
    if narrow:  # no value dominates
        array = np.clip(array, *sorted(int(v) for v in array.ravel()[:2]))
    (actual,) = evaluate(op, [array], [x], [y], {"axis": 1})
    np.testing.assert_array_equal(actual, litert(OPS[op], [x], y, [array]))


@pytest.mark.parametrize("op", sorted(OPS))
def test_float(op: str) -> None:
    x = floating((3, 17))
    array = values(np.random.default_rng(1), x)
    array[1] = 0
    (actual,) = evaluate(op, [array], [x], [x], {"axis": 1})
    np.testing.assert_allclose(actual, litert(OPS[op], [x], x, [array]), rtol=1e-5, atol=1e-6)


def test_local_response() -> None:
    """As LiteRT's default kernel and TensorFlow define it; the reference kernel leaves out the last
    neighbour.
    """
    x = floating((1, 3, 4, 7))
    array = values(np.random.default_rng(1), x)
    options = {name.capitalize(): value for name, value in RESPONSE.items()}
    expected = litert("LOCAL_RESPONSE_NORMALIZATION", [x], x, [array], "xnnpack", **options)
    model = load_bytes(model_of("LOCAL_RESPONSE_NORMALIZATION", [x], x, **options), name="m.tflite")
    (actual,) = evaluate_module(model.module, [array])
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    op, storage = draw(st.sampled_from(sorted(OPS))), draw(st.sampled_from(["i8", "u8", "f32"]))
    shape, axis = draw(st.sampled_from([((3, 5), 1), ((7,), 0), ((2, 3, 4), 1), ((2, 60), 1)]))
    x = floating(shape) if storage == "f32" else quantized(shape, storage, draw(scales(-10, 3)), 3)
    y = x
    if storage != "f32":
        own = natural_params(op, Storage.of(storage))
        y = TensorType(shape, own) if draw(st.booleans()) else quantized(shape, storage, 0.02, 7)
    return Case(op, [values(np.random.default_rng(draw(seeds)), x)], [x], y, {"axis": axis})


@settings(max_examples=5, deadline=None)
@given(st.lists(cases(), min_size=12, max_size=12))
def test_lowering(cases: list[Case]) -> None:
    check_cases(cases)


@pytest.mark.parametrize("radius", [0, 2, 9])
def test_lowering_of_local_response(radius: int) -> None:
    x = floating((2, 3, 7))
    array = values(np.random.default_rng(1), x)
    check_cases([Case("local_response_normalization", [array], [x], x, {**RESPONSE, "radius": radius})])


@pytest.mark.parametrize("op", sorted(OPS))
def test_other_result_parameters_are_a_fault(op: str) -> None:
    x = quantized((3, 5), "i8", 0.1)
    with pytest.raises(ZeropointError, match=r"result parameters are scale 0\.1, zero point 0"):
        load_bytes(model_of(OPS[op], [x], x), name="m.tflite")
