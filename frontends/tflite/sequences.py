"""Steps over time: what recurrent operators share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...dialect.types import QuantParams, TensorType
from .operator_import import OperatorImport


@dataclass(frozen=True)
class Steps:
    """The shape of a sequence, [batch, time, depth], or time first."""

    batch: int
    time: int
    depth: int
    time_major: bool

    @classmethod
    def of(cls, op: OperatorImport, x: TensorType) -> Steps:
        """Of an operator's input."""
        op.demand_rank(x, 3)
        time_major = op.option("time_major")
        first, second, depth = x.shape
        batch, time = (second, first) if time_major else (first, second)
        return cls(batch, time, depth, time_major)

    @property
    def leading(self) -> tuple[int, int]:
        return (self.time, self.batch) if self.time_major else (self.batch, self.time)

    @property
    def rows(self) -> int:
        return self.batch * self.time

    @property
    def axis(self) -> int:
        return 0 if self.time_major else 1


def run_over_time(
    op: OperatorImport,
    steps: Steps,
    projected: Any,
    element: str | QuantParams,
    step: Callable[[Any], Any],
    result: TensorType,
    backwards: bool = False,
) -> Any:
    """``step`` of what the input contributes at each time, [batch, width], in order; the results as a
    sequence.

    ``projected`` is [batch x time (in the sequence's order), width] of ``element``; a step gives [batch,
    units] in the element type of ``result``.
    """
    width = projected.type.shape[1]
    value = op.build("reshape", [projected], TensorType((*steps.leading, width), element), {})
    one = [steps.batch, 1, result.shape[2]] if steps.axis == 1 else [1, steps.batch, result.shape[2]]
    outputs = []
    order = range(steps.time)
    for time in reversed(order) if backwards else order:
        part = op.build("reshape", [_at(op, steps, value, element, time)], _rows(steps, width, element), {})
        outputs.append(op.build("reshape", [step(part)], TensorType(tuple(one), result.element), {}))
    if backwards:
        outputs.reverse()
    return outputs[0] if len(outputs) == 1 else op.build("concat", outputs, result, {"axis": steps.axis})


def _rows(steps: Steps, width: int, element: str | QuantParams) -> TensorType:
    return TensorType((steps.batch, width), element)


def _at(op: OperatorImport, steps: Steps, value: Any, element: str | QuantParams, time: int) -> Any:
    """One step of a sequence."""
    sizes, offsets = [*steps.leading, value.type.shape[2]], [0, 0, 0]
    sizes[steps.axis], offsets[steps.axis] = 1, time
    return part_of(op, value, element, offsets, sizes)


def part_of(
    op: OperatorImport,
    value: Any,
    element: str | QuantParams,
    offsets: Sequence[int],
    sizes: Sequence[int],
) -> Any:
    """A slice without strides."""
    attributes = {"offsets": tuple(offsets), "sizes": tuple(sizes), "strides": (1,) * len(sizes)}
    return op.build("slice", [value], TensorType(tuple(sizes), element), attributes)
