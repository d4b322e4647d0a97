"""The pure helpers of convert-qnn-to-linalg."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zeropoint.passes.convert_qnn_to_linalg.arith import by_unsigned, stored_bits
from zeropoint.passes.convert_qnn_to_linalg.builder import reshape_groups


@given(st.lists(st.sampled_from([1, 1, 2, 2, 3]), max_size=7))
def test_reshape_groups_hold_equally_many_elements(factors: list[int]) -> None:
    """Two shapes made of the same factors, merged differently: groups cover both in order."""
    cuts = np.random.default_rng(len(factors))
    old, new = ([math.prod(part) for part in _split(factors, cuts)] for _ in range(2))
    groups = reshape_groups(old, new)
    if not old or not new:
        assert groups == []
        return
    assert [i for left, _ in groups for i in left] == list(range(len(old)))
    assert [j for _, right in groups for j in right] == list(range(len(new)))
    for left, right in groups:
        assert left
        assert right
        assert math.prod(old[i] for i in left) == math.prod(new[j] for j in right)


def _split(factors: list[int], cuts: np.random.Generator) -> list[list[int]]:
    """Consecutive runs of random length."""
    runs: list[list[int]] = []
    for factor in factors:
        if runs and cuts.random() < 0.5:
            runs[-1].append(factor)
        else:
            runs.append([factor])
    return runs


def test_reshape_groups_are_short() -> None:
    assert reshape_groups([1, 7, 7, 64], [1, 3136]) == [([0], [0]), ([1, 2, 3], [1])]
    assert reshape_groups([2, 3, 4], [6, 2, 2]) == [([0, 1], [0]), ([2], [1, 2])]
    assert reshape_groups([4, 1, 1], [4]) == [([0, 1, 2], [0])]
    assert reshape_groups([0, 3], [5, 0]) == [([0, 1], [0, 1])]
    assert reshape_groups([1, 1], []) == []


@pytest.mark.parametrize(
    ("value", "kind", "bits"), [(200, "i8", -56), (-128, "i8", -128), (65535, "i16", -1), (5, "i32", 5)]
)
def test_stored_bits(value: int, kind: str, bits: int) -> None:
    assert stored_bits(value, kind) == bits


def test_tables_are_indexed_by_the_stored_bits() -> None:
    table = np.arange(-128, 128)  # the entry of q is q
    reordered = by_unsigned(table, signed=True)
    assert all(reordered[q & 0xFF] == q for q in range(-128, 128))
    assert by_unsigned(table, signed=False) is table
