"""ADD, SUB and MUL, with numpy broadcasting and fused activations."""

from __future__ import annotations

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
    shape = op.infer(broadcast_shape, op.type(0).shape, op.type(1).shape)
    op.emit(op.name.lower(), [op.value(0), op.value(1)], shape, {"clamp": op.clamp()})
