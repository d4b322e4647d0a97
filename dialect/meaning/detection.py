"""decode_boxes and non_max_suppression."""

from __future__ import annotations

import numpy as np

from .call import Array, Call


def decode_boxes(call: Call) -> Array:
    """``(center - half, center + half)``, each of the two in f64 and rounded once."""
    encodings, anchors = (array.astype(np.float64) for array in call.inputs)
    scales = np.asarray(call["scales"], np.float32).astype(np.float64)
    with np.errstate(all="ignore"):
        center = (encodings[:, :2] / scales[:2] * anchors[:, 2:] + anchors[:, :2]).astype(np.float32)
        half = (0.5 * np.exp(encodings[:, 2:] / scales[2:]) * anchors[:, 2:]).astype(np.float32)
        return np.concatenate([center - half, center + half], axis=1)


def non_max_suppression(call: Call) -> Array:
    """Class by class: the best box that is left is selected, and those that overlap with it are dropped."""
    boxes, scores = call.inputs
    low, overlap = np.float32(call["score_threshold"]), np.float32(call["iou_threshold"])
    result = np.full(call.result.shape, -1, np.int32)
    for row, selected in zip(scores, result, strict=True):
        left = np.flatnonzero(row >= low)
        for k in range(selected.size):
            if not left.size:
                break
            best = left[np.argmax(row[left])]
            selected[k] = best
            dropped = (_overlaps(boxes[best], boxes[left]) > overlap) | (left == best)
            left = left[~dropped]
    return result


def _overlaps(box: Array, others: Array) -> Array:
    """Intersection over union of a box with each of the others."""
    with np.errstate(all="ignore"):
        area, areas = _area(box), _area(others)
        low = np.where(box[:2] < others[:, :2], others[:, :2], box[:2])
        high = np.where(others[:, 2:] < box[2:], others[:, 2:], box[2:])
        extent = high - low
        extent = np.where(extent < 0, np.float32(0), extent)
        shared = extent[:, 0] * extent[:, 1]
        ratio = shared / (area + areas - shared)
    empty = (area <= 0) | (areas <= 0)
    result: Array = np.where(empty, np.float32(0), ratio)
    return result


def _area(boxes: Array) -> Array:
    area: Array = (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])
    return area
