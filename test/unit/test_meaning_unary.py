"""unary and leaky_relu: the numpy meaning equals LiteRT bit by bit on all stored values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from elementwise_models import litert
from random_tensors import Array, floating, quantized, scales, zero_points
from zeropoint.dialect.meaning import evaluate
from zeropoint.dialect.types import TensorType

OPERATORS = {
    "abs": "ABS",
    "cos": "COS",
    "ceil": "CEIL",
    "elu": "ELU",
    "exp": "EXP",
    "floor": "FLOOR",
    "gelu": "GELU",
    "gelu_tanh": "GELU",
    "hard_swish": "HARD_SWISH",
    "log": "LOG",
    "logical_not": "LOGICAL_NOT",
    "neg": "NEG",
    "round": "ROUND",
    "rsqrt": "RSQRT",
    "sign": "SIGN",
    "sin": "SIN",
    "sqrt": "SQRT",
    "square": "SQUARE",
}
QUANTIZED = [
    ("abs", "i8"),
    ("abs", "i16"),
    ("elu", "i8"),
    ("exp", "i8"),
    ("exp", "i16"),
    ("gelu", "i8"),
    ("gelu", "u8"),
    ("gelu_tanh", "i8"),
    ("gelu_tanh", "u8"),
    ("hard_swish", "i8"),
    ("hard_swish", "u8"),
    ("gelu", "i16"),
    ("gelu_tanh", "i16"),
    ("log", "i8"),
    ("log", "i16"),
    ("rsqrt", "i8"),
    ("rsqrt", "i16"),
    ("sqrt", "i8"),
    ("sqrt", "i16"),
]


def all_values(kind: TensorType, function: str) -> Array:
    """Every stored value for which the function is defined."""
    dtype = kind.dtype
    info = np.iinfo(dtype)
    values = np.arange(info.min, info.max + 1).astype(dtype)
    if function in ("sqrt", "rsqrt"):
        values = np.maximum(values, kind.params.zero_point).astype(dtype)
    return values


@pytest.mark.parametrize(("function", "storage"), QUANTIZED)
@pytest.mark.parametrize("mode", ["reference", "xnnpack"])
@settings(max_examples=25)
@given(scales(-10, 1), scales(-10, 1), st.data())
def test_quantized(
    mode: str, function: str, storage: str, s_x: float, s_y: float, data: st.DataObject
) -> None:
    if storage == "i16":
        # exp must not overflow float32 (LiteRT's nodes become 0 there).
        s_x, s_y, points = min(s_x, 0.25) / 128, s_y / 128, st.just(0)
    else:
        points = zero_points(storage)
    if function == "log" and storage == "i16":
        s_y = max(s_y, 2.0**-10)
    if function == "hard_swish":
        # A larger multiplier is refused; LiteRT's 16-bit shifts are wrong beyond 15.
        s_y = min(max(s_y, s_x / 127), s_x * 250)
    size = 65536 if storage == "i16" else 256
    x = quantized((size,), storage, s_x, data.draw(points))
    y = quantized((size,), storage, s_y, data.draw(points))
    array = all_values(x, function)
    (actual,) = evaluate("unary", [array], [x], [y], {"function": function}, mode)
    options = {"Approximate": function == "gelu_tanh"} if function.startswith("gelu") else {}
    expected = litert(OPERATORS[function], [x], y, [array], mode, **options)
    if function.startswith("gelu") and storage == "i16":
        # The C library's tanhf and erfcf are not correctly rounded, so a node may differ.
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1)
        return
    if (function, storage) == ("log", "i16"):
        # LiteRT's slope from the lowest value wraps in 16 bits.
        kept = (array < 0) | (array > 127)
        actual, expected = actual[kept], expected[kept]
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("storage", ["i8", "u8", "i16"])
@pytest.mark.parametrize("mode", ["reference", "xnnpack"])
@settings(max_examples=30)
@given(
    scales(-10, 1), scales(-10, 1), st.floats(-4, 4, width=32) | st.sampled_from([0.5, 0.25, 2.0]), st.data()
)
@example(0.5, 0.5, 0.0, None)
@example(1.0, 1.0, -0.5, None)
def test_leaky_relu(
    mode: str, storage: str, s_x: float, s_y: float, alpha: float, data: st.DataObject | None
) -> None:
    points = zero_points(storage) if storage != "i16" else st.just(0)
    size = 65536 if storage == "i16" else 256
    x = quantized((size,), storage, s_x, data.draw(points) if data else 0)
    y = quantized((size,), storage, s_y, data.draw(points) if data else 0)
    array = all_values(x, "leaky_relu")
    (actual,) = evaluate("leaky_relu", [array], [x], [y], {"alpha": alpha}, mode)
    expected = litert("LEAKY_RELU", [x], y, [array], mode, Alpha=alpha)
    # LiteRT's default int16 kernel rounds ties below 0 the other way than its reference kernel if alpha is.
    ties = mode == "xnnpack" and storage == "i16" and alpha < 0
    np.testing.assert_allclose(actual.astype(int), expected, rtol=0, atol=int(ties))


FLOATS = np.concatenate(
    [np.linspace(-20, 20, 4001), [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -2.5, np.inf, -np.inf, 1e-30, -1e-30]]
).astype(np.float32)


@pytest.mark.parametrize("function", [f for f in OPERATORS if f != "logical_not"])
def test_float(function: str) -> None:
    """Within a few units in the last place of LiteRT's float code, which calls the C library."""
    x = floating(FLOATS.shape)
    (actual,) = evaluate("unary", [FLOATS], [x], [x], {"function": function})
    options = {"Approximate": function == "gelu_tanh"} if function.startswith("gelu") else {}
    expected = litert(OPERATORS[function], [x], x, [FLOATS], "reference", **options)
    finite = np.isfinite(FLOATS) if function.startswith("gelu") else slice(None)  # LiteRT: -inf -> NaN
    np.testing.assert_allclose(actual[finite], expected[finite], rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("function", "element"), [("abs", "i32"), ("neg", "i32"), ("neg", "i64"), ("sign", "i32")]
)
def test_integers(function: str, element: str) -> None:
    kind = TensorType((6,), element)
    array = np.asarray([-5, 0, 7, 1, 1 << 30, -(1 << 30)], kind.dtype)
    (actual,) = evaluate("unary", [array], [kind], [kind], {"function": function})
    np.testing.assert_array_equal(actual, litert(OPERATORS[function], [kind], kind, [array], "reference"))


def test_logical_not() -> None:
    kind = TensorType((2,), "i1")
    array = np.asarray([True, False])
    (actual,) = evaluate("unary", [array], [kind], [kind], {"function": "logical_not"})
    np.testing.assert_array_equal(actual, litert("LOGICAL_NOT", [kind], kind, [array], "reference"))
