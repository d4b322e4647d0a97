"""What inserted conversions cost: accuracy on samples, bytes moved, multiply-accumulates."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..dialect.evaluate import evaluate_module
from ..dialect.ir_types import to_tensor_type
from ..dialect.model import Model
from ..dialect.types import QuantParams, TensorType, broadcast_along

Array = npt.NDArray[Any]
Progress = Callable[[str], None]

_RESCALING = ("qnn.dequantize", "qnn.quantize", "qnn.requantize")
_COMPARED = (*_RESCALING, "qnn.clamp")


@dataclass(frozen=True)
class Accuracy:
    """How far reals are from what they should be, over all samples.

    ``sqnr`` is the signal to quantization noise ratio in dB, None if there is no noise at all; ``max_error``
    is in reals; ``changed`` of ``elements`` values differ.
    """

    sqnr: float | None
    max_error: float
    changed: int
    elements: int

    @property
    def is_exact(self) -> bool:
        return self.changed == 0


@dataclass(frozen=True)
class Cost:
    """Of one inserted op: ``bytes`` it reads and writes, ``macs`` it does (one per element that it rescales).

    ``accuracy`` compares its result with its input, as reals; None if it was not measured.
    """

    bytes: int
    macs: int
    accuracy: Accuracy | None = None


@dataclass(frozen=True)
class OutputChange:
    """An output of the legalized model against the same one of the model as it was."""

    name: str
    accuracy: Accuracy


class _Comparison:
    """Sums over samples."""

    def __init__(self) -> None:
        self.signal = self.noise = self.worst = 0.0
        self.changed = self.elements = 0

    def add(self, expected: Array, got: Array) -> None:
        known = np.isfinite(expected) & np.isfinite(got)
        both_odd = ~known & ((expected == got) | (np.isnan(expected) & np.isnan(got)))
        self.elements += expected.size
        self.changed += int((~known & ~both_odd).sum())
        error = np.where(known, got, 0) - np.where(known, expected, 0)
        self.changed += int(np.count_nonzero(error))
        self.signal += float(np.square(np.where(known, expected, 0)).sum())
        self.noise += float(np.square(error).sum())
        self.worst = max(self.worst, float(np.abs(error).max(initial=0.0)))

    def accuracy(self) -> Accuracy:
        sqnr = None
        if self.noise > 0.0:
            # a signal of nothing but zeros has no level: the bottom of the scale
            sqnr = 10 * math.log10(max(self.signal / self.noise, 1e-30))
        return Accuracy(sqnr, self.worst, self.changed, self.elements)


def costs_of(
    module: Any, operations: Sequence[Any], samples: Sequence[Sequence[Array]], progress: Progress
) -> list[Cost]:
    """The cost of each of ``operations`` (inserted ops of ``@main``), in order, with the accuracy of those
    whose results should be their inputs.
    """
    comparisons = [_Comparison() for _ in operations]
    index = {op.results[0]: i for i, op in enumerate(operations) if op.name in _COMPARED}
    if index:
        for number, sample in enumerate(samples):
            progress(f"running the legalized model on sample {number + 1} of {len(samples)}")
            _compare(module, operations, index, comparisons, sample)
    return [
        Cost(*_work(op), comparison.accuracy() if samples and op.name in _COMPARED else None)
        for op, comparison in zip(operations, comparisons, strict=True)
    ]


def _compare(
    module: Any,
    operations: Sequence[Any],
    index: dict[Any, int],
    comparisons: Sequence[_Comparison],
    sample: Sequence[Array],
) -> None:
    wanted = {op.operands[0] for op in operations}
    block = operations[0].block
    kept: dict[Any, Array] = dict(zip(block.arguments, sample, strict=False))

    def keep(op: Any, results: list[Array]) -> None:
        for value, array in zip(op.results, results, strict=True):
            if value in wanted:
                kept[value] = array
            if value in index:
                source = op.operands[0]
                types = to_tensor_type(source.type), to_tensor_type(value.type)
                reals = [to_reals(x, t) for x, t in zip((kept[source], array), types, strict=True)]
                if any(type_.is_float for type_ in types):  # floats hold reals as well as floats can
                    reals = [x.astype(np.float32).astype(np.float64) for x in reals]
                comparisons[index[value]].add(*reals)

    evaluate_module(module, sample, keep=keep)


def output_changes(
    model: Model, module: Any, samples: Sequence[Sequence[Array]], progress: Progress
) -> tuple[OutputChange, ...]:
    """What differs at the outputs of ``module``, legalized from ``model``; empty without samples."""
    comparisons = [_Comparison() for _ in model.outputs]
    for number, sample in enumerate(samples):
        progress(f"comparing outputs on sample {number + 1} of {len(samples)}")
        pairs = zip(evaluate_module(model.module, sample), evaluate_module(module, sample), strict=True)
        for info, comparison, (expected, got) in zip(model.outputs, comparisons, pairs, strict=True):
            comparison.add(to_reals(expected, info.type), to_reals(got, info.type))
    if not samples:
        return ()
    return tuple(
        OutputChange(info.name, comparison.accuracy())
        for info, comparison in zip(model.outputs, comparisons, strict=True)
    )


def _work(op: Any) -> tuple[int, int]:
    """Bytes read and written, and one multiply-accumulate per element of a conversion."""
    result = to_tensor_type(op.results[0].type)
    types = [*(to_tensor_type(operand.type) for operand in op.operands), result]
    moved = sum(type_.elements * type_.dtype.itemsize for type_ in types)
    return moved, result.elements if op.name in _RESCALING else 0


def to_reals(stored: Array, type_: TensorType) -> npt.NDArray[np.float64]:
    """The reals that an array of storage means; floats and ordinary integers mean themselves."""
    values = np.asarray(stored).astype(np.float64)
    params = type_.element
    if not isinstance(params, QuantParams):
        return values
    scales = broadcast_along(params.scales, params, type_.shape).astype(np.float64)
    return (values - broadcast_along(params.zero_points, params, type_.shape).astype(np.float64)) * scales
