"""Random models of TFLite_Detection_PostProcess, the custom operator behind SSD detectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from drawn_model import Drawn
from random_tensors import Array, floating, quantized
from zeropoint.dialect.types import TensorType

OPERATOR = "TFLite_Detection_PostProcess"


@dataclass
class Detections(Drawn):
    """Outputs of which LiteRT writes only a part: behind the last detection its memory is as it was."""

    filled: int = 0
    """How many classes of a detection LiteRT writes; 0: all of the results."""
    room: int = 1
    """How many have room."""

    def written(self, wanted: list[Array]) -> list[Any]:
        """An index per output."""
        if not self.filled:
            return [...] * 4
        places = np.arange(wanted[1].shape[1])
        kept = (places // self.room < wanted[3][0]) & (places % self.room < self.filled)
        return [(slice(None), kept)] * 3 + [...]


def detection_postprocess(rng: np.random.Generator) -> Detections:
    """Both kinds of suppression, with ties, degenerate boxes and scores at the threshold."""
    drawn = Detections(rng)
    count, classes, background = int(rng.integers(1, 40)), int(rng.integers(1, 6)), int(rng.integers(0, 2))
    regular = bool(rng.integers(0, 2))
    room = 1 if regular else int(rng.choice([1, 1, 2, 3, 7]))
    detections = int(rng.integers(1, 13))
    levels = _levels(rng, count, classes + background, several=room > 1)
    threshold = float(rng.choice([levels.min(), np.median(levels), -1.0]))
    options = {
        "max_detections": detections,
        "max_classes_per_detection": room,
        "nms_score_threshold": threshold,
        "nms_iou_threshold": float(rng.choice([0.1, 0.5, 0.6, 1.0])),
        "num_classes": classes,
        "y_scale": 10.0,
        "x_scale": float(rng.choice([10.0, 3.7])),
        "h_scale": 5.0,
        "w_scale": 5.0,
    }
    if regular or rng.integers(0, 2):
        options |= {"use_regular_nms": regular}
    if rng.integers(0, 2):
        options |= {"detections_per_class": int(rng.integers(1, 15))}
    inputs = _inputs(drawn, count, levels)
    shapes = ((1, detections * room, 4), (1, detections * room), (1, detections * room), (1,))
    results = [drawn.result(floating(shape)) for shape in shapes]
    drawn.model.op(OPERATOR, inputs, results, **options)
    drawn.filled, drawn.room = (0 if regular else min(room, classes)), room
    return drawn


def _levels(rng: np.random.Generator, count: int, classes: int, several: bool) -> Array:
    """Scores, few different ones: eighths. Those of one box differ if several of its classes are wanted,
    since LiteRT's order of equal ones depends on the C++ library it was built with.
    """
    if not several:
        return rng.integers(0, int(rng.choice([3, 9, 200])), (count, classes)) / 8
    return np.stack([rng.permutation(16)[:classes] for _ in range(count)]) / 8


def _inputs(drawn: Detections, count: int, levels: Array) -> list[int]:
    """Box encodings, scores and anchors: f32, or all of them uint8."""
    rng, width = drawn.rng, int(drawn.rng.choice([4, 4, 6]))
    scores, classes = TensorType((1, count, levels.shape[1]), "f32"), levels.shape[1]
    sides = rng.choice([0.0, 0.1, 0.2, 0.4], (count, 2), p=[0.1, 0.3, 0.3, 0.3])
    anchors = np.concatenate([np.round(rng.random((count, 2)), 1), sides], axis=1)
    if rng.integers(0, 3):
        encodings = np.round(rng.standard_normal((1, count, width)) * 3, int(rng.choice([0, 5])))
        boxes = drawn.source(floating(encodings.shape), encodings.astype(np.float32), "boxes")
        points = drawn.maybe_constant(floating(anchors.shape), anchors.astype(np.float32))
    else:
        e = quantized((1, count, width), "u8", float(rng.choice([0.05, 0.11])), int(rng.integers(100, 150)))
        a = quantized(anchors.shape, "u8", 1 / 128, 0)
        boxes = drawn.source(e, rng.integers(0, 256, e.shape).astype(np.uint8), "boxes")
        points = drawn.maybe_constant(a, np.round(anchors * 128).astype(np.uint8))
    if rng.integers(0, 2):
        at = drawn.source(scores, levels.astype(np.float32)[None], "scores")
    else:
        zero = int(rng.integers(0, 30))
        s = quantized((1, count, classes), "u8", 0.125, zero)
        at = drawn.source(s, np.clip(levels * 8 + zero, 0, 255).astype(np.uint8)[None], "scores")
    return [boxes, at, points]
