"""RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR."""

from __future__ import annotations

from .operator_import import FLOAT, Q8, Q16, OperatorImport
from .registry import importer

_OPS = {"RESIZE_BILINEAR": "resize_bilinear", "RESIZE_NEAREST_NEIGHBOR": "resize_nearest"}


@importer("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")
def resize(op: OperatorImport) -> None:
    op.demand_counts((2,))
    op.demand_same_kind(FLOAT | Q8 | Q16)
    x, size = op.type(0), op.integers(1, "sizes")
    op.demand_rank(x, 4)
    if len(size) != 2:
        op.fail(f"size has {len(size)} values, expected height and width")
    op.demand_positive(height=size[0], width=size[1])
    align_corners, half_pixel_centers = op.option("align_corners"), op.option("half_pixel_centers")
    if align_corners and half_pixel_centers:
        op.fail("align_corners and half_pixel_centers exclude each other")
    attributes = {"align_corners": align_corners, "half_pixel_centers": half_pixel_centers}
    op.emit(_OPS[op.name], [op.value(0)], (x.shape[0], *size, x.shape[3]), attributes)
