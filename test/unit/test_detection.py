"""TFLite_Detection_PostProcess: options from a flexbuffer, decoding, suppression, compiled code."""

from __future__ import annotations

import contextlib
import re
from typing import Any

import numpy as np
import pytest
from flatbuffers import flexbuffers
from hypothesis import given, settings
from hypothesis import strategies as st

import zeropoint
from lowered_ops import Case, check_cases
from operator_generator import kept_places
from random_detection_models import OPERATOR, detection_postprocess
from random_tensors import floating, seeds
from tflite_builder import Builder, run_litert
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.dialect.types import TensorType
from zeropoint.errors import ImportModelError, UnsupportedOpError
from zeropoint.frontends import load_bytes
from zeropoint.frontends.tflite.flexbuffer import Other, read_map

OPTIONS: dict[str, Any] = {
    "max_detections": 4,
    "max_classes_per_detection": 1,
    "nms_score_threshold": 0.25,
    "nms_iou_threshold": 0.5,
    "num_classes": 2,
    "y_scale": 10.0,
    "x_scale": 10.0,
    "h_scale": 5.0,
    "w_scale": 5.0,
}


def build(
    options: dict[str, Any],
    boxes: tuple[int, ...] = (1, 6, 4),
    scores: tuple[int, ...] = (1, 6, 2),
    anchors: tuple[int, ...] = (6, 4),
    dtype: type[np.generic] = np.float32,
    zero: int = 0,
) -> tuple[bytes, Builder]:
    model = Builder()
    where: dict[str, Any] = {} if dtype is np.float32 else {"scales": 1 / 64, "zero_points": zero}
    inputs = [model.tensor(n, s, dtype, **where) for n, s in (("b", boxes), ("s", scores), ("a", anchors))]
    places = int(options.get("max_detections", 4)) * int(options.get("max_classes_per_detection", 1))
    shapes = ((1, places, 4), (1, places), (1, places), (1,))
    results = [model.tensor(f"y{i}", shape, np.float32) for i, shape in enumerate(shapes)]
    model.op(OPERATOR, inputs, results, **options)
    return model.build(inputs, results), model


