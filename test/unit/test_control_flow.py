"""IF, WHILE and CALL against LiteRT's reference kernels: nested, with variables, saved, in both pipelines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zeropoint as zp
from random_tensors import Array, seeds
from sequences import check_sequence
from tflite_builder import Builder
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.errors import ImportModelError, UnsupportedOpError
from zeropoint.frontends import load_bytes
from zeropoint.passes.pass_manager import run_pipeline

SCALE, SHAPE = 0.25, (2, 3)
PIPELINES = ("optimized", "reference")


def tensor(graph: Builder, name: str, scale: float = SCALE) -> int:
    return graph.tensor(name, SHAPE, np.int8, scale, 3)


def arithmetic(name: str, seed: int) -> tuple[Builder, int, int]:
    """A subgraph of one input and one output: something with the input and a constant."""
    rng = np.random.default_rng(seed)
    graph = Builder()
    x, y = tensor(graph, "x"), tensor(graph, "y")
    other = graph.constant("k", rng.integers(-128, 128, SHAPE).astype(np.int8), scales=0.1, zero_points=-4)
    graph.op(name, [x, other], [y])
    return graph, x, y


def counted(graph: Builder, limit: int) -> tuple[Builder, list[int], list[int]]:
    """The condition of a loop: whether its first value, of two, is less than ``limit``."""
    count, value = graph.tensor("count", (1,), np.int32), tensor(graph, "value")
    less = graph.tensor("less", (1,), "bool")
    graph.op("LESS", [count, graph.constant("limit", np.array([limit], np.int32))], [less])
    return graph, [count, value], [less]


def body(operator: str) -> tuple[Builder, list[int], list[int]]:
    graph = Builder()
    count, value = graph.tensor("count", (1,), np.int32), tensor(graph, "value")
    following, result = graph.tensor("following", (1,), np.int32), tensor(graph, "result")
    graph.op("ADD", [count, graph.constant("one", np.array([1], np.int32))], [following])
    graph.op(operator, [value, value], [result])
    return graph, [count, value], [following, result]


def inputs(seed: int, count: int = 4) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [rng.integers(-128, 128, SHAPE).astype(np.int8) for _ in range(count)]


def branches(model: Builder, first: str, second: str, seed: int) -> dict[str, int]:
    numbers = []
    for offset, operator in enumerate((first, second)):
        graph, x, y = arithmetic(operator, seed + offset)
        numbers.append(model.subgraph(graph, [x], [y]))
    return dict(zip(("ThenSubgraphIndex", "ElseSubgraphIndex"), numbers, strict=True))


@pytest.mark.parametrize("pipelines", [(), PIPELINES])
@settings(max_examples=2, deadline=None)
@given(seeds, st.sampled_from(["ADD", "SUB", "MUL"]), st.sampled_from(["ADD", "SUB", "MUL"]))
def test_if(pipelines: tuple[str, ...], seed: int, first: str, second: str) -> None:
    model = Builder()
    c, x, y = model.tensor("c", (1,), "bool"), tensor(model, "x"), tensor(model, "y")
    model.op("IF", [c, x], [y], **branches(model, first, second, seed))
    runs = [[np.array([i % 2 == 0]), x] for i, x in enumerate(inputs(seed))]
    check_sequence(model, [c, x], [y], runs, pipelines=pipelines)


@pytest.mark.parametrize("pipelines", [(), PIPELINES])
@pytest.mark.parametrize("operator", ["ADD", "MUL", "SUB"])
def test_while(operator: str, pipelines: tuple[str, ...]) -> None:
    model = Builder()
    count, x = model.tensor("count", (1,), np.int32), tensor(model, "x")
    last, y = model.tensor("last", (1,), np.int32), tensor(model, "y")
    condition = model.subgraph(*counted(Builder(), 5))
    model.op(
        "WHILE",
        [count, x],
        [last, y],
        CondSubgraphIndex=condition,
        BodySubgraphIndex=model.subgraph(*body(operator)),
    )
    runs = [[np.array([start], np.int32), x] for start, x in zip((4, 9, 0, -3), inputs(1), strict=True)]
    check_sequence(model, [count, x], [last, y], runs, pipelines=pipelines)


def nested_model() -> tuple[Builder, list[int], list[int]]:
    """A loop whose body has a branch, whose result the next operator reads; a branch behind it."""
    model = Builder()
    count, x, c = model.tensor("count", (1,), np.int32), tensor(model, "x"), model.tensor("c", (1,), "bool")
    last, y, z = model.tensor("last", (1,), np.int32), tensor(model, "y"), tensor(model, "z")
    graph, ends, _ = body("ADD")
    odd, chosen, result = graph.tensor("odd", (1,), "bool"), tensor(graph, "chosen"), tensor(graph, "twice")
    graph.op("LESS", [ends[0], graph.constant("two", np.array([2], np.int32))], [odd])
    graph.op("IF", [odd, ends[1]], [chosen], **branches(model, "ADD", "SUB", 5))
    graph.op("ADD", [chosen, ends[1]], [result])
    following = 2
    inner = model.subgraph(graph, ends, [following, result])
    condition = model.subgraph(*counted(Builder(), 4))
    model.op("WHILE", [count, x], [last, y], CondSubgraphIndex=condition, BodySubgraphIndex=inner)
    model.op("IF", [c, y], [z], **branches(model, "MUL", "SUB", 9))
    return model, [count, x, c], [last, z]


def nested_runs() -> list[list[Array]]:
    starts = zip((0, 3, 1, 9), inputs(2), strict=True)
    return [[np.array([n], np.int32), x, np.array([n > 1])] for n, x in starts]


@pytest.mark.parametrize("pipelines", [(), PIPELINES])
def test_nested(pipelines: tuple[str, ...]) -> None:
    check_sequence(*nested_model(), nested_runs(), pipelines=pipelines)


def test_meaning_stays_when_regions_are_modules() -> None:
    module = load_bytes(model_bytes(), name="m.tflite").module
    before = [evaluate_module(module, run) for run in nested_runs()]
    with module.context:
        run_pipeline(module, "outline-control-flow")
    for run, wanted in zip(nested_runs(), before, strict=True):
        for one, other in zip(evaluate_module(module, run), wanted, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("target", ["tflite", "tvm"])
def test_targets(target: str) -> None:
    model = load_bytes(model_bytes(), name="m.tflite")
    run = nested_runs()[0]
    legal, plain = zp.compile(model, target=target).run(*run), zp.compile(model).run(*run)
    assert [array.shape for array in legal] == [array.shape for array in plain]


def model_bytes() -> bytes:
    model, ends, results = nested_model()
    return model.build(ends, results)


def test_saved_and_threads(tmp_path: Path) -> None:
    model, ends, results = nested_model()
    path = tmp_path / "m.tflite"
    path.write_bytes(model.build(ends, results))
    executable = zp.compile(path, threads=2)
    executable.save(tmp_path / "m.zpx")
    loaded = zp.load_executable(tmp_path / "m.zpx", threads=2)
    for run in nested_runs():
        for one, other in zip(executable.run(*run), loaded.run(*run), strict=True):
            np.testing.assert_array_equal(one, other)
    assert executable.profile(*nested_runs()[0], repeats=2).steps


def test_call_of_itself_is_told() -> None:
    model = Builder()
    x, y = tensor(model, "x"), tensor(model, "y")
    graph = Builder()
    a, b = tensor(graph, "a"), tensor(graph, "b")
    graph.op("CALL", [a], [b], Subgraph=1)
    model.subgraph(graph, [a], [b])
    model.op("CALL", [x], [y], Subgraph=1)
    with pytest.raises(zp.ImportModelError, match="runs itself"):
        load_bytes(model.build([x], [y]), name="m.tflite")


def model_with_a_state_in_a_branch(returned: bool) -> tuple[Builder, list[int], list[int]]:
    """A recurrent operator in a branch, which returns the operator's output or its state."""
    rng = np.random.default_rng(3)
    model, branch, other = Builder(), Builder(), Builder()
    ends = [[g.tensor(name, (1, 3), np.float32) for name in "xy"] for g in (model, branch, other)]
    shapes = ((3, 3), (3, 3), (3,))
    weights = [
        branch.constant(f"w{k}", rng.normal(size=shape).astype(np.float32)) for k, shape in enumerate(shapes)
    ]
    state = branch.tensor("h", (1, 3), np.float32, variable=True)
    branch.op("RNN", [ends[1][0], *weights, state], [ends[1][1]], FusedActivationFunction="RELU6")
    other.op("NEG", [ends[2][0]], [ends[2][1]])
    condition = model.tensor("c", (1,), "bool")
    model.op(
        "IF",
        [condition, ends[0][0]],
        [ends[0][1]],
        ThenSubgraphIndex=model.subgraph(branch, ends[1][:1], [state if returned else ends[1][1]]),
        ElseSubgraphIndex=model.subgraph(other, ends[2][:1], ends[2][1:]),
    )
    return model, [condition, ends[0][0]], [ends[0][1]]


