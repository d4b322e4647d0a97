"""Makes the small TFLite models beside this file, which the tests of the frontend import.

    python test/data/make_models.py

Scales are powers of two where that keeps the expected IR readable. A unit test checks that the
committed files are what this script makes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from tflite_builder import Builder  # noqa: E402 - found through the line above

MODELS: dict[str, Callable[[], bytes]] = {}


def model(function: Callable[[], bytes]) -> Callable[[], bytes]:
    MODELS[function.__name__] = function
    return function


def int8(builder: Builder, name: str, shape: tuple[int, ...], scale: float = 0.5, zero_point: int = 3) -> int:
    return builder.tensor(name, shape, np.int8, scales=scale, zero_points=zero_point)


def ints(builder: Builder, name: str, *values: int) -> int:
    return builder.constant(name, np.asarray(values, np.int32))


@model
def conv() -> bytes:
    """A per-channel int8 convolution, SAME, with RELU6; a grouped uint8 one, dilated, without bias."""
    b = Builder()
    x = int8(b, "image", (1, 4, 5, 2))
    w = b.constant("filter", np.arange(-18, 18, dtype=np.int8).reshape(2, 3, 3, 2), scales=(0.25, 0.125))
    bias = b.constant("bias", np.asarray([7, -7], np.int32), scales=(0.125, 0.0625))
    y = int8(b, "conv", (1, 2, 3, 2), 0.0625, -128)
    b.op(
        "CONV_2D",
        [x, w, bias],
        [y],
        Padding="SAME",
        StrideH=2,
        StrideW=2,
        DilationHFactor=1,
        DilationWFactor=1,
        FusedActivationFunction="RELU6",
    )
    u = b.tensor("bytes", (1, 4, 5, 2), np.uint8, scales=0.5, zero_points=128)
    v = b.constant(
        "grouped", np.arange(100, 116, dtype=np.uint8).reshape(4, 2, 2, 1), scales=0.25, zero_points=117
    )
    z = b.tensor("grouped_conv", (1, 2, 4, 4), np.uint8, scales=1.0, zero_points=0)
    options = {"Padding": "VALID", "StrideH": 1, "StrideW": 1, "DilationHFactor": 2, "DilationWFactor": 1}
    b.op("CONV_2D", [u, v, -1], [z], **options)
    return b.build([x, u], [y, z])


@model
def depthwise() -> bytes:
    """Two channels, multiplier 2: filter [1, 2, 1, 4], scales along axis 3, one channel of scale 0."""
    b = Builder()
    x = int8(b, "image", (1, 3, 3, 2))
    scales = (0.25, 0.0, 0.125, 0.5)
    w = b.constant("filter", np.arange(1, 9, dtype=np.int8).reshape(1, 2, 1, 4), scales=scales, axis=3)
    bias = b.constant("bias", np.asarray([1, 2, 3, 4], np.int32), scales=tuple(s / 2 for s in scales))
    y = int8(b, "depthwise", (1, 2, 3, 4), 1.0, 0)
    options = {"Padding": "VALID", "StrideH": 1, "StrideW": 1, "DilationHFactor": 1, "DilationWFactor": 1}
    b.op("DEPTHWISE_CONV_2D", [x, w, bias], [y], DepthMultiplier=2, **options)
    return b.build([x], [y])


@model
def fully_connected() -> bytes:
    """An input of rank 4 seen as rows, then the same weights with dimensions kept."""
    b = Builder()
    x = int8(b, "image", (2, 1, 2, 3))
    w = b.constant("weights", np.arange(-6, 6, dtype=np.int8).reshape(2, 6), scales=0.25)
    bias = b.constant("bias", np.asarray([5, -5], np.int32), scales=0.125)
    y = int8(b, "rows", (2, 2), 1.0, 0)
    b.op("FULLY_CONNECTED", [x, w, bias], [y], FusedActivationFunction="RELU")
    k = int8(b, "batches", (2, 3, 6))
    z = int8(b, "kept", (2, 3, 2), 1.0, 0)
    b.op("FULLY_CONNECTED", [k, w, -1], [z], KeepNumDims=True)
    return b.build([x, k], [y, z])


@model
def elementwise() -> bytes:
    """ADD of a scalar constant, SUB with both sides broadcast, MUL, int16 ADD."""
    b = Builder()
    x = int8(b, "x", (2, 3))
    one = b.constant("one", np.asarray(1, np.int8), scales=1.0)
    s = int8(b, "sum", (2, 3), 0.25, 0)
    b.op("ADD", [x, one], [s], FusedActivationFunction="RELU_N1_TO_1")
    column, row = int8(b, "column", (2, 1)), int8(b, "row", (1, 3), 0.25, 0)
    d = int8(b, "difference", (2, 3), 1.0, -1)
    b.op("SUB", [column, row], [d])
    p = int8(b, "product", (2, 3), 2.0, 0)
    b.op("MUL", [s, d], [p])
    wide = b.tensor("wide", (4,), np.int16, scales=0.5)
    twice = b.tensor("twice", (4,), np.int16, scales=1.0)
    b.op("ADD", [wide, wide], [twice], PotScaleInt16=False)
    return b.build([x, column, row, wide], [p, twice])


@model
def pooling() -> bytes:
    b = Builder()
    x = int8(b, "image", (1, 5, 5, 2))
    m = int8(b, "max", (1, 3, 3, 2))
    b.op("MAX_POOL_2D", [x], [m], Padding="SAME", StrideH=2, StrideW=2, FilterHeight=3, FilterWidth=2)
    a = int8(b, "average", (1, 1, 2, 2))
    options = {"Padding": "VALID", "StrideH": 1, "StrideW": 1, "FilterHeight": 3, "FilterWidth": 2}
    b.op("AVERAGE_POOL_2D", [m], [a], FusedActivationFunction="RELU", **options)
    return b.build([x], [a])


@model
def activation() -> bytes:
    b = Builder()
    x = int8(b, "x", (2, 4))
    r = int8(b, "relu", (2, 4), 0.25, -128)
    b.op("RELU", [x], [r])
    r6 = int8(b, "relu6", (2, 4), 0.0625, -128)
    b.op("RELU6", [r], [r6])
    r1 = int8(b, "relu1", (2, 4), 0.0078125, 0)
    b.op("RELU_N1_TO_1", [x], [r1])
    r01 = int8(b, "relu01", (2, 4), 0.00390625, -128)
    b.op("RELU_0_TO_1", [x], [r01])
    g = int8(b, "logistic", (2, 4), 1 / 256, -128)
    b.op("LOGISTIC", [r1], [g])
    t = int8(b, "tanh", (2, 4), 1 / 128, 0)
    b.op("TANH", [x], [t])
    s = int8(b, "softmax", (2, 4), 1 / 256, -128)
    b.op("SOFTMAX", [x], [s], Beta=0.5)
    return b.build([x], [r6, r01, g, t, s])


@model
def quantize() -> bytes:
    b = Builder()
    x = b.tensor("real", (3,), np.float32)
    q = int8(b, "quantized", (3,))
    b.op("QUANTIZE", [x], [q])
    u = b.tensor("bytes", (3,), np.uint8, scales=0.5, zero_points=131)
    b.op("QUANTIZE", [q], [u])
    y = b.tensor("real_again", (3,), np.float32)
    b.op("DEQUANTIZE", [u], [y])
    return b.build([x], [y])


@model
def resize() -> bytes:
    b = Builder()
    x = int8(b, "image", (1, 2, 3, 1))
    big = ints(b, "big", 4, 6)
    y = int8(b, "bilinear", (1, 4, 6, 1))
    b.op("RESIZE_BILINEAR", [x, big], [y], HalfPixelCenters=True)
    z = int8(b, "nearest", (1, 3, 3, 1))
    b.op("RESIZE_NEAREST_NEIGHBOR", [y, ints(b, "small", 3, 3)], [z], AlignCorners=True)
    return b.build([x], [z])


@model
def reduction() -> bytes:
    b = Builder()
    x = int8(b, "image", (1, 4, 3, 2))
    m = int8(b, "mean", (1, 1, 3, 2), 0.25, 0)
    b.op("MEAN", [x, ints(b, "axis", -3)], [m], KeepDims=True)
    flat = int8(b, "flat", (3, 2), 0.25, 0)
    b.op("MEAN", [m, ints(b, "axes", 0, 1, 0)], [flat])
    index = b.tensor("index", (3,), np.int64)
    b.op("ARG_MAX", [flat, ints(b, "last", -1)], [index], OutputType=4)
    return b.build([x], [index])


@model
def movement() -> bytes:
    """All operators that only move values; PADV2's value has parameters of its own."""
    b = Builder()
    x = int8(b, "x", (2, 6))
    r = int8(b, "reshaped", (1, 3, 4))
    b.op("RESHAPE", [x, ints(b, "shape", 1, -1, 4)], [r])
    t = int8(b, "transposed", (3, 1, 4))
    b.op("TRANSPOSE", [r, ints(b, "permutation", 1, 0, 2)], [t])
    p = int8(b, "padded", (4, 1, 4))
    b.op("PAD", [t, b.constant("paddings", np.asarray([[0, 1], [0, 0], [0, 0]], np.int32))], [p])
    v = int8(b, "padded_value", (4, 3, 4))
    paddings = b.constant("more", np.asarray([[0, 0], [2, 0], [0, 0]], np.int32))
    b.op(
        "PADV2", [p, paddings, b.constant("value", np.asarray([7], np.int8), scales=0.25, zero_points=1)], [v]
    )
    c = int8(b, "joined", (4, 3, 8), 1.0, 0)
    b.op("CONCATENATION", [v, v], [c], Axis=-1)
    s = int8(b, "part", (2, 3, 8), 1.0, 0)
    b.op("SLICE", [c, ints(b, "begin", 1, 0, 0), ints(b, "size", 2, -1, 8)], [s])
    left, right = int8(b, "left", (2, 3, 4), 1.0, 0), int8(b, "right", (2, 3, 4), 1.0, 0)
    b.op("SPLIT", [ints(b, "split_axis", 2), s], [left, right], NumSplits=2)
    e = int8(b, "expanded", (2, 1, 3, 4), 1.0, 0)
    b.op("EXPAND_DIMS", [left, ints(b, "where", -3)], [e])
    q = int8(b, "squeezed", (2, 3, 4), 1.0, 0)
    b.op("SQUEEZE", [e], [q], SqueezeDims=[-3])
    return b.build([x], [q, right])


