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


MODES: dict[str, dict[str, Rounding]] = {
    # LiteRT's reference kernels.
    "reference": {"fully_connected": Rounding.ONCE_HALF_AWAY},
    # LiteRT's default: the XNNPACK delegate for the operators it takes.
    "xnnpack": {
        "conv2d": Rounding.FLOAT32_HALF_EVEN,
        "fully_connected": Rounding.FLOAT32_HALF_EVEN,
    },
}
"""mode -> op (without its ``qnn.`` prefix) -> rounding.

Absent ops use ``MODES["reference"]``, then :attr:`Rounding.DOUBLE`.
"""


def rule(mode: str, op: str) -> Rounding:
    """The rounding rule of ``op`` in ``mode``; raises ``KeyError`` for an unknown mode."""
    table = MODES[mode]
    return table.get(op) or MODES["reference"].get(op, Rounding.DOUBLE)
