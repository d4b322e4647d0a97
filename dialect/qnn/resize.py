"""Resizing of images: nearest and bilinear."""

from collections.abc import Iterator
from typing import Any

from ..mlir import ext
from .constraints import compute_types, has_rank
from .core import QnnOp
from .shapes import same_extent


class _ResizeOp(QnnOp):
    result: ext.Result[Any]
    input: ext.Operand[Any]
    align_corners: Any = ext.attribute(kw_only=True)
    half_pixel_centers: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) input and result have rank 4.
        (C2) batch and channels stay, height and width are at least 1.
        (C3) not both align_corners and half_pixel_centers.
        (C4) input and result are both f32, or both quantized per-tensor in i8, u8 or i16 storage.
        """
        (source,), result = self.input_types, self.result_type
        yield from has_rank("C1", "input", source, 4)
        yield from has_rank("C1", "result", result, 4)
        for d, name in ((0, "batch"), (3, "channels")):
            if not same_extent(source.shape[d], result.shape[d]):
                yield f"(C2) {name}: got {result.shape[d]}, expected {source.shape[d]} as in the input"
        for label, type_ in (("input", source), ("result", result)):
            if 0 in type_.shape[1:3]:
                yield f"(C2) {label} height and width: got {list(type_.shape[1:3])}, expected at least 1"
        if self.plain("align_corners") and self.plain("half_pixel_centers"):
            yield "(C3) align_corners and half_pixel_centers exclude each other, got both"
        yield from compute_types("C4", {"input": source, "result": result})


class ResizeNearestOp(_ResizeOp, name="resize_nearest", traits=[ext.Pure]):
    """Resize height and width to the result type's, each element the nearest one of the input.

    ``result[n,y,x,c] = input[n, nearest(y), nearest(x), c]``

    Example: ``"qnn.resize_nearest"(%x) {align_corners = false, half_pixel_centers = false}
    : (tensor<1x4x4x3x!q>) -> tensor<1x8x8x3x!q>``
    """


class ResizeBilinearOp(_ResizeOp, name="resize_bilinear", traits=[ext.Pure]):
    """Resize height and width to the result type's, each element a mix of its four neighbours in the input.

    ``result[n,y,x,c] = sum over the corners (v, u) around (y, x): weight(v, y) * weight(u, x) *
    input[n,v,u,c]``

    Example: ``"qnn.resize_bilinear"(%x) {align_corners = false, half_pixel_centers = true}
    : (tensor<1x4x4x3x!q>) -> tensor<1x8x8x3x!q>``
    """
