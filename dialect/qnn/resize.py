"""Resizing of images: nearest and bilinear."""

from typing import Any

from ..mlir import ext
from .core import QnnOp


class _ResizeOp(QnnOp):
    result: ext.Result[Any]
    input: ext.Operand[Any]
    align_corners: Any = ext.attribute(kw_only=True)
    half_pixel_centers: Any = ext.attribute(kw_only=True)


class ResizeNearestOp(_ResizeOp, name="resize_nearest", traits=[ext.Pure]):
    """Resize height and width, taking the nearest value."""


class ResizeBilinearOp(_ResizeOp, name="resize_bilinear", traits=[ext.Pure]):
    """Resize height and width, interpolating between four neighbours."""
