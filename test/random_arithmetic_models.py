"""Random one-operator models of TFLite's operators that compute: elementwise, reductions, contractions,
pools, activations, normalizations and conversions. Those that move values: ``random_movement_models``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from random_movement_models import Drawn
from random_tensors import Array, quantized, same_padding, values
from tflite_builder import ACTIVATIONS
from zeropoint.dialect.activation_tables import natural_params
from zeropoint.dialect.binary_constants import div, headroom_of
from zeropoint.dialect.normalization import natural_params as normalized_params
from zeropoint.dialect.types import Storage, TensorType

UNARY: dict[str, tuple[str, ...]] = {
    "ABS": ("f32", "q i8", "q i16", "i32"),
    "CEIL": ("f32",),
    "COS": ("f32",),
    "ELU": ("f32", "q i8"),
    "EXP": ("f32", "q i8", "q i16"),
    "FLOOR": ("f32",),
    "GELU": ("f32", "q i8", "q u8"),
    "HARD_SWISH": ("f32", "q i8", "q u8"),
    "LEAKY_RELU": ("f32", "q i8", "q u8", "q i16"),
    "LOG": ("f32", "q i8"),
    "LOGICAL_NOT": ("i1",),
    "NEG": ("f32", "i32", "i64"),
    "RELU": ("f32", "q i8", "q u8"),
    "RELU6": ("f32", "q i8", "q u8"),
    "RELU_N1_TO_1": ("f32", "q i8", "q u8"),
    "RELU_0_TO_1": ("f32", "q i8", "q u8"),
    "ROUND": ("f32",),
    "RSQRT": ("f32", "q i8", "q i16"),
    "SIGN": ("f32", "i32"),
    "SIN": ("f32",),
    "SQRT": ("f32", "q i8", "q i16"),
    "SQUARE": ("f32",),
}
BINARY: dict[str, tuple[str, ...]] = {
    "ADD": ("f32", "q i8", "q u8", "q i16", "i32", "i64"),
    "ADD_N": ("f32", "i32"),
    "ATAN2": ("f32",),
    "BITWISE_XOR": ("i8", "i16", "i32", "u8", "u16", "u32"),
    "DIV": ("f32", "q i8", "q u8", "i32"),
    "EQUAL": ("f32", "q i8", "q u8", "i32", "i64", "i1"),
    "FLOOR_DIV": ("f32", "i32"),
    "FLOOR_MOD": ("f32", "i32", "i64"),
    "GREATER": ("f32", "q i8", "q u8", "i32", "i64"),
    "GREATER_EQUAL": ("f32", "q i8", "q u8", "i32", "i64"),
    "LESS": ("f32", "q i8", "q u8", "i32", "i64"),
    "LESS_EQUAL": ("f32", "q i8", "q u8", "i32", "i64"),
    "LOGICAL_AND": ("i1",),
    "LOGICAL_OR": ("i1",),
    "MAXIMUM": ("f32", "q i8", "q u8", "q i16", "i32", "i64"),
    "MINIMUM": ("f32", "q i8", "q u8", "q i16", "i32", "i64"),
    "MUL": ("f32", "q i8", "q u8", "q i16", "i32", "i64"),
    "NOT_EQUAL": ("f32", "q i8", "q u8", "i32", "i64", "i1"),
    "POW": ("f32", "i32"),
    "RIGHT_SHIFT": ("i8", "i16", "i32", "u8", "u16", "u32"),
    "PRELU": ("f32", "q i8", "q u8"),
    "SQUARED_DIFFERENCE": ("f32", "q i8", "i32"),
    "SUB": ("f32", "q i8", "q u8", "i32", "i64"),
}
REDUCTIONS: dict[str, tuple[str, ...]] = {
    "CUMSUM": ("f32", "i32", "i64"),
    "MEAN": ("f32", "q i8", "q u8", "q i16", "i32", "i64"),
    "REDUCE_ALL": ("i1",),
    "REDUCE_ANY": ("i1",),
    "REDUCE_MAX": ("f32", "q i8", "q u8", "q i16", "i32", "i64"),
    "REDUCE_MIN": ("f32", "q i8", "q u8", "q i16", "i32", "i64"),
    "REDUCE_PROD": ("f32", "q i8", "q i16", "i32", "i64"),
    "SUM": ("f32", "q u8", "i32", "i64"),
}
COMPARISONS = frozenset({"EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "NOT_EQUAL"})
BOUNDED = frozenset({"ADD", "DIV", "SUB", "MUL"})
"""Operators with a fused activation."""


@dataclass
class Judged(Drawn):
    """``kept``: where the judge is right; everywhere, if None."""

    kept: Array | None = None


def scale(rng: np.random.Generator, low: float = -10.0, high: float = 1.0) -> float:
    """A scale between ``2^low`` and ``2^high``, a power of two in one of three cases (ties)."""
    exponent = rng.uniform(low, high)
    return float(np.float32(2.0 ** (np.round(exponent) if rng.random() < 0.3 else exponent)))


def point(rng: np.random.Generator, kind: str) -> int:
    """A zero point: the ends and the middle of the range among them; 16 bits have none."""
    if kind not in ("q i8", "q u8"):
        return 0
    low = -128 if kind == "q i8" else 0
    return int(rng.choice([low, low + 128, low + 255, int(rng.integers(low, low + 256))]))


def typed(rng: np.random.Generator, kind: str, shape: Sequence[int], s: float | None = None) -> TensorType:
    """A type of this kind and shape; 16-bit scales are smaller."""
    if not kind.startswith("q "):
        return TensorType(tuple(shape), kind)
    own = scale(rng) / (128 if kind == "q i16" else 1) if s is None else s
    return quantized(shape, kind[2:], own, point(rng, kind))


def filled(rng: np.random.Generator, kind: TensorType, low: int = -50, high: int = 50) -> Array:
    """Values of a type; plain integers from ``low`` to ``high`` - 1."""
    if kind.is_quantized:
        return values(rng, kind)
    if kind.element == "i1":
        return rng.random(kind.shape) < 0.5
    if kind.is_float:
        return (rng.standard_normal(kind.shape) * 2.0 ** rng.uniform(-3, 4)).astype(kind.dtype)
    return rng.integers(low, high, kind.shape).astype(kind.dtype)


def shape(rng: np.random.Generator, low: int = 1, high: int = 5, size: int = 7) -> tuple[int, ...]:
    """A shape of rank ``low`` to ``high`` - 1 with extents below ``size``."""
    return tuple(int(n) for n in rng.integers(1, size, int(rng.integers(low, high))))


def pick(rng: np.random.Generator, table: dict[str, tuple[str, ...]]) -> tuple[str, str]:
    """An operator of a table and a kind that it takes."""
    operator = str(rng.choice(list(table)))
    return operator, str(rng.choice(table[operator]))


def unary(rng: np.random.Generator) -> Drawn:
    operator, kind = pick(rng, UNARY)
    drawn, x = Drawn(rng), typed(rng, kind, shape(rng))
    if operator in ("EXP",) and kind == "q i16":
        x = typed(rng, kind, x.shape, min(x.params.scale, 2.0**-9))
    y = typed(rng, kind, x.shape)
    if operator == "HARD_SWISH" and x.is_quantized:
        s_x = x.params.scale
        y = typed(rng, kind, x.shape, float(np.clip(y.params.scale, s_x / 127, s_x * 250)))
    array = filled(rng, x)
    if operator in ("SQRT", "RSQRT", "LOG"):
        array = np.maximum(array, x.params.zero_point) if x.is_quantized else np.abs(array) + np.float32(1e-6)
        array = array.astype(x.dtype)
    options: dict[str, Any] = {"Approximate": bool(rng.integers(0, 2))} if operator == "GELU" else {}
    options |= {"Alpha": float(np.float32(rng.uniform(-3, 3)))} if operator == "LEAKY_RELU" else {}
    source = drawn.source(x, array)
    drawn.model.op(operator, [source], [drawn.result(y)], **options)
    return drawn


def _pair(rng: np.random.Generator) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Two shapes that broadcast, and what they give."""
    whole = shape(rng)
    form = int(rng.integers(0, 4))
    if form == 0:
        return whole, whole, whole
    one = tuple(1 if rng.random() < 0.3 else n for n in whole)
    other = tuple(1 if rng.random() < 0.3 else n for n in whole)[int(rng.integers(0, len(whole))) :]
    if form == 1:
        one = whole
    return one, other, tuple(np.broadcast_shapes(one, other))


