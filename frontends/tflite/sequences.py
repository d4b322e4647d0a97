"""Steps over time: what recurrent operators share.

Inside, sequences lie with time first. Steps are a loop, whose body is compiled once; a single one is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ...dialect.loops import CountedLoop
from ...dialect.types import QuantParams, TensorType
from .operator_import import OperatorImport

Step = Callable[[Any, Sequence[Any]], Sequence[Any]]
"""From what the input contributes at a time and the states to the next states; the first is the output."""


@dataclass(frozen=True)
class Steps:
    """The shape of a sequence, [batch, time, depth], or time first; or of a single step, [batch, depth]."""

    batch: int
    time: int
    depth: int
    time_major: bool
    single: bool = False

    @classmethod
    def one(cls, op: OperatorImport, x: TensorType) -> Steps:
        """A step, the operator's input."""
        op.demand_rank(x, 2)
        op.demand_positive(batch=x.shape[0])
        return cls(x.shape[0], 1, x.shape[1], time_major=True, single=True)

    @classmethod
    def of(cls, op: OperatorImport, x: TensorType) -> Steps:
        """Of an operator's input."""
        op.demand_rank(x, 3)
        time_major = op.option("time_major")
        first, second, depth = x.shape
        batch, time = (second, first) if time_major else (first, second)
        op.demand_positive(batch=batch, time=time)
        return cls(batch, time, depth, time_major)

    @property
    def leading(self) -> tuple[int, ...]:
        if self.single:
            return (self.batch,)
        return (self.time, self.batch) if self.time_major else (self.batch, self.time)

    @property
    def rows(self) -> int:
        return self.batch * self.time

    def rows_of(self, op: OperatorImport, value: Any, type_: TensorType) -> Any:
        """A sequence as [time x batch, depth]."""
        depth = type_.shape[-1]
        if not self.time_major and min(self.batch, self.time) > 1:
            swapped = TensorType((self.time, self.batch, depth), type_.element)
            value = op.build("transpose", [value], swapped, {"permutation": (1, 0, 2)})
        return op.build("reshape", [value], TensorType((self.rows, depth), type_.element), {})

    def sequence_of(self, op: OperatorImport, value: Any, type_: TensorType) -> Any:
        """[time, batch, units] as a sequence of the operator's order."""
        result = TensorType((*self.leading, type_.shape[2]), type_.element)
        if not self.time_major and min(self.batch, self.time) > 1:
            return op.build("transpose", [value], result, {"permutation": (1, 0, 2)})
        return op.build("reshape", [value], result, {}) if result != type_ else value


def run_over_time(
    op: OperatorImport,
    steps: Steps,
    projected: Any,
    element: str | QuantParams,
    step: Step,
    states: Sequence[tuple[Any, TensorType]],
    backwards: bool = False,
) -> tuple[Any, list[Any]]:
    """``step`` of what the input contributes at each time, [batch, width], in order; the outputs as a
    sequence, and the states at the end.

    ``projected`` is [time x batch, width] of ``element``.
    """
    width = projected.type.shape[1]
    output = states[0][1]
    first = [state for state, _ in states]
    if steps.time == 1:
        last = list(step(projected, first))
        sequence = op.build("reshape", [last[0]], TensorType((1, *output.shape), output.element), {})
    else:
        whole = TensorType((steps.time, steps.batch, width), element)
        value = op.build("reshape", [projected], whole, {})
        types = [type_ for _, type_ in states]
        loop = CountedLoop(steps.time, first, types, output, op.location, op.graph.insertion_point)
        if backwards:
            loop.run_backwards()
        with _inside(op, loop):
            part = loop.slice_of(value, TensorType(whole.shape[1:], element))
            held = step(part, loop.carried)
        *last, sequence = loop.end(held, held[0])
    written = TensorType((steps.time, *output.shape), output.element)
    return steps.sequence_of(op, sequence, written), last


@contextmanager
def _inside(op: OperatorImport, loop: CountedLoop) -> Iterator[None]:
    """Build in the body of a loop; constants, which others may read, in front of it."""
    graph = op.graph
    before = graph.insertion_point, graph.constants_point
    graph.insertion_point, graph.constants_point = loop.point, loop.before
    try:
        yield
    finally:
        graph.insertion_point, graph.constants_point = before


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
