"""Numerics modes: which system's bits the arithmetic of each op reproduces.

A mode is a table from op to rounding rule, not a global switch; an op that a mode does not list keeps the
rule of ``reference``.
"""

from __future__ import annotations

from enum import Enum


class Rounding(Enum):
    """How ``accumulator * real scale`` becomes an integer, before the zero point is added and the range
    clamped.

    Double precision is used throughout to *derive* the constants; the rule says how they are applied.
    """

    EXACT = "exact"
    """No rounding at all: the scale is exactly one."""
    DOUBLE = "double"
    """Twice, in Q31 integers: :func:`..fixed_point.multiply_double_rounding` with a multiplier and a shift.
    """
    ONCE_HALF_AWAY = "once-half-away"
    """Once, ties away from zero, of the float64 product: :func:`..fixed_point.multiply_once_half_away`."""
    FLOAT32_HALF_EVEN = "float32-half-even"
    """Once, ties to even, of the float32 product: :func:`..fixed_point.multiply_float32_half_even`."""
    Q15_HALF_UP = "q15-half-up"
    """Once, ties upward, of an int64 accumulator and a Q15 multiplier:
    :func:`..fixed_point.multiply_q15_half_up`."""
    SINGLE_HALF_UP = "single-half-up"
    """Once, ties upward, of an integer product: :func:`..fixed_point.multiply_single_rounding`."""


XNNPACK_ROUNDINGS = frozenset({Rounding.FLOAT32_HALF_EVEN, Rounding.SINGLE_HALF_UP})
"""The rules that only XNNPACK has.

Its clamp bounds round half to even, too (:func:`.rescale.clamp_bounds`).
"""

MODES: dict[str, dict[str, Rounding]] = {
    # LiteRT's reference kernels.
    "reference": {
        "fully_connected": Rounding.ONCE_HALF_AWAY,
        "logistic": Rounding.ONCE_HALF_AWAY,
        "quantize": Rounding.ONCE_HALF_AWAY,
        "tanh": Rounding.ONCE_HALF_AWAY,
    },
    # LiteRT's default interpreter: the operators that the XNNPACK delegate takes, which are of 8-bit storage.
    "xnnpack": {
        "add": Rounding.SINGLE_HALF_UP,
        "conv2d": Rounding.FLOAT32_HALF_EVEN,
        "elu": Rounding.FLOAT32_HALF_EVEN,
        "fully_connected": Rounding.FLOAT32_HALF_EVEN,
        "leaky_relu": Rounding.SINGLE_HALF_UP,
        "logistic": Rounding.FLOAT32_HALF_EVEN,
        "max_pool2d": Rounding.FLOAT32_HALF_EVEN,
        "mean": Rounding.FLOAT32_HALF_EVEN,
        "mul": Rounding.FLOAT32_HALF_EVEN,
        "quantize": Rounding.FLOAT32_HALF_EVEN,
        "requantize": Rounding.SINGLE_HALF_UP,
        "resize_bilinear": Rounding.SINGLE_HALF_UP,
        "sub": Rounding.SINGLE_HALF_UP,
        "sum": Rounding.FLOAT32_HALF_EVEN,
        "tanh": Rounding.FLOAT32_HALF_EVEN,
    },
}
"""mode -> op (without its ``qnn.`` prefix), or function of ``unary`` or ``reduce`` -> rounding.

Absent ones use ``MODES["reference"]``, then :attr:`Rounding.DOUBLE`.
"""


def rule(mode: str, op: str, bits: int = 8) -> Rounding:
    """The rounding rule of ``op`` in ``mode`` for a result of ``bits`` storage bits.

    ``xnnpack`` keeps the reference's rule for storage wider than 8 bits. Raises ``KeyError`` for an unknown
    mode.
    """
    table = MODES[mode]
    if bits > 8:
        table = MODES["reference"]
    return table.get(op) or MODES["reference"].get(op, Rounding.DOUBLE)
