"""Pooling over windows of height and width."""

from collections.abc import Iterator
from typing import Any

from ..mlir import ext
from .constraints import clamp_bounds, compute_types, has_rank, inferred_shape
from .contraction import window_violations
from .core import QnnOp
from .shapes import pool2d_shape


class _PoolOp(QnnOp):
    result: ext.Result[Any]
    input: ext.Operand[Any]
    window: Any = ext.attribute(kw_only=True)
    strides: Any = ext.attribute(kw_only=True)
    padding: Any = ext.attribute(kw_only=True)
    clamp: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) input and result have rank 4.
        (C2) window and strides are two values of at least 1, padding four of at least 0 and smaller than the
          window.
        (C3) the result's shape follows, and the window fits into the padded input.
        (C4) input and result are both f32, or both quantized per-tensor in i8, u8 or i16 storage.
        (C5) clamp is empty or low <= high.
        """
        (source,), result = self.input_types, self.result_type
        yield from has_rank("C1", "input", source, 4)
        yield from has_rank("C1", "result", result, 4)
        yield from window_violations("C2", self, ("window", "strides"))
        window, strides, padding = self.plain("window"), self.plain("strides"), self.plain("padding")
        if max(padding[:2]) >= window[0] or max(padding[2:]) >= window[1]:
            yield f"(C2) padding: got {list(padding)}, expected less than the window {list(window)}"
        yield from inferred_shape(
            "C3", result.shape, lambda: pool2d_shape(source.shape, window, strides, padding)
        )
        yield from compute_types("C4", {"input": source, "result": result})
        yield from clamp_bounds("C5", self.plain("clamp"))


class MaxPool2dOp(_PoolOp, name="max_pool2d", traits=[ext.Pure]):
    """Largest value of every window; padding takes no part.

    ``result[n,y,x,c] = clamp(max(input[n, y*sh + i - top, x*sw + j - left, c]))``

    Example: ``"qnn.max_pool2d"(%x) {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding =
    array<i64: 0, 0, 0, 0>, clamp = array<f32>} : (tensor<1x8x8x3x!q>) -> tensor<1x4x4x3x!q>``
    """


class AvgPool2dOp(_PoolOp, name="avg_pool2d", traits=[ext.Pure]):
    """Mean of every window; padding takes no part, not in the count either.

    ``result[n,y,x,c] = clamp(mean(input[n, y*sh + i - top, x*sw + j - left, c]))``

    Example: ``"qnn.avg_pool2d"(%x) {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding =
    array<i64: 0, 0, 0, 0>, clamp = array<f32>} : (tensor<1x8x8x3x!q>) -> tensor<1x4x4x3x!q>``
    """
