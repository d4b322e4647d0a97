"""Tables and constants of the activations: logistic, tanh and softmax on quantized tensors.

8-bit logistic and tanh are a table with one entry per stored value; 16-bit ones and 16-bit softmax interpolate in small tables;
8-bit softmax is fixed-point arithmetic whose constants stand here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from . import fixed_point as fx
from .types import QuantParams

LOGISTIC = "logistic"
TANH = "tanh"


def table_8bit(op: str, source: QuantParams, target: QuantParams) -> npt.NDArray[np.generic]:
    """The 256 results of ``op`` (``"logistic"`` or ``"tanh"``), indexed by ``q - storage minimum of source``, in target's dtype.

    ``clamp(round_half_away(f(s_x * (q - z_x)) * (1 / s_y)) + z_y)``, every step in float32 (``f`` correctly rounded).
    """
    full = np.arange(-128, 128) if source.storage.signed else np.arange(256)
    reals = np.float32(source.scale) * (full - source.zero_point).astype(np.float32)
    inverse = np.float32(1.0) / np.float32(target.scale)
    values = fx.round_half_away_array(_FUNCTIONS[op](reals) * inverse) + np.float32(target.zero_point)
    return np.clip(values, target.storage.minimum, target.storage.maximum).astype(target.storage.dtype)


def _logistic(x: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """``1 / (1 + exp(-x))`` in float32."""
    with np.errstate(over="ignore"):
        exp = np.exp(-x.astype(np.float64)).astype(np.float32)
        return np.float32(1.0) / (np.float32(1.0) + exp)


def _tanh(x: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return np.tanh(x.astype(np.float64)).astype(np.float32)


_FUNCTIONS: dict[str, Callable[[npt.NDArray[np.float32]], npt.NDArray[np.float32]]] = {LOGISTIC: _logistic, TANH: _tanh}


@dataclass(frozen=True)
class Softmax8:
    """8-bit softmax: ``Q5.26 = srdhm((q - max) << shift, multiplier)`` for ``q - max >= diff_min``; smaller ones give the minimum."""

    multiplier: int
    shift: int
    diff_min: int


def softmax_8bit(source: QuantParams, beta: float) -> Softmax8:
    """Constants of softmax over an 8-bit input: the real multiplier is ``min(beta * s_x * 2^26, 2^31 - 1)`` in float64."""
    multiplier, shift = fx.quantize_multiplier(min(beta * source.scale * (1 << 26), float((1 << 31) - 1)))
    radius = math.floor(31 * (1 << 26) / (1 << shift)) if shift >= 0 else math.floor(31 * (1 << 26) * (1 << -shift))
    return Softmax8(multiplier, shift, -radius)


@dataclass(frozen=True)
class Softmax16:
    """16-bit softmax: multiplier and shift that bring ``q - max`` to ``[-65535, 0] = [-10, 0]``; then :func:`exp_table_16bit`."""

    multiplier: int
    shift: int


def softmax_16bit(source: QuantParams, beta: float) -> Softmax16:
    """Constants of softmax over a 16-bit input: the real multiplier is ``s_x * beta / (10 / 65535)``."""
    return Softmax16(*fx.quantize_multiplier(source.scale * beta / (10.0 / 65535.0)))
