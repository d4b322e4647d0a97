"""The plain constants of each op's integer arithmetic, derived from tensor types.

The numpy meaning, the lowering to linalg/arith and ``zeropoint inspect`` all read these, so that there is one
place where scales become multipliers. Notation: ``q`` stored integer, ``z`` zero point, ``s`` scale; ``[a,
b]`` clamps.

Scales arrive as Python floats that hold float32 values exactly. Where a kernel multiplies or divides scales
in float32 before it widens them, the function's docstring says so; everything else is float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import fixed_point as fx
from .fixed_point import Ints
from .numerics import Rounding, rule
from .types import QuantParams, TensorType

Clamp = Sequence[float]
"""A fused activation in real values: empty (none) or ``(low, high)``, infinities allowed."""


@dataclass(frozen=True)
class Rescale:
    """From an int32 accumulator to the result's storage: ``[low, high](round(acc * scale) + zero_point)``.

    ``scales``, ``multipliers`` and ``shifts`` have one entry (per-tensor) or one per result channel (the last
    axis of the accumulator). Which are applied, and how, is ``rounding``'s matter:

    * ``EXACT``: ``acc`` (every scale is one);
    * ``DOUBLE``: ``rdivpot(srdhm(int32(acc << max(shift, 0)), multiplier), max(-shift, 0))``;
    * ``ONCE_HALF_AWAY``: ``round_half_away(f64(acc) * scale)``;
    * ``FLOAT32_HALF_EVEN``: ``round_half_even(f32(acc) * f32(scale))``.

    Every rule saturates before the zero point is added, except that ``acc << shift`` of ``DOUBLE`` wraps at
    32 bits.
    """

    rounding: Rounding
    scales: tuple[float, ...]
    multipliers: tuple[int, ...]
    shifts: tuple[int, ...]
    zero_point: int
    low: int
    high: int

    def apply(self, accumulator: npt.ArrayLike) -> Ints:
        """Stored integers (int64) of an int32 accumulator whose last axis is the channel, if there is more
        than one scale.
        """
        acc = np.asarray(accumulator, dtype=np.int64)
        return np.clip(self.multiply(acc) + self.zero_point, self.low, self.high)

    def multiply(self, acc: Ints) -> Ints:
        """``round(acc * scale)`` alone."""
        if self.rounding is Rounding.EXACT:
            return acc
        if self.rounding is Rounding.DOUBLE:
            return fx.multiply_double_rounding(acc, _spread(self.multipliers), _spread(self.shifts))
        scale = np.asarray(self.scales[0] if len(self.scales) == 1 else self.scales)
        if self.rounding is Rounding.ONCE_HALF_AWAY:
            return fx.multiply_once_half_away(acc, scale)
        return fx.multiply_float32_half_even(acc, scale)


@dataclass(frozen=True)
class Contraction:
    """conv2d and fully_connected: ``acc = sum (q_x - input_zero_point) * (q_w - filter_zero_point) + bias``,
    then ``rescale``.

    ``filter_zero_points`` has one entry or one per output channel. :func:`folded_bias` moves the input's zero
    point into the bias.
    """

    input_zero_point: int
    filter_zero_points: tuple[int, ...]
    rescale: Rescale


@dataclass(frozen=True)
class Sum:
    """add and sub: both inputs are brought to a common scale ``T / 2^left_shift``, ``T = 2 * max(s_lhs,
    s_rhs)``.

    ``a = mbqm((q_lhs - z_lhs) << left_shift, lhs)``, ``b`` alike, ``result = output(clip(a +- b, -sum_limit,
    sum_limit))`` with ``mbqm`` the double-rounding multiply. ``sum_limit`` keeps ``output``'s left shift
    inside 32 bits; it is None when that cannot overflow (the usual case: output multiplier below one).
    """

    left_shift: int
    lhs_zero_point: int
    lhs_multiplier: int
    lhs_shift: int
    rhs_zero_point: int
    rhs_multiplier: int
    rhs_shift: int
    sum_limit: int | None
    output: Rescale


@dataclass(frozen=True)
class Product:
    """mul: ``output((q_lhs - lhs_zero_point) * (q_rhs - rhs_zero_point))``."""

    lhs_zero_point: int
    rhs_zero_point: int
    output: Rescale


@dataclass(frozen=True)
class Requantize:
    """requantize, clamp and every change of parameters: ``rescale(q - input_zero_point)``."""

    input_zero_point: int
    rescale: Rescale


@dataclass(frozen=True)
class FloatRescale:
    """A uint8 input of concat: ``[low, high](round_half_away(f32(q) * scale + offset) + zero_point)``, every
    step in float32.
    """

    scale: float
    offset: float
    zero_point: int
    low: int
    high: int

    def apply(self, stored: npt.ArrayLike) -> Ints:
        """Stored integers (int64) of the result's parameters."""
        reals = np.asarray(stored, np.float32) * np.float32(self.scale) + np.float32(self.offset)
        result: Ints = np.clip(fx.round_half_away_array(reals) + self.zero_point, self.low, self.high).astype(
            np.int64
        )
        return result


