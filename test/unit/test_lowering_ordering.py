"""arg_max, arg_min and top_k on rows longer than vectors, of values at the ends of their types."""

from __future__ import annotations

import numpy as np
import pytest

from lowered_ops import Case, check_cases
from random_tensors import Array
from zeropoint.dialect.types import TensorType

FLOATS = [0.0, -0.0, 1.0, -1.0, 1e-40, -1e-40, 3.4e38, -3.4e38, np.inf, -np.inf]


def _integers(element: str) -> Array:
    limits = np.iinfo(TensorType((), element).dtype)
    return np.array([limits.min, limits.min + 1, 0, 1, limits.max - 1, limits.max], limits.dtype)


def _cases(array: Array, element: str) -> list[Case]:
    rows, count = array.shape
    x, index = TensorType(array.shape, element), "i64" if count % 2 else "i32"
    cases = [
        Case(op, [array], [x], TensorType((count, rows)[axis : axis + 1], index), {"axis": axis})
        for op in ("arg_max", "arg_min")
        for axis in (0, 1)
    ]
    return [*cases, *(Case("top_k", [array], [x], TensorType((rows, k), index)) for k in {1, count})]


@pytest.mark.parametrize("count", [1, 90, 133])
@pytest.mark.parametrize("element", ["i8", "u8", "i16", "i32", "i64"])
def test_integers(element: str, count: int) -> None:
    rng = np.random.default_rng(count)
    check_cases(_cases(rng.choice(_integers(element), (3, count)), element))


@pytest.mark.parametrize("count", [1, 90, 133])
def test_floats(count: int) -> None:
    """Rows of zeros of both signs, of all kinds of values, some of them NaN, and of nothing but NaN."""
    rng = np.random.default_rng(count)
    array = rng.choice(np.array(FLOATS, np.float32), (5, count))
    array[0] = rng.choice(np.array([0.0, -0.0], np.float32), count)
    array[1] = rng.choice(np.array([-np.inf, -3.4e38], np.float32), count)
    nan = np.array([0x7FC00000, 0xFFC00000, 0xFF800001], np.uint32).view(np.float32)
    array[3:] = np.where(rng.random((2, count)) < [[0.1], [1.0]], rng.choice(nan, (2, count)), array[3:])
    check_cases(_cases(array, "f32"))
