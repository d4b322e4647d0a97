"""Ops behind a detector's convolutions: decode_boxes and non_max_suppression. Both compute on f32 alone."""

import math
from collections.abc import Iterator
from typing import Any

from ..mlir import ext
from ..types import TensorType
from .constraints import element_type, equal_shape, has_rank, value_count
from .core import QnnOp
from .shapes import same_extent


def _boxes(number: str, label: str, type_: TensorType) -> Iterator[str]:
    """Four f32 per box."""
    yield from element_type(number, label, type_, type_.element == "f32", "f32")
    yield from has_rank(number, label, type_, 2)
    if not same_extent(type_.shape[1], 4):
        yield f"({number}) {label} shape: got {list(type_.shape)}, expected 4 numbers per box"


class DecodeBoxesOp(QnnOp, name="decode_boxes", traits=[ext.Pure]):
    """Corners of boxes that are given by how they differ from anchors.

    Rows of ``encodings`` and ``anchors`` are (y, x, h, w), rows of the result (ymin, xmin, ymax, xmax):
    ``center = e.y / scales[0] * a.h + a.y``, ``half = exp(e.h / scales[2]) / 2 * a.h``, each computed in f64
    and rounded once; ``ymin = center - half``, ``ymax = center + half``; x likewise

    Example: ``"qnn.decode_boxes"(%e, %a) {scales = array<f32: 10.0, 10.0, 5.0, 5.0>}
    : (tensor<9x4xf32>, tensor<9x4xf32>) -> tensor<9x4xf32>``
    """

    result: ext.Result[Any]
    encodings: ext.Operand[Any]
    anchors: ext.Operand[Any]
    scales: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) encodings, anchors and result are f32 of one shape [N, 4].
        (C2) there are four scales (y, x, h, w), finite and not 0.
        """
        (encodings, anchors), result, scales = self.input_types, self.result_type, self.plain("scales")
        yield from _boxes("C1", "encodings", encodings)
        for label, type_ in (("anchors", anchors), ("result", result)):
            yield from _boxes("C1", label, type_)
            yield from equal_shape("C1", label, type_.shape, encodings.shape)
        yield from value_count("C2", "scales", scales, 4)
        if not all(math.isfinite(scale) and scale for scale in scales):
            yield f"(C2) scales: got {list(scales)}, expected finite numbers other than 0"


class NonMaxSuppressionOp(QnnOp, name="non_max_suppression", traits=[ext.Pure]):
    """For each class the boxes of the highest scores, without those that overlap with a better one.

    ``result[c, k]`` is the box with the largest ``scores[c, :]`` of at least ``score_threshold`` (of equal
    ones the first) whose overlap with none of the boxes ``result[c, :k]`` exceeds ``iou_threshold``; -1 if
    there is none. The overlap of two boxes (ymin, xmin, ymax, xmax) is the area of their intersection over
    that of their union, 0 if either has none.

    Example: ``"qnn.non_max_suppression"(%b, %s)
    {score_threshold = 0.5 : f32, iou_threshold = 0.6 : f32}
    : (tensor<9x4xf32>, tensor<3x9xf32>) -> tensor<3x5xi32>``
    """

    result: ext.Result[Any]
    boxes: ext.Operand[Any]
    scores: ext.Operand[Any]
    score_threshold: Any = ext.attribute(kw_only=True)
    iou_threshold: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) boxes are f32 of shape [N, 4].
        (C2) scores are f32 of shape [C, N].
        (C3) the result is i32 of shape [C, K].
        (C4) score_threshold is a number; iou_threshold is more than 0 and at most 1.
        """
        (boxes, scores), result = self.input_types, self.result_type
        yield from _boxes("C1", "boxes", boxes)
        yield from element_type("C2", "scores", scores, scores.element == "f32", "f32")
        yield from has_rank("C2", "scores", scores, 2)
        yield from equal_shape("C2", "scores", scores.shape, (scores.shape[0], boxes.shape[0]))
        yield from element_type("C3", "result", result, result.element == "i32", "i32")
        yield from has_rank("C3", "result", result, 2)
        yield from equal_shape("C3", "result", result.shape, (scores.shape[0], result.shape[1]))
        if math.isnan(self.plain("score_threshold")):
            yield "(C4) score_threshold: got nan, expected a number"
        overlap = self.plain("iou_threshold")
        if not 0 < overlap <= 1:
            yield f"(C4) iou_threshold: got {overlap}, expected more than 0 and at most 1"