@model
def pack() -> bytes:
    b = Builder()
    x = int8(b, "x", (2, 5))
    left, right = int8(b, "left", (2, 2)), int8(b, "right", (2, 3))
    b.op("SPLIT_V", [x, ints(b, "sizes", 2, -1), ints(b, "axis", 1)], [left, right], NumSplits=2)
    first, second = int8(b, "first", (2,)), int8(b, "second", (2,))
    b.op("UNPACK", [left], [first, second], Num=2, Axis=-1)
    packed = int8(b, "packed", (2, 2))
    b.op("PACK", [second, first], [packed], ValuesCount=2)
    return b.build([x], [packed, right])


@model
def strided_slice() -> bytes:
    """One of each mask: the last column kept, every second row, a new axis, all between."""
    b = Builder()
    x = int8(b, "x", (4, 3, 5))
    y = int8(b, "taken", (2, 1, 3))
    bounds = [ints(b, "begin", 1, 0, 0, -1), ints(b, "end", 4, 0, 0, 0), ints(b, "strides", 2, 1, 1, 1)]
    b.op("STRIDED_SLICE", [x, *bounds], [y], NewAxisMask=2, EllipsisMask=4, ShrinkAxisMask=8)
    return b.build([x], [y])


@model
def space() -> bytes:
    """A dilated convolution as converters write it, then depth to space; SPACE_TO_DEPTH of the input."""
    b = Builder()
    x = int8(b, "image", (1, 5, 4, 4))
    block = ints(b, "block", 2, 2)
    s = int8(b, "to_batch", (4, 3, 3, 4))
    paddings = b.constant("paddings", np.asarray([[0, 1], [1, 1]], np.int32))
    b.op("SPACE_TO_BATCH_ND", [x, block, paddings], [s])
    y = int8(b, "from_batch", (1, 5, 4, 4))
    crops = b.constant("crops", np.asarray([[1, 0], [0, 2]], np.int32))
    b.op("BATCH_TO_SPACE_ND", [s, block, crops], [y])
    d = int8(b, "to_space", (1, 10, 8, 1))
    b.op("DEPTH_TO_SPACE", [y], [d], BlockSize=2)
    t = int8(b, "to_depth", (1, 5, 4, 4))
    b.op("SPACE_TO_DEPTH", [d], [t], BlockSize=2)
    return b.build([x], [y, t])


