"""decode_boxes: elementwise in f64. non_max_suppression: a kernel of loops, since each step depends on the
one before.
"""

from __future__ import annotations

from typing import Any

from .builder import Builder, Value
from .core import Call
from .scalar import Body, Scalar


def decode_boxes(builder: Builder, call: Call) -> Value:
    """``result[n, :2] = center - half``, ``result[n, 2:] = center + half``."""
    count = call.types[0].shape[0]
    parts = [
        builder.extract_slice(call.operand(i), [0, k], [count, 2], [1, 1]) for i in (0, 1) for k in (0, 2)
    ]
    place, size, anchor_place, anchor_size = parts
    scales = [float(scale) for scale in call["scales"]]

    def scaled(x: Scalar, first: int) -> Scalar:
        """y or h by its scale in column 0, x or w by its own in column 1."""
        is_first = x.body.index(1).compare("eq", 0)
        scale = is_first.select(x.body.constant("f64", scales[first]), scales[first + 1])
        return x.extend("f64") / scale

    def center(x: Scalar, anchor: Scalar, extent: Scalar) -> Scalar:
        return (scaled(x, 0) * extent.extend("f64") + anchor.extend("f64")).truncate("f32")

    def half(x: Scalar, extent: Scalar) -> Scalar:
        return (scaled(x, 2).call("exp") * 0.5 * extent.extend("f64")).truncate("f32")

    shape = (count, 2)
    centers = builder.elementwise([place, anchor_place, anchor_size], shape, "f32", center)
    halves = builder.elementwise([size, anchor_size], shape, "f32", half)
    low = builder.elementwise([centers, halves], shape, "f32", lambda c, h: c - h)
    high = builder.elementwise([centers, halves], shape, "f32", lambda c, h: c + h)
    return builder.concat([low, high], 1, call.result.shape)


def non_max_suppression(builder: Builder, call: Call) -> Value:
    """Class by class: candidates are listed, then in each step the best one that is left is selected, and
    the list shortened to those that do not overlap with it.
    """
    boxes, scores = call.operands()
    classes, count = call.types[1].shape
    places = call.result.shape[1]
    least, limit = float(call["score_threshold"]), float(call["iou_threshold"])

    def write(body: Body, arguments: list[Any]) -> Any:
        box, score, listed, result = arguments

        def of_class(body: Body, row: Scalar, state: list[Any]) -> list[Any]:
            listed, length = _candidates(body, score, row, state[1], count, least)

            def select(body: Body, k: Scalar, state: list[Any]) -> list[Any]:
                result, listed, left = state
                best = _best(body, score, row, listed, left)
                result = body.insert(body.adopt(best), result, [body.adopt(row.value), k])
                return [result, *_without_overlaps(body, box, best, listed, left, limit)]

            stop = body.constant("index", places)
            return body.loop(stop, [state[0], listed, length], select)[:2]

        return body.loop(body.constant("index", classes), [result, listed], of_class)[0]

    listed = builder.empty((count,), "i32")
    return builder.kernel(
        "non_max_suppression", [boxes, scores, listed], builder.empty(call.result.shape, "i32"), write
    )


def _candidates(body: Body, score: Any, row: Scalar, listed: Any, count: int, least: float) -> list[Any]:
    """The boxes whose score is high enough, in order, and how many they are."""

    def step(body: Body, i: Scalar, state: list[Any]) -> list[Any]:
        kept = body.extract(score, [body.adopt(row.value), i]) >= least
        return _append(body, state, i.index_to("i32"), kept)

    none = body.constant("index", 0).value
    return body.loop(body.constant("index", count), [listed, none], step)


def _append(body: Body, state: list[Any], number: Scalar, kept: Scalar) -> list[Any]:
    """A list and its length with ``number`` behind it; the length only counts it if it is ``kept``.

    The list is as long as there are boxes and never longer than what was looked at, so there is room.
    """
    listed, length = state[0], body.adopt(state[1])
    longer = length + kept.select(body.constant("index", 1), body.constant("index", 0))
    return [body.insert(number, listed, [length]), longer.value]


def _best(body: Body, score: Any, row: Scalar, listed: Any, left: Any) -> Any:
    """The first box of the list with the highest score, -1 of an empty list."""

    def step(body: Body, j: Scalar, state: list[Any]) -> list[Any]:
        best, highest = (body.adopt(value) for value in state)
        number = body.extract(listed, [j])
        value = body.extract(score, [body.adopt(row.value), number.to_index()])
        wins = best.compare("lt", 0) | (value > highest)
        return [wins.select(number, best).value, wins.select(value, highest).value]

    start = [body.constant("i32", -1).value, body.constant("f32", 0.0).value]
    return body.loop(body.adopt(left), start, step)[0]


def _without_overlaps(body: Body, box: Any, best: Any, listed: Any, left: Any, limit: float) -> list[Any]:
    """The list without ``best`` and the boxes whose overlap with it is more than ``limit``; its length.

    What stays moves towards the front of the same memory: a place is read before it is written.
    """
    zero = body.constant("i32", 0)
    place = body.adopt(best).maximum(zero).to_index()  # of an empty list nothing is looked at
    corners = [body.extract(box, [place, body.constant("index", k)]).value for k in range(4)]

    def step(body: Body, j: Scalar, state: list[Any]) -> list[Any]:
        number = body.extract(state[0], [j])
        one = [body.adopt(corner) for corner in corners]
        other = [body.extract(box, [number.to_index(), body.constant("index", k)]) for k in range(4)]
        # A comparison that is false for NaN, as LiteRT's is.
        apart = (_overlap(one, other) > limit).compare("eq", 0)
        return _append(body, state, number, apart & number.compare("ne", body.adopt(best)))

    return body.loop(body.adopt(left), [listed, body.constant("index", 0).value], step)


def _overlap(one: list[Scalar], other: list[Scalar]) -> Scalar:
    """Intersection over union of two boxes, 0 if one of them has no area."""
    area, other_area = ((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    extents = []
    for k in (0, 1):
        low = (one[k] < other[k]).select(other[k], one[k])
        high = (other[k + 2] < one[k + 2]).select(other[k + 2], one[k + 2])
        extent = high - low
        extents.append((extent < 0.0).select(extent.body.constant("f32", 0.0), extent))
    shared = extents[0] * extents[1]
    ratio = shared / (area + other_area - shared)
    empty = area.compare("le", 0.0) | other_area.compare("le", 0.0)
    return empty.select(ratio.body.constant("f32", 0.0), ratio)
