"""Loops over sequences: the same results in every form, as many kernels for every number of steps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zeropoint as zp
from random_tensors import Array, seeds
from sequences import check_sequence
from tflite_builder import Builder
from zeropoint.dialect.context import new_context
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.dialect.ir_types import to_ir_type
from zeropoint.dialect.loops import CountedLoop
from zeropoint.dialect.mlir import func, ir
from zeropoint.dialect.qnn import create
from zeropoint.dialect.types import QuantParams, Storage, TensorType
from zeropoint.frontends import load_bytes
from zeropoint.passes.pass_manager import run_pipeline

ELEMENT = QuantParams(Storage.of("i8"), (0.5,), (3,))


def module_of(count: int, shape: Sequence[int], backwards: bool, nested: int = 0) -> ir.Module:
    """Running sums of a sequence and a constant addend; ``nested``: so often inside a loop over itself."""
    one, many = TensorType(tuple(shape), ELEMENT), TensorType((count, *shape), ELEMENT)
    with new_context(), ir.Location.unknown():
        module = ir.Module.create()
        inputs = [to_ir_type(type_) for type_ in (many, one, one)]
        with ir.InsertionPoint(module.body):
            main = func.FuncOp("main", (inputs, [inputs[1], inputs[0]]))
        block = main.add_entry_block()
        sequence, start, addend = block.arguments
        location, point = ir.Location.unknown(), ir.InsertionPoint(block)

        def sums(held: ir.Value, level: int, point: ir.InsertionPoint) -> list[ir.Value]:
            loop = CountedLoop(count, [held], [one], one, location, point)
            if backwards:
                loop.run_backwards()
            (value,) = loop.carried
            part = loop.slice_of(sequence, one)
            if level:
                value, _ = sums(value, level - 1, loop.point)
            for other in (part, addend):
                operands, attributes = [value, other], {"clamp": ()}
                (value,) = create("add", operands, [one], attributes, loc=location, ip=loop.point)
            return loop.end([value], value)

        results = sums(start, nested, point)
        func.ReturnOp(results, ip=point)
        assert module.operation.verify()
    return module


def inputs_of(seed: int, count: int, shape: Sequence[int]) -> list[Array]:
    rng = np.random.default_rng(seed)
    shapes = ((count, *shape), tuple(shape), tuple(shape))
    return [rng.integers(-128, 128, s).astype(np.int8) for s in shapes]


@settings(max_examples=10, deadline=None)
@given(seeds, st.integers(1, 6), st.booleans(), st.integers(0, 2))
def test_meaning_stays_when_bodies_are_modules(seed: int, count: int, backwards: bool, nested: int) -> None:
    module, arrays = module_of(count, (2, 3), backwards, nested), inputs_of(seed, count, (2, 3))
    before = evaluate_module(module, arrays)
    with module.context:
        run_pipeline(module, "outline-control-flow")
    for one, other in zip(evaluate_module(module, arrays), before, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("pipeline", ["optimized", "reference"])
@pytest.mark.parametrize(("count", "backwards", "nested"), [(1, False, 0), (5, True, 0), (3, True, 1)])
def test_compiled(pipeline: str, count: int, backwards: bool, nested: int, tmp_path: Path) -> None:
    """Run after run, since a run moves addresses on and back; and from a file."""
    module = module_of(count, (2, 3), backwards, nested)
    executable = zp.compile(zp.Model.from_module(module), pipeline=pipeline, cache=False)
    executable.save(tmp_path / "loop.zp")
    for each in (executable, zp.load_executable(tmp_path / "loop.zp")):
        for seed in range(3):
            arrays = inputs_of(seed, count, (2, 3))
            for one, other in zip(each.run(*arrays), evaluate_module(module, arrays), strict=True):
                np.testing.assert_array_equal(one, other)


def rnn(time: int, name: str = "h") -> tuple[Builder, list[int], list[int]]:
    rng = np.random.default_rng(4)
    model = Builder()
    x, y = model.tensor("x", (2, time, 5), np.float32), model.tensor("y", (2, time, 3), np.float32)
    weights = [
        model.constant(f"w{k}", rng.normal(size=shape).astype(np.float32))
        for k, shape in enumerate(((3, 5), (3, 3), (3,)))
    ]
    state = model.tensor(name, (2, 3), np.float32, variable=True)
    model.op("UNIDIRECTIONAL_SEQUENCE_RNN", [x, *weights, state], [y], FusedActivationFunction="TANH")
    return model, [x], [y]


def test_as_many_kernels_for_every_number_of_steps() -> None:
    kernels = []
    for time in (2, 300):
        model, inputs, outputs = rnn(time)
        executable = zp.compile(load_bytes(model.build(inputs, outputs), name="m.tflite"), cache=False)
        program = executable._program
        kernels.append((len(program.steps), len(program.inner)))
    assert kernels[0] == kernels[1]


def test_inside_a_loop() -> None:
    """A recurrent operator in the body of a WHILE keeps its state from one time to the next, not from run to
    run.
    """
    model = Builder()
    count, x = model.tensor("count", (1,), np.int32), model.tensor("x", (2, 4, 5), np.float32)
    last, y = model.tensor("last", (1,), np.int32), model.tensor("y", (2, 4, 5), np.float32)
    condition, body = Builder(), Builder()
    counts = [condition.tensor("count", (1,), np.int32), condition.tensor("x", (2, 4, 5), np.float32)]
    less = condition.tensor("less", (1,), "bool")
    condition.op("LESS", [counts[0], condition.constant("limit", np.array([3], np.int32))], [less])
    body, (inner,), (outer,) = rnn(4)
    number, following = body.tensor("n", (1,), np.int32), body.tensor("m", (1,), np.int32)
    body.op("ADD", [number, body.constant("one", np.array([1], np.int32))], [following])
    padded = body.tensor("padded", (2, 4, 5), np.float32)
    body.op("PAD", [outer, body.constant("p", np.array([[0, 0], [0, 0], [1, 1]], np.int32))], [padded])
    model.op(
        "WHILE",
        [count, x],
        [last, y],
        CondSubgraphIndex=model.subgraph(condition, counts, [less]),
        BodySubgraphIndex=model.subgraph(body, [number, inner], [following, padded]),
    )
    rng = np.random.default_rng(6)
    runs = [[np.array([n], np.int32), rng.normal(size=(2, 4, 5)).astype(np.float32)] for n in (0, 2, 3, 1)]
    # Functions of the C library and the order of sums differ.
    check_sequence(model, [count, x], [last, y], runs, pipelines=["optimized"], rtol=1e-4, atol=1e-5)
