"""Ops that choose, reorder and index values: the reference pipeline computes what they mean."""

from __future__ import annotations

import numpy as np
import pytest

from lowered_ops import check_cases
from random_movements import MAKERS


@pytest.mark.parametrize("op", MAKERS)
@pytest.mark.parametrize("seed", range(2))
def test_lowering(op: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    check_cases([MAKERS[op](rng) for _ in range(20)])
