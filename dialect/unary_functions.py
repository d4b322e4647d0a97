"""The functions of one real number that ``qnn.unary`` names, on float32 arrays.

Each rounds where LiteRT's float code does, with correctly rounded ``exp``, ``log`` ... in between, so that
the tables of quantized kernels can be made of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]

_SQRT_HALF = np.float32(math.sqrt(0.5))
_SQRT_TWO_OVER_PI = np.float32(math.sqrt(2.0 / math.pi))


def _rounded(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """``function`` computed in float64 and rounded to float32 once."""

    def rounded(x: Array) -> Array:
        return np.asarray(function(x.astype(np.float64)), np.float32)

    return rounded


def _elu(x: Array) -> Array:
    return np.where(x < 0, np.expm1(np.minimum(x, 0.0)), x)


def _erfc(x: Array) -> Array:
    # numpy has no erfc; with 65536 values at most this is quick enough.
    return np.asarray([math.erfc(value) for value in x.ravel()], np.float64).reshape(x.shape)


def _gelu(x: Array) -> Array:
    """``x * Phi(x)`` by the complementary error function, which keeps its precision far below 0."""
    half, tail = np.float32(0.5) * x, _rounded(_erfc)(x * -_SQRT_HALF)
    # An infinity below 0 times a tail of 0 is the limit, 0, and not undefined.
    return np.asarray(np.where(np.isneginf(x), np.float32(-0.0), half * tail))


def _gelu_tanh(x: Array) -> Array:
    inner = _SQRT_TWO_OVER_PI * (x + np.float32(0.044715) * x * x * x)
    factor = np.float32(1.0) + _rounded(np.tanh)(inner)
    return np.asarray(np.where(np.isneginf(x), np.float32(-0.0), np.float32(0.5) * x * factor))


def _hard_swish(x: Array) -> Array:
    gate = np.minimum(np.float32(6.0), np.maximum(np.float32(0.0), x + np.float32(3.0)))
    return np.asarray(x * gate / np.float32(6.0))


def _rsqrt(x: Array) -> Array:
    return np.asarray(np.float32(1.0) / np.sqrt(x))


REAL: dict[str, Callable[[Array], Array]] = {
    "abs": np.abs,
    "ceil": np.ceil,
    "cos": _rounded(np.cos),
    "elu": _rounded(_elu),
    "exp": _rounded(np.exp),
    "floor": np.floor,
    "gelu": _gelu,
    "gelu_tanh": _gelu_tanh,
    "hard_swish": _hard_swish,
    "log": _rounded(np.log),
    "neg": np.negative,
    "round": np.rint,
    "rsqrt": _rsqrt,
    "sign": np.sign,
    "sin": _rounded(np.sin),
    "sqrt": np.sqrt,
    "square": np.square,
}
"""function -> its values on a float32 array, in float32."""

INTEGER: dict[str, Callable[[Array], Array]] = {
    "abs": np.abs,
    "neg": np.negative,
    "sign": np.sign,
    "square": np.square,
}
"""function -> its values on ordinary integers, which wrap around."""

BOOLEAN: dict[str, Callable[[Array], Array]] = {"logical_not": np.logical_not}
"""function -> its values on i1."""

FUNCTIONS = tuple(sorted({*REAL, *INTEGER, *BOOLEAN}))
"""Every function that ``qnn.unary`` may name."""


def real(function: str, x: Array) -> Array:
    """``function`` of a float32 array; infinities and NaN as IEEE arithmetic gives them."""
    with np.errstate(all="ignore"):
        return np.asarray(REAL[function](x.astype(np.float32)), np.float32)
