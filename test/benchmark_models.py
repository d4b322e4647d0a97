"""Models of one operator, of kinds that are in few networks: dynamic range ("hybrid"), weights in blocks,
recurrent layers, int16, reductions, products of computed matrices, detections.

``python test/benchmark_models.py FOLDER`` writes one file each, for ``python -m bench compare FOLDER``. With
``--measure`` it compares Zeropoint with LiteRT's default kernels itself, on one thread of this process, in
rounds of both: a line each of the least times and their ratio.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from ai_edge_litert.interpreter import Interpreter

import zeropoint as zp
from tflite_builder import Builder, packed

Model = Callable[[Builder, np.random.Generator], tuple[Sequence[int], Sequence[int]]]


def _weights(model: Builder, rng: np.random.Generator, shape: Sequence[int], axis: int = 0) -> int:
    data = rng.integers(-127, 128, tuple(shape)).astype(np.int8)
    return model.constant("w", data, scales=rng.uniform(1e-3, 1e-2, shape[axis]), axis=axis)


def _bias(model: Builder, rng: np.random.Generator, count: int) -> int:
    return model.constant("b", rng.standard_normal(count).astype(np.float32))


def fully_connected(
    rows: int, depth: int, outputs: int, asymmetric: bool = False, four_bits: bool = False
) -> Model:
    def write(model: Builder, rng: np.random.Generator) -> tuple[Sequence[int], Sequence[int]]:
        x = model.tensor("x", (rows, depth), np.float32)
        y = model.tensor("y", (rows, outputs), np.float32)
        if four_bits:
            data = packed(rng.integers(-7, 8, (outputs, depth)))
            scales = rng.uniform(1e-3, 1e-2, outputs)
            weights = model.tensor("w", (outputs, depth), "int4", scales=scales, data=data)
        else:
            weights = _weights(model, rng, (outputs, depth))
        operands = [x, weights, _bias(model, rng, outputs)]
        model.op("FULLY_CONNECTED", operands, [y], AsymmetricQuantizeInputs=asymmetric)
        return [x], [y]

    return write


def blockwise(rows: int, depth: int, outputs: int, size: int = 32) -> Model:
    def write(model: Builder, rng: np.random.Generator) -> tuple[Sequence[int], Sequence[int]]:
        scales = rng.uniform(0.01, 0.1, (outputs, depth // size)).astype(np.float16)
        index = model.tensor("scales", scales.shape, "float16", data=scales)
        stored = rng.integers(-8, 8, (outputs, depth)).astype(np.int8)
        w = model.tensor("w", stored.shape, "int4", data=packed(stored))
        model.tensors[w].blockwise = (index, size)
        x = model.tensor("x", (rows, depth), np.float32)
        y = model.tensor("y", (rows, outputs), np.float32)
        model.op("FULLY_CONNECTED", [x, w, _bias(model, rng, outputs)], [y])
        return [x], [y]

    return write


def convolution(size: int, inputs: int, outputs: int, kernel: int) -> Model:
    def write(model: Builder, rng: np.random.Generator) -> tuple[Sequence[int], Sequence[int]]:
        x = model.tensor("x", (1, size, size, inputs), np.float32)
        y = model.tensor("y", (1, size, size, outputs), np.float32)
        operands = [x, _weights(model, rng, (outputs, kernel, kernel, inputs)), _bias(model, rng, outputs)]
        model.op("CONV_2D", operands, [y], Padding="SAME", StrideH=1, StrideW=1)
        return [x], [y]

    return write


def depthwise(size: int, channels: int) -> Model:
    def write(model: Builder, rng: np.random.Generator) -> tuple[Sequence[int], Sequence[int]]:
        x = model.tensor("x", (1, size, size, channels), np.float32)
        y = model.tensor("y", (1, size, size, channels), np.float32)
        operands = [x, _weights(model, rng, (1, 3, 3, channels), 3), _bias(model, rng, channels)]
        options = {"Padding": "SAME", "StrideH": 1, "StrideW": 1, "DepthMultiplier": 1}
        model.op("DEPTHWISE_CONV_2D", operands, [y], **options)
        return [x], [y]

    return write


def batch_matmul(rows: int, depth: int, columns: int) -> Model:
    def write(model: Builder, rng: np.random.Generator) -> tuple[Sequence[int], Sequence[int]]:
        x = model.tensor("x", (1, rows, depth), np.float32)
        y = model.tensor("y", (1, rows, columns), np.float32)
        w = _weights(model, rng, (depth, columns), 1)
        model.op("BATCH_MATMUL", [x, w], [y])
        return [x], [y]

    return write


def lstm(time: int, depth: int, units: int, integer: bool) -> Model:
    def write(model: Builder, rng: np.random.Generator) -> tuple[Sequence[int], Sequence[int]]:
        def matrix(name: str, columns: int) -> int:
            data = rng.integers(-127, 128, (units, columns)).astype(np.int8)
            return model.constant(name, data, scales=2.0**-9)

        def bias(name: str) -> int:
            data = rng.integers(-999, 999, units)
            return model.constant(
                name,
                data.astype(np.int32 if integer else np.float32),
                **({"scales": 1e-4} if integer else {}),
            )

        shape, kind = (1, time, depth), np.int8 if integer else np.float32
        q8, q16 = ({"scales": 2.0**-7}, {"scales": 2.0**-11}) if integer else ({}, {})
        x = model.tensor("x", shape, kind, **q8)
        y = model.tensor("y", (1, time, units), kind, **q8)
        h = model.tensor("h", (1, units), kind, **q8, variable=True)
        c = model.tensor("c", (1, units), np.int16 if integer else kind, **q16, variable=True)
        operands = [
            x,
            *(matrix(f"w{g}", depth) for g in range(4)),
            *(matrix(f"r{g}", units) for g in range(4)),
        ]
        operands += [-1, -1, -1, *(bias(f"b{g}") for g in range(4)), -1, -1, h, c, -1, -1, -1, -1]
        between = [model.tensor(f"i{g}", (), np.float32) for g in range(4)]
        between.append(model.tensor("hidden", (), np.int8, 2.0**-7))
        model.op(
            "UNIDIRECTIONAL_SEQUENCE_LSTM",
            operands,
            [y],
            between if integer else (),
            FusedActivationFunction="TANH",
        )
        return [x], [y]

    return write


def svdf(depth: int, units: int, memory: int, integer: bool) -> Model:
    def write(model: Builder, rng: np.random.Generator) -> tuple[Sequence[int], Sequence[int]]:
        feature = rng.integers(-127, 128, (units, depth)).astype(np.int8)
        if integer:
            time = rng.integers(-9999, 9999, (units, memory)).astype(np.int16)
            bias = rng.integers(-99, 99, units).astype(np.int32)
            x = model.tensor("x", (1, depth), np.int8, 0.02)
            y = model.tensor("y", (1, units), np.int8, 0.1)
            state = model.tensor("s", (1, units * memory), np.int16, 1e-3, variable=True)
            constants = [
                model.constant("f", feature, scales=0.01),
                model.constant("t", time, scales=1e-4),
                model.constant("b", bias, scales=1e-7),
            ]
        else:
            x = model.tensor("x", (1, depth), np.float32)
            y = model.tensor("y", (1, units), np.float32)
            state = model.tensor("s", (1, units * memory), np.float32, variable=True)
            time = rng.integers(-127, 128, (units, memory)).astype(np.int8)
            constants = [
                model.constant("f", feature, scales=0.01),
                model.constant("t", time, scales=0.01),
                _bias(model, rng, units),
            ]
        model.op("SVDF", [x, *constants, state], [y], Rank=1, FusedActivationFunction="RELU")
        return [x], [y]

    return write


def pointwise(name: str, count: int, shape: Sequence[int] = (1, 56, 56, 64), **options: str) -> Model:
    """An operator of ``count`` int16 tensors."""

    def write(model: Builder, rng: np.random.Generator) -> tuple[Sequence[int], Sequence[int]]:
        inputs = [model.tensor(f"x{i}", shape, np.int16, 2.0**-12 / (i + 1)) for i in range(count)]
        y = model.tensor("y", shape, np.int16, 2.0**-15 if name in ("LOGISTIC", "TANH") else 3e-4)
        model.op(name, inputs, [y], **options)
        return inputs, [y]

    return write


def depthwise_16x8(size: int, channels: int) -> Model:
    def write(model: Builder, rng: np.random.Generator) -> tuple[Sequence[int], Sequence[int]]:
        x = model.tensor("x", (1, size, size, channels), np.int16, 3e-4)
        y = model.tensor("y", (1, size, size, channels), np.int16, 1e-3)
        bias = rng.integers(-999, 999, channels)
        operands = [
            x,
            _weights(model, rng, (1, 3, 3, channels), 3),
            model.constant("b", bias.astype(np.int64), scales=1e-6),
        ]
        options = {"Padding": "SAME", "StrideH": 1, "StrideW": 1, "DepthMultiplier": 1}
        model.op("DEPTHWISE_CONV_2D", operands, [y], **options)
        return [x], [y]

    return write


def reduction(name: str, axes: Sequence[int], shape: Sequence[int] = (1, 56, 56, 64)) -> Model:
    def write(model: Builder, rng: np.random.Generator) -> tuple[Sequence[int], Sequence[int]]:
        kept = [1 if axis in axes else size for axis, size in enumerate(shape)]
        x = model.tensor("x", shape, np.int8, 0.02, 3)
        y = model.tensor("y", kept, np.int8, 0.02 if "REDUCE" in name else 1.0, 3)
        model.op(name, [x, model.constant("axes", np.array(axes, np.int32))], [y], KeepDims=True)
        return [x], [y]

    return write


def computed_batch_matmul(batch: int, rows: int, depth: int, columns: int, transposed: bool) -> Model:
    def write(model: Builder, rng: np.random.Generator) -> tuple[Sequence[int], Sequence[int]]:
        x = model.tensor("x", (batch, rows, depth), np.int8, 0.02, 3)
        shape = (batch, columns, depth) if transposed else (batch, depth, columns)
        z = model.tensor("z", shape, np.int8, 0.03, -2)
        y = model.tensor("y", (batch, rows, columns), np.int8, 0.5, 1)
        model.op("BATCH_MATMUL", [x, z], [y], AdjY=transposed)
        return [x, z], [y]

    return write


def detections(count: int, classes: int, found: int, regular: bool, threshold: float) -> Model:
    """SSD's last operator; the scores' first class is the background."""

    def write(model: Builder, rng: np.random.Generator) -> tuple[Sequence[int], Sequence[int]]:
        boxes = model.tensor("boxes", (1, count, 4), np.float32)
        scores = model.tensor("scores", (1, count, classes + 1), np.float32)
        anchors = np.concatenate([rng.random((count, 2)), rng.uniform(0.05, 0.35, (count, 2))], axis=1)
        operands = [boxes, scores, model.constant("anchors", anchors.astype(np.float32))]
        shapes = ((1, found, 4), (1, found), (1, found), (1,))
        results = [model.tensor(f"y{i}", shape, np.float32) for i, shape in enumerate(shapes)]
        options = {
            "max_detections": found,
            "max_classes_per_detection": 1,
            "nms_score_threshold": threshold,
            "nms_iou_threshold": 0.6,
            "num_classes": classes,
            "use_regular_nms": regular,
        }
        scales = {"y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0}
        model.op("TFLite_Detection_PostProcess", operands, results, **options, **scales)
        return [boxes, scores], results

    return write


ROUNDS, ROUND_SECONDS, LEAST = 8, 0.03, 3

MODELS = {
    "hybrid_fully_connected_1x1024x1024": fully_connected(1, 1024, 1024),
    "hybrid_fully_connected_1x256x256": fully_connected(1, 256, 256),
    "hybrid_fully_connected_64x512x512": fully_connected(64, 512, 512),
    "hybrid_fully_connected_64x512x512_asymmetric": fully_connected(64, 512, 512, True),
    "hybrid_conv_56_64_3x3": convolution(56, 64, 64, 3),
    "hybrid_conv_28_128_1x1": convolution(28, 128, 256, 1),
    "hybrid_conv_14_96_1x1": convolution(14, 96, 576, 1),
    "hybrid_depthwise_56_128_3x3": depthwise(56, 128),
    "hybrid_batch_matmul_64x256x256": batch_matmul(64, 256, 256),
    "hybrid_int4_fully_connected_1x1024x1024": fully_connected(1, 1024, 1024, four_bits=True),
    "blockwise_1x1024x1024": blockwise(1, 1024, 1024),
    "blockwise_64x512x512": blockwise(64, 512, 512),
    "lstm_int8_10x64x128": lstm(10, 64, 128, True),
    "lstm_hybrid_10x64x128": lstm(10, 64, 128, False),
    "svdf_int8_40x128x10": svdf(40, 128, 10, True),
    "svdf_hybrid_40x128x10": svdf(40, 128, 10, False),
    "int16_add": pointwise("ADD", 2),
    "int16_sub": pointwise("SUB", 2),
    "int16_mul": pointwise("MUL", 2),
    "int16_logistic": pointwise("LOGISTIC", 1),
    "int16_tanh": pointwise("TANH", 1),
    "int16_depthwise_56_128_3x3": depthwise_16x8(56, 128),
    "int8_sum_of_pixels": reduction("SUM", (1, 2)),
    "int8_sum_of_channels": reduction("SUM", (3,)),
    "int8_mean_of_pixels": reduction("MEAN", (1, 2)),
    "int8_mean_of_rows": reduction("MEAN", (1,)),
    "int8_maximum_of_pixels": reduction("REDUCE_MAX", (1, 2)),
    "int8_maximum_of_channels": reduction("REDUCE_MAX", (3,)),
    "int8_mean_of_channels": reduction("MEAN", (3,)),
    "int8_batch_matmul_8x64x64x64": computed_batch_matmul(8, 64, 64, 64, False),
    "int8_batch_matmul_transposed_8x64x64x64": computed_batch_matmul(8, 64, 64, 64, True),
    "detections_fast_1917x90": detections(1917, 90, 10, False, 1e-8),
    "detections_fast_19206x90": detections(19206, 90, 25, False, 0.3),
    "detections_regular_1917x90": detections(1917, 90, 100, True, 1.0),
}


def write_models(folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, write in MODELS.items():
        model = Builder()
        inputs, outputs = write(model, np.random.default_rng(0))
        paths.append(folder / f"{name}.tflite")
        paths[-1].write_bytes(model.build(inputs, outputs))
    return paths


def measure(path: Path) -> tuple[float, float]:
    """The least seconds of Zeropoint and of LiteRT."""
    rng = np.random.default_rng(0)
    executable = zp.compile(path)
    judge = Interpreter(str(path), num_threads=1)
    judge.allocate_tensors()
    arrays = []
    for info in judge.get_input_details():
        if info["dtype"] is np.float32:
            array = rng.standard_normal(info["shape"]).astype(np.float32)
        else:
            array = rng.integers(-128, 128, info["shape"]).astype(info["dtype"])
        judge.set_tensor(info["index"], array)
        arrays.append(array)
    contestants, least = (executable.bind(*arrays), judge.invoke), [float("inf")] * 2
    for _ in range(ROUNDS):
        for number, run in enumerate(contestants):
            least[number] = min(least[number], _round(run))
    return least[0], least[1]


def _round(run: Callable[[], object]) -> float:
    times: list[float] = []
    while len(times) < LEAST or sum(times) < ROUND_SECONDS:
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--measure", nargs="?", const="", metavar="PREFIX", help="all, or those named so")
    arguments = parser.parse_args()
    for path in write_models(arguments.folder):
        if arguments.measure is not None and path.stem.startswith(arguments.measure):
            ours, theirs = measure(path)
            print(
                f"{path.stem:45s} {ours * 1e6:9.1f} {theirs * 1e6:9.1f} µs {ours / theirs:6.2f}", flush=True
            )


if __name__ == "__main__":
    main()
