"""decode_boxes: elementwise in f64. non_max_suppression: a kernel of loops, since each step depends on the
one before.
"""

from __future__ import annotations

from typing import Any

from .builder import Builder, Value
from .core import Call
from .scalar import Body, Scalar
from .sort_key import MINUS_INFINITY, NO_KEY, place_of_key, sort_key

_EXTENTS = 5
"""What is kept of a box: four corners and the area."""


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
    """Class by class: candidates are listed once, with their corners and areas side by side. Then each step
    takes the best one that is left, and in one pass over the list drops it and what overlaps with it, and
    finds the next best.
    """
    boxes, scores = call.operands()
    classes, count = call.types[1].shape
    places = call.result.shape[1]
    least, limit = float(call["score_threshold"]), float(call["iou_threshold"])

    def write(body: Body, arguments: list[Any]) -> Any:
        box, score, keys, extents, result = arguments

        def of_class(body: Body, row: Scalar, state: list[Any]) -> list[Any]:
            result, keys, extents = state
            keys, length, best = _candidates(body, score, row, keys, count, least)
            extents = _extents(body, box, keys, length, extents)

            def select(body: Body, k: Scalar, state: list[Any]) -> list[Any]:
                result, keys, best = state
                result = body.insert(_number(body.adopt(best)), result, [body.adopt(row.value), k])
                return [result, *_without_overlaps(body, box, best, keys, length, extents, limit)]

            stop = body.constant("index", places)
            result, keys, _ = body.loop(stop, [result, keys, best], select)
            return [result, keys, extents]

        return body.loop(body.constant("index", classes), [result, keys, extents], of_class)[0]

    scratch = [builder.empty((count,), "i64"), builder.empty((_EXTENTS, count), "f32")]
    return builder.kernel(
        "non_max_suppression", [boxes, scores, *scratch], builder.empty(call.result.shape, "i32"), write
    )


def _candidates(body: Body, score: Any, row: Scalar, keys: Any, count: int, least: float) -> list[Any]:
    """The keys of the boxes whose score is high enough, how many they are, and the highest.

    The list is as long as there are boxes. What is not kept is written, too, and overwritten by the next.
    """

    def step(body: Body, i: Scalar, state: list[Any]) -> list[Any]:
        keys, length, best = state[0], *(body.adopt(value) for value in state[1:])
        value = body.extract(score, [body.adopt(row.value), i])
        key, kept = sort_key(value, i, MINUS_INFINITY), value >= least
        longer = length + kept.select(body.constant("index", 1), body.constant("index", 0))
        best = best.maximum(kept.select(key, NO_KEY))
        return [body.insert(key, keys, [length]), longer.value, best.value]

    start = [keys, body.constant("index", 0).value, body.constant("i64", NO_KEY).value]
    return body.loop(body.constant("index", count), start, step)


def _extents(body: Body, box: Any, keys: Any, length: Any, extents: Any) -> Any:
    """Corners and area of every candidate."""

    def step(body: Body, j: Scalar, state: list[Any]) -> list[Any]:
        corners = _corners(body, box, place_of_key(body.extract(keys, [j])).to_index())
        extents = state[0]
        for k, value in enumerate([*corners, _area(corners)]):
            extents = body.insert(value, extents, [body.constant("index", k), j])
        return [extents]

    return body.loop(body.adopt(length), [extents], step)[0]


def _corners(body: Body, box: Any, place: Scalar) -> list[Scalar]:
    return [body.extract(box, [place, body.constant("index", k)]) for k in range(4)]


def _area(corners: list[Scalar]) -> Scalar:
    return (corners[2] - corners[0]) * (corners[3] - corners[1])


def _number(best: Scalar) -> Scalar:
    """The box of a key; -1 if there is none."""
    place = place_of_key(best).truncate("i32")
    return best.compare("ne", NO_KEY).select(place, -1)


def _without_overlaps(
    body: Body, box: Any, best: Any, keys: Any, length: Any, extents: Any, limit: float
) -> list[Any]:
    """The keys without ``best`` and those of boxes whose overlap with it is more than ``limit``, and the
    highest that is left. A branch-free pass, which LLVM vectorizes.
    """
    none = body.constant("index", 0)
    found = body.adopt(best).compare("ne", NO_KEY)
    corners = _corners(body, box, found.select(place_of_key(body.adopt(best)).to_index(), none))
    one = [value.value for value in (*corners, _area(corners))]

    def step(body: Body, j: Scalar, state: list[Any]) -> list[Any]:
        keys, highest = state[0], body.adopt(state[1])
        key = body.extract(keys, [j])
        other = [body.extract(extents, [body.constant("index", k), j]) for k in range(_EXTENTS)]
        overlap = _overlap([body.adopt(value) for value in one], other)
        # A comparison that is false for NaN, as LiteRT's is.
        dropped = (overlap > limit) | key.compare("eq", body.adopt(best))
        key = dropped.select(body.constant("i64", NO_KEY), key)
        return [body.insert(key, keys, [j]), highest.maximum(key).value]

    stop = found.select(body.adopt(length), none)  # nothing is left: nothing is looked at
    return body.loop(stop, [keys, body.constant("i64", NO_KEY).value], step)


def _overlap(one: list[Scalar], other: list[Scalar]) -> Scalar:
    """Intersection over union of two boxes (corners, area), 0 if one of them has no area."""
    area, other_area = one[4], other[4]
    sides = []
    for k in (0, 1):
        low = (one[k] < other[k]).select(other[k], one[k])
        high = (other[k + 2] < one[k + 2]).select(other[k + 2], one[k + 2])
        side = high - low
        sides.append((side < 0.0).select(side.body.constant("f32", 0.0), side))
    shared = sides[0] * sides[1]
    ratio = shared / (area + other_area - shared)
    empty = area.compare("le", 0.0) | other_area.compare("le", 0.0)
    return empty.select(ratio.body.constant("f32", 0.0), ratio)
