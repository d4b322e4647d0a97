"""The results of ``qnn.unary`` and ``qnn.leaky_relu`` on quantized tensors: one table entry per stored value.

256 entries for 8-bit, 65536 for 16-bit storage, indexed by ``q - lowest stored value``. Most functions are
rounded reals; where LiteRT's kernel computes in integers, its arithmetic is followed. Notation: ``q`` stored
integer, ``z`` zero point, ``s`` scale; ``mbqm`` is :func:`.fixed_point.multiply_double_rounding`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from . import fixed_point as fx
from .activation_tables import interpolate
from .fixed_point import Ints
from .fixed_point_functions import inverse_square_root
from .numerics import Rounding, rule
from .types import QuantParams, Storage
from .unary_functions import real

Array: TypeAlias = npt.NDArray[Any]


def unary_table(function: str, source: QuantParams, target: QuantParams, mode: str = "reference") -> Array:
    """All results of ``function``, in target's dtype."""
    steps = _stored(source.storage) - source.zero_point
    kernel = _KERNELS.get(function)
    if kernel is not None:
        return _saturated(kernel(steps, source, target), target)
    if function in _INTERPOLATED and source.storage.bits == 16 and target.storage.bits == 16:
        return _saturated(_interpolated(function, source, target) + target.zero_point, target)
    half_even = rule(mode, function, source.storage.bits) is Rounding.FLOAT32_HALF_EVEN
    return _rounded(_values(function, _reals(steps, source), target), target, half_even)


def leaky_relu_table(
    alpha: float, source: QuantParams, target: QuantParams, mode: str = "reference"
) -> Array:
    """``x`` from 0 on, ``alpha * x`` below: ``mbqm(q - z_x, s_x / s_y)`` or ``mbqm(q - z_x, s_x * alpha /
    s_y)``, each step in float32.

    ``xnnpack``, where both factors (in float32) are at most 2^7 and at least 2^-8 in magnitude and the
    storages are alike: half-up multiples of 1/256.
    """
    steps = _stored(source.storage) - source.zero_point
    with np.errstate(over="ignore", under="ignore"):
        identity = np.float32(source.scale) / np.float32(target.scale)
        slope = np.float32(source.scale) * np.float32(alpha) / np.float32(target.scale)
        xnnpack_slope = identity * np.float32(alpha)
    bits = max(source.storage.bits, target.storage.bits)
    half_up = rule(mode, "leaky_relu", bits) is Rounding.SINGLE_HALF_UP
    fits = all(2.0**-8 <= abs(factor) <= 2.0**7 for factor in (identity, xnnpack_slope))
    if half_up and fits and source.storage.signed == target.storage.signed:
        factors = np.rint(256 * np.asarray([identity, xnnpack_slope])).astype(np.int64)
        values = (steps * np.where(steps >= 0, *factors) + 128) >> 8
    else:
        values = np.where(steps >= 0, _scaled(steps, float(identity)), _scaled(steps, float(slope)))
    return _saturated(values + target.zero_point, target)


def _stored(storage: Storage) -> Ints:
    """Every stored value of the full range, ascending."""
    full = Storage.of(storage.name)
    return np.arange(full.minimum, full.maximum + 1, dtype=np.int64)


def _reals(steps: Ints, source: QuantParams) -> Array:
    return np.asarray(np.float32(source.scale) * steps.astype(np.float32))


def _scaled(steps: Ints, scale: float) -> Ints:
    """``mbqm(steps, scale)``; by a negative scale ``-mbqm(steps, -scale)``, which ties tell apart."""
    product = fx.multiply_double_rounding(steps, *fx.quantize_multiplier(abs(scale)))
    return -product if scale < 0 else product


def _saturated(values: Array, target: QuantParams) -> Array:
    result: Array = np.clip(values, target.storage.minimum, target.storage.maximum).astype(
        target.storage.dtype
    )
    return result


def _values(function: str, x: Array, target: QuantParams) -> Array:
    """The real results; where the function is not defined, the end of the result's range that it tends to."""
    if function == "log":
        lowest = np.float32(target.storage.minimum - target.zero_point) * np.float32(target.scale)
        return np.where(x <= 0, lowest, real(function, np.where(x <= 0, np.float32(1.0), x)))
    if function == "rsqrt":
        highest = np.float32(target.storage.maximum) * np.float32(target.scale)
        return np.where(x <= 0, highest, real(function, np.where(x <= 0, np.float32(1.0), x)))
    return real(function, x)


def _rounded(reals: Array, target: QuantParams, half_even: bool) -> Array:
    """``clamp(round_half_away(y * (1 / s_y)) + z_y)``, every step in float32; an infinity saturates.

    ``half_even`` adds the zero point before it rounds: ``round_half_even(y * (1 / s_y) + z_y)``.
    """
    inverse, zero_point = np.float32(1.0) / np.float32(target.scale), np.float32(target.zero_point)
    with np.errstate(over="ignore"):
        steps = reals * inverse
    values = np.rint(steps + zero_point) if half_even else fx.round_half_away_array(steps) + zero_point
    return _saturated(values.astype(np.float64), target)


def _abs(steps: Ints, source: QuantParams, target: QuantParams) -> Ints:
    """``mbqm(abs(q - z_x), s_x / s_y) + z_y``, the ratio in float32."""
    ratio = float(np.float32(source.scale) / np.float32(target.scale))
    magnitude = np.abs(steps)
    return (magnitude if ratio == 1.0 else _scaled(magnitude, ratio)) + target.zero_point


