"""Variables of TFLite files over sequences of invocations, against LiteRT's reference kernels."""

from __future__ import annotations

import numpy as np
import pytest

import zeropoint as zp
from random_tensors import Array
from sequences import check_sequence
from tflite_builder import Builder
from zeropoint.errors import ImportModelError, UnsupportedOpError
from zeropoint.frontends import load_bytes

SHAPE = (1, 4)
PIPELINES = ["optimized", "reference"]
RUNS = 10


def quantized(graph: Builder, name: str) -> int:
    return graph.tensor(name, SHAPE, np.int8, 0.5, -3)


def handle(graph: Builder, name: str) -> int:
    resource = graph.tensor(f"{name} handle", (), "resource")
    graph.op("VAR_HANDLE", [], [resource], SharedName=name, Container="")
    return resource


def first_values(model: Builder, **values: int) -> int:
    """A subgraph that assigns each variable a constant."""
    graph = Builder()
    for name, value in values.items():
        constant = graph.constant(f"{name} first", np.full(SHAPE, value, np.int8), scales=0.5, zero_points=-3)
        graph.op("ASSIGN_VARIABLE", [handle(graph, name), constant], [])
    return model.subgraph(graph, [], [])


def accumulator(runs_branch: bool = False) -> tuple[Builder, list[int], list[int]]:
    """``a`` sums the inputs; ``b`` is what ``a`` was."""
    model = Builder()
    x = quantized(model, "x")
    once = first_values(model, a=7, b=-20)
    model.op("CALL_ONCE", [], [], InitSubgraphIndex=once)
    a, b = handle(model, "a"), handle(model, "b")
    before, after, old = quantized(model, "before"), quantized(model, "after"), quantized(model, "old")
    model.op("READ_VARIABLE", [a], [before])
    model.op("READ_VARIABLE", [b], [old])
    model.op("ADD", [before, x], [after])
    model.op("ASSIGN_VARIABLE", [a, after], [])
    model.op("ASSIGN_VARIABLE", [b, before], [])
    return model, [x], [after, old]


def inputs() -> list[list[Array]]:
    rng = np.random.default_rng(3)
    return [[rng.integers(-9, 10, SHAPE).astype(np.int8)] for _ in range(RUNS)]


def test_read_and_assign() -> None:
    check_sequence(*accumulator(), inputs(), pipelines=PIPELINES)


def test_variable_in_a_branch() -> None:
    """A branch assigns a variable, the other one only reads it."""
    model = Builder()
    c, x, y = model.tensor("c", (1,), "bool"), quantized(model, "x"), quantized(model, "y")
    model.op("CALL_ONCE", [], [], InitSubgraphIndex=first_values(model, a=5))
    numbers = []
    for assigns in (True, False):
        graph = Builder()
        given, held, result = quantized(graph, "given"), quantized(graph, "held"), quantized(graph, "result")
        a = handle(graph, "a")
        graph.op("READ_VARIABLE", [a], [held])
        graph.op("ADD", [held, given], [result])
        if assigns:
            graph.op("ASSIGN_VARIABLE", [a, result], [])
        numbers.append(model.subgraph(graph, [given], [result]))
    model.op("IF", [c, x], [y], ThenSubgraphIndex=numbers[0], ElseSubgraphIndex=numbers[1])
    runs = [[np.array([i % 3 == 0]), *arrays] for i, arrays in enumerate(inputs())]
    check_sequence(model, [c, x], [y], runs, pipelines=PIPELINES)


def test_signatures_share_variables() -> None:
    model, ends, results = accumulator()
    graph = Builder()
    held = quantized(graph, "held")
    graph.op("READ_VARIABLE", [handle(graph, "a")], [held])
    model.subgraph(graph, [], [held])
    data = model.build(ends, results, {"add": ({"x": ends[0]}, {"y": results[0], "old": results[1]})})
    interpreter = zp.Interpreter(model_content=data)
    add = interpreter.get_signature_runner("add")
    (first, *_) = inputs()
    once, twice = add(x=first[0])["y"], add(x=first[0])["y"]
    assert not np.array_equal(once, twice)
    other = interpreter.get_signature_runner("add")
    thrice = other(x=first[0])["y"].astype(int)
    np.testing.assert_array_equal(thrice, 2 * twice.astype(int) - once)
    interpreter.reset_all_variables()
    np.testing.assert_array_equal(add(x=first[0])["y"], once)


def test_interpreter_keeps_variables() -> None:
    model, ends, results = accumulator()
    interpreter = zp.Interpreter(model_content=model.build(ends, results))
    interpreter.allocate_tensors()
    executable = zp.compile(load_bytes(model.build(ends, results), name="m.tflite"))
    for (x,) in inputs():
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
        interpreter.invoke()
        got = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
        np.testing.assert_array_equal(got, executable.run(x)[0])


def computed_first_value() -> Builder:
    """A subgraph that assigns ``a`` a constant plus itself, of floats that are quantized."""
    graph = Builder()
    one = graph.constant("one", np.asarray([[0.5, 1, -2, 3.25]], np.float32))
    two, stored = graph.tensor("two", SHAPE, np.float32), quantized(graph, "stored")
    graph.op("ADD", [one, one], [two])
    graph.op("QUANTIZE", [two], [stored])
    graph.op("ASSIGN_VARIABLE", [handle(graph, "a"), stored], [])
    return graph


