"""The plain constants of each op's integer arithmetic, derived from tensor types.

The numpy meaning, the lowering to linalg/arith and ``zeropoint inspect`` all read these, so that there is one
place where scales become multipliers. Notation: ``q`` stored integer, ``z`` zero point, ``s`` scale; ``[a,
b]`` clamps. What is done with the constants stands in :mod:`.op_constants`.

Scales arrive as Python floats that hold float32 values exactly. Where a kernel multiplies or divides scales
in float32 before it widens them, the function's docstring says so; everything else is float64.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from . import fixed_point as fx
from .fixed_point import Ints
from .numerics import XNNPACK_ROUNDINGS, Rounding, rule
from .op_constants import (
    Contraction,
    FloatMean,
    FloatRescale,
    Mean,
    Product,
    Requantize,
    Rescale,
    ShiftSum,
    Sum,
)
from .types import QuantParams, Storage, TensorType

__all__ = [
    "Contraction",
    "FloatMean",
    "FloatRescale",
    "Mean",
    "Product",
    "Requantize",
    "Rescale",
    "ShiftSum",
    "Sum",
    "add",
    "batch_matmul",
    "clamp",
    "clamp_bounds",
    "concat_input",
    "conv2d",
    "folded_bias",
    "fully_connected",
    "integer_bounds",
    "make_rescale",
    "mean",
    "mul",
    "requantize",
    "stored_value",
]

_FLOAT32_MAX = float(np.finfo(np.float32).max)

Clamp: TypeAlias = Sequence[float]
"""A fused activation in real values: empty (none) or ``(low, high)``, infinities allowed."""


def clamp_bounds(
    params: QuantParams, clamp: Clamp = (), rounding: Rounding = Rounding.DOUBLE
) -> tuple[int, int]:
    """The stored range of a result: its storage bounds, narrowed by ``clamp``.

    A finite bound ``f`` becomes ``z + round_half_away(f32(f) / f32(s))`` (float32 division). Where the op has
    one of XNNPACK's roundings it is ``round_half_even(f32(f) / f32(s) + f32(z))``.
    """
    low, high = params.storage.minimum, params.storage.maximum
    if not clamp:
        return low, high
    # Both bounds stay inside the storage range, even those of an activation that lies wholly outside of it.
    first, last = (min(max(_bound(bound, params, rounding), low), high) for bound in clamp)
    return first, last


def integer_bounds(element: str | QuantParams, clamp: Clamp = ()) -> tuple[int, int]:
    """The range of an ordinary integer type, narrowed by a fused activation."""
    storage = Storage.of(str(element))
    low, high = clamp or (-math.inf, math.inf)
    return math.ceil(max(low, storage.minimum)), math.floor(min(high, storage.maximum))


def _bound(bound: float, params: QuantParams, rounding: Rounding) -> int:
    with np.errstate(over="ignore"):
        steps = np.float32(bound) / np.float32(params.scale)
    if np.isinf(steps):
        return params.storage.minimum if steps < 0 else params.storage.maximum
    if rounding in XNNPACK_ROUNDINGS:
        return int(np.rint(steps + np.float32(params.zero_point)))
    return params.zero_point + fx.round_half_away(float(steps))


def stored_value(params: QuantParams, real: float) -> int:
    """The stored integer of a constant ``real``: ``z + round_half_away(f32(real) / f32(s))``, saturated."""
    return min(max(_bound(real, params, Rounding.DOUBLE), params.storage.minimum), params.storage.maximum)


def conv2d(
    input: TensorType,
    filter: TensorType,
    result: TensorType,
    clamp: Clamp = (),
    mode: str = "reference",
    bias: TensorType | None = None,
) -> Contraction:
    """Constants of conv2d (filter ``[O, KH, KW, I/groups]``, axis 0).

    scale[c] = s_x * s_w[c] / s_y in float64; a uint8 filter keeps the legacy rule, ``s_x * s_w`` rounded to
    float32 first (the input's storage does not matter: relabelling it changes nothing). ``xnnpack``: every
    step in float32. A ``bias`` of int64 makes the accumulator int64, whose multiplier is cut to Q15.
    """
    legacy = filter.params.storage.name == "u8"
    rounding = rule(mode, "conv2d", input.params.storage.bits)
    if is_wide(bias):
        rounding = Rounding.Q15_HALF_UP
    return _contraction(input, filter, result, clamp, rounding, legacy)


def is_wide(bias: TensorType | None) -> bool:
    """Whether a contraction with this bias accumulates in int64."""
    return bias is not None and bias.element == "i64"


def fully_connected(
    input: TensorType,
    filter: TensorType,
    result: TensorType,
    clamp: Clamp = (),
    mode: str = "reference",
    bias: TensorType | None = None,
) -> Contraction:
    """Constants of fully_connected (filter ``[N, K]``, axis 0): scale[c] = s_x * s_w[c] / s_y in float64.

    A 32-bit result with the accumulator's own scale is not rescaled. ``xnnpack``: every step in float32. An
    int64 accumulator (that is, ``bias``) is rounded as one of int32 is.
    """
    return _contraction(
        input, filter, result, clamp, rule(mode, "fully_connected", input.params.storage.bits)
    )


def batch_matmul(
    lhs: TensorType, rhs: TensorType, result: TensorType, mode: str = "reference"
) -> Contraction:
    """Constants of batch_matmul: scale = s_lhs * s_rhs, rounded to *float32*, / s_y.

    The accumulator of an int16 ``lhs`` is int64, and its multiplier cut to Q15.
    """
    bits = lhs.params.storage.bits
    rounding = Rounding.Q15_HALF_UP if bits == 16 else rule(mode, "batch_matmul", bits)
    return _contraction(lhs, rhs, result, (), rounding, legacy=True)


def _contraction(
    input: TensorType,
    filter: TensorType,
    result: TensorType,
    clamp: Clamp,
    rounding: Rounding,
    legacy: bool = False,
) -> Contraction:
    s_x, s_y = input.params.scale, result.params.scale
    if result.params.storage.bits == 32 and all(fx.float32(s_x * s_w) == s_y for s_w in filter.params.scales):
        scales = [1.0] * len(filter.params.scales)
    elif rounding is Rounding.FLOAT32_HALF_EVEN:
        scales = [_float32_scale(s_x, s_w, s_y) for s_w in filter.params.scales]
    elif legacy:
        scales = [fx.float32(s_x * s_w) / s_y for s_w in filter.params.scales]
    else:
        scales = [s_x * s_w / s_y for s_w in filter.params.scales]
    rescale = make_rescale(scales, result.params, clamp, rounding)
    return Contraction(input.params.zero_point, filter.params.zero_points, rescale)


def _float32_scale(s_x: float, s_w: float, s_y: float) -> float:
    """``s_x * s_w / s_y`` with each step rounded to float32."""
    with np.errstate(over="ignore", under="ignore"):
        return float(np.float32(s_x) * np.float32(s_w) / np.float32(s_y))


def _float32_ratio(s_x: float, s_y: float) -> float:
    """``s_x / s_y`` rounded to float32."""
    with np.errstate(over="ignore", under="ignore"):
        return float(np.float32(s_x) / np.float32(s_y))


def folded_bias(
    filter: npt.NDArray[np.generic], bias: npt.NDArray[np.generic] | None, constants: Contraction
) -> Ints:
    """int32 (of an int64 bias: int64) ``[O]``: the bias with the input's zero point folded in, ``b[o] - z_x *
    sum_k (w[o, k] - z_w[o])``.

    With it ``acc = sum_k q_x * (q_w - z_w) + folded_bias`` over *stored* inputs, borders padded with ``z_x``.
    """
    weights = np.asarray(filter, dtype=np.int64).reshape(filter.shape[0], -1)
    centred = weights.sum(axis=1) - weights.shape[1] * np.asarray(
        constants.filter_zero_points, dtype=np.int64
    )
    start = np.zeros(filter.shape[0], np.int64) if bias is None else np.asarray(bias, dtype=np.int64)
    folded: Ints = start - constants.input_zero_point * centred
    return folded if bias is not None and bias.dtype == np.int64 else fx.wrap_int32(folded)


def requantize(
    input: TensorType, result: TensorType, clamp: Clamp = (), mode: str = "reference"
) -> Requantize:
    """Constants of requantize between per-tensor types: scale = s_x / s_y in float64.

    ``xnnpack``: between 8-bit storages of one signedness with a ratio (in float32) in ``[2^-8, 2^7]``, the
    multiplier is ``round_half_even(256 * ratio)`` 256ths; other requantizes keep the reference's rule.
    """
    scale, z_x = input.params.scale / result.params.scale, input.params.zero_point
    rounding = rule(mode, "requantize", max(input.params.storage.bits, result.params.storage.bits))
    if rounding is not Rounding.SINGLE_HALF_UP:
        return Requantize(z_x, make_rescale([scale], result.params, clamp, rounding))
    ratio = _float32_ratio(input.params.scale, result.params.scale)
    if input.params.storage.signed != result.params.storage.signed or not 2.0**-8 <= ratio <= 2.0**7:
        return Requantize(z_x, make_rescale([scale], result.params, clamp, Rounding.DOUBLE))
    bounds, factor = clamp_bounds(result.params, clamp, rounding), int(np.rint(256 * ratio))
    return Requantize(z_x, Rescale(rounding, (ratio,), (factor,), (23,), result.params.zero_point, *bounds))


def clamp(input: TensorType, result: TensorType, bounds: Clamp, mode: str = "reference") -> Requantize:
    """Constants of the clamp op (RELU and its family): scale = s_x / s_y in *float32*."""
    scale = _float32_ratio(input.params.scale, result.params.scale)
    rescale = make_rescale([scale], result.params, bounds, rule(mode, "clamp"))
    return Requantize(input.params.zero_point, rescale)


def concat_input(input: TensorType, result: TensorType, mode: str = "reference") -> FloatRescale | Requantize:
    """Constants that bring one input of concat to the result's parameters, if they differ.

    uint8 to uint8: scale = s_x * (1 / s_y), offset = -z_x * scale, every step in float32; else those of
    requantize.
    """
    if input.params.storage.name != "u8" or result.params.storage.name != "u8":
        return requantize(input, result, (), mode)
    scale = np.float32(input.params.scale) * (np.float32(1.0) / np.float32(result.params.scale))
    offset = np.float32(-input.params.zero_point) * scale
    return FloatRescale(float(scale), float(offset), result.params.zero_point, *clamp_bounds(result.params))


def add(
    lhs: TensorType, rhs: TensorType, result: TensorType, clamp: Clamp = (), mode: str = "reference"
) -> Sum | ShiftSum:
    """Constants of add and sub. ``left_shift`` is 20 for 8-bit storage, 15 for 16-bit; scales in float64.

    lhs scale s_lhs / T, rhs scale s_rhs / T, output scale T / (2^left_shift * s_y), T = 2 * max(s_lhs,
    s_rhs). ``xnnpack``: see :func:`_shift_sum`, if s_lhs / s_y and s_rhs / s_y (in float32) are in ``[2^-10,
    2^8)``.
    """
    rounding = rule(mode, "add", result.params.storage.bits)
    if rounding is Rounding.SINGLE_HALF_UP:
        ratios = [_float32_ratio(kind.params.scale, result.params.scale) for kind in (lhs, rhs)]
        if all(2.0**-10 <= ratio < 2.0**8 for ratio in ratios):
            return _shift_sum(lhs, rhs, result, clamp, ratios)
        rounding = Rounding.DOUBLE
    left_shift = 15 if result.params.storage.bits == 16 else 20
    twice_max = 2 * max(lhs.params.scale, rhs.params.scale)
    lhs_multiplier, lhs_shift = fx.quantize_multiplier(lhs.params.scale / twice_max)
    rhs_multiplier, rhs_shift = fx.quantize_multiplier(rhs.params.scale / twice_max)
    # Beyond 2^30 every non-zero sum saturates anyway, and a larger left shift would lose it.
    scale = min(twice_max / (float(1 << left_shift) * result.params.scale), float(1 << 29))
    output = make_rescale([scale], result.params, clamp, rounding)
    shift = output.shifts[0]
    return Sum(
        left_shift,
        lhs.params.zero_point,
        lhs_multiplier,
        lhs_shift,
        rhs.params.zero_point,
        rhs_multiplier,
        rhs_shift,
        fx.INT32_MAX >> shift if shift > 0 else None,
        output,
    )


def _shift_sum(
    lhs: TensorType, rhs: TensorType, result: TensorType, clamp: Clamp, ratios: Sequence[float]
) -> ShiftSum:
    """factor = round_half_even(ratio * 2^shift), shift = 20 - floor(log2(max(ratios)))."""
    shift = 21 - math.frexp(max(ratios))[1]
    lhs_factor, rhs_factor = (int(np.rint(math.ldexp(ratio, shift))) for ratio in ratios)
    low, high = clamp_bounds(result.params, clamp, Rounding.SINGLE_HALF_UP)
    return ShiftSum(
        lhs.params.zero_point,
        lhs_factor,
        rhs.params.zero_point,
        rhs_factor,
        shift,
        result.params.zero_point,
        low,
        high,
    )


def mul(
    lhs: TensorType, rhs: TensorType, result: TensorType, clamp: Clamp = (), mode: str = "reference"
) -> Product:
    """Constants of mul: scale = s_lhs * s_rhs / s_y, each step in *float32*.

    ``xnnpack`` takes scales in ``[2^-16, 2^8)``; others keep the reference's rule.
    """
    scale = _float32_scale(lhs.params.scale, rhs.params.scale, result.params.scale)
    rounding = rule(mode, "mul", result.params.storage.bits)
    if rounding is Rounding.FLOAT32_HALF_EVEN and not 2.0**-16 <= scale < 2.0**8:
        rounding = Rounding.DOUBLE
    output = make_rescale([scale], result.params, clamp, rounding)
    return Product(lhs.params.zero_point, rhs.params.zero_point, output)


def mean(input: TensorType, result: TensorType, count: int, mode: str = "reference") -> Mean | FloatMean:
    """Constants of mean over ``count`` elements: scale = s_x / s_y in float64, ``1 / count`` in the
    multiplier.

    ``f = min(floor(log2(count)), 32, 31 + shift)``; ``multiplier = floor((multiplier << f) / count)``,
    ``shift -= f``. ``xnnpack``: scale = (s_x / s_y) * (1 / count), offset = z_y - (z_x * count) * scale,
    every step in float32; where that overflows, the reference's rule.
    """
    z_x, z_y = input.params.zero_point, result.params.zero_point
    low, high = clamp_bounds(result.params)
    rounding = rule(mode, "mean", result.params.storage.bits)
    if rounding is Rounding.FLOAT32_HALF_EVEN:
        ratio = np.float32(_float32_ratio(input.params.scale, result.params.scale))
        factor = ratio * (np.float32(1.0) / np.float32(count))
        with np.errstate(over="ignore", invalid="ignore"):
            offset = np.float32(z_y) - np.float32(z_x * count) * factor
        if np.isfinite(offset):
            return FloatMean(count, float(factor), float(offset), low, high)
        rounding = Rounding.DOUBLE
    scale = input.params.scale / result.params.scale
    multiplier, shift = fx.quantize_multiplier(scale)
    fold = min(count.bit_length() - 1, 32, 31 + shift)
    folded = (multiplier << fold) // count
    return Mean(
        count, count * z_x, Rescale(rounding, (scale / count,), (folded,), (shift - fold,), z_y, low, high)
    )


def make_rescale(scales: Sequence[float], target: QuantParams, clamp: Clamp, rounding: Rounding) -> Rescale:
    """A :class:`Rescale` by ``scales`` into ``target``'s storage.

    Under the float32 rule an infinite scale is the largest float32, so that a zero stays zero and the rest
    saturates.
    """
    if rounding is Rounding.FLOAT32_HALF_EVEN:
        scales = [min(scale, _FLOAT32_MAX) for scale in scales]
    multipliers, shifts = fx.quantize_multipliers(scales)
    low, high = clamp_bounds(target, clamp, rounding)
    return Rescale(
        Rounding.EXACT if all(scale == 1.0 for scale in scales) else rounding,
        tuple(scales),
        multipliers,
        shifts,
        target.zero_point,
        low,
        high,
    )