def binary(rng: np.random.Generator) -> Drawn:
    operator, kind = pick(rng, BINARY)
    drawn = Judged(rng)
    one, other, result = _pair(rng)
    if operator in ("ADD_N", "ATAN2"):
        one = other = result
    if operator == "PRELU":
        one = result
    a, b, y = typed(rng, kind, one), typed(rng, kind, other), typed(rng, kind, result)
    if kind.startswith("q "):
        a, b, y = _binary_types(rng, operator, kind, (a, b, y))
    arrays = [filled(rng, a), filled(rng, b)]
    if operator == "POW":
        arrays = [np.abs(arrays[0]) % 7, arrays[1] if a.is_float else np.abs(arrays[1]) % 5]
        arrays = [array.astype(a.dtype) for array in arrays]
    if operator in ("DIV", "FLOOR_DIV", "FLOOR_MOD"):
        zero = b.params.zero_point if b.is_quantized else 0
        arrays[1] = np.where(arrays[1] == zero, arrays[1] ^ 1 if b.is_quantized else 3, arrays[1])
        arrays[1] = arrays[1].astype(b.dtype)
    if operator == "DIV" and a.is_quantized:
        drawn.kept = _divided_right(arrays, a, b, y)
    target = TensorType(result, "i1") if operator in COMPARISONS else y
    options: dict[str, Any] = {}
    if operator in ("BITWISE_XOR", "RIGHT_SHIFT"):
        limits = np.iinfo(a.dtype)
        arrays[0] = rng.integers(limits.min, limits.max, a.shape, endpoint=True).astype(a.dtype)
        arrays[1] = (arrays[1] % 40 if limits.min == 0 else arrays[1]).astype(b.dtype)
    if operator in BOUNDED and a.element not in ("i64",):
        options["FusedActivationFunction"] = str(rng.choice(sorted(ACTIVATIONS)))
    if operator in ("ADD", "SUB") and kind == "q i16":
        options["PotScaleInt16"] = False
    operands = [drawn.source(t, array, n) for n, t, array in zip("ab", (a, b), arrays, strict=True)]
    drawn.model.op(operator, operands, [drawn.result(target)], **options)
    return drawn


