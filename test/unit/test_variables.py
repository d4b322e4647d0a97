"""Variables: kept from run to run, reset, shared, saved; the same in the numpy meaning and compiled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zeropoint as zp
from zeropoint.dialect.context import parse_module
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.dialect.model import Model
from zeropoint.dialect.variables import initial_values
from zeropoint.passes.pass_manager import run_pipeline

PRELUDE = """
!q = !quant.uniform<i8:f32, 5.0e-01>
ml_program.global private mutable @"variable/a"(dense<3> : tensor<2xi8>) : tensor<2x!q>
ml_program.global private mutable @"variable/b"(dense<[5, 6]> : tensor<2xi8>) : tensor<2x!q>
func.func @main(%x: tensor<2x!q>) -> tensor<2x!q> {
  %a = ml_program.global_load @"variable/a" : tensor<2x!q>
  %b = ml_program.global_load @"variable/b" : tensor<2x!q>
"""
SUM = """
  %s = "qnn.add"(%a, %x) {clamp = array<f32>} : (tensor<2x!q>, tensor<2x!q>) -> tensor<2x!q>
"""
STORE_A = 'ml_program.global_store @"variable/a" ='
STORE_B = 'ml_program.global_store @"variable/b" ='
BODIES = {
    "accumulate": f"{SUM} {STORE_A} %s : tensor<2x!q>\n return %s : tensor<2x!q> }}",
    "unseen result": f"{SUM} {STORE_A} %s : tensor<2x!q>\n return %b : tensor<2x!q> }}",
    "old value returned": f"{SUM} {STORE_A} %s : tensor<2x!q>\n return %a : tensor<2x!q> }}",
    "swap": f"{STORE_A} %b : tensor<2x!q>\n {STORE_B} %a : tensor<2x!q>\n return %a : tensor<2x!q> }}",
    "both the same": f"{SUM} {STORE_A} %s : tensor<2x!q>\n {STORE_B} %s : tensor<2x!q>\n"
    " return %b : tensor<2x!q> }",
    "store an input": f"{STORE_A} %x : tensor<2x!q>\n return %a : tensor<2x!q> }}",
    "only read": f"{SUM} return %s : tensor<2x!q> }}",
}


def model_of(body: str) -> Model:
    return Model.from_module(parse_module(PRELUDE + BODIES[body]))


def inputs(count: int) -> list[Any]:
    rng = np.random.default_rng(1)
    return [rng.integers(-20, 21, 2).astype(np.int8) for _ in range(count)]


@pytest.mark.parametrize("pipeline", ["optimized", "reference"])
@pytest.mark.parametrize("body", BODIES)
def test_compiled_remembers_as_the_meaning_does(body: str, pipeline: str) -> None:
    model = model_of(body)
    executable = zp.compile(model, pipeline=pipeline)
    with model.context:
        state = initial_values(model.module)
    for x in inputs(10):
        (want,) = evaluate_module(model.module, [x], state=state)
        np.testing.assert_array_equal(executable.run(x)[0], want)
    for name, array in executable.variables.items():
        np.testing.assert_array_equal(array, state[f"variable/{name}"])


def test_meaning_stays_when_variables_are_arguments() -> None:
    model = model_of("accumulate")
    with model.context:
        state = initial_values(model.module)
        arguments = parse_module(PRELUDE + BODIES["accumulate"])
        run_pipeline(arguments, "globals-to-arguments")
        other = initial_values(arguments)
    assert sorted(state) == sorted(other)
    for x in inputs(4):
        wanted = evaluate_module(model.module, [x], state=state)
        np.testing.assert_array_equal(evaluate_module(arguments, [x], state=other), wanted)


def test_reset_and_bind_and_threads() -> None:
    executable = zp.compile(model_of("accumulate"), threads=2)
    xs = inputs(5)
    first = [executable.run(x)[0] for x in xs]
    executable.reset()
    x = xs[0].copy()
    step = executable.bind(x)
    for given, want in zip(xs, first, strict=True):
        x[...] = given
        np.testing.assert_array_equal(step()[0], want)


def test_profiling_changes_no_variable() -> None:
    executable = zp.compile(model_of("accumulate"))
    x = inputs(1)[0]
    executable.run(x)
    before = executable.variables["a"].copy()
    executable.profile(x, repeats=3)
    np.testing.assert_array_equal(executable.variables["a"], before)


def test_saved_starts_anew(tmp_path: Path) -> None:
    executable = zp.compile(model_of("accumulate"))
    xs = inputs(4)
    want = [executable.run(x)[0] for x in xs]
    executable.save(tmp_path / "a.zpx")
    loaded = zp.load_executable(tmp_path / "a.zpx")
    for x, y in zip(xs, want, strict=True):
        np.testing.assert_array_equal(loaded.run(x)[0], y)


def test_shared_variables() -> None:
    one = zp.compile(model_of("accumulate"))
    other = zp.compile(model_of("only read"), variables=one.variables)
    x, zero = inputs(1)[0], np.zeros(2, np.int8)
    (sum_,) = one.run(x)
    np.testing.assert_array_equal(other.run(zero)[0], sum_)
    one.reset()
    np.testing.assert_array_equal(other.run(zero)[0], [3, 3])


def test_shared_variables_of_other_shapes() -> None:
    one = zp.compile(model_of("accumulate"))
    text = (PRELUDE + BODIES["accumulate"]).replace("<2x", "<3x").replace("<[5, 6]>", "<1>")
    with pytest.raises(zp.ZeropointError, match=r"variable 'a': it is int8\[2\] already, expected int8\[3\]"):
        zp.compile(Model.from_module(parse_module(text)), variables=one.variables)