@pytest.mark.parametrize("pipelines", [(), PIPELINES])
def test_state_in_a_branch_starts_anew(pipelines: tuple[str, ...]) -> None:
    """LiteRT resets it whenever the branch runs."""
    x = np.random.default_rng(4).normal(size=(1, 3)).astype(np.float32)
    runs = [[np.array([taken]), x] for taken in (True, True, False, True)]
    # The order of sums differs.
    check_sequence(*model_with_a_state_in_a_branch(False), runs, pipelines=pipelines, rtol=1e-6, atol=1e-6)


def test_a_state_is_no_result_of_a_subgraph() -> None:
    model, inputs_, outputs = model_with_a_state_in_a_branch(True)
    with pytest.raises(UnsupportedOpError, match="the state tensor 'h' as a subgraph's result"):
        load_bytes(model.build(inputs_, outputs), name="m.tflite")


@pytest.mark.parametrize("operator", ["IF", "CALL"])
def test_subgraphs_that_double_at_every_level_are_limited(operator: str) -> None:
    """Forty levels, each of which runs the next one twice, would be 2^40 operators."""
    model = Builder()

    def ends(graph: Builder) -> tuple[list[int], list[int]]:
        return [graph.tensor("c", (1,), "bool"), tensor(graph, "x")], [tensor(graph, "y")]

    graph = Builder()
    inputs_, outputs = ends(graph)
    graph.op("ADD", [inputs_[1], inputs_[1]], outputs)
    following = model.subgraph(graph, inputs_, outputs)
    for level in range(40):
        graph = model if level == 39 else Builder()
        inputs_, outputs = ends(graph)
        if operator == "IF":
            branch = {"ThenSubgraphIndex": following, "ElseSubgraphIndex": following}
            graph.op("IF", [inputs_[0], *inputs_], outputs, **branch)
        else:
            middle = tensor(graph, "middle")
            graph.op("CALL", inputs_, [middle], Subgraph=following)
            graph.op("CALL", [inputs_[0], middle], outputs, Subgraph=following)
        if graph is not model:
            following = model.subgraph(graph, inputs_, outputs)
    with pytest.raises(ImportModelError, match="run from so many places that more than 10"):
        load_bytes(model.build(inputs_, outputs), name="m.tflite")