def test_a_first_value_that_is_computed() -> None:
    model = Builder()
    x, before, after = quantized(model, "x"), quantized(model, "before"), quantized(model, "after")
    once = model.subgraph(computed_first_value(), [], [])
    model.op("CALL_ONCE", [], [], InitSubgraphIndex=once)
    a = handle(model, "a")
    model.op("READ_VARIABLE", [a], [before])
    model.op("ADD", [before, x], [after])
    model.op("ASSIGN_VARIABLE", [a, after], [])
    check_sequence(model, [x], [before, after], inputs(), pipelines=PIPELINES)


def test_first_values_that_depend_on_variables_are_refused() -> None:
    model = Builder()
    x, y = quantized(model, "x"), quantized(model, "y")
    graph = Builder()
    held = quantized(graph, "held")
    graph.op("READ_VARIABLE", [handle(graph, "b")], [held])
    graph.op("ASSIGN_VARIABLE", [handle(graph, "a"), held], [])
    model.op("CALL_ONCE", [], [], InitSubgraphIndex=model.subgraph(graph, [], []))
    model.op("ADD", [x, x], [y])
    with pytest.raises(zp.UnsupportedOpError, match="initialized by READ_VARIABLE"):
        load_bytes(model.build([x], [y]), name="m.tflite")


def test_a_fault_of_what_computes_first_values_is_said() -> None:
    model = Builder()
    x, y = quantized(model, "x"), quantized(model, "y")
    graph = computed_first_value()
    graph.tensors[1].shape = (1, 5)
    model.op("CALL_ONCE", [], [], InitSubgraphIndex=model.subgraph(graph, [], []))
    model.op("ADD", [x, x], [y])
    with pytest.raises(zp.ImportModelError, match=r"ADD \(op 0, output 'two'\): declares output shape"):
        load_bytes(model.build([x], [y]), name="m.tflite")


def svdf(first_state: Array | None = None) -> tuple[Builder, list[int], int]:
    """A model whose ``y`` is the sum of ``x`` and of the sum of the ``x`` before; its inputs and state."""
    model = Builder()
    x, y = model.tensor("x", (1, 2), np.float32), model.tensor("y", (1, 1), np.float32)
    ones = [model.constant(name, np.ones((1, 2), np.float32)) for name in ("feature", "time")]
    state = model.tensor("v", (1, 2), np.float32, variable=True, data=first_state)
    model.op("SVDF", [x, *ones, -1, state], [y], Rank=1)
    return model, [x, y], state


def test_a_state_tensor_with_the_name_of_a_variable() -> None:
    """They are two: what one holds does not change the other."""
    model, (x, y), _ = svdf()
    resource, held = handle(model, "v"), model.tensor("held", (1, 2), np.float32)
    model.op("ASSIGN_VARIABLE", [resource, x], [])
    model.op("READ_VARIABLE", [resource], [held])
    runs = [[np.array([[k, 2 * k]], np.float32)] for k in range(1, 5)]
    check_sequence(model, [x], [y, held], runs, pipelines=PIPELINES)


def test_state_tensors_that_others_write_are_refused() -> None:
    """LiteRT lets them; here a state is what its operator left."""
    model, (x, y), state = svdf()
    with pytest.raises(UnsupportedOpError, match="the state tensor 'v', which is an input of its graph"):
        load_bytes(model.build([x, state], [y]), name="m.tflite")
    model.op("ABS", [x], [state])
    with pytest.raises(UnsupportedOpError, match=r"ABS \(op 1, output 'v'\): output 'v' is a variable"):
        load_bytes(model.build([x], [y]), name="m.tflite")


def test_a_state_tensor_with_constant_data() -> None:
    model, (x, y), _ = svdf(np.ones((1, 2), np.float32))
    with pytest.raises(ImportModelError, match="the state tensor 'v' has constant data"):
        load_bytes(model.build([x], [y]), name="m.tflite")


def test_first_values_of_a_length_that_only_a_run_knows() -> None:
    """More values than are computed at import are not looked at."""
    model, graph = Builder(), Builder()
    many = graph.constant("many", np.zeros(2000, np.float32))
    computed, places = graph.tensor("e", (2000,), np.float32), graph.tensor("places", (2000, 1), np.int64)
    graph.op("EXP", [many], [computed])
    graph.op("WHERE", [computed], [places])
    graph.op("ASSIGN_VARIABLE", [handle(graph, "a"), places], [])
    y = model.tensor("y", (2000, 1), np.int64)
    model.op("CALL_ONCE", [], [], InitSubgraphIndex=model.subgraph(graph, [], []))
    model.op("READ_VARIABLE", [handle(model, "a")], [y])
    with pytest.raises(UnsupportedOpError, match="first value of a variable, 'places', whose length only a"):
        load_bytes(model.build([], [y]), name="m.tflite")


def test_containers_and_names_that_read_the_same() -> None:
    model = Builder()
    x = model.tensor("x", SHAPE, np.float32)
    for number, (container, name) in enumerate([("a", "b"), ("", "a/b")]):
        resource = model.tensor(f"handle {number}", (), "resource")
        model.op("VAR_HANDLE", [], [resource], SharedName=name, Container=container)
        model.op("ASSIGN_VARIABLE", [resource, x], [])
    with pytest.raises(UnsupportedOpError, match="two variables are named 'a/b', in different containers"):
        load_bytes(model.build([x], [x]), name="m.tflite")
