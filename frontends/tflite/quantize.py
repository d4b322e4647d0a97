"""QUANTIZE (from reals, or from other parameters), DEQUANTIZE and DENSIFY."""

from __future__ import annotations

from .operator_import import FLOAT, Q8, Q16, Q32, OperatorImport
from .registry import importer


@importer("QUANTIZE")
def quantize(op: OperatorImport) -> None:
    op.demand_counts((1,))
    x = op.type(0)
    found = op.demand_kind(x, FLOAT | Q8 | Q16 | Q32)
    op.demand_kind(op.output().type, Q8 | Q16 if found in FLOAT else Q8 | Q16 | Q32, "result")
    op.emit("quantize" if found in FLOAT else "requantize", [op.value(0)], x.shape)


@importer("DENSIFY")
def densify(op: OperatorImport) -> None:
    """The reader has made sparse constants dense: what is left is another name for them."""
    op.demand_counts((1,))
    op.constant(0, "sparse values")
    x, y = op.type(0), op.output().type
    if x.dtype != y.dtype:
        op.fail(f"values of type {op.tensor(0).type_name} become {op.output().type_name}")
    if y.shape != x.shape:
        op.fail(f"declares output shape {list(y.shape)}, but its input has {list(x.shape)}")
    op.bind(op.value(0), x)


@importer("DEQUANTIZE")
def dequantize(op: OperatorImport) -> None:
    op.demand_counts((1,))
    x = op.type(0)
    found = op.demand_kind(x, Q8 | Q16 | Q32 | {"f16"})
    op.demand_kind(op.output().type, FLOAT, "result")
    # Values stored in half precision are exact in f32.
    op.emit("cast" if found == "f16" else "dequantize", [op.value(0)], x.shape)