def nested_calls(operator: str, levels: int) -> bytes:
    """Subgraphs each of which runs the next one; the last one negates."""
    model = Builder()
    options = {"IF": ["ThenSubgraphIndex", "ElseSubgraphIndex"], "CALL": ["Subgraph"]}[operator]
    graphs = [model, *(Builder() for _ in range(levels))]
    for number, graph in enumerate(graphs):
        ends = [graph.tensor("c", (1,), "bool"), *(graph.tensor(name, (2,), np.float32) for name in "xy")]
        given = [ends[0], *ends[:2]] if operator == "IF" else ends[:2]
        if number == levels:
            graph.op("NEG", [ends[1]], ends[2:])
        else:
            graph.op(operator, given, ends[2:], **dict.fromkeys(options, number + 1))
        if number:
            model.subgraph(graph, ends[:2], ends[2:])
    return model.build([0, 1], [2])


@pytest.mark.parametrize("operator", ["IF", "CALL"])
def test_subgraphs_deep_in_each_other(operator: str) -> None:
    """``IF`` with the same graph on both sides doubles at every level: few of those."""
    levels = 5 if operator == "IF" else 64
    x = np.array([1, -2], np.float32)
    executable = zp.compile(load_bytes(nested_calls(operator, levels), name="m.tflite"), cache=False)
    np.testing.assert_array_equal(executable.run(np.array([True]), x)[0], -x)


@pytest.mark.parametrize("operator", ["IF", "CALL"])
@pytest.mark.parametrize("levels", [65, 2000])
def test_subgraphs_too_deep_in_each_other(operator: str, levels: int) -> None:
    """Neither the importer's stack nor a pass' overflows."""
    with pytest.raises(zp.ImportModelError, match="more than 64 levels deep: 'main', 'graph1'"):
        load_bytes(nested_calls(operator, levels), name="m.tflite")
