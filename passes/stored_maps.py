"""What elementwise ops do to each stored integer, as tables: how passes *prove* that a rewrite is exact.

An 8-bit tensor holds 256 different values (16-bit: 65536), so a change of parameters is a table, a chain of
changes is a composition of tables, and two ways are equal if their tables are. The tables come from the numpy
meaning, so a proof holds for the bits of the module's numerics mode. Wider storage has no table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from ..dialect import rescale
from ..dialect.meaning import evaluate
from ..dialect.types import QuantParams, TensorType

Table: TypeAlias = npt.NDArray[np.int64]

MOVES = ("broadcast", "pad", "reshape", "resize_nearest", "reverse", "slice", "transpose")
"""Ops that copy stored values and then change parameters, if those differ."""

MAX_BITS = 16


class Step(NamedTuple):
    """One op on single values: its name, the parameters of its result, its fused clamp."""

    op: str
    target: QuantParams
    clamp: tuple[float, ...] = ()


@dataclass(frozen=True)
class Difference:
    """How two ways from a stored value differ: for how many of all values, and by at most how many steps."""

    count: int
    total: int
    largest: int

    def __bool__(self) -> bool:
        return self.count > 0

    def __str__(self) -> str:
        steps = "step" if self.largest == 1 else "steps"
        return f"{self.count} of {self.total} stored values would differ, by up to {self.largest} {steps}"


def stored_values(params: QuantParams) -> Table:
    """Every value that a tensor with these parameters may hold."""
    return np.arange(params.storage.minimum, params.storage.maximum + 1, dtype=np.int64)


def has_table(params: QuantParams | None) -> bool:
    """Whether the parameters are per-tensor and of few enough values."""
    return params is not None and params.is_per_tensor and params.storage.bits <= MAX_BITS


def follow(source: QuantParams, steps: Sequence[Step], mode: str) -> Table:
    """What becomes of each of :func:`stored_values` of ``source`` along the steps."""
    values, params = stored_values(source), source
    for step in steps:
        table = _table(step.op, params, step.target, step.clamp, mode)
        values, params = table[values - params.storage.minimum], step.target
    return values


def difference(source: QuantParams, one: Sequence[Step], other: Sequence[Step], mode: str) -> Difference:
    """Compare two ways from ``source`` (with :func:`has_table`) to the same parameters, value by value."""
    gap = np.abs(follow(source, one, mode) - follow(source, other, mode))
    return Difference(int(np.count_nonzero(gap)), gap.size, int(gap.max(initial=0)))


@lru_cache(maxsize=512)
def _table(op: str, source: QuantParams, target: QuantParams, clamp: tuple[float, ...], mode: str) -> Table:
    values = stored_values(source).astype(source.storage.dtype).reshape(1, 1, -1, 1)
    name = "requantize" if op in (*MOVES, "resize_bilinear") else op
    types = TensorType(values.shape, source), TensorType(values.shape, target)
    (result,) = evaluate(name, [values], [types[0]], [types[1]], _attributes(name, clamp), mode)
    table = result.reshape(-1).astype(np.int64)
    table.setflags(write=False)
    return table


def _attributes(name: str, clamp: tuple[float, ...]) -> dict[str, Any]:
    if name in ("max_pool2d", "avg_pool2d"):  # of one tap: what happens to a pooled value
        return {"window": (1, 1), "strides": (1, 1), "padding": (0, 0, 0, 0), "clamp": clamp}
    if name == "concat":
        return {"axis": 0}
    return {"clamp": clamp} if name == "clamp" else {}


def relabels(one: QuantParams, other: QuantParams) -> bool:
    """Whether every stored value of ``one`` has its equal in ``other``, a fixed distance away, and back."""
    if not (one.is_per_tensor and other.is_per_tensor) or one.scale != other.scale:
        return False
    distance = other.zero_point - one.zero_point
    return (
        other.storage.minimum - one.storage.minimum == distance
        and other.storage.maximum - one.storage.maximum == distance
    )


def relabels_after(source: QuantParams, via: QuantParams, target: QuantParams, mode: str) -> bool:
    """Whether ``source -> via -> target`` is ``source -> target`` because the second step is a relabelling.

    Holds for every storage width: both ways have the same multiplier and rounding, only shifted.
    """
    if not relabels(via, target):
        return False
    kinds = [TensorType((), params) for params in (source, via, target)]
    first = rescale.requantize(kinds[0], kinds[1], (), mode)
    direct = rescale.requantize(kinds[0], kinds[2], (), mode)
    distance = target.zero_point - via.zero_point
    return shifted(first.rescale, distance) == direct.rescale


_Output = TypeVar("_Output", rescale.Rescale, rescale.ShiftSum)


def shifted(constants: _Output, distance: int) -> _Output:
    """The rescale whose results are ``distance`` higher."""
    return replace(
        constants,
        zero_point=constants.zero_point + distance,
        low=constants.low + distance,
        high=constants.high + distance,
    )
