"""Outputs whose length only a run can tell: WHERE and UNIQUE, in every way of running a network."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import zeropoint
from operator_generator import MAKERS
from random_tensors import Array
from tflite_builder import Builder, run_litert
from zeropoint.dialect.context import new_context
from zeropoint.dialect.mlir import ir
from zeropoint.dialect.model import Model
from zeropoint.errors import ImportModelError, UnsupportedOpError
from zeropoint.frontends import load_bytes

INPUTS = [np.asarray(values, np.int32) for values in ([0, 5, 0, 5, 7, 7], [0] * 6, [1, 2, 3, 4, 5, 6])]


def model_bytes() -> bytes:
    """Places and different values of ``x``, and what has a known length beside them."""
    model = Builder()
    x = model.tensor("x", (6,), np.int32)
    places = model.tensor("places", (1, 1), np.int64, signature=(-1, 1))
    values = model.tensor("values", (1,), np.int32, signature=(-1,))
    which, negative = (model.tensor(name, (6,), np.int32) for name in ("which", "negative"))
    model.op("WHERE", [x], [places])
    model.op("UNIQUE", [x], [values, which], IdxOutType=2)
    model.op("NEG", [x], [negative])
    outputs = [places, values, which, negative]
    named = {model.tensors[index].name: index for index in outputs}
    return model.build([x], outputs, {"look": ({"x": x}, named)})


def wanted(x: Array) -> list[Array]:
    """By numpy: LiteRT's interpreter cannot hand out what is empty."""
    _, first, inverse = np.unique(x, return_index=True, return_inverse=True)
    order = np.argsort(first)
    ranks = np.argsort(order)
    return [np.argwhere(x), x[np.sort(first)], ranks[inverse].astype(np.int32), -x]


def check(results: list[Array], x: Array) -> None:
    for one, other in zip(results, wanted(x), strict=False):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        np.testing.assert_array_equal(one, other)


@pytest.fixture(scope="module")
def executable() -> zeropoint.Executable:
    return zeropoint.compile(load_bytes(model_bytes(), name="m.tflite"), cache=False)


def test_a_run_is_cut_to_the_length(executable: zeropoint.Executable) -> None:
    assert [info.name for info in executable.outputs[4:]] == ["places:length", "values:length"]
    assert [info.length for info in executable.outputs] == ["places:length", "values:length", *[""] * 4]
    for x in INPUTS:
        results = executable.run(x)
        check(results, x)
        assert [int(count) for count in results[4:]] == [len(results[0]), len(results[1])]


def test_what_numpy_says_is_what_litert_does() -> None:
    for one, other in zip(wanted(INPUTS[2]), run_litert(model_bytes(), [INPUTS[2]]), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_bound_step_is_cut_each_time(executable: zeropoint.Executable) -> None:
    x = INPUTS[0].copy()
    step = executable.bind(x)
    for values in INPUTS:
        x[...] = values
        check(step(), values)


def test_a_saved_executable_knows_the_lengths(executable: zeropoint.Executable, tmp_path: Path) -> None:
    executable.save(tmp_path / "m.zpx")
    loaded = zeropoint.load_executable(tmp_path / "m.zpx")
    for x in INPUTS:
        check(loaded.run(x), x)


def test_the_interpreter_hands_out_as_litert_does() -> None:
    interpreter = zeropoint.Interpreter(model_content=model_bytes())
    interpreter.allocate_tensors()
    assert len(interpreter.get_output_details()) == 4
    for x in INPUTS:
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
        interpreter.invoke()
        details = interpreter.get_output_details()
        check([interpreter.get_tensor(detail["index"]) for detail in details], x)
        assert [tuple(detail["shape"]) for detail in details] == [array.shape for array in wanted(x)]


def test_a_signature_has_the_outputs_of_the_file() -> None:
    runner = zeropoint.Interpreter(model_content=model_bytes()).get_signature_runner("look")
    for x in INPUTS:
        results = runner(x=x)
        assert set(results) == {"places", "values", "which", "negative"}
        check([results[name] for name in ("places", "values", "which", "negative")], x)


@pytest.mark.parametrize("name", ["where", "unique"])
@pytest.mark.parametrize("pipeline", ["optimized", "reference"])
def test_compiled_code_computes_what_litert_does(name: str, pipeline: str) -> None:
    for seed in range(4):
        drawn = MAKERS[name](np.random.default_rng(seed))
        model = load_bytes(drawn.build(), name="m.tflite")
        results = zeropoint.compile(model, pipeline=pipeline, cache=False).run(*drawn.arrays)
        for one, other in zip(results, run_litert(drawn.build(), drawn.arrays), strict=False):
            np.testing.assert_array_equal(one, other)


def test_a_branch_cannot_return_what_has_no_known_length() -> None:
    model = Builder()
    c, x, y = (
        model.tensor("c", (1,), "bool"),
        model.tensor("x", (4,), np.int32),
        model.tensor("y", (1, 1), np.int64),
    )
    numbers = []
    for _ in range(2):
        graph = Builder()
        given, places = graph.tensor("given", (4,), np.int32), graph.tensor("places", (1, 1), np.int64)
        graph.op("WHERE", [given], [places])
        numbers.append(model.subgraph(graph, [given], [places]))
    model.op("IF", [c, x], [y], ThenSubgraphIndex=numbers[0], ElseSubgraphIndex=numbers[1])
    with pytest.raises(UnsupportedOpError, match="a subgraph's result 'places' whose length only a run"):
        load_bytes(model.build([c, x], [y]), name="m.tflite")


def test_more_values_than_are_compared() -> None:
    model = Builder()
    x, y = model.tensor("x", (4097,), np.int32), model.tensor("y", (1,), np.int32)
    which = model.tensor("which", (4097,), np.int32)
    model.op("UNIQUE", [x], [y, which], IdxOutType=2)
    with pytest.raises(UnsupportedOpError, match="the different ones of 4097 values, more than 4096"):
        load_bytes(model.build([x], [y, which]), name="m.tflite")


@pytest.mark.parametrize("length", ["none", "y"])
def test_a_length_that_is_no_output(length: str) -> None:
    text = f'''func.func @main(%x: tensor<4xi64>)
      -> (tensor<4xi64> {{qnn.name = "y", qnn.length = "{length}"}}) {{ return %x : tensor<4xi64> }}'''
    with new_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
    message = rf"output 'y' of shape \[4\]: qnn.length is '{length}', expected the name of an output"
    with pytest.raises(ImportModelError, match=message):
        Model.from_module(module)
