"""Networks for tests of ``zp.export``, and their inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

import zeropoint as zp
from tflite_builder import Builder

MANY = """
!q = !quant.uniform<i8:f32, 5.0e-01:3>
!u = !quant.uniform<u8:f32, 2.5e-01:100>
!h = !quant.uniform<i16:f32, 1.25e-01>
ml_program.global private mutable @"variable/seen so far"(dense<[3, -7, 0, 5]> : tensor<4xi8>) : tensor<4x!q>
ml_program.global private mutable @"variable/runs"(dense<7> : tensor<1xi32>) : tensor<1xi32>
func.func @main(
    %x: tensor<4x!q> {qnn.name = "x"}, %unread: tensor<3xi64> {qnn.name = "not read"},
    %u: tensor<2x3x!u> {qnn.name = "scope/u:0"}, %h: tensor<5x!h> {qnn.name = "int"},
    %f: tensor<3xf32> {qnn.name = "f"}, %n: tensor<1xi32> {qnn.name = "9 lives"},
    %b: tensor<4xi1> {qnn.name = "b"})
    -> (tensor<4x!q> {qnn.name = "sum"}, tensor<2x3xf32> {qnn.name = "real */ u"},
        tensor<5x!h> {qnn.name = "h"}, tensor<3x!q> {qnn.name = "Q"}, tensor<1xi32> {qnn.name = "q"},
        tensor<4x!q> {qnn.name = "chosen"}) {
  %seen = ml_program.global_load @"variable/seen so far" : tensor<4x!q>
  %runs = ml_program.global_load @"variable/runs" : tensor<1xi32>
  %sum = "qnn.add"(%seen, %x) {clamp = array<f32>} : (tensor<4x!q>, tensor<4x!q>) -> tensor<4x!q>
  %next = "qnn.add"(%runs, %n) {clamp = array<f32>} : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
  %real = "qnn.dequantize"(%u) : (tensor<2x3x!u>) -> tensor<2x3xf32>
  %hh = "qnn.add"(%h, %h) {clamp = array<f32>} : (tensor<5x!h>, tensor<5x!h>) -> tensor<5x!h>
  %fq = "qnn.quantize"(%f) : (tensor<3xf32>) -> tensor<3x!q>
  %chosen = "qnn.select"(%sum, %x, %b) : (tensor<4x!q>, tensor<4x!q>, tensor<4xi1>) -> tensor<4x!q>
  ml_program.global_store @"variable/seen so far" = %sum : tensor<4x!q>
  ml_program.global_store @"variable/runs" = %next : tensor<1xi32>
  return %sum, %real, %hh, %fq, %next, %chosen : tensor<4x!q>, tensor<2x3xf32>, tensor<5x!h>, tensor<3x!q>,
      tensor<1xi32>, tensor<4x!q>
}
"""
"""Variables, several inputs (one is not read) and outputs, and every kind of element."""


def random_inputs(model: zp.Model, seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    arrays = []
    for info in model.inputs:
        if info.dtype == np.bool_:
            arrays.append(rng.integers(0, 2, info.shape).astype(np.bool_))
        elif info.dtype.kind == "f":
            arrays.append(rng.normal(0, 30, info.shape).astype(info.dtype))
        else:
            limits = np.iinfo(info.dtype)
            low, high = max(limits.min, -1000), min(limits.max, 1000)
            arrays.append(rng.integers(low, high, info.shape, endpoint=True).astype(info.dtype))
    return arrays


def control_flow_network() -> bytes:
    """A TFLite file: an LSTM over five times (a counted loop); WHILE the count is less than 5, IF it is less
    than 2 add, else subtract; so both branches and several numbers of rounds are seen.
    """
    model = Builder()
    count, x = model.tensor("count", (1,), np.int32), model.tensor("x", SHAPE, np.int8, 0.25, 3)
    last, y = model.tensor("last", (1,), np.int32), model.tensor("y", SHAPE, np.int8, 0.25, 3)
    branches = [model.subgraph(*_branch(operator)) for operator in ("ADD", "SUB")]
    body, values, results = _rounds()
    small, chosen = body.tensor("small", (1,), "bool"), body.tensor("chosen", SHAPE, np.int8, 0.25, 3)
    body.op("LESS", [values[0], body.constant("two", np.array([2], np.int32))], [small])
    body.op("IF", [small, values[1]], [chosen], ThenSubgraphIndex=branches[0], ElseSubgraphIndex=branches[1])
    body.op("ADD", [chosen, values[1]], [results[1]])
    condition, tested, _ = _rounds()
    less = condition.tensor("less", (1,), "bool")
    condition.op("LESS", [tested[0], condition.constant("limit", np.array([5], np.int32))], [less])
    numbers = model.subgraph(condition, tested, [less]), model.subgraph(body, values, results)
    model.op("WHILE", [count, x], [last, y], CondSubgraphIndex=numbers[0], BodySubgraphIndex=numbers[1])
    sequence, states = _lstm(model)
    return model.build([count, x, sequence], [last, y, states])


SHAPE = (2, 3)


def control_flow_runs() -> list[list[Any]]:
    rng = np.random.default_rng(3)
    return [
        [
            np.array([start], np.int32),
            rng.integers(-128, 128, SHAPE).astype(np.int8),
            rng.integers(-128, 128, (1, 5, 4)).astype(np.int8),
        ]
        for start in (4, 0, 9, -3)
    ]


def _branch(operator: str) -> tuple[Builder, list[int], list[int]]:
    graph = Builder()
    x, y = graph.tensor("x", SHAPE, np.int8, 0.25, 3), graph.tensor("y", SHAPE, np.int8, 0.25, 3)
    other = graph.constant(
        "k", np.arange(-3, 3, dtype=np.int8).reshape(SHAPE) * 9, scales=0.1, zero_points=-4
    )
    graph.op(operator, [x, other], [y])
    return graph, [x], [y]


def _rounds() -> tuple[Builder, list[int], list[int]]:
    """A graph of a count and a value, with the count increased."""
    graph = Builder()
    count, value = graph.tensor("count", (1,), np.int32), graph.tensor("value", SHAPE, np.int8, 0.25, 3)
    following, result = graph.tensor("next", (1,), np.int32), graph.tensor("result", SHAPE, np.int8, 0.25, 3)
    graph.op("ADD", [count, graph.constant("one", np.array([1], np.int32))], [following])
    return graph, [count, value], [following, result]


def _lstm(model: Builder) -> tuple[int, int]:
    """An LSTM of four inputs and three units; gives its input and its output."""
    rng = np.random.default_rng(5)

    def weights(name: str, columns: int) -> int:
        array = rng.integers(-127, 128, (3, columns)).astype(np.int8)
        return model.constant(name, array, scales=2.0**-7)

    def bias(name: str) -> int:
        return model.constant(name, rng.integers(-9999, 9999, 3).astype(np.int32), scales=1e-4)

    x = model.tensor("sequence", (1, 5, 4), np.int8, 2.0**-6, 5)
    operands = [x, *(weights(f"w{g}", 4) for g in range(4)), *(weights(f"r{g}", 3) for g in range(4))]
    operands += [-1, -1, -1, *(bias(f"b{g}") for g in range(4)), -1, -1]
    operands.append(model.tensor("h", (1, 3), np.int8, 2.0**-7, 3, variable=True))
    operands.append(model.tensor("c", (1, 3), np.int16, 2.0**-12, variable=True))
    intermediates = [model.tensor(f"i{g}", (), np.float32) for g in range(4)]
    intermediates.append(model.tensor("hidden", (), np.int8, 2.0**-7, 3))
    y = model.tensor("states", (1, 5, 3), np.int8, 2.0**-7, 3)
    model.op(
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        [*operands, -1, -1, -1, -1],
        [y],
        intermediates,
        FusedActivationFunction="TANH",
    )
    return x, y