def mul_fractions(rng: np.random.Generator) -> Drawn:
    """MUL of int16 with an 8-bit result; LiteRT's kernel does not broadcast."""
    drawn, whole, storage = Drawn(rng), shape(rng), str(rng.choice(["i8", "u8"]))
    a = quantized(whole, "i16", 2.0**-15)
    y = quantized(whole, storage, 2.0**-7, point(rng, f"q {storage}"))
    operands = [drawn.source(a, filled(rng, a), name) for name in "ab"]
    fused = str(rng.choice(sorted(ACTIVATIONS)))
    drawn.model.op("MUL", operands, [drawn.result(y)], FusedActivationFunction=fused)
    return drawn


def _binary_types(
    rng: np.random.Generator, operator: str, kind: str, types: tuple[TensorType, ...]
) -> tuple[TensorType, TensorType, TensorType]:
    """Parameters that LiteRT takes: results that fit."""
    a, b, y = types
    s_a, s_b = a.params.scale, b.params.scale
    if operator in ("MAXIMUM", "MINIMUM"):
        return a, TensorType(b.shape, a.element), TensorType(y.shape, a.element)
    spread = float(2.0 ** rng.uniform(-3, 6))
    s_y = {"MUL": s_a * s_b * 2.0 ** (14 if kind == "q i16" else 6) * spread, "DIV": s_a / s_b * spread}.get(
        operator, max(s_a, s_b) * spread
    )
    if operator == "SQUARED_DIFFERENCE":
        s_y = max(s_y, (2 * max(s_a, s_b)) ** 2 / 2**14 * 1.001)
    if operator in COMPARISONS:  # the kernel's steps are 2^-8; scales of 1 and more it cannot say
        a, b = (typed(rng, kind, t.shape, scale(rng, -8, -0.51)) for t in (a, b))
    return a, b, typed(rng, kind, y.shape, float(np.float32(np.clip(s_y, 2.0**-20, 2.0**10))))


def _divided_right(arrays: Sequence[Array], a: TensorType, b: TensorType, y: TensorType) -> Array:
    """LiteRT shifts by up to 40 in a 32-bit register: its small quotients are wrong, 0 / x is 1."""
    left, right = (
        np.broadcast_to(array.astype(np.int64) - kind.params.zero_point, y.shape)
        for array, kind in zip(arrays, (a, b), strict=True)
    )
    shift = headroom_of(np.where(right < 0, -left, left)) + np.floor(np.log2(np.abs(right)))
    shift = shift - div(a, b, y).shift
    return np.asarray((shift <= 31) & (shift >= 0))