@model
def dynamic_batch() -> bytes:
    """What converters write for Flatten of an unknown batch: the first extent of SHAPE, packed with -1."""
    b = Builder()
    x = b.tensor("image", (1, 2, 3), np.int8, scales=0.5, zero_points=3, signature=(-1, 2, 3))
    shape = b.tensor("shape", (3,), np.int32)
    b.op("SHAPE", [x], [shape], OutType=2)
    batch = b.tensor("batch", (), np.int32)
    bounds = [ints(b, "zero", 0), ints(b, "one", 1), ints(b, "step", 1)]
    b.op("STRIDED_SLICE", [shape, *bounds], [batch], ShrinkAxisMask=1)
    rest = b.constant("rest", np.asarray(-1, np.int32))
    new_shape = b.tensor("new_shape", (2,), np.int32)
    b.op("PACK", [batch, rest], [new_shape], ValuesCount=2)
    y = b.tensor("flat", (1, 1), np.int8, scales=0.5, zero_points=3, signature=(-1, -1))
    b.op("RESHAPE", [x, new_shape], [y])
    # And for a Dense layer on more than two dimensions: all extents but the last one, multiplied.
    first = b.tensor("first", (2,), np.int32)
    b.op("GATHER", [shape, ints(b, "indices", 0, 1)], [first])
    rows = b.tensor("rows", (), np.int32)
    b.op("REDUCE_PROD", [first, ints(b, "axes", 0)], [rows])
    matrix = b.tensor("matrix", (2,), np.int32)
    b.op("PACK", [rows, b.constant("three", np.asarray(3, np.int32))], [matrix], ValuesCount=2)
    z = b.tensor("rows_of_three", (2, 3), np.int8, scales=0.5, zero_points=3, signature=(-1, 3))
    b.op("RESHAPE", [x, matrix], [z])
    return b.build([x], [y, z])