@pytest.mark.parametrize("seed", range(6))
def test_compiled_code_computes_what_litert_does(seed: int) -> None:
    drawn = detection_postprocess(np.random.default_rng(seed))
    wanted = run_litert(drawn.build(), drawn.arrays)
    model = load_bytes(drawn.build(), name="m.tflite")
    meant = evaluate_module(model.module, drawn.arrays)
    computed = zeropoint.compile(model, cache=False).run(*drawn.arrays)
    for one, other in zip(computed, meant, strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other, kept in zip(meant, wanted, kept_places(drawn, wanted), strict=True):
        np.testing.assert_array_equal(one[kept], other[kept])


def test_kernels_of_every_size() -> None:
    """One class, one box and one place are loops that run once, which passes unroll."""
    rng = np.random.default_rng(0)
    cases = []
    for boxes, classes, places in (
        (20, 3, 5),
        (20, 3, 5),
        (1, 1, 1),
        (7, 1, 3),
        (1, 2, 1),
        (30, 2, 40),
        (9, 4, 1),
    ):
        corner, sides = rng.random((boxes, 2)), rng.random((boxes, 2)) / 2
        arrays = [np.concatenate([corner, corner + sides], 1), np.round(rng.random((classes, boxes)), 1)]
        arrays = [array.astype(np.float32) for array in arrays]
        arrays[1][rng.random(arrays[1].shape) < 0.1] = np.nan
        result = TensorType((classes, places), "i32")
        attributes = {"score_threshold": 0.3, "iou_threshold": 0.5}
        types = [floating(array.shape) for array in arrays]
        cases.append(Case("non_max_suppression", arrays, types, result, attributes))
    encodings, anchors = rng.standard_normal((2, 9, 4)).astype(np.float32)
    attributes = {"scales": (10.0, 9.0, 5.0, 4.0)}
    cases.append(
        Case("decode_boxes", [encodings, anchors], [floating((9, 4))] * 2, floating((9, 4)), attributes)
    )
    check_cases(cases)


def test_suppression_of_odd_scores_and_boxes() -> None:
    """Lists longer than vectors. Zeros of both signs tie, infinities count, NaN is no candidate; boxes have
    no area, negative sides, or corners that are no numbers.
    """
    rng = np.random.default_rng(0)
    count, cases = 150, []
    for threshold, overlap in ((-np.inf, 0.5), (0.0, 0.1), (0.5, 1.0), (np.inf, 0.5)):
        corner, sides = rng.random((count, 2)), rng.choice([0.0, -0.1, 0.2, 0.5], (count, 2))
        boxes = np.concatenate([corner, corner + sides], 1).astype(np.float32)
        odd = rng.random(boxes.shape) < 0.02
        boxes[odd] = rng.choice(np.array([np.nan, np.inf, -np.inf], np.float32), odd.sum())
        levels = np.array([0.0, -0.0, 0.5, 0.75, -1.0, np.inf, -np.inf, np.nan], np.float32)
        scores = np.stack([rng.choice(levels[kinds], count) for kinds in ([0, 1], [0, 1, 2, 3], slice(None))])
        for places in (1, 20, count + 1):
            types, result = [floating((count, 4)), floating((3, count))], TensorType((3, places), "i32")
            attributes = {"score_threshold": threshold, "iou_threshold": overlap}
            cases.append(Case("non_max_suppression", [boxes, scores], types, result, attributes))
    check_cases(cases)


def test_int8_is_uint8_moved() -> None:
    """LiteRT's kernel takes uint8 alone; int8 means the same."""
    rng = np.random.default_rng(1)
    arrays = [rng.integers(0, 256, shape).astype(np.uint8) for shape in ((1, 6, 4), (1, 6, 2), (6, 4))]
    options = OPTIONS | {"use_regular_nms": True}
    moved = [(array.astype(np.int16) - 128).astype(np.int8) for array in arrays]
    both = [
        evaluate_module(load_bytes(build(options, dtype=dtype, zero=zero)[0], name="m.tflite").module, inputs)
        for dtype, zero, inputs in ((np.uint8, 100, arrays), (np.int8, -28, moved))
    ]
    assert both[0][3][0] > 1
    for one, other in zip(*both, strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_is_behind_the_last_detection_is_zero() -> None:
    boxes, scores = np.zeros((1, 6, 4), np.float32), np.zeros((1, 6, 2), np.float32)
    scores[0, 2] = (0.5, 0.75)
    anchors = np.full((6, 4), 0.5, np.float32)
    data, _ = build(OPTIONS | {"max_classes_per_detection": 3})
    corners, classes, values, count = evaluate_module(
        load_bytes(data, name="m.tflite").module, [boxes, scores, anchors]
    )
    assert count.tolist() == [1.0]
    assert values.tolist() == [[0.75, 0.5, *[0.0] * 10]]
    assert classes.tolist() == [[1.0, *[0.0] * 11]]
    assert corners.tolist() == [[[0.25, 0.25, 0.75, 0.75]] * 2 + [[0.0] * 4] * 10]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_detections": 0}, "option max_detections: got 0, expected a whole number from 1"),
        ({"max_detections": -5}, "option max_detections: got -5, expected a whole number from 1"),
        ({"max_detections": 1 << 40}, "expected a whole number from 1 to 2147483647"),
        ({"max_detections": "many"}, "option max_detections: got 'many', expected a number"),
        ({"max_classes_per_detection": [1]}, "got a value of flexbuffer type 10, expected a number"),
        ({"max_classes_per_detection": 1.5}, "got 1.5, expected a whole number"),
        ({"num_classes": None}, "option num_classes is missing"),
        ({"num_classes": 4}, "scores have shape [1, 6, 2], expected [1, 6, 4], or one more for a background"),
        ({"nms_iou_threshold": 0.0}, "option nms_iou_threshold: got 0.0, expected more than 0 and at most 1"),
        ({"nms_iou_threshold": float("nan")}, "option nms_iou_threshold: got nan"),
        ({"nms_score_threshold": float("nan")}, "option nms_score_threshold: got nan, expected a number"),
        ({"h_scale": 0.0}, "option h_scale: got 0.0, expected a finite number other than 0"),
        ({"w_scale": float("inf")}, "option w_scale: got inf, expected a finite number other than 0"),
        ({"detections_per_class": 0, "use_regular_nms": True}, "option detections_per_class: got 0"),
    ],
)
def test_options_that_make_no_sense(change: dict[str, Any], message: str) -> None:
    _, model = build(OPTIONS)
    model.operators[0].options = {k: v for k, v in (OPTIONS | change).items() if v is not None}
    with pytest.raises(ImportModelError, match=re.escape(message)) as raised:
        load_bytes(model.build([0, 1, 2], [3, 4, 5, 6]), name="m.tflite")
    assert f"m.tflite: error: custom operator '{OPERATOR}' (op 0, output 'y0'): " in str(raised.value)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ({"boxes": (2, 6, 4)}, "box encodings have shape [2, 6, 4], expected [1, boxes, 4 or more]"),
        ({"boxes": (1, 6, 3)}, "box encodings have shape [1, 6, 3], expected [1, boxes, 4 or more]"),
        ({"boxes": (6, 4)}, "box encodings has shape [6, 4], expected rank 3"),
        ({"scores": (1, 5, 2)}, "scores have shape [1, 5, 2], expected [1, 6, 2]"),
        ({"scores": (1, 6, 4)}, "scores have shape [1, 6, 4], expected [1, 6, 2]"),
        ({"anchors": (5, 4)}, "anchors have shape [5, 4], expected [6, 4]"),
    ],
)
def test_shapes_that_do_not_fit(shapes: dict[str, Any], message: str) -> None:
    with pytest.raises(ImportModelError, match=re.escape(message)):
        load_bytes(build(OPTIONS, **shapes)[0], name="m.tflite")