@dataclass(frozen=True)
class Mean:
    """mean: ``rescale(sum(q) - sum_zero_point)``, ``sum_zero_point = N * z_in``.

    ``1/N`` is inside the multiplier.
    """

    count: int
    sum_zero_point: int
    rescale: Rescale


def clamp_bounds(
    params: QuantParams, clamp: Clamp = (), rounding: Rounding = Rounding.DOUBLE
) -> tuple[int, int]:
    """The stored range of a result: its storage bounds, narrowed by ``clamp``.

    A finite bound ``f`` becomes ``z + round_half_away(f32(f) / f32(s))`` (float32 division); where the op
    rounds like XNNPACK, ``round_half_even(f32(f) / f32(s) + f32(z))``.
    """
    low, high = params.storage.minimum, params.storage.maximum
    if clamp:
        low, high = (
            max(low, _bound(clamp[0], params, rounding)),
            min(high, _bound(clamp[1], params, rounding)),
        )
    return low, high


def _bound(bound: float, params: QuantParams, rounding: Rounding) -> int:
    with np.errstate(over="ignore"):
        steps = np.float32(bound) / np.float32(params.scale)
    if np.isinf(steps):
        return params.storage.minimum if steps < 0 else params.storage.maximum
    if rounding is Rounding.FLOAT32_HALF_EVEN:
        return int(np.rint(steps + np.float32(params.zero_point)))
    return params.zero_point + fx.round_half_away(float(steps))


def stored_value(params: QuantParams, real: float) -> int:
    """The stored integer of a constant ``real``: ``z + round_half_away(f32(real) / f32(s))``, saturated."""
    return min(max(_bound(real, params, Rounding.DOUBLE), params.storage.minimum), params.storage.maximum)


def conv2d(
    input: TensorType, filter: TensorType, result: TensorType, clamp: Clamp = (), mode: str = "reference"
) -> Contraction:
    """Constants of conv2d (filter ``[O, KH, KW, I/groups]``, axis 0).

    scale[c] = s_x * s_w[c] / s_y in float64; a uint8 input keeps the legacy rule, ``s_x * s_w`` rounded to
    float32 first.
    """
    legacy = input.params.storage.name == "u8"
    return _contraction(input, filter, result, clamp, rule(mode, "conv2d"), legacy)


def fully_connected(
    input: TensorType, filter: TensorType, result: TensorType, clamp: Clamp = (), mode: str = "reference"
) -> Contraction:
    """Constants of fully_connected (filter ``[N, K]``, axis 0): scale[c] = s_x * s_w[c] / s_y in float64.

    A 32-bit result with the accumulator's own scale is not rescaled.
    """
    return _contraction(input, filter, result, clamp, rule(mode, "fully_connected"))


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


def folded_bias(
    filter: npt.NDArray[np.generic], bias: npt.NDArray[np.generic] | None, constants: Contraction
) -> Ints:
    """int32 ``[O]``: the bias with the input's zero point folded in, ``b[o] - z_x * sum_k (w[o, k] -
    z_w[o])``.

    With it ``acc = sum_k q_x * (q_w - z_w) + folded_bias`` over *stored* inputs, borders padded with ``z_x``.
    """
    weights = np.asarray(filter, dtype=np.int64).reshape(filter.shape[0], -1)
    centred = weights.sum(axis=1) - weights.shape[1] * np.asarray(
        constants.filter_zero_points, dtype=np.int64
    )
    start = np.zeros(filter.shape[0], np.int64) if bias is None else np.asarray(bias, dtype=np.int64)
    return fx.wrap_int32(start - constants.input_zero_point * centred)