@model
def detection() -> bytes:
    """SSD's custom operator, which keeps its options in a flexbuffer, on 8-bit scores."""
    b = Builder()
    boxes = b.tensor("boxes", (1, 6, 4), np.uint8, scales=0.0625, zero_points=128)
    scores = b.tensor("scores", (1, 6, 3), np.uint8, scales=1 / 256)
    corners = np.indices((2, 3)).reshape(2, 6).T * 64
    anchors = np.concatenate([corners, np.full((6, 2), 96)], axis=1).astype(np.uint8)
    a = b.constant("anchors", anchors, scales=1 / 256)
    shapes = {"corners": (1, 3, 4), "classes": (1, 3), "values": (1, 3), "count": (1,)}
    results = [b.tensor(name, shape, np.float32) for name, shape in shapes.items()]
    b.op(
        "TFLite_Detection_PostProcess",
        [boxes, scores, a],
        results,
        max_detections=3,
        max_classes_per_detection=1,
        num_classes=2,
        nms_score_threshold=0.25,
        nms_iou_threshold=0.5,
        use_regular_nms=True,
        **dict.fromkeys(("y_scale", "x_scale"), 10.0),
        **dict.fromkeys(("h_scale", "w_scale"), 5.0),
    )
    return b.build([boxes, scores], results)


@model
def unsupported() -> bytes:
    """Three operators that cannot be imported, and one behind them that could."""
    b = Builder()
    x = b.tensor("x", (1, 4), np.float32)
    w = b.constant("weights", np.arange(8, dtype=np.uint8).reshape(2, 4), scales=0.5)
    y = b.tensor("mixed", (1, 2), np.float32)
    b.op("FULLY_CONNECTED", [x, w, -1], [y])
    f = b.tensor("hashes", (1, 2), np.float32)
    b.op("LSH_PROJECTION", [y], [f])
    c = b.tensor("custom", (1, 2), np.float32)
    b.op("MyFancyOp", [f], [c])
    r = b.tensor("relu", (1, 2), np.float32)
    b.op("RELU", [c], [r])
    return b.build([x], [r])


@model
def damaged() -> bytes:
    """A per-channel scale missing."""
    b = Builder()
    x = int8(b, "x", (1, 4))
    w = b.constant("weights", np.ones((3, 4), np.int8), scales=(0.5, 0.25))
    y = int8(b, "y", (1, 3))
    b.op("FULLY_CONNECTED", [x, w, -1], [y])
    return b.build([x], [y])


def main() -> None:
    for name, function in MODELS.items():
        (HERE / f"{name}.tflite").write_bytes(function())


if __name__ == "__main__":
    main()
