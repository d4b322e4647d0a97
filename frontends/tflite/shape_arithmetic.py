"""Operators that make shapes: SHAPE, RANK, RANGE, BROADCAST_ARGS.

Models with a dynamic batch compute the shape of a RESHAPE from that of a tensor. All shapes are known at
import, so these are constants, and so is what is computed from them (``operator_import.is_folded``).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ...dialect.qnn.shapes import broadcast_shape
from .operator_import import FLOAT, PLAIN, OperatorImport
from .registry import importer

Numbers = npt.NDArray[Any]
_MOST = 1 << 62
"""More numbers than there is memory for."""


@importer("SHAPE")
def shape_of(op: OperatorImport) -> None:
    op.demand_counts((1,))
    op.demand_kind(op.output().type, PLAIN, "result")
    op.emit_constant(np.asarray(op.type(0).shape, op.output().type.dtype))


@importer("RANK")
def rank_of(op: OperatorImport) -> None:
    op.demand_counts((1,))
    op.demand_kind(op.output().type, PLAIN, "result")
    op.emit_constant(np.asarray(len(op.type(0).shape), op.output().type.dtype))


@importer("BROADCAST_ARGS")
def broadcast_args(op: OperatorImport) -> None:
    """The shape that two shapes broadcast to."""
    op.demand_counts((2,))
    op.demand_same_kind(PLAIN, (0, 1))
    shape = op.infer(broadcast_shape, op.integers(0, "shapes"), op.integers(1, "shapes"))
    op.emit_constant(np.asarray(shape, op.output().type.dtype))


@importer("RANGE")
def range_(op: OperatorImport) -> None:
    """Numbers from a start (included) to a limit (excluded); all three inputs are constants."""
    op.demand_counts((3,))
    op.demand_same_kind(PLAIN | FLOAT, (0, 1, 2))
    start, limit, delta = (op.constant(i, "ranges").reshape(-1) for i in range(3))
    if not start.size == limit.size == delta.size == 1 or not np.isfinite([start, limit, delta]).all():
        op.fail("start, limit and delta must be one number each")
    first, step, distance = start[0].item(), delta[0].item(), limit[0].item() - start[0].item()
    if step == 0 or distance * step < 0:
        op.fail(f"a range from {first} to {limit[0].item()} in steps of {step} does not end")
    count = _length(start, limit, delta)
    op.demand_memory((count,), op.output().type)
    op.result_type((count,))
    # One step after the other: floats are rounded each time.
    steps = np.concatenate([start, np.repeat(delta, max(count - 1, 0))])[:count]
    op.emit_constant(np.add.accumulate(steps, dtype=start.dtype))


def _length(start: Numbers, limit: Numbers, delta: Numbers) -> int:
    """How many numbers a range has; of floats computed in their own precision, as LiteRT does."""
    if start.dtype.kind != "f":
        return -(-(int(limit[0]) - int(start[0])) // int(delta[0]))
    with np.errstate(over="ignore"):
        ratio = float(((limit - start) / delta)[0])
    return math.ceil(ratio) if math.isfinite(ratio) else _MOST