def reduction(rng: np.random.Generator) -> Drawn:
    operator, kind = pick(rng, REDUCTIONS)
    drawn, x = Drawn(rng), typed(rng, kind, shape(rng))
    rank, keep = len(x.shape), bool(rng.integers(0, 2))
    if operator == "CUMSUM":
        axis = drawn.integers(int(rng.integers(-rank, rank)))
        options = {"Exclusive": bool(rng.integers(0, 2)), "Reverse": bool(rng.integers(0, 2))}
        source = drawn.source(x, filled(rng, x))
        drawn.model.op(operator, [source, axis], [drawn.result(x)], **options)
        return drawn
    most = 1 if operator == "REDUCE_PROD" else rank
    # LiteRT's quantized SUM over no axes reads past its input.
    least = 1 if rng.integers(0, 8) or (operator == "SUM" and x.is_quantized) else 0
    count = int(rng.integers(least, most + 1))
    axes = sorted(int(d) for d in rng.choice(rank, count, replace=False))
    kept = [1 if d in axes else n for d, n in enumerate(x.shape) if keep or d not in axes]
    y = typed(rng, kind, kept)
    if x.is_quantized and operator == "REDUCE_PROD":
        # scales whose products LiteRT keeps inside 32 bits
        x = typed(rng, kind, x.shape, scale(rng, -8, 0) / (128 if kind == "q i8" else 1 << 15))
        y = typed(rng, kind, kept, scale(rng, -8, 0))
    elif x.is_quantized and operator in ("REDUCE_MAX", "REDUCE_MIN"):
        y = TensorType(tuple(kept), x.element)
    elif x.is_quantized:
        y = typed(rng, kind, kept, float(np.float32(x.params.scale * 2.0 ** rng.uniform(-3, 3))))
    written = [d - rank if rng.integers(0, 2) else d for d in axes]
    source = drawn.source(x, filled(rng, x, -9, 9))
    drawn.model.op(operator, [source, drawn.integers(written)], [drawn.result(y)], KeepDims=keep)
    return drawn


def pool(rng: np.random.Generator) -> Drawn:
    operator, kind = pick(
        rng, dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D"), ("f32", "q i8", "q u8", "q i16"))
    )
    drawn, padding = Drawn(rng), str(rng.choice(["SAME", "VALID"]))
    window, strides, size = rng.integers(1, 5, 2), rng.integers(1, 4, 2), rng.integers(4, 9, 2)
    out = [same_padding(*axis, 1, padding)[0] for axis in zip(size, window, strides, strict=True)]
    channels, batch = int(rng.integers(1, 6)), int(rng.integers(1, 3))
    x = typed(rng, kind, (batch, *size.tolist(), channels))
    options: dict[str, Any] = {"StrideH": int(strides[0]), "StrideW": int(strides[1])}
    options |= {"FilterHeight": int(window[0]), "FilterWidth": int(window[1])}
    options |= {"Padding": padding, "FusedActivationFunction": str(rng.choice(sorted(ACTIVATIONS)))}
    source = drawn.source(x, filled(rng, x))
    y = TensorType((batch, *out, channels), x.element)
    drawn.model.op(operator, [source], [drawn.result(y)], **options)
    return drawn


def activation(rng: np.random.Generator) -> Drawn:
    """LOGISTIC, TANH and SOFTMAX with the results' own parameters."""
    operator, kind = pick(
        rng, dict.fromkeys(("LOGISTIC", "SOFTMAX", "TANH"), ("f32", "q i8", "q u8", "q i16"))
    )
    drawn = Drawn(rng)
    x = typed(rng, kind, shape(rng, size=20))
    y = x
    if x.is_quantized:
        storage = Storage.of(kind[2:])
        if kind == "q i16" and operator != "SOFTMAX":  # the kernel's range
            x = typed(rng, kind, x.shape, scale(rng, -16, -6))
        y = TensorType(x.shape, natural_params(operator.lower(), storage, storage))
    source = drawn.source(x, filled(rng, x))
    options = {"Beta": float(rng.choice([1.0, 0.5, 3.0]))} if operator == "SOFTMAX" else {}
    drawn.model.op(operator, [source], [drawn.result(y)], **options)
    return drawn


def normalization(rng: np.random.Generator) -> Drawn:
    operator, kind = pick(rng, dict.fromkeys(("LOG_SOFTMAX", "L2_NORMALIZATION"), ("f32", "q i8", "q u8")))
    drawn = Drawn(rng)
    x = typed(rng, kind, (int(rng.integers(1, 4)), int(rng.integers(1, 60))))
    y = x
    if x.is_quantized:
        y = TensorType(x.shape, normalized_params(operator.lower(), Storage.of(kind[2:])))
    source = drawn.source(x, filled(rng, x))
    drawn.model.op(operator, [source], [drawn.result(y)])
    return drawn


