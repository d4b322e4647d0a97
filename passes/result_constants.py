"""The arithmetic of an op, were its result of other parameters: the plain constants, and what they say."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..dialect import rescale
from ..dialect.meaning import evaluate
from ..dialect.numerics import Rounding
from ..dialect.types import QuantParams, TensorType
from . import graph
from .stored_maps import shifted


@dataclass(frozen=True)
class Change:
    """The wish: ``op`` shall give ``target``, as op ``after`` (requantize, or concat for one of its inputs)
    makes it of the present result. ``may_round``: leave out a rounding step.
    """

    op: Any
    target: QuantParams
    mode: str
    may_round: bool
    after: str = "requantize"

    @property
    def name(self) -> str:
        return graph.name_of(self.op)

    @property
    def present(self) -> QuantParams:
        return graph.type_of(self.op.results[0]).params

    @property
    def clamp(self) -> tuple[float, ...]:
        """The fused activation; empty if there is none."""
        return tuple(graph.attributes_of(self.op).get("clamp", ()))

    def types(self) -> list[TensorType]:
        return [graph.type_of(operand) for operand in self.op.operands]

    def later(self, stored: list[int]) -> list[int]:
        """Stored values of the present result as ``after`` converts them."""
        values = np.array(stored, self.present.storage.dtype)
        kinds = [TensorType(values.shape, params) for params in (self.present, self.target)]
        attributes = {"axis": 0} if self.after == "concat" else {}
        (result,) = evaluate(self.after, [values], kinds[:1], kinds[1:], attributes, self.mode)
        return [int(v) for v in result]


def distance_of(present: QuantParams, target: QuantParams) -> int:
    return target.zero_point - present.zero_point


def constants_of(change: Change, result: QuantParams, clamp: tuple[float, ...]) -> Any:
    """The op's plain constants, were its result of these parameters."""
    types, mode = change.types(), change.mode
    kind = replace(graph.type_of(change.op.results[0]), element=result)
    if change.name == "conv2d":
        return rescale.conv2d(types[0], types[1], kind, clamp, mode, *types[2:])
    if change.name == "fully_connected":
        return rescale.fully_connected(types[0], types[1], kind, clamp, mode, *types[2:])
    if change.name == "mul":
        return rescale.mul(types[0], types[1], kind, clamp, mode)
    if change.name == "mean":
        return rescale.mean(types[0], kind, _mean_count(change), mode)
    return rescale.add(types[0], types[1], kind, clamp, mode)


def _mean_count(change: Change) -> int:
    shape = change.types()[0].shape
    return math.prod(shape[axis] for axis in graph.attributes_of(change.op)["axes"])


def moved(constants: Any, distance: int) -> Any:
    """The constants whose results are ``distance`` higher, all else equal; None if there are none such."""
    for field in ("rescale", "output"):
        if hasattr(constants, field):
            return replace(constants, **{field: shifted(getattr(constants, field), distance)})
    if isinstance(constants, rescale.ShiftSum):
        return shifted(constants, distance)
    return None  # a FloatMean: the zero point takes part in the rounding


def _output(constants: Any) -> Any:
    """The part of an op's constants that holds rounding, zero point and limits."""
    return getattr(constants, "rescale", getattr(constants, "output", constants))


def limits(change: Change, result: QuantParams, clamp: tuple[float, ...]) -> tuple[int, int]:
    """Lowest and highest stored value of a result of those parameters under that clamp, for a computing
    op.
    """
    if change.name in ("quantize", "softmax"):
        return result.storage.minimum, result.storage.maximum
    output = _output(constants_of(change, result, clamp))
    return output.low, output.high


def wraps(change: Change) -> str | None:
    """Double rounding shifts the accumulator left in 32 bits if the multiplier is one or more."""
    if change.name not in ("conv2d", "fully_connected", "mul", "mean"):
        return None
    output = _output(constants_of(change, change.target, change.clamp))
    present = _output(constants_of(change, change.present, change.clamp))
    if not _rounds_twice(output):
        return None
    shift, old = max(output.shifts), max(present.shifts) if _rounds_twice(present) else 0
    if shift <= max(old, 0) or _accumulator_bits(change) + shift < 32:
        return None
    return f"a multiplier of {max(output.scales):g} would shift the accumulator out of its 32 bits"


def _rounds_twice(output: Any) -> bool:
    return isinstance(output, rescale.Rescale) and output.rounding is Rounding.DOUBLE


def _accumulator_bits(change: Change) -> int:
    """Bits of the largest accumulator, sign included; 32 where only the bias and the filter could tell."""
    spans = [_span(type_.params) for type_ in change.types()[:2] if type_.params.is_per_tensor]
    if change.name == "mul":
        return (spans[0] * spans[1]).bit_length() + 1
    if change.name == "mean":
        return (spans[0] * _mean_count(change)).bit_length() + 1
    return 32


def _span(params: QuantParams) -> int:
    """The largest distance of a stored value from the zero point."""
    ends = params.storage.minimum, params.storage.maximum
    return max(abs(end - params.zero_point) for end in ends)