def requantize(
    input: TensorType, result: TensorType, clamp: Clamp = (), mode: str = "reference"
) -> Requantize:
    """Constants of requantize between per-tensor types: scale = s_x / s_y in float64."""
    scale = input.params.scale / result.params.scale
    rounding = rule(mode, "requantize")
    return Requantize(input.params.zero_point, make_rescale([scale], result.params, clamp, rounding))


def clamp(input: TensorType, result: TensorType, bounds: Clamp, mode: str = "reference") -> Requantize:
    """Constants of the clamp op (RELU and its family): scale = s_x / s_y in *float32*."""
    with np.errstate(over="ignore", under="ignore"):
        scale = float(np.float32(input.params.scale) / np.float32(result.params.scale))
    return Requantize(
        input.params.zero_point, make_rescale([scale], result.params, bounds, rule(mode, "clamp"))
    )


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
) -> Sum:
    """Constants of add and sub. ``left_shift`` is 20 for 8-bit storage, 15 for 16-bit; scales in float64.

    lhs scale s_lhs / T, rhs scale s_rhs / T, output scale T / (2^left_shift * s_y), T = 2 * max(s_lhs,
    s_rhs).
    """
    left_shift = 15 if result.params.storage.bits == 16 else 20
    twice_max = 2 * max(lhs.params.scale, rhs.params.scale)
    lhs_multiplier, lhs_shift = fx.quantize_multiplier(lhs.params.scale / twice_max)
    rhs_multiplier, rhs_shift = fx.quantize_multiplier(rhs.params.scale / twice_max)
    # Beyond 2^30 every non-zero sum saturates anyway, and a larger left shift would lose it.
    scale = min(twice_max / (float(1 << left_shift) * result.params.scale), float(1 << 29))
    output = make_rescale([scale], result.params, clamp, rule(mode, "add"))
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


def mul(
    lhs: TensorType, rhs: TensorType, result: TensorType, clamp: Clamp = (), mode: str = "reference"
) -> Product:
    """Constants of mul: scale = s_lhs * s_rhs / s_y, each step in *float32*."""
    scale = _float32_scale(lhs.params.scale, rhs.params.scale, result.params.scale)
    output = make_rescale([scale], result.params, clamp, rule(mode, "mul"))
    return Product(lhs.params.zero_point, rhs.params.zero_point, output)


def mean(input: TensorType, result: TensorType, count: int, mode: str = "reference") -> Mean:
    """Constants of mean over ``count`` elements: scale = s_x / s_y in float64, then ``1 / count`` folded into
    the multiplier.

    ``f = min(floor(log2(count)), 32, 31 + shift)``; ``multiplier = floor((multiplier << f) / count)``,
    ``shift -= f``.
    """
    scale = input.params.scale / result.params.scale
    multiplier, shift = fx.quantize_multiplier(scale)
    fold = min(count.bit_length() - 1, 32, 31 + shift)
    low, high = clamp_bounds(result.params)
    rescale = Rescale(
        rule(mode, "mean"),
        (scale / count,),
        ((multiplier << fold) // count,),
        (shift - fold,),
        result.params.zero_point,
        low,
        high,
    )
    return Mean(count, count * input.params.zero_point, rescale)


def make_rescale(scales: Sequence[float], target: QuantParams, clamp: Clamp, rounding: Rounding) -> Rescale:
    """A :class:`Rescale` by ``scales`` into ``target``'s storage."""
    pairs = [fx.quantize_multiplier(scale) for scale in scales]
    low, high = clamp_bounds(target, clamp, rounding)
    return Rescale(
        Rounding.EXACT if all(scale == 1.0 for scale in scales) else rounding,
        tuple(scales),
        tuple(multiplier for multiplier, _ in pairs),
        tuple(shift for _, shift in pairs),
        target.zero_point,
        low,
        high,
    )


def _spread(values: tuple[int, ...]) -> Ints:
    return np.asarray(values[0] if len(values) == 1 else values, dtype=np.int64)
