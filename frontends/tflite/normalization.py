"""LOG_SOFTMAX, L2_NORMALIZATION and LOCAL_RESPONSE_NORMALIZATION."""

from __future__ import annotations

import math

from ...dialect.normalization import natural_params
from .operator_import import FLOAT, Q8, OperatorImport
from .registry import importer


@importer("LOG_SOFTMAX", "L2_NORMALIZATION")
def along_last_axis(op: OperatorImport) -> None:
    """Along the last dimension; a quantized kernel writes fixed parameters, whatever the file says."""
    op.demand_counts((1,))
    x, name = op.type(0), op.name.lower()
    if not x.shape:
        op.fail("the input is a scalar, expected rank 1 or more")
    if op.demand_same_kind(FLOAT | Q8) not in FLOAT:
        y = op.output().type.params
        expected = natural_params(name, y.storage)
        if y.scale != expected.scale or y.zero_point != expected.zero_point:
            op.fail(
                f"result parameters are scale {y.scale:g}, zero point {y.zero_point}; "
                f"expected {expected.scale:g} and {expected.zero_point}"
            )
    if op.name == "L2_NORMALIZATION" and op.clamp():
        op.unsupported("a fused activation")
    op.emit(name, [op.value(0)], x.shape, {"axis": len(x.shape) - 1})


@importer("LOCAL_RESPONSE_NORMALIZATION")
def local_response_normalization(op: OperatorImport) -> None:
    op.demand_counts((1,))
    op.demand_same_kind(FLOAT)
    op.demand_rank(op.type(0), 4)
    radius = op.option("radius")
    if radius < 0:
        op.fail(f"radius must not be negative, got {radius}")
    attributes = {name: op.option(name) for name in ("bias", "alpha", "beta")}
    if not all(map(math.isfinite, attributes.values())):
        op.fail(f"bias, alpha and beta must be finite, got {attributes}")
    # Beyond the last channel there is nothing to add.
    reach = min(radius, op.type(0).shape[-1])
    op.emit("local_response_normalization", [op.value(0)], op.type(0).shape, {"radius": reach, **attributes})
