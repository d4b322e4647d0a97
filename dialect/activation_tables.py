"""Tables and constants of the activations: logistic, tanh and softmax on quantized tensors.

Every activation of a stored value is a table here, one entry per storage value: 256 for 8-bit, 65536 for
16-bit storage. Softmax adds a sum and a reciprocal per row.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from . import activation_int16
from . import fixed_point as fx
from .fixed_point import Ints
from .fixed_point_functions import exp_on_negative_values
from .numerics import Rounding, rule
from .types import QuantParams, Storage

Array: TypeAlias = npt.NDArray[Any]

LOGISTIC = "logistic"
TANH = "tanh"
SOFTMAX = "softmax"


def natural_params(op: str, storage: Storage, source: Storage | None = None) -> QuantParams:
    """The parameters that the kernel of ``logistic``, ``tanh`` or ``softmax`` gives a result in ``storage``.

    8-bit: 1/256 from the lowest value, tanh 1/128 around the middle; 16-bit: 1/32768, zero point 0,
    but 1/65536 from the lowest value for the softmax of an 8-bit ``source``.
    """
    if storage.bits == 16 and op == SOFTMAX and source is not None and source.bits == 8:
        return QuantParams(storage, (2.0**-16,), (-32768,))
    if storage.bits == 16:
        return QuantParams(storage, (2.0**-15,), (0,))
    if op == TANH:
        return QuantParams(storage, (2.0**-7,), (0 if storage.signed else 128,))
    return QuantParams(storage, (2.0**-8,), (-128 if storage.signed else 0,))


def is_natural(declared: QuantParams, produced: QuantParams) -> bool:
    """Whether a declared result is what a softmax kernel produces: it takes a scale right within 0.1 % for
    the fixed one.
    """
    near = abs(declared.scale - produced.scale) <= 0.001 * produced.scale
    return near and declared.same_values(replace(produced, scales=declared.scales))


def activation_table(op: str, source: QuantParams, target: QuantParams, mode: str = "reference") -> Array:
    """The results of ``op`` (``"logistic"`` or ``"tanh"``), indexed by ``q - source.storage``'s lowest value.

    256 or 65536 entries in target's dtype. An 8-bit source gives any ``target``; a 16-bit one only the
    kernel's :func:`natural_params`, and differs by mode where the input's scale is a power of two.
    """
    if source.storage.bits == 16:
        left = _power_of_two_input(op, source.scale)
        # XNNPACK has no 16-bit kernel; LiteRT has an optimized one.
        if mode == "xnnpack" and left is not None:
            return _table_power_of_two(op, left)
        return _table_16bit(op, source)
    return _table_8bit(op, source, target, rule(mode, op))


def _table_8bit(op: str, source: QuantParams, target: QuantParams, rounding: Rounding) -> Array:
    """``clamp(round_half_away(f(s_x * (q - z_x)) * (1 / s_y)) + z_y)``, every step in float32.

    ``FLOAT32_HALF_EVEN`` adds the zero point before it rounds: ``round_half_even(f(...) * (1 / s_y) + z_y)``.
    """
    stored = np.arange(256) - (128 if source.storage.signed else 0)
    reals = np.float32(source.scale) * (stored - source.zero_point).astype(np.float32)
    inverse = np.float32(1.0) / np.float32(target.scale)
    steps, zero_point = _FUNCTIONS[op](reals) * inverse, np.float32(target.zero_point)
    if rounding is Rounding.FLOAT32_HALF_EVEN:
        values = np.rint(steps + zero_point)
    else:
        values = fx.round_half_away_array(steps) + zero_point
    result: Array = np.clip(values, target.storage.minimum, target.storage.maximum).astype(
        target.storage.dtype
    )
    return result


def _logistic(x: Array) -> Array:
    """``1 / (1 + exp(-x))`` in float32, with a correctly rounded exp."""
    with np.errstate(over="ignore"):
        exp = np.exp(-x.astype(np.float64)).astype(np.float32)
    return np.asarray(np.float32(1.0) / (np.float32(1.0) + exp))


def _tanh(x: Array) -> Array:
    return np.tanh(x.astype(np.float64)).astype(np.float32)


_FUNCTIONS: dict[str, Callable[[Array], Array]] = {LOGISTIC: _logistic, TANH: _tanh}


# The 16-bit kernels interpolate in a table of sigmoid(i / 24), 16 fractional bits. It is the rounded sigmoid,
# but raised by one at the places below, where that makes the interpolation's error smaller.
_RAISED = (
    *(4, 8, 12, 14, 15, 16, 17, 19, 20, 21, 22, 25, 27, 28, 29, 30, 31, 33, 34, 35, 37, 39, 40, 41, 43, 44),
    *(45, 46, 49, 50, 54, 62, 63, 64, 66, 82, 86, 93, 100, 103, 112, 116, 135, 255),
)


@lru_cache(maxsize=1)
def _sigmoid_nodes() -> Ints:
    nodes = np.floor(65536 / (1 + np.exp(-np.arange(256) / 24)) + 0.5).astype(np.int64)
    nodes[list(_RAISED)] += 1
    return np.minimum(nodes, 65535)


def _table_16bit(op: str, source: QuantParams) -> Array:
    """All 65536 results of the fixed-point logistic or tanh, natural result parameters.

    The input becomes ``u = (q * multiplier + half) >> shift`` in steps of 1/(3 * 4096) (tanh: half as wide,
    since ``tanh(x) = 2 * sigmoid(2 * x) - 1``); ``|u|`` is looked up, the rest of its bits interpolate.
    """
    multiplier, shift = _input_scaling(op, source.scale)
    stored = np.arange(-(1 << 15), 1 << 15, dtype=np.int64)
    u = fx.wrap_int32(stored * multiplier + ((1 << shift) >> 1)) >> shift
    bits = 9 if op == LOGISTIC else 8
    magnitude = np.abs(u)
    index = np.minimum(magnitude >> bits, 255)
    nodes = _sigmoid_nodes()
    low, high = nodes[index], nodes[np.minimum(index + 1, 255)]
    value = (low << bits) + (magnitude & ((1 << bits) - 1)) * (high - low)
    if op == LOGISTIC:
        value = np.where(index == 255, 0x7FFF << 10, value)
        value = np.where(u >= 0, value + (1 << 9), (1 << 25) - value + (1 << 9) - 1) >> 10
    else:
        value = np.where(index == 255, 0xFFFF << 8, value)
        value = np.where(u >= 0, value - (1 << 23) + (1 << 7), -value + (1 << 23) + (1 << 7) - 1) >> 8
    return value.astype(np.int16)


def _table_power_of_two(op: str, left: int) -> Array:
    """All 65536 results of the kernel for inputs that are Q3.12 after a saturating shift by ``left``."""
    stored = np.arange(-(1 << 15), 1 << 15, dtype=np.int64)
    x = np.clip(stored << left, -(1 << 15), (1 << 15) - 1)
    return (activation_int16.logistic(x) if op == LOGISTIC else activation_int16.tanh(x)).astype(np.int16)


def _power_of_two_input(op: str, scale: float) -> int | None:
    """The left shift that makes Q3.12 of an input of ``scale``, if that is all it takes."""
    log2 = math.log2(scale)
    left = 12 + round(log2)
    fits = abs(log2 - round(log2)) < 1e-3 and left in ((0,) if op == LOGISTIC else (0, 1))
    return left if fits else None


def _input_scaling(op: str, scale: float) -> tuple[int, int]:
    """``(multiplier, shift)``: three for a power-of-two scale that needs no rescaling, else ``scale * 3 *
    4096`` in 15 bits.
    """
    left = _power_of_two_input(op, scale)
    if left is not None:
        return 3 << left, 0
    multiplier, shift = scale * 4096.0 * 3.0, 0
    while multiplier <= 32767.0 / 2.0 and shift <= 30:
        multiplier, shift = multiplier * 2.0, shift + 1
    return int(multiplier), shift


@dataclass(frozen=True)
class Softmax8:
    """8-bit softmax of a row, in Q0.31 exponentials: ``e[i] = exps[max - q[i]]``.

    ``total = sum rdivpot(e[i], 12)`` (Q12.19, wraps at 32 bits); ``(r, bits) = reciprocal(total, 12)``;
    ``result = [low, high](rdivpot(srdhm(r, e[i]), bits + 31 - result bits) + low)`` with ``low`` the lowest
    storage value.
    """

    exps: tuple[int, ...]
    multiplier: int
    shift: int
    diff_min: int


@lru_cache(maxsize=64)
def softmax_8bit(scale: float, beta: float) -> Softmax8:
    """Constants of softmax over an 8-bit input of ``scale``.

    ``exps[d] = exp(srdhm(-d << shift, multiplier))`` in Q5.26, zero where ``-d < diff_min``; multiplier and
    shift are those of ``min(beta * s_x * 2^26, 2^31 - 1)``, which the kernel needs to be above one.
    """
    real = min(beta * scale * (1 << 26), float((1 << 31) - 1))
    multiplier, shift = fx.quantize_multiplier(real)
    diff_min = -math.floor(31.0 * (1 << 26) / 2.0**shift)
    differences = -np.arange(256, dtype=np.int64)
    reached = differences >= diff_min
    scaled = fx.multiply_double_rounding(np.where(reached, differences, 0), multiplier, shift)
    exps = np.where(reached, exp_on_negative_values(scaled), 0)
    return Softmax8(tuple(exps.tolist()), multiplier, shift, diff_min)


@dataclass(frozen=True)
class Softmax16:
    """16-bit softmax of a row: ``e[i] = exps[max - q[i]]`` (Q0.15, 65536 entries), ``total = sum e[i]``, ``h
    = clz32(total)``.

    ``f = [-32768, 32767]((((total << (h - 1)) + 2^13) >> 14) - (2^15 + 2^16))``; ``r =
    interpolate(one_over_one_plus, f)``; ``result = [0, 32767]((e[i] * r + 2^(30 - h)) >> (31 - h))``.
    """

    exps: Array
    one_over_one_plus: Array
    multiplier: int
    shift: int


@lru_cache(maxsize=16)
def softmax_16bit(scale: float, beta: float) -> Softmax16:
    """Constants of softmax over a 16-bit input of ``scale``: ``s_x * beta`` in float32, over ``10 / 65535``
    in float64.
    """
    multiplier, shift = fx.quantize_multiplier(fx.float32(scale * beta) / (10.0 / 65535.0))
    steps = 65535
    exp_nodes = interpolation_nodes(10.0 / steps, 32767, 2.0 / steps, np.exp)
    inverse_nodes = interpolation_nodes(1.0 / steps, -32768, 2.0 / steps, lambda x: 1.0 / (1.0 + x))
    scaled = fx.multiply_double_rounding(-np.arange(65536, dtype=np.int64), multiplier, shift)
    exps = interpolate(exp_nodes, np.clip(scaled + 32767, -32768, 32767))
    return Softmax16(exps, inverse_nodes, multiplier, shift)


def interpolation_nodes(
    scale: float, zero_point: int, result_scale: float, function: Callable[[Array], Array]
) -> Ints:
    """513 nodes of ``function`` over int16 storage, each lowered by half the error at the middle of its step
    (float64).
    """
    low, high = scale * (-32768 - zero_point), scale * (32767 - zero_point)
    step = (high - low) / 512
    inverse = 65536.0 / (result_scale * 32767 - result_scale * -32768)
    at = low + np.arange(512) * step
    value = function(at) * inverse
    middle = fx.round_half_away_array(function(at + step / 2) * inverse)
    following = function(low + np.arange(1, 513) * step) * inverse
    sample = fx.round_half_away_array(value)
    error = fx.round_half_away_array((following + sample) / 2) - middle
    nodes = np.append(
        sample - fx.round_half_away_array(error / 2),
        fx.round_half_away_array(function(np.asarray(high)) * inverse),
    )
    result: Ints = np.clip(nodes, -32768, 32767).astype(np.int64)
    return result


def interpolate(nodes: Ints, value: npt.ArrayLike) -> Ints:
    """``nodes`` at int16 ``value``: the high 9 bits choose the step, the low 7 interpolate (half up)."""
    wide = np.asarray(value, dtype=np.int64)
    index = 256 + (wide >> 7)
    base = nodes[index]
    result: Ints = base + (((nodes[index + 1] - base) * (wide & 0x7F) + 64) >> 7)
    return result