def local_response(rng: np.random.Generator) -> Drawn:
    drawn, x = Drawn(rng), TensorType(tuple(int(n) for n in rng.integers(1, 7, 4)), "f32")
    options = {"Radius": int(rng.integers(0, 5)), "Bias": float(rng.uniform(0.5, 2))}
    options |= {"Alpha": float(rng.uniform(0, 1)), "Beta": float(rng.choice([0.5, 0.75, 1.0]))}
    source = drawn.source(x, filled(rng, x))
    drawn.model.op("LOCAL_RESPONSE_NORMALIZATION", [source], [drawn.result(x)], **options)
    return drawn


def quantize(rng: np.random.Generator) -> Drawn:
    """QUANTIZE of floats, and from one set of parameters to another."""
    target = str(rng.choice(["q i8", "q u8", "q i16"]))
    source = str(
        rng.choice(
            {"q i8": ["f32", "q i8", "q u8", "q i16"], "q u8": ["f32", "q i8", "q u8"]}.get(
                target, ["f32", "q i16"]
            )
        )
    )
    drawn, y = Drawn(rng), typed(rng, target, shape(rng, size=12))
    x = typed(rng, source, y.shape)
    array = filled(rng, x)
    if x.is_float:
        span = y.params.storage.maximum - y.params.storage.minimum
        halves = rng.integers(-span, span, y.shape) + rng.choice([0.0, 0.5, -0.5, 0.3], y.shape)
        array = (halves * y.params.scale).astype(np.float32)
    drawn.model.op("QUANTIZE", [drawn.source(x, array)], [drawn.result(y)])
    return drawn


def dequantize(rng: np.random.Generator) -> Drawn:
    kind = str(rng.choice(["q i8", "q u8", "q i16"]))
    drawn, x = Drawn(rng), typed(rng, kind, shape(rng, size=12))
    source = drawn.source(x, filled(rng, x))
    drawn.model.op("DEQUANTIZE", [source], [drawn.result(TensorType(x.shape, "f32"))])
    return drawn


def convolution(rng: np.random.Generator) -> Drawn:
    """CONV_2D and DEPTHWISE_CONV_2D with 8-bit or float weights."""
    kind, depthwise = str(rng.choice(["f32", "q i8", "q u8"])), bool(rng.integers(0, 2))
    drawn, padding = Drawn(rng), str(rng.choice(["SAME", "VALID"]))
    channels, each = int(rng.integers(1, 7)), int(rng.integers(1, 4))
    outputs = channels * each if depthwise else int(rng.integers(1, 7))
    kernel, strides, dilations = rng.integers(1, 4, 2), rng.integers(1, 3, 2), rng.integers(1, 3, 2)
    size = (kernel - 1) * dilations + 1 + rng.integers(0, 5, 2)
    axes = [same_padding(*a, padding) for a in zip(size, kernel, strides, dilations, strict=True)]
    x = typed(rng, kind, (int(rng.integers(1, 3)), *size.tolist(), channels))
    form = (1, *kernel.tolist(), outputs) if depthwise else (outputs, *kernel.tolist(), channels)
    terms = int(kernel.prod()) * (1 if depthwise else channels)
    w, b, y = _weighted(drawn, kind, x, form, 3 if depthwise else 0, terms)
    options: dict[str, Any] = {"StrideH": int(strides[0]), "StrideW": int(strides[1]), "Padding": padding}
    options |= {"DilationHFactor": int(dilations[0]), "DilationWFactor": int(dilations[1])}
    options |= {"FusedActivationFunction": str(rng.choice(sorted(ACTIVATIONS)))}
    options |= {"DepthMultiplier": each} if depthwise else {}
    result = TensorType((x.shape[0], axes[0][0], axes[1][0], outputs), y.element)
    source = drawn.source(x, filled(rng, x))
    operator = "DEPTHWISE_CONV_2D" if depthwise else "CONV_2D"
    drawn.model.op(operator, [source, w, b], [drawn.result(result)], **options)
    return drawn


