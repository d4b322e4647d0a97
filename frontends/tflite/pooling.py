"""AVERAGE_POOL_2D and MAX_POOL_2D."""

from __future__ import annotations

from ...dialect.qnn.shapes import pool2d_shape
from .operator_import import FLOAT, Q8, Q16, OperatorImport
from .registry import importer
from .window import window_of

_OPS = {"AVERAGE_POOL_2D": "avg_pool2d", "MAX_POOL_2D": "max_pool2d"}


@importer("AVERAGE_POOL_2D", "MAX_POOL_2D")
def pool_2d(op: OperatorImport) -> None:
    op.demand_counts((1,))
    op.demand_same_kind(FLOAT | Q8 | Q16)
    x = op.type(0)
    op.demand_rank(x, 4)
    extents = (op.option("filter_h"), op.option("filter_w"))
    window = window_of(op, x, extents)
    shape = op.infer(pool2d_shape, x.shape, extents, window.strides, window.padding)
    attributes = {
        "window": extents,
        "strides": window.strides,
        "padding": window.padding,
        "clamp": op.clamp(),
    }
    op.emit(_OPS[op.name], [op.value(0)], shape, attributes)
