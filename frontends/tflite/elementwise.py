"""ADD, SUB and MUL, with numpy broadcasting and fused activations."""

from __future__ import annotations

import math

from ...dialect.qnn.shapes import broadcast_shape
from .operator_import import FLOAT, Q8, Q16, OperatorImport
from .registry import importer


@importer("ADD", "SUB", "MUL")
def binary(op: OperatorImport) -> None:
    op.demand_counts((2,))
    found = op.demand_same_kind(FLOAT | Q8 | Q16, (0, 1))
    if found in Q16:
        zero_points = [t.params.zero_point for t in (op.type(0), op.type(1), op.output().type)]
        if any(zero_points):
            op.fail(f"int16 tensors need zero point 0, got {zero_points}")
        _refuse_power_of_two_scales(op)
    shape = op.infer(broadcast_shape, op.type(0).shape, op.type(1).shape)
    op.emit(op.name.lower(), [op.value(0), op.value(1)], shape, {"clamp": op.clamp()})


def _refuse_power_of_two_scales(op: OperatorImport) -> None:
    """LiteRT adds int16 tensors by shifts alone where all scales are powers of two and the model does not
    forbid it; ties then round differently from the general kernel, which is the one we have."""
    if op.name == "MUL" or not op.option("pot_scale_int16"):
        return
    scales = [t.params.scale for t in (op.type(0), op.type(1), op.output().type)]
    if all(math.frexp(scale)[0] == 0.5 for scale in scales):
        op.unsupported(f"int16 tensors whose scales are all powers of two, {scales}")
