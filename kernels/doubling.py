"""The rule DOUBLE by the instructions that AArch64 has for it.

``sqrdmulh`` is the first rounding, bit by bit. ``srshl``, a rounding shift to the right, rounds half up,
where the rule wants half away from zero: negative numbers are made one less before. That only matters where
results may lie below the zero point (elsewhere a negative half is clamped, to whichever side it rounds), and
must not be done where nothing is shifted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..dialect.op_constants import Rescale
from .channels import Channels
from .instruction_set import InstructionSet
from .instructions.aarch64 import doubling_multiply_high, rounding_shift
from .writer import Writer

RELU = "doubling-relu"
"""Results never lie below the zero point: two instructions."""
LINEAR = "doubling-linear"
"""Every channel is shifted: three."""
MASKED = "doubling-masked"
"""Any shift of 0 to 31: five."""
COMPLETE = "doubling"
"""The same, and then the zero point is added and the sum clamped."""
KINDS = (RELU, LINEAR, MASKED, COMPLETE)


def serves(isa: InstructionSet) -> bool:
    return isa.architecture == "aarch64"


def kind(rescale: Rescale) -> str:
    """What computes a rescale with shifts of 0 to 31 to the right, for every accumulator."""
    if rescale.low >= rescale.zero_point:
        return RELU
    pairs = zip(rescale.multipliers, rescale.shifts, strict=True)
    return LINEAR if all(shift < 0 for multiplier, shift in pairs if multiplier) else MASKED


def parameter_count(kind: str) -> int:
    """i32 vectors."""
    return 3 if kind in (MASKED, COMPLETE) else 2


def pack(kind: str, rescale: Rescale, channels: Channels) -> npt.NDArray[Any]:
    """``[vectors, parameters, lanes]``, i32: multipliers, shifts to the left, masks of what is corrected."""
    multiplier, left = (channels.spread(values, np.int32) for values in (rescale.multipliers, rescale.shifts))
    left = np.where(multiplier == 0, -1, left)  # any will do, the product is zero
    return np.stack([multiplier, left, -(left < 0).astype(np.int32)][: parameter_count(kind)], 1)


def apply(w: Writer, kind: str, value: str, parameters: Sequence[str]) -> str:
    """An i32 vector, rescaled; the zero point is not added."""
    high = doubling_multiply_high(w, value, parameters[0])
    if kind != RELU:
        sign = w.binary("shrsi", high, w.splat(31, w.i32), w.i32)
        if parameter_count(kind) == 3:
            sign = w.binary("andi", sign, parameters[2], w.i32)
        high = w.binary("addi", high, sign, w.i32)
    return rounding_shift(w, high, parameters[1])
