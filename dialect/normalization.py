"""The constants of log_softmax and l2_normalization on 8-bit tensors.

Notation as in :mod:`.op_constants`; ``Qm.n`` holds ``real * 2^n`` in an int32.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from . import fixed_point as fx
from .activation_tables import softmax_8bit
from .types import QuantParams, Storage

LOG_SOFTMAX = "log_softmax"
L2_NORMALIZATION = "l2_normalization"


def natural_params(op: str, storage: Storage) -> QuantParams:
    """The parameters that the kernel of ``log_softmax`` or ``l2_normalization`` gives a result in 8-bit
    ``storage``: 1/16 below the highest value, 1/128 around the middle.
    """
    if op == LOG_SOFTMAX:
        return QuantParams(storage, (2.0**-4,), (storage.maximum,))
    return QuantParams(storage, (2.0**-7,), (0 if storage.signed else 128,))


@dataclass(frozen=True)
class LogSoftmax8:
    """8-bit log_softmax of a row; ``d = max - q``.

    ``total = sum rdivpot(exps[d], 12)`` (Q12.19), ``log = logarithm(total)`` (Q5.26), ``reached =
    max(diff_min - 1, mbqm(log - 2^31, reverse_multiplier, reverse_shift))``. Where ``-d > reached`` the
    result is ``rdivpot(differences[d] - log, 22)`` sixteenths (negative), elsewhere the lowest value.
    """

    exps: tuple[int, ...]
    differences: tuple[int, ...]
    diff_min: int
    reverse_multiplier: int
    reverse_shift: int


@lru_cache(maxsize=64)
def log_softmax_8bit(scale: float) -> LogSoftmax8:
    """Constants of log_softmax over an 8-bit input of ``scale``: those of softmax, and the inverse of its
    input scaling.
    """
    numbers = softmax_8bit(scale, 1.0)
    differences = fx.multiply_double_rounding(
        -np.arange(256, dtype=np.int64), numbers.multiplier, numbers.shift
    )
    reverse = 2.0 ** (31 - numbers.shift) / numbers.multiplier
    multiplier, shift = fx.quantize_multiplier(reverse)
    return LogSoftmax8(numbers.exps, tuple(differences.tolist()), numbers.diff_min, multiplier, shift)
