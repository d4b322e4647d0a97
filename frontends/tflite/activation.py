"""Activations as operators of their own: the RELU family, LOGISTIC, TANH, SOFTMAX."""

from __future__ import annotations

import math

from .operator_import import CLAMPS, FLOAT, Q8, Q16, OperatorImport, kind
from .registry import importer

_SOFTMAX_RESULTS = {
    ("i8", "i8"): (1 / 256, -128),
    ("u8", "u8"): (1 / 256, 0),
    ("i8", "i16"): (1 / 65536, -32768),
    ("u8", "i16"): (1 / 65536, -32768),
    ("i16", "i16"): (1 / 32768, 0),
}
"""(input, result storage) -> the parameters that SOFTMAX's kernels write, whatever the file says."""

_SCALE_TOLERANCE = 1e-3
_FIXED_16 = 1 / 32768


@importer("RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1")
def relu(op: OperatorImport) -> None:
    """clamp: to the result's parameters first, then the bounds."""
    op.demand_counts((1,))
    op.demand_same_kind(FLOAT | Q8 | Q16)
    bounds = (0.0, 1.0) if op.name == "RELU_0_TO_1" else CLAMPS[op.name]
    op.emit("clamp", [op.value(0)], op.type(0).shape, {"clamp": bounds})


@importer("LOGISTIC", "TANH")
def sigmoid(op: OperatorImport) -> None:
    op.demand_counts((1,))
    found = op.demand_same_kind(FLOAT | Q8 | Q16)
    y = op.output().type
    if found in Q16 and (y.params.scale != _FIXED_16 or y.params.zero_point or op.type(0).params.zero_point):
        op.fail(f"int16 results need scale 1/32768 and zero points 0, got scale {y.params.scale:g}")
    op.emit(op.name.lower(), [op.value(0)], op.type(0).shape)


@importer("SOFTMAX")
def softmax(op: OperatorImport) -> None:
    """softmax over the last axis."""
    op.demand_counts((1,))
    x, y, beta = op.type(0), op.output().type, op.option("beta")
    if not 0 < beta < math.inf:
        op.fail(f"beta must be positive and finite, got {beta:g}")
    if not x.shape:
        op.fail("the input is a scalar, expected rank 1 or more")
    if op.demand_kind(x, FLOAT | Q8 | Q16) in FLOAT:
        op.demand_kind(y, FLOAT, "result")
    else:
        op.demand_kind(y, Q8 | Q16, "result")
        expected = _SOFTMAX_RESULTS.get((x.params.storage.name, y.params.storage.name))
        if expected is None:
            op.unsupported(f"{kind(x)} input with {kind(y)} result")
        scale, zero_point = expected
        if (
            not math.isclose(y.params.scale, scale, rel_tol=_SCALE_TOLERANCE)
            or y.params.zero_point != zero_point
        ):
            op.fail(
                f"result parameters are scale {y.params.scale:g}, zero point {y.params.zero_point}; "
                f"expected {scale:g} and {zero_point}"
            )
    op.emit("softmax", [op.value(0)], x.shape, {"beta": beta, "axis": len(x.shape) - 1})
