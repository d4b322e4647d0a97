"""TFLite_Detection_PostProcess, the custom operator behind SSD detectors: boxes decoded by their anchors,
then the best ones without those that overlap.

"Regular" suppression looks at every class by itself, the fast one at the best classes of each box together.
Places of the results behind the last detection are zeros (LiteRT's fast kernel leaves them as they were).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...dialect.types import TensorType
from .flexbuffer import Value, read_map
from .operator_import import FLOAT, Q8, OperatorImport
from .registry import custom_importer

_BOXES, _CLASSES, _SCORES, _COUNT = range(4)
_INT_MAX = (1 << 31) - 1
_ROWS = {"axis": 0, "batch_dims": 0}
_BY_ROW = {"axis": 1, "batch_dims": 1}


@dataclass(frozen=True)
class _Options:
    detections: int
    classes_per_detection: int
    per_class: int
    score_threshold: float
    iou_threshold: float
    classes: int
    scales: tuple[float, ...]
    """y, x, h, w"""
    regular: bool

    @property
    def places(self) -> int:
        """How many detections the results have room for."""
        return self.detections * self.classes_per_detection


@custom_importer("TFLite_Detection_PostProcess")
def detection_postprocess(op: OperatorImport) -> None:
    """decode_boxes, non_max_suppression, and gathers of what it selects."""
    op.demand_counts((3,), 4)
    options = _options(op)
    _demand_shapes(op, options)
    boxes = _decoded(op, options)
    (_regular if options.regular else _fast)(op, options, boxes)


# -- options and inputs ---------------------------------------------------------------------------


def _options(op: OperatorImport) -> _Options:
    try:
        given = read_map(op.operator.custom_options)
    except ValueError as error:
        op.fail(f"custom options: {error}")
    options = _Options(
        detections=_integer(op, given, "max_detections"),
        classes_per_detection=_integer(op, given, "max_classes_per_detection"),
        per_class=_integer(op, given, "detections_per_class", 100),
        score_threshold=_real(op, given, "nms_score_threshold", 0.0),
        iou_threshold=_real(op, given, "nms_iou_threshold"),
        classes=_integer(op, given, "num_classes"),
        scales=tuple(_real(op, given, f"{name}_scale") for name in "yxhw"),
        regular=bool(_number(op, given, "use_regular_nms", 0)),
    )
    if not 0 < options.iou_threshold <= 1:
        op.fail(f"option nms_iou_threshold: got {options.iou_threshold}, expected more than 0 and at most 1")
    if math.isnan(options.score_threshold):
        op.fail("option nms_score_threshold: got nan, expected a number")
    for name, scale in zip("yxhw", options.scales, strict=True):
        if not scale or not math.isfinite(scale):
            op.fail(f"option {name}_scale: got {scale}, expected a finite number other than 0")
    return options


def _number(op: OperatorImport, given: dict[str, Value], name: str, default: float | None = None) -> float:
    value = given.get(name)
    if value is None:
        value = default
    if value is None:
        op.fail(f"option {name} is missing")
    if not isinstance(value, int | float):
        op.fail(f"option {name}: got {value!r}, expected a number")
    return value


def _integer(op: OperatorImport, given: dict[str, Value], name: str, default: int | None = None) -> int:
    value = _number(op, given, name, default)
    if not 1 <= value <= _INT_MAX or value != int(value):
        op.fail(f"option {name}: got {value}, expected a whole number from 1 to {_INT_MAX}")
    return int(value)


def _real(op: OperatorImport, given: dict[str, Value], name: str, default: float | None = None) -> float:
    """As float32, which the kernel computes with."""
    with np.errstate(over="ignore"):
        return float(np.float32(_number(op, given, name, default)))


def _demand_shapes(op: OperatorImport, options: _Options) -> None:
    encodings, scores, anchors = (op.type(i) for i in range(3))
    for type_, rank, what in (
        (encodings, 3, "box encodings"),
        (scores, 3, "scores"),
        (anchors, 2, "anchors"),
    ):
        op.demand_kind(type_, FLOAT | Q8, what)
        op.demand_rank(type_, rank, what)
    count = encodings.shape[1]
    if encodings.shape[0] != 1 or encodings.shape[2] < 4:
        op.fail(f"box encodings have shape {list(encodings.shape)}, expected [1, boxes, 4 or more]")
    if scores.shape[:2] != (1, count) or scores.shape[2] - options.classes not in (0, 1):
        op.fail(
            f"scores have shape {list(scores.shape)}, expected [1, {count}, {options.classes}], "
            "or one more for a background"
        )
    if anchors.shape != (count, 4):
        op.fail(f"anchors have shape {list(anchors.shape)}, expected [{count}, 4]")
    for index in range(4):
        op.demand_kind(op.output(index).type, FLOAT, "result")
    # Sizes come from options: what is too large is refused before it is built.
    op.result_type((1, options.places, 4), _BOXES)
    op.demand_memory((options.classes, min(options.per_class, options.detections)), TensorType((), "i32"))


def _reals(op: OperatorImport, index: int, columns: slice) -> Any:
    """An input as f32 of rank 2, some of its columns."""
    type_, value = op.type(index), op.value(index)
    if type_.is_quantized:
        type_ = TensorType(type_.shape, "f32")
        value = op.build("dequantize", [value], type_, {})
    first, last, _ = columns.indices(type_.shape[-1])
    rows = TensorType(type_.shape[-2:], "f32")
    value = op.build("reshape", [value], rows, {})
    if (first, last) == (0, rows.shape[1]):
        return value
    sizes = (rows.shape[0], last - first)
    attributes = {"offsets": (0, first), "sizes": sizes, "strides": (1, 1)}
    return op.build("slice", [value], TensorType(sizes, "f32"), attributes)


def _decoded(op: OperatorImport, options: _Options) -> Any:
    """[N, 4] corners; encodings may be longer (key points)."""
    result = TensorType((op.type(0).shape[1], 4), "f32")
    operands = [_reals(op, 0, slice(0, 4)), _reals(op, 2, slice(None))]
    return op.build("decode_boxes", operands, result, {"scales": options.scales})


def _scores(op: OperatorImport, options: _Options) -> Any:
    """[N, C] without the background, which comes first."""
    return _reals(op, 1, slice(op.type(1).shape[2] - options.classes, None))


# -- selection ------------------------------------------------------------------------------------


def _fast(op: OperatorImport, options: _Options, boxes: Any) -> None:
    """Suppression by the best score of each box; the results are its best classes, one after the other."""
    count, each = op.type(0).shape[1], min(options.classes_per_detection, options.classes)
    scores = _scores(op, options)
    if each == 1:
        best = op.build("arg_max", [scores], TensorType((count,), "i32"), {"axis": 1})
        classes = _reshaped(op, best, (count, 1), "i32")
    else:
        classes = op.build("top_k", [scores], TensorType((count, each), "i32"), {})
    at = _reshaped(op, classes, (count, each, 1), "i32")
    values = op.build("gather", [scores, at], TensorType((count, each), "f32"), _BY_ROW)
    attributes = {"offsets": (0, 0), "sizes": (count, 1), "strides": (1, 1)}
    highest = op.build("slice", [values], TensorType((count, 1), "f32"), attributes)
    selected = _suppressed(op, options, boxes, _reshaped(op, highest, (1, count)), options.detections)
    rows = options.detections
    selected = _reshaped(op, selected, (rows, 1), "i32")
    numbers = op.build("cast", [classes], TensorType((count, each), "f32"), {})
    numbers, values = (_gathered(op, source, selected, (rows, each)) for source in (numbers, values))
    _emit(op, options, _Rows(selected, rows, each, options.classes_per_detection), boxes, numbers, values)


def _regular(op: OperatorImport, options: _Options, boxes: Any) -> None:
    """Suppression in every class; the results are the best of all, of equal ones those of the first class."""
    count, classes = op.type(0).shape[1], options.classes
    places = min(options.per_class, options.detections)
    shape, total = (classes, places), classes * places
    turned = TensorType((classes, count), "f32")
    scores = op.build("transpose", [_scores(op, options)], turned, {"permutation": (1, 0)})
    selected = _suppressed(op, options, boxes, scores, places)
    at = _reshaped(op, selected, (*shape, 1), "i32")
    values = op.build("gather", [scores, at], TensorType(shape, "f32"), _BY_ROW)
    # What was not selected comes last.
    lowest, found = _constant(op, np.float32(-np.inf)), _found(op, selected, shape)
    values = op.build("select", [values, lowest, found], TensorType(shape, "f32"), {})
    rows = min(options.detections, total)
    order = op.build("top_k", [_reshaped(op, values, (total,))], TensorType((rows,), "i32"), {})
    order = _reshaped(op, order, (rows, 1), "i32")
    numbers = _constant(op, np.repeat(np.arange(classes, dtype=np.float32), places).reshape(total, 1))
    numbers = _gathered(op, numbers, order, (rows, 1))
    values = _gathered(op, _reshaped(op, values, (total, 1)), order, (rows, 1))
    selected = _gathered(op, _reshaped(op, selected, (total, 1), "i32"), order, (rows, 1), "i32")
    _emit(op, options, _Rows(selected, rows, 1, 1), boxes, numbers, values)


def _suppressed(op: OperatorImport, options: _Options, boxes: Any, scores: Any, places: int) -> Any:
    """[C, places] indices of boxes, -1 where there are no more."""
    attributes = {"score_threshold": options.score_threshold, "iou_threshold": options.iou_threshold}
    classes = scores.type.shape[0]
    return op.build("non_max_suppression", [boxes, scores], TensorType((classes, places), "i32"), attributes)


# -- results --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Rows:
    """Detections: boxes [count, 1] (-1 for none), how many classes of each are filled in and have room."""

    selected: Any
    count: int
    filled: int
    room: int


def _emit(op: OperatorImport, options: _Options, rows: _Rows, boxes: Any, classes: Any, scores: Any) -> None:
    """Bind the four outputs; ``classes`` and ``scores`` are [count, filled]."""
    found = _found(op, rows.selected, (rows.count, 1))
    corners = _reshaped(op, _gathered(op, boxes, rows.selected, (rows.count, 4)), (rows.count, 1, 4))
    if rows.filled > 1:
        corners = op.build("broadcast", [corners], TensorType((rows.count, rows.filled, 4), "f32"), {})
    for output, value, numbers in ((_BOXES, corners, (4,)), (_CLASSES, classes, ()), (_SCORES, scores, ())):
        shape = (rows.count, rows.filled, *numbers)
        condition = _reshaped(op, found, (rows.count, 1, *(1 for _ in numbers)), "i1")
        value = op.build(
            "select", [value, _constant(op, np.float32(0)), condition], TensorType(shape, "f32"), {}
        )
        value = _longer(op, value, shape, 1, rows.room)
        flat = (rows.count * rows.room, *numbers)
        value = _longer(op, _reshaped(op, value, flat), flat, 0, options.places)
        op.emit("reshape", [value], (1, options.places, *numbers), output=output)
    ones = op.build("cast", [found], TensorType((rows.count, 1), "f32"), {})
    attributes = {"function": "sum", "axes": (0,), "keep_dims": False}
    op.emit("reduce", [ones], (1,), attributes, output=_COUNT)


def _longer(op: OperatorImport, value: Any, shape: Sequence[int], axis: int, extent: int) -> Any:
    """``value`` with zeros behind it along an axis."""
    if shape[axis] == extent:
        return value
    wanted = tuple(extent if d == axis else n for d, n in enumerate(shape))
    high = tuple(new - old for new, old in zip(wanted, shape, strict=True))
    attributes = {"low": (0,) * len(shape), "high": high, "value": 0.0}
    return op.build("pad", [value], TensorType(wanted, "f32"), attributes)


def _found(op: OperatorImport, selected: Any, shape: Sequence[int]) -> Any:
    """Where an index is one."""
    attributes = {"predicate": "greater_equal"}
    zero = _constant(op, np.int32(0))
    return op.build("compare", [selected, zero], TensorType(tuple(shape), "i1"), attributes)


def _gathered(
    op: OperatorImport, source: Any, places: Any, shape: Sequence[int], element: str = "f32"
) -> Any:
    """Rows at ``places`` [count, 1]; any row for -1."""
    return op.build("gather", [source, places], TensorType(tuple(shape), element), _ROWS)


def _reshaped(op: OperatorImport, value: Any, shape: Sequence[int], element: str = "f32") -> Any:
    if list(value.type.shape) == list(shape):
        return value
    return op.build("reshape", [value], TensorType(tuple(shape), element), {})


def _constant(op: OperatorImport, array: Any) -> Any:
    array = np.asarray(array)
    element = "f32" if array.dtype == np.float32 else "i32"
    variant = f"detection {array.dtype} {array.reshape(-1)[:1]}"
    return op.constant_value(op.output(), array, TensorType(array.shape, element), variant)
