"""Fixed-point arithmetic of quantized kernels, vectorized over numpy int64 arrays.

Every function here is pure and takes plain numbers or arrays. Names: ``multiplier`` is a Q31 significand
(``0`` or in ``[2^30, 2^31)``), ``shift`` a power of two, ``shift > 0`` meaning to the left, so that
``real ~= multiplier * 2^(shift - 31)``.

32-bit accumulators and intermediate sums wrap around like the machine's registers (:func:`wrap_int32`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]
"""Integer values of any width, held as int64."""

INT32_MIN = -(1 << 31)
INT32_MAX = (1 << 31) - 1


def round_half_away(value: float) -> int:
    """``value`` rounded to the nearest integer, ties away from zero (C's ``round``)."""
    whole = math.floor(abs(value))
    whole += abs(value) - whole >= 0.5
    return whole if value >= 0 else -whole


def round_half_away_array(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """:func:`round_half_away` of every element.

    The float dtype stays (exact: no ``x + 0.5`` that would round up).
    """
    whole = np.trunc(values)
    with np.errstate(invalid="ignore"):  # infinities stay
        away = np.abs(values - whole) >= 0.5
    result: npt.NDArray[Any] = whole + np.copysign(away.astype(values.dtype), values)
    return result


def quantize_multiplier(real: float) -> tuple[int, int]:
    """``real >= 0`` as ``(multiplier, shift)`` with ``real ~= multiplier * 2^(shift - 31)``.

    ``real = f * 2^shift`` with ``f`` in ``[0.5, 1)``; ``multiplier = round_half_away(f * 2^31)``. A shift
    below -31 underflows to ``(0, 0)``; a multiplier that rounds to 2^31 is halved. An infinite ``real`` (a
    ratio that overflowed float32) is ``(0, 0)`` too: LiteRT's float to integer conversion leaves nothing of
    it.
    """
    if real == 0.0 or math.isinf(real):
        return 0, 0
    significand, shift = math.frexp(real)
    multiplier = round_half_away(significand * (1 << 31))
    if multiplier == 1 << 31:
        multiplier, shift = multiplier // 2, shift + 1
    return (multiplier, shift) if shift >= -31 else (0, 0)


def quantize_multipliers(reals: Sequence[float]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """:func:`quantize_multiplier` of many numbers at once: their multipliers, and their shifts."""
    values = np.asarray(reals, np.float64)
    usable = (values != 0.0) & np.isfinite(values)
    significands, shifts = np.frexp(np.where(usable, values, 1.0))
    multipliers = round_half_away_array(significands * float(1 << 31)).astype(np.int64)
    full = multipliers == 1 << 31
    multipliers, shifts = np.where(full, 1 << 30, multipliers), shifts.astype(np.int64) + full
    usable &= shifts >= -31
    zeros = np.zeros_like(multipliers)
    kept = np.where(usable, multipliers, zeros), np.where(usable, shifts, zeros)
    return tuple(kept[0].tolist()), tuple(kept[1].tolist())


def wrap_int32(values: npt.ArrayLike) -> Ints:
    """``values`` modulo 2^32 in ``[-2^31, 2^31)``: what a 32-bit register keeps of them."""
    wide = np.asarray(values, dtype=np.int64)
    return ((wide + (1 << 31)) & 0xFFFFFFFF) - (1 << 31)


def saturate16(values: Ints) -> Ints:
    """The nearest int16 of each of ``values``."""
    return np.clip(values, -32768, 32767)


def srdhm(a: npt.ArrayLike, b: npt.ArrayLike) -> Ints:
    """Saturating rounding doubling high multiply of int32: ``floor((a * b + 2^30) / 2^31)``, for operands of
    every sign.

    The one product that overflows, ``INT32_MIN * INT32_MIN``, saturates to ``INT32_MAX``.
    """
    product = np.asarray(a, dtype=np.int64) * np.asarray(b, dtype=np.int64)
    result: Ints = np.minimum((product + (1 << 30)) >> 31, INT32_MAX)
    return result


def rounding_divide_by_pot(x: npt.ArrayLike, exponent: npt.ArrayLike) -> Ints:
    """``x / 2^exponent`` rounded to nearest, ties away from zero: ``(x + 2^(e-1) - (x < 0)) >> e`` (``x`` if
    ``e == 0``).
    """
    wide, e = np.asarray(x, dtype=np.int64), np.asarray(exponent, dtype=np.int64)
    half = np.where(e > 0, np.left_shift(np.int64(1), np.maximum(e - 1, 0)), 0)
    return (wide + half - ((wide < 0) & (e > 0))) >> e


def multiply_double_rounding(x: npt.ArrayLike, multiplier: npt.ArrayLike, shift: npt.ArrayLike) -> Ints:
    """``x * real`` as TFLite's ``MultiplyByQuantizedMultiplier`` rounds it, twice.

    ``rounding_divide_by_pot(srdhm(int32(x << max(shift, 0) % 32), multiplier), max(-shift, 0))``. ``x`` is
    an int32; the left shift wraps, and takes its amount modulo 32 as a 32-bit register does.
    """
    s = np.asarray(shift, dtype=np.int64)
    shifted = wrap_int32(np.asarray(x, dtype=np.int64) << (np.maximum(s, 0) % 32))
    return rounding_divide_by_pot(srdhm(shifted, multiplier), np.maximum(-s, 0))


def multiply_single_rounding(x: npt.ArrayLike, multiplier: npt.ArrayLike, shift: npt.ArrayLike) -> Ints:
    """``(x * multiplier + 2^(30 - shift)) >> (31 - shift)`` in int64: one rounding, half up (TOSA, CMSIS-NN.

    ``shift <= 30``).
    """
    total = 31 - np.asarray(shift, dtype=np.int64)
    product = np.asarray(x, dtype=np.int64) * np.asarray(multiplier, dtype=np.int64)
    result: Ints = (product + np.left_shift(np.int64(1), total - 1)) >> total
    return result


def multiply_q15_half_up(x: npt.ArrayLike, multiplier: npt.ArrayLike, shift: npt.ArrayLike) -> Ints:
    """``(x * m15 + 2^(14 - shift)) >> (15 - shift)`` in int64: one rounding, half up, of a 48-bit ``x``; see
    :func:`q15_multiplier`.
    """
    m15, total = q15_multiplier(multiplier, shift)
    rounded = np.asarray(x, dtype=np.int64) * m15 + np.left_shift(np.int64(1), total - 1)
    result: Ints = rounded >> total
    return result


def q15_multiplier(multiplier: npt.ArrayLike, shift: npt.ArrayLike) -> tuple[Ints, Ints]:
    """The Q15 form ``(m15, right shift)`` of a multiplier, ``real ~= m15 * 2^-right``.

    ``m15 = 0x7FFF if multiplier >= 0x7FFF0000 else (multiplier + 2^15) >> 16``, ``right = 15 - shift``. Where
    that is below one (a real of 2^14 and more, which LiteRT refuses), it is one.
    """
    m = np.asarray(multiplier, dtype=np.int64)
    m15 = np.where(m < 0x7FFF0000, (m + (1 << 15)) >> 16, 0x7FFF)
    return m15, np.maximum(15 - np.asarray(shift, dtype=np.int64), 1)


def multiply_once_half_away(x: npt.ArrayLike, scale: npt.ArrayLike) -> Ints:
    """``round_half_away(float64(x) * scale)``: one rounding of a float64 product, saturated to int32."""
    product = np.asarray(x, dtype=np.float64) * np.asarray(scale, dtype=np.float64)
    result: Ints = np.clip(round_half_away_array(product), INT32_MIN, INT32_MAX).astype(np.int64)
    return result


def multiply_float32_half_even(x: npt.ArrayLike, scale: npt.ArrayLike) -> Ints:
    """``round_half_even(float32(x) * float32(scale))`` in float32, saturated to int32 (XNNPACK)."""
    product = np.asarray(x, dtype=np.int64).astype(np.float32) * np.asarray(scale, dtype=np.float32)
    # clip in float64: float32(INT32_MAX) is 2^31, one too many
    return np.clip(np.rint(product).astype(np.float64), INT32_MIN, INT32_MAX).astype(np.int64)


def float32(value: float) -> float:
    """``value`` rounded to float32, as a Python float; overflow gives an infinity."""
    with np.errstate(over="ignore"):
        return float(np.float32(value))