def _sqrt(steps: Ints, source: QuantParams, target: QuantParams) -> Ints:
    """``trunc(sqrt(x) / s_y) + z_y``: the kernel does not round; 0 for what is negative."""
    roots = np.sqrt(np.maximum(_reals(steps, source), np.float32(0.0))) / np.float32(target.scale)
    whole: Ints = np.minimum(np.trunc(roots).astype(np.float64), 1 << 30).astype(np.int64)
    return whole + target.zero_point


def _rsqrt_8bit(steps: Ints, source: QuantParams, target: QuantParams) -> Ints:
    """``mbqm(mbqm(1 << 20, inverse square root), 1 / (sqrt(s_x) * s_y))``; the highest value up to 0."""
    product = float(np.sqrt(np.float32(source.scale)) * np.float32(target.scale))
    multiplier, shift = fx.quantize_multiplier(1.0 / product)
    inverse, inverse_shift = inverse_square_root(np.maximum(steps, 1))
    wide = fx.multiply_double_rounding(np.ones_like(steps), inverse, 20 - inverse_shift)
    values = fx.multiply_double_rounding(wide, multiplier, shift - 20) + target.zero_point
    return np.where(steps <= 0, target.storage.maximum, values)


def _rsqrt(steps: Ints, source: QuantParams, target: QuantParams) -> Ints:
    if source.storage.bits == 8:
        return _rsqrt_8bit(steps, source, target)
    return _interpolated("rsqrt", source, target) + target.zero_point


def _hard_swish(steps: Ints, source: QuantParams, target: QuantParams) -> Ints:
    """``x * min(max(x + 3, 0), 6) / 6`` in 16-bit fixed point.

    The input in 1/128 steps is scaled twice: to the result (before a last shift), and so that 3 becomes 2^15,
    which gives the gate in Q0.15. Their product rounds towards 0.
    """
    if source.storage.bits == 16:
        return _rounded(real("hard_swish", _reals(steps, source)), target, False).astype(np.int64)
    hires_scale = np.float32(1.0 / 128.0) * np.float32(source.scale)
    multiplier, shift = _multiplier_16bit(float(hires_scale / np.float32(target.scale)))
    gate_multiplier, gate_shift = _multiplier_16bit(float(hires_scale / np.float32(3.0 / 32768.0)))
    hires = steps << 7
    unshifted = _high_mul(hires, multiplier)
    gate = np.clip(hires << max(gate_shift - 1, 0), -(1 << 15), (1 << 15) - 1)
    gate = _high_mul(gate, gate_multiplier)
    if gate_shift > 0:
        gate = np.clip(gate << 1, -(1 << 15), (1 << 15) - 1)
    gate = fx.rounding_divide_by_pot(gate, max(-gate_shift, 0))
    gate = (gate + (1 << 15)) >> 1
    product = gate * unshifted
    value = np.where(product < 0, -(-product >> 15), product >> 15)
    value = fx.rounding_divide_by_pot(value << max(shift, 0), max(-shift, 0))
    return value + target.zero_point


def _multiplier_16bit(scale: float) -> tuple[int, int]:
    multiplier, shift = fx.quantize_multiplier(scale)
    return min((multiplier + (1 << 15)) >> 16, (1 << 15) - 1), shift


def _high_mul(a: Ints, b: int) -> Ints:
    """``floor((a * b + 2^14) / 2^15)``, ties of negative products towards 0 as they fall."""
    return (a * b + (1 << 14)) >> 15


_KERNELS: dict[str, Callable[[Ints, QuantParams, QuantParams], Ints]] = {
    "abs": _abs,
    "hard_swish": _hard_swish,
    "rsqrt": _rsqrt,
    "sqrt": _sqrt,
}
"""Functions whose kernel computes in integers."""

_INTERPOLATED = ("exp", "log", "gelu", "gelu_tanh")
"""Functions whose 16-bit kernel interpolates between 513 nodes (``rsqrt``, too)."""


def _interpolated(function: str, source: QuantParams, target: QuantParams) -> Ints:
    """513 nodes over the input's range, each lowered by half the error at the middle of its step, every step
    in float32; between them lines.
    """
    low, high = (np.float32(source.scale) * np.float32(q - source.zero_point) for q in (-32768, 32767))
    first, last = (np.float32(target.scale) * np.float32(q - target.zero_point) for q in (-32768, 32767))
    inverse = np.float32(65536.0) / (last - first)
    step = (high - low) / np.float32(512)
    index = np.arange(513).astype(np.float32)

    def scaled(x: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.asarray(_values(function, x, target) * inverse, np.float32)

    starts = low + index[:512] * step
    value, middle = scaled(starts), fx.round_half_away_array(scaled(starts + step / np.float32(2)))
    following = scaled(low + index[1:] * step)
    sample = fx.round_half_away_array(value)
    with np.errstate(invalid="ignore"):
        error = fx.round_half_away_array((following + sample) / np.float32(2)) - middle
        nodes = sample - fx.round_half_away_array(error / np.float32(2))
    nodes = np.append(nodes, fx.round_half_away_array(scaled(np.asarray([high], np.float32))))
    bounded = np.clip(np.nan_to_num(nodes.astype(np.float64), nan=math.inf), -32768, 32767)
    return interpolate(bounded.astype(np.int64), _stored(source.storage))