def test_memory_is_computed_before_it_is_needed() -> None:
    options = OPTIONS | {"max_detections": 1 << 30, "use_regular_nms": True}
    _, model = build(OPTIONS)
    for tensor in model.tensors[3:]:
        tensor.shape = ()
    model.operators[0].options = options
    with pytest.raises(ImportModelError, match=r"needs \d+ bytes, more than the limit of"):
        load_bytes(model.build([0, 1, 2], [3, 4, 5, 6]), name="m.tflite")


def test_a_builtin_name_does_not_make_a_custom_operator_known() -> None:
    model = Builder()
    x, y = (model.tensor(name, (1, 4), np.float32) for name in "xy")
    model.op("relu6", [x], [y])
    data = model.build([x], [y]).replace(b"relu6", b"RELU6")
    with pytest.raises(UnsupportedOpError, match="custom operator 'RELU6'"):
        load_bytes(data, name="m.tflite")


VALUES = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, width=32)
NAMES = st.text(st.characters(codec="ascii", exclude_characters="\0"), min_size=1, max_size=20)


@settings(max_examples=100)
@given(st.dictionaries(NAMES, VALUES | st.text(max_size=20), max_size=8))
def test_maps_are_read_as_they_were_written(options: dict[str, Any]) -> None:
    assert read_map(bytes(flexbuffers.Dumps(options))) == options


def test_values_with_memory_of_their_own() -> None:
    builder = flexbuffers.Builder()
    with builder.Map():
        builder.Key("float")
        builder.IndirectFloat(0.25)
        builder.Key("int")
        builder.IndirectInt(-70000)
        builder.Key("list")
        builder.TypedVectorFromElements([1, 2])
        builder.Key("uint")
        builder.IndirectUInt(1 << 63)
    found = read_map(bytes(builder.Finish()))
    assert isinstance(found.pop("list"), Other)
    assert found == {"float": 0.25, "int": -70000, "uint": 1 << 63}


@settings(max_examples=300)
@given(seeds)
def test_damaged_options_are_refused_or_read(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = bytearray(flexbuffers.Dumps(OPTIONS | {"name": "x" * 300, "list": [1, 2, 3]}))
    for place in rng.integers(0, len(data), rng.integers(1, 6)):
        data[place] = rng.choice([0, 1, 2, 127, 128, 255, int(rng.integers(256))])
    cut = bytes(data[: int(rng.integers(0, len(data)))]) if rng.random() < 0.3 else bytes(data)
    with contextlib.suppress(ValueError):
        assert len(read_map(cut)) <= len(cut)


@pytest.mark.parametrize("options", [b"", b"\x04\x01", b"\x00\x24\x03", b"\x05\x24\x01", b"\x00\x04\x01"])
def test_what_is_no_map_is_refused(options: bytes) -> None:
    with pytest.raises(ValueError, match="flexbuffer"):
        read_map(options)
