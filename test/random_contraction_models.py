"""Random one-operator models of contractions other than plain convolutions with constant weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from drawn_model import Drawn
from random_arithmetic_models import filled, scale, typed
from random_tensors import Array, floating, quantized, same_padding
from tflite_builder import ACTIVATIONS
from zeropoint.dialect.types import TensorType

_COMPUTED = ("f32", "q i8", "q u8", "q i16", "hybrid")


def _fused(rng: np.random.Generator) -> str:
    return str(rng.choice(sorted(ACTIVATIONS)))


def _two(rng: np.random.Generator, low: int, high: int) -> list[int]:
    return [int(n) for n in rng.integers(low, high, 2)]


def computed_weights(rng: np.random.Generator) -> Drawn:
    """CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED whose weights, and perhaps biases, are inputs."""
    operator = str(rng.choice(["CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"]))
    # LiteRT's hybrid depthwise kernel looks for a scale per channel, where these weights have one for all.
    depthwise = operator == "DEPTHWISE_CONV_2D"
    drawn, kind = Drawn(rng), str(rng.choice(_COMPUTED[: -1 if depthwise else None]))
    channels, outputs = _two(rng, 1, 7)
    options: dict[str, Any] = {"FusedActivationFunction": _fused(rng)}
    if operator == "FULLY_CONNECTED":
        shape: tuple[int, ...] = (int(rng.integers(1, 5)), channels * 5)
        form: tuple[int, ...] = (outputs, channels * 5)
        result: tuple[int, ...] = (shape[0], outputs)
        terms = channels * 5
    else:
        kernel, strides, size = _two(rng, 1, 4), _two(rng, 1, 3), _two(rng, 4, 8)
        padding = str(rng.choice(["SAME", "VALID"]))
        out = [same_padding(*a, 1, padding)[0] for a in zip(size, kernel, strides, strict=True)]
        each = int(rng.integers(1, 4))
        outputs = channels * each if depthwise else outputs
        shape = (int(rng.integers(1, 3)), *size, channels)
        form = (1, *kernel, outputs) if depthwise else (outputs, *kernel, channels)
        result, terms = (shape[0], *out, outputs), kernel[0] * kernel[1] * (1 if depthwise else channels)
        options |= {"Padding": padding, "StrideH": strides[0], "StrideW": strides[1]}
        options |= {"DepthMultiplier": each} if depthwise else {}
    inputs, y = _operands(drawn, kind, shape, form, outputs, terms)
    drawn.model.op(operator, inputs, [drawn.result(TensorType(result, y.element))], **options)
    return drawn


def _operands(
    drawn: Drawn, kind: str, shape: tuple[int, ...], form: tuple[int, ...], outputs: int, terms: int
) -> tuple[list[int], TensorType]:
    """Input, weights and biases, and a fitting scalar result type."""
    rng, weights = drawn.rng, {"f32": "f32", "q u8": "u8"}.get(kind, "i8")
    x = typed(rng, "f32" if kind == "hybrid" else kind, shape)
    source = drawn.source(x, filled(rng, x))
    if kind == "f32":
        w, b, y = floating(form), floating((outputs,)), floating(())
        w_array, b_array = filled(rng, w), filled(rng, b)
    else:
        s_w = scale(rng, -9, -3)
        w = quantized(form, weights, s_w, int(rng.integers(0, 256)) if weights == "u8" else 0)
        low, high = (0, 256) if weights == "u8" else (-127, 128)
        w_array = rng.integers(low, high, form).astype(w.dtype)
        y, b = floating(()), floating((outputs,))
        b_array = filled(rng, b)
    if x.is_quantized:
        product = float(np.float32(x.params.scale) * np.float32(s_w))
        wide = kind == "q i16"
        b = TensorType((outputs,), "i64") if wide else quantized((outputs,), "i32", product)
        b_array = rng.integers(-4000, 4000, (outputs,)).astype(b.dtype)
        fitting = product * 60 * (100 if wide else 1) * np.sqrt(terms) * 2.0 ** rng.uniform(-2, 3)
        y = typed(rng, kind, (), float(np.float32(max(fitting, 2.0**-27))))
    operands = [source, drawn.source(w, w_array, "w")]
    without = len(form) == 2 and not rng.integers(0, 4)
    operands.append(-1 if without else drawn.maybe_constant(b, b_array))
    return operands, y


def batch_matmul_integers(rng: np.random.Generator) -> Drawn:
    """Accumulators as results."""
    drawn = Drawn(rng)
    batch, rows, depth, columns = (int(n) for n in rng.integers(1, (4, 6, 40, 9)))
    adj_x, adj_y = (bool(v) for v in rng.integers(0, 2, 2))
    shapes = [(batch, depth, rows) if adj_x else (batch, rows, depth)]
    shapes.append((batch, columns, depth) if adj_y else (batch, depth, columns))
    plain, scales = bool(rng.integers(0, 2)), [scale(rng, -8, 0), scale(rng, -8, 0)]
    arrays = [rng.integers(-128, 128, shape).astype(np.int8) for shape in shapes]
    kinds = [
        TensorType(shape, "i8") if plain else quantized(shape, "i8", s)
        for shape, s in zip(shapes, scales, strict=True)
    ]
    y = (batch, rows, columns)
    result = TensorType(y, "i32") if plain else quantized(y, "i32", float(np.float32(scales[0] * scales[1])))
    operands = [drawn.source(kinds[0], arrays[0], "a"), drawn.maybe_constant(kinds[1], arrays[1])]
    drawn.model.op("BATCH_MATMUL", operands, [drawn.result(result)], AdjX=adj_x, AdjY=adj_y)
    return drawn


def batch_matmul_hybrid(rng: np.random.Generator) -> Drawn:
    """Floats times int8 weights, one matrix or one per batch."""
    drawn = Drawn(rng)
    batch, rows, depth, columns = (int(n) for n in rng.integers(1, (4, 6, 40, 9)))
    adj_x, adj_y = (bool(v) for v in rng.integers(0, 2, 2))
    outer = [(batch,), (1,), ()][int(rng.integers(0, 3))]
    a = floating((batch, depth, rows) if adj_x else (batch, rows, depth))
    b = quantized((*outer, columns, depth) if adj_y else (*outer, depth, columns), "i8", scale(rng, -8, 0))
    weights = rng.integers(-127, 128, b.shape).astype(np.int8)
    operands = [drawn.source(a, filled(rng, a), "a"), drawn.maybe_constant(b, weights)]
    options = {"AdjX": adj_x, "AdjY": adj_y, "AsymmetricQuantizeInputs": bool(rng.integers(0, 2))}
    drawn.model.op("BATCH_MATMUL", operands, [drawn.result(floating((batch, rows, columns)))], **options)
    return drawn


def conv_3d(rng: np.random.Generator) -> Drawn:
    """CONV_3D and CONV_3D_TRANSPOSE."""
    drawn, transposed = Drawn(rng), bool(rng.integers(0, 2))
    batch, channels, outputs = (int(n) for n in rng.integers(1, (3, 5, 5)))
    kernel, strides, padding = (
        rng.integers(1, 4, 3),
        rng.integers(1, 4, 3),
        str(rng.choice(["SAME", "VALID"])),
    )
    options: dict[str, Any] = {"Padding": padding, "FusedActivationFunction": _fused(rng)}
    options |= dict(zip(("StrideD", "StrideH", "StrideW"), strides.tolist(), strict=True))
    if transposed:
        size = rng.integers(1, 4, 3)
        out = (size - 1) * strides + (1 if padding == "SAME" else kernel) + rng.integers(0, strides)
        form = (*kernel.tolist(), outputs, channels)
        options["FusedActivationFunction"] = "NONE"  # LiteRT's kernel has none
    else:
        dilations = rng.integers(1, 4, 3)
        span = (kernel - 1) * dilations + 1
        size = span + rng.integers(0, 4, 3)
        out = -(-size // strides) if padding == "SAME" else (size - span) // strides + 1
        form = (*kernel.tolist(), channels, outputs)
        names = ("DilationDFactor", "DilationHFactor", "DilationWFactor")
        options |= dict(zip(names, dilations.tolist(), strict=True))
    result = (batch, *out.tolist(), outputs)
    before = [drawn.integers(result)] if transposed else []
    x = floating((batch, *size.tolist(), channels))
    w = drawn.model.constant("w", rng.standard_normal(form).astype(np.float32))
    source = drawn.source(x, rng.standard_normal(x.shape).astype(np.float32))
    inputs = [*before, w, source] if transposed else [source, w]
    if rng.integers(0, 2):
        inputs.append(drawn.model.constant("b", rng.standard_normal(outputs).astype(np.float32)))
    operator = "CONV_3D_TRANSPOSE" if transposed else "CONV_3D"
    drawn.model.op(operator, inputs, [drawn.result(floating(result))], **options)
    return drawn


def transpose_conv(rng: np.random.Generator) -> Drawn:
    """Kernels smaller and larger than the stride."""
    drawn, kind = Drawn(rng), str(rng.choice(["f32", "q i8", "q u8", "q i16", "hybrid"]))
    batch, channels, outputs = (int(n) for n in rng.integers(1, (3, 6, 6)))
    size, kernel, strides = rng.integers(1, 6, 2), rng.integers(1, 6, 2), rng.integers(1, 4, 2)
    padding = str(rng.choice(["SAME", "VALID"]))
    out = (size - 1) * strides + (1 if padding == "SAME" else kernel) + rng.integers(0, strides)
    result, form = (batch, *out.tolist(), outputs), (outputs, *kernel.tolist(), channels)
    x = typed(rng, "f32" if kind == "hybrid" else kind, (batch, *size.tolist(), channels))
    order = drawn.integers(result)
    w, b, y = _constants(drawn, kind, x, form)
    inputs = [order, w, drawn.source(x, filled(rng, x)), *([b] if rng.integers(0, 2) else [])]
    options = {"Padding": padding, "StrideH": int(strides[0]), "StrideW": int(strides[1])}
    results = [drawn.result(TensorType(result, y.element))]
    drawn.model.op("TRANSPOSE_CONV", inputs, results, FusedActivationFunction=_fused(rng), **options)
    return drawn


def _constants(drawn: Drawn, kind: str, x: TensorType, form: tuple[int, ...]) -> tuple[int, int, TensorType]:
    """Weights and biases, per channel but for uint8, and a fitting scalar result type."""
    rng, outputs = drawn.rng, form[0]
    bias: Array = rng.standard_normal(outputs).astype(np.float32)
    if kind == "f32":
        w = drawn.model.constant("w", rng.standard_normal(form).astype(np.float32))
        return w, drawn.model.constant("b", bias), floating(())
    s_w = np.asarray([scale(rng, -9, -3) for _ in range(1 if kind == "q u8" else outputs)], np.float32)
    low, high, zero = (0, 256, 117) if kind == "q u8" else (-127, 128, 0)
    data = rng.integers(low, high, form).astype(np.uint8 if kind == "q u8" else np.int8)
    w = drawn.model.constant("w", data, scales=s_w, zero_points=zero)
    if kind == "hybrid":
        return w, drawn.model.constant("b", bias), floating(())
    bias = rng.integers(-5000, 5000, outputs).astype(np.int64 if kind == "q i16" else np.int32)
    b = drawn.model.constant("b", bias, scales=np.float32(x.params.scale) * s_w)
    wide = 100 if kind == "q i16" else 1
    fitting = x.params.scale * float(s_w.mean()) * 60 * wide * np.sqrt(form[-1]) * 2.0 ** rng.uniform(0, 4)
    return w, b, typed(rng, kind, (), float(np.float32(max(fitting, 2.0**-27))))


MODELS: dict[str, Callable[[np.random.Generator], Drawn]] = {
    maker.__name__: maker
    for maker in (
        batch_matmul_hybrid,
        batch_matmul_integers,
        computed_weights,
        conv_3d,
        transpose_conv,
    )
}
"""Name -> a function that draws a model with inputs."""
