"""The functions of two numbers that ``qnn.binary`` names, and the predicates of ``qnn.compare``, on arrays.

Integers wrap around. Where an integer result does not exist, it is 0: ``x / 0``, ``x mod 0``, and the inverse
of 0 (``0 ^ -n``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Function: TypeAlias = Callable[[Array, Array], Array]


def _squared_difference(a: Array, b: Array) -> Array:
    return np.asarray(np.square(a - b))


def _float_power(a: Array, b: Array) -> Array:
    return np.power(a.astype(np.float64), b.astype(np.float64)).astype(np.float32)


def _floor_mod(a: Array, b: Array) -> Array:
    """``fmod``, with the divisor's sign."""
    rest = np.fmod(a, b)
    return np.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)


REAL: dict[str, Function] = {
    "atan2": lambda a, b: np.arctan2(a.astype(np.float64), b.astype(np.float64)).astype(np.float32),
    "div": lambda a, b: np.asarray(a / b),
    "floor_div": lambda a, b: np.floor(a / b),
    "floor_mod": _floor_mod,
    "pow": _float_power,
    "squared_difference": _squared_difference,
}
"""function -> its values on float32 arrays."""


def _divisor(b: Array) -> Array:
    """``b`` without the values that integers cannot be divided by: -1 overflows, for the lowest value."""
    return np.where((b == 0) | (b == -1), 1, b).astype(b.dtype)


def _div(a: Array, b: Array) -> Array:
    """Truncated towards 0."""
    divisor = _divisor(b)
    quotient = np.floor_divide(a, divisor)
    quotient = quotient + ((quotient < 0) & (quotient * divisor != a))
    return np.where(b == 0, 0, np.where(b == -1, 0 - a, quotient)).astype(a.dtype)


def _floor_div(a: Array, b: Array) -> Array:
    quotient = np.floor_divide(a, _divisor(b))
    return np.where(b == 0, 0, np.where(b == -1, 0 - a, quotient)).astype(a.dtype)


def _integer_floor_mod(a: Array, b: Array) -> Array:
    return np.where((b == 0) | (b == -1), 0, np.mod(a, _divisor(b))).astype(a.dtype)


def _power(a: Array, b: Array) -> Array:
    """By squaring; a negative exponent gives the whole part of the inverse."""
    base, exponent = np.broadcast_arrays(a, np.maximum(b, 0))
    result = np.ones_like(base)
    for _ in range(a.dtype.itemsize * 8 - 1):
        result = np.where(exponent & 1, result * base, result)
        base, exponent = base * base, exponent >> 1
    sign = np.where(b & 1, a, np.ones_like(a))
    return np.where(b < 0, np.where(np.abs(a) == 1, sign, 0), result).astype(a.dtype)


def _right_shift(a: Array, b: Array) -> Array:
    """By 0 to all bits but one, whatever ``b`` says."""
    return np.asarray(np.right_shift(a, np.clip(b, 0, a.dtype.itemsize * 8 - 1).astype(a.dtype)))


INTEGER: dict[str, Function] = {
    "bitwise_xor": np.bitwise_xor,
    "div": _div,
    "floor_div": _floor_div,
    "floor_mod": _integer_floor_mod,
    "pow": _power,
    "right_shift": _right_shift,
    "squared_difference": _squared_difference,
}
"""function -> its values on ordinary integers."""

BITWISE = frozenset({"bitwise_xor", "right_shift"})
"""Those of them that take integers without sign, too."""

BOOLEAN: dict[str, Function] = {
    "bitwise_xor": np.logical_xor,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
}
"""function -> its values on i1."""

QUANTIZED = {"div": ("i8", "u8", "i16"), "squared_difference": ("i8", "u8")}
"""function -> the storage types of quantized tensors it works on."""

FUNCTIONS = tuple(sorted({*REAL, *INTEGER, *BOOLEAN}))
"""Every function that ``qnn.binary`` may name."""

PREDICATES: dict[str, Function] = {
    "equal": np.equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "not_equal": np.not_equal,
}
"""predicate -> whether it holds."""