def _weighted(
    drawn: Drawn, kind: str, x: TensorType, form: tuple[int, ...], axis: int, terms: int
) -> tuple[int, int, TensorType]:
    """Constants for weights and biases (per channel for int8), and a fitting scalar result type."""
    rng, outputs = drawn.rng, form[axis]
    if kind == "f32":
        w = drawn.model.constant("w", rng.standard_normal(form).astype(np.float32))
        b = drawn.model.constant("b", rng.standard_normal(outputs).astype(np.float32))
        return w, b, TensorType((), "f32")
    count = outputs if kind == "q i8" else 1
    s_w = np.asarray([scale(rng, -9, -3) for _ in range(count)], np.float32)
    zero = int(rng.integers(0, 256)) if kind == "q u8" else 0
    amplitude = int(rng.choice([2, 30, 127]))
    data = np.clip(zero + rng.integers(-amplitude, amplitude + 1, form), -127 if kind == "q i8" else 0, 255)
    dtype = np.int8 if kind == "q i8" else np.uint8
    w = drawn.model.constant("w", data.astype(dtype), scales=s_w, zero_points=zero, axis=axis)
    bias = rng.integers(-100 * amplitude, 100 * amplitude + 1, outputs).astype(np.int32)
    b = drawn.model.constant("b", bias, scales=np.float32(x.params.scale) * s_w)
    fitting = x.params.scale * float(s_w.mean()) * amplitude * np.sqrt(terms) * 2.0 ** rng.uniform(-2, 3)
    return w, b, typed(rng, kind, (), float(np.float32(max(fitting, 2.0**-27))))


def fully_connected(rng: np.random.Generator) -> Drawn:
    kind = str(rng.choice(["f32", "q i8", "q u8"]))
    drawn, depth, outputs = Drawn(rng), int(rng.integers(1, 70)), int(rng.integers(1, 20))
    x = typed(rng, kind, (int(rng.integers(1, 5)), depth))
    w, b, y = _weighted(drawn, kind, x, (outputs, depth), 0, depth)
    source = drawn.source(x, filled(rng, x))
    inputs = [source, w, b] if rng.integers(0, 4) else [source, w, -1]
    result = drawn.result(TensorType((x.shape[0], outputs), y.element))
    fused = str(rng.choice(sorted(ACTIVATIONS)))
    drawn.model.op("FULLY_CONNECTED", inputs, [result], FusedActivationFunction=fused)
    return drawn


def shape_of(rng: np.random.Generator) -> Drawn:
    """SHAPE and RANK, which are known at import, beside a value that is not."""
    drawn, x = Drawn(rng), typed(rng, str(rng.choice(["f32", "q i8", "q u8", "i32"])), shape(rng))
    source = drawn.source(x, filled(rng, x))
    operator = str(rng.choice(["RANK", "SHAPE"]))
    result = TensorType((len(x.shape),) if operator == "SHAPE" else (), "i32")
    drawn.model.op(
        operator, [source], [drawn.result(result)], **({"OutType": 2} if operator == "SHAPE" else {})
    )
    return drawn


def batch_matmul(rng: np.random.Generator) -> Drawn:
    """Two factors that are not constants."""
    kind, drawn = str(rng.choice(["f32", "q i8", "q i16"])), Drawn(rng)
    batch, rows, depth, columns = (int(n) for n in rng.integers(1, (4, 6, 40, 9)))
    adj_x, adj_y = (bool(v) for v in rng.integers(0, 2, 2))
    a = typed(rng, kind, (batch, depth, rows) if adj_x else (batch, rows, depth))
    b = typed(rng, kind, (batch, columns, depth) if adj_y else (batch, depth, columns))
    y = typed(rng, kind, (batch, rows, columns))
    if a.is_quantized:
        wide = 8 if kind == "q i16" else 0
        product = a.params.scale * b.params.scale * np.sqrt(depth) * 2.0 ** (rng.uniform(4, 9) + wide)
        y = typed(rng, kind, y.shape, float(np.float32(product)))
    operands = [drawn.source(t, filled(rng, t), n) for n, t in zip("ab", (a, b), strict=True)]
    drawn.model.op("BATCH_MATMUL", operands, [drawn.result(y)], AdjX=adj_x, AdjY=adj_y)
    return drawn


MODELS: dict[str, Callable[[np.random.Generator], Drawn]] = {
    maker.__name__: maker
    for maker in (
        activation,
        batch_matmul,
        binary,
        convolution,
        dequantize,
        fully_connected,
        local_response,
        mul_fractions,
        normalization,
        pool,
        quantize,
        reduction,
        shape_of,
        unary,
    )
}
"""Name -> a function that draws a model with inputs."""
