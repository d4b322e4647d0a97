"""Parameter legalization: what rules demand, that plans are the cheapest, and that values change only where
a rule forces it.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import zeropoint as zp
from forced_changes import broken, check_values, expectations
from random_rule_graphs import (
    COMPUTING,
    MOVING,
    POOLING,
    random_inputs,
    random_module,
    random_table,
    write_target,
)
from zeropoint.dialect.context import parse_module
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.dialect.types import QuantParams, Storage, TensorType
from zeropoint.errors import PipelineError, TargetError
from zeropoint.passes import registry
from zeropoint.passes.decisions import INSERTED_ATTRIBUTE, collect
from zeropoint.passes.parameter_choices import _Allowed, _options
from zeropoint.passes.parameter_graph import BlockGraph, function_blocks
from zeropoint.passes.parameter_rules import BIAS, RESULT, demands, settle, unmet
from zeropoint.passes.pass_manager import run_pipeline
from zeropoint.passes.pipeline_text import Step, parse_pass_list
from zeropoint.passes.pipelines import passes_to
from zeropoint.passes.requantize_placement import Forest, Version, grow
from zeropoint.passes.verify_params import with_verification
from zeropoint.targets import load_target

EXACT_NAMES = (*MOVING, *POOLING, "concat", "conv2d", "add", "requantize")
EXACT_RULED = (*MOVING, *POOLING, "concat")
"""Ops for which equal parameters can be had without changing a number (i8 and i16; no fused clamps)."""
GENTLE = ("add", "clamp", "concat", "logistic", "mean", "sub", "tanh", *MOVING, *POOLING)
"""Ops of slope 1 at most: an input that is off by some amount moves the result by no more."""
EVERYTHING = (*MOVING, *POOLING, *COMPUTING, "requantize")
EQUAL = ("free", "same-as-input", "same-as-result")

cases = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
seeds = st.integers(0, 2**32 - 1)


def tensor(storage: str, scale: float, zero_point: int = 0, shape: Sequence[int] = (4,)) -> TensorType:
    return TensorType(tuple(shape), QuantParams(Storage.of(storage), (scale,), (zero_point,)))


# What rules demand


def test_same_as_input_is_about_the_result_and_for_concat_about_all_inputs() -> None:
    target, a, b = load_target("pytorch-xnnpack"), tensor("i8", 0.5), tensor("i8", 0.25, 3)
    (demand,) = unmet(target, "mean", [a], b)
    assert (demand.place, demand.got, demand.expected) == (RESULT, b.params, a.params)
    places = {d.place: d.is_met for d in demands(target, "concat", [a, b, a], b)}
    assert places == {1: False, 2: True, RESULT: False}


def test_same_as_result_is_about_the_inputs() -> None:
    a, b = tensor("i8", 0.5), tensor("i8", 0.25, 3)
    (demand,) = unmet(load_target("tflite"), "concat", [b, a, b], b)
    assert (demand.place, demand.expected) == (1, b.params)


def test_fixed_has_a_tolerance_and_full_storage_where_the_zero_point_needs_it() -> None:
    target = load_target("tflite")
    source = tensor("i8", 0.1)
    assert not unmet(target, "softmax", [source], tensor("i8", 1.0005 / 256, -128))
    assert unmet(target, "softmax", [source], tensor("i8", 1.002 / 256, -128))
    assert unmet(target, "logistic", [source], tensor("i8", 1.0005 / 256, -128))
    narrow = replace(source, element=QuantParams(Storage(8, True, -127, 127), (0.1,), (0,)))
    (demand,) = unmet(target, "softmax", [source], narrow)
    assert demand.expected == QuantParams(Storage.of("i8"), (1 / 256,), (-128,))


def test_the_rule_may_depend_on_both_storage_types() -> None:
    (demand,) = unmet(load_target("tflite"), "softmax", [tensor("i8", 0.1)], tensor("i16", 1 / 256))
    assert demand.expected == QuantParams(Storage.of("i16"), (1 / 65536,), (-32768,))


def test_derived_is_about_the_bias_and_raw_accumulators() -> None:
    target = load_target("float-islands-demo")
    source, kernel = tensor("i8", 0.5, shape=(1, 8)), tensor("i8", 0.25, shape=(4, 8))
    bias, accumulator = tensor("i32", 0.125), tensor("i32", 0.125, shape=(1, 4))
    assert not unmet(target, "fully_connected", [source, kernel, bias], accumulator)
    (demand,) = unmet(target, "fully_connected", [source, kernel, bias], tensor("i32", 0.1, shape=(1, 4)))
    assert (demand.place, demand.expected) == (RESULT, accumulator.params)
    (demand,) = unmet(target, "fully_connected", [source, kernel, tensor("i32", 0.13)], accumulator)
    assert (demand.place, demand.rule.kind) == (BIAS, "derived")


def test_derived_of_a_per_channel_filter_has_no_per_tensor_answer() -> None:
    kernel = TensorType((2, 8), QuantParams(Storage.of("i8"), (0.25, 0.5), (0, 0), 0))
    types = [tensor("i8", 0.5, shape=(1, 8)), kernel]
    (demand,) = unmet(
        load_target("float-islands-demo"), "fully_connected", types, tensor("i32", 0.1, shape=(1, 2))
    )
    assert demand.expected is None


def test_unsupported_is_met_by_floats_alone() -> None:
    target, floats = load_target("xnnpack"), TensorType((4,), "f32")
    (demand,) = unmet(target, "softmax", [tensor("i8", 0.1)], tensor("i8", 1 / 256, -128))
    assert demand.expected is None
    assert not demands(target, "softmax", [floats], floats)
    (demand,) = unmet(target, "arg_max", [tensor("i8", 0.1)], TensorType((), "i32"))
    assert (demand.place, demand.rule.kind) == (0, "unsupported")


def test_conversions_and_constants_take_no_rule() -> None:
    assert not demands(load_target("xnnpack"), "requantize", [tensor("i32", 0.1)], tensor("i16", 0.2))
    assert not demands(load_target("xnnpack"), "constant", [], tensor("i4", 0.2))


def test_settling_follows_the_rules_of_new_storage_types(tmp_path: Path) -> None:
    rules = {"mean": {"i16": "same-as-input", "i8": "fixed(1/4, 3)"}}
    target = load_target(write_target(tmp_path / "t.toml", rules))
    _, result = settle(target, "mean", [tensor("i8", 0.1)], tensor("i16", 0.2))
    assert result.params == QuantParams(Storage.of("i8"), (0.25,), (3,))


# The cheapest plan


def brute_force(module: Any, target: Any, mode: str) -> int:
    """The fewest requantizes: every combination of exact choices, every way of moving them."""
    (block,) = function_blocks(module)
    graph = BlockGraph(block).graph
    allowed = _Allowed(graph, target)
    options = [_options(graph, op, target, mode) for op in graph.ops]
    return min(cheapest(grow(graph, choices), allowed) for choices in itertools.product(*options))


def cheapest(forest: Forest, allowed: Any) -> int:
    """Try, for each version wanted at a position, both to requantize there and to get it from above."""
    depth = {p: len(list(forest.path_up(p))) for p in range(len(forest.graph.types))}

    def search(wanted: frozenset[tuple[int, Version]]) -> int:
        open_wants = [w for w in wanted if (w not in forest.existing and w[1][1]) or w[0] != w[1][0]]
        open_wants = [w for w in open_wants if w not in forest.existing]
        if not open_wants:
            return 0
        position, version = max(open_wants, key=lambda w: (len(w[1][1]), depth[w[0]]))
        rest = wanted - {(position, version)}
        ways = []
        if version[1]:
            ways.append(1 + search(rest | {(position, (version[0], version[1][:-1]))}))
        params = forest.params(version)
        if position in forest.parent and params is not None and allowed(forest.mover[position], params):
            ways.append(search(rest | {(forest.parent[position], version)}))
        return min(ways, default=10**6)

    return search(frozenset((p, version) for version, positions in forest.needs.items() for p in positions))


@cases
@given(seeds)
def test_no_plan_is_cheaper(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    module = random_module(rng, [*EXACT_RULED, "requantize"], rng.randint(2, 7), ("i8", "i16"))
    table = random_table(rng, EQUAL, EXACT_RULED)
    target = write_target(tmp_path / "t.toml", table)
    expected = brute_force(module, load_target(target), "reference")
    run_pipeline(module, f"legalize-params{{target={target}}}")
    assert str(module).count("qnn.inserted") == expected


# Values


@cases
@given(seeds)
def test_exact_rules_change_no_number(tmp_path: Path, seed: int) -> None:
    """Nor does any pass that follows, once it takes the inserted requantizes for the model's own: then it
    may not round otherwise.
    """
    rng = random.Random(seed)
    mode = rng.choice(["reference", "xnnpack"])
    module = random_module(rng, EXACT_NAMES, rng.randint(1, 9), ("i8", "i16"), mode, clamps=False)
    target = write_target(tmp_path / "t.toml", random_table(rng, EQUAL, EXACT_RULED))
    inputs = random_inputs(rng, module)
    before = evaluate_module(module, inputs)
    run_pipeline(module, f"legalize-params{{target={target}}},verify-params")
    for new, old in zip(evaluate_module(module, inputs), before, strict=True):
        np.testing.assert_array_equal(new, old)
    for view in module.body.operations[0].operation.regions[0].blocks[0].operations:
        if INSERTED_ATTRIBUTE in view.operation.attributes:
            del view.operation.attributes[INSERTED_ATTRIBUTE]
    run_pipeline(module, rng.sample(passes_that_keep_parameters(), 5))
    for new, old in zip(evaluate_module(module, inputs), before, strict=True):
        np.testing.assert_array_equal(new, old)


@cases
@given(seeds)
def test_values_change_only_where_a_rule_forced_it_and_by_no_more_than_its_rounding(
    tmp_path: Path, seed: int
) -> None:
    """The bound and its reason stand in test/forced_changes.py."""
    rng = random.Random(seed)
    mode = rng.choice(["reference", "xnnpack"])
    module = random_module(rng, EVERYTHING, rng.randint(1, 8), mode=mode)
    table = {
        **random_table(rng, (*EQUAL, "fixed"), GENTLE),
        **random_table(rng, ("free", "same-as-input", "fixed"), ("conv2d", "fully_connected", "softmax")),
        # The product of two i16 values in a much finer scale overflows the kernel's 32 bits.
        **random_table(rng, ("free", "same-as-input"), ("mul",)),
    }
    target = write_target(tmp_path / "t.toml", table)
    inputs = random_inputs(rng, module)
    expected = expectations(module, inputs, load_target(target), mode)
    run_pipeline(module, f"legalize-params{{target={target}}},verify-params")
    check_values(module, inputs, expected, mode)


@cases
@given(seeds)
def test_legal_graphs_stay_as_they_are(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    module = random_module(rng, EVERYTHING, rng.randint(1, 9))
    target = write_target(
        tmp_path / "t.toml", random_table(rng, (*EQUAL, "fixed"), (*MOVING, *POOLING, *COMPUTING))
    )
    run_pipeline(module, f"legalize-params{{target={target}}}")
    legal = str(module)
    run_pipeline(module, f"legalize-params{{target={target}}}")
    assert str(module) == legal


# The invariant


def passes_that_keep_parameters() -> list[str]:
    """Passes that say so: they may run after legalization, in any order."""
    return [
        name
        for name, cls in registry.load_all().items()
        if getattr(cls, "keeps_params", False) and name != "verify-params"
    ]


@cases
@given(seeds)
def test_no_pass_breaks_the_invariant(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    mode = rng.choice(["reference", "xnnpack"])
    module = random_module(rng, EVERYTHING, rng.randint(1, 9), mode=mode)
    table = random_table(rng, (*EQUAL, "fixed", "unsupported"), (*MOVING, *POOLING, *COMPUTING))
    target = write_target(tmp_path / "t.toml", table)
    signature = str(module.body.operations[0].type)
    names = ["canonicalize", "cse", *passes_that_keep_parameters()]
    passes = [
        f"isolate-unsupported{{target={target}}}",
        f"legalize-params{{target={target}}}",
        *rng.sample(names, 6),
    ]
    run_pipeline(module, [step.text() for step in with_verification(parse_pass_list(",".join(passes)), None)])
    assert not broken(module, load_target(target))
    assert str(module.body.operations[0].type) == signature
    evaluate_module(module, random_inputs(rng, module))


# The passes


TWO_READERS = """
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>
func.func @main(%x: tensor<2x8x!a>) -> (tensor<16x!b>, tensor<4x4x!b>) {
  %r = "qnn.reshape"(%x) : (tensor<2x8x!a>) -> tensor<16x!b>
  %s = "qnn.reshape"(%x) : (tensor<2x8x!a>) -> tensor<4x4x!b>
  return %r, %s : tensor<16x!b>, tensor<4x4x!b>
}
"""


def test_decisions_are_recorded() -> None:
    module = parse_module(TWO_READERS)
    with collect() as decisions:
        run_pipeline(module, "legalize-params{target=tflite}")
    assert [d.kind for d in decisions] == ["inserted", "hoisted", "shared"]
    assert all(d.by == "legalize-params" and d.op == "qnn.reshape" for d in decisions)
    assert "requantize i8 scale 0.5 zero point 3 to i8 scale 0.25 zero point -5" in decisions[0].detail
    assert "tflite.toml:" in decisions[0].detail
    assert "serves 2 ops" in decisions[2].detail


def test_refusals_are_recorded() -> None:
    module = parse_module(
        """!a = !quant.uniform<i8:f32, 0.5:3>
        func.func @main(%x: tensor<2x8x!a>) -> tensor<2x8x!a> {
          %r = "qnn.softmax"(%x) {beta = 1.0 : f32, axis = 1 : i64} : (tensor<2x8x!a>) -> tensor<2x8x!a>
          return %r : tensor<2x8x!a>
        }"""
    )
    with collect() as decisions:
        run_pipeline(module, "legalize-params{target=xnnpack}")
    assert [d.kind for d in decisions] == ["refused"]
    assert "rule 'unsupported' of target 'xnnpack'" in decisions[0].detail
    assert "left to isolate-unsupported" in decisions[0].detail


def test_the_target_comes_from_the_option_or_the_module() -> None:
    module = parse_module(TWO_READERS)
    with pytest.raises(
        PipelineError, match=r"pass 'legalize-params': no target; write legalize-params\{target="
    ):
        run_pipeline(module, "legalize-params")
    with pytest.raises(TargetError, match="no target 'tflight'"):
        run_pipeline(module, "legalize-params{target=tflight}")
    run_pipeline(module, "legalize-params{target=tflite}")
    run_pipeline(module, "verify-params")
    assert 'qnn.target = "tflite"' in str(module)


def test_verification_stands_behind_each_pass_from_legalization_on() -> None:
    steps = [
        Step("cse"),
        Step("legalize-params"),
        Step("canonicalize"),
        Step("convert-qnn-to-linalg"),
        Step("cse"),
    ]
    names = [step.text() for step in with_verification(steps, "a b.toml")]
    check = "verify-params{{target='a b.toml' after='{}'}}".format
    assert names == [
        "cse",
        *("legalize-params", check("legalize-params"), "canonicalize", check("canonicalize")),
        *("convert-qnn-to-linalg", "cse"),
    ]
    assert [s.text() for s in with_verification([Step("cse")], None)] == [
        "verify-params", "cse", "verify-params{after='cse'}"
    ]  # fmt: skip


def test_pipelines_legalize_for_a_target_only() -> None:
    assert not any("target" in text for text in passes_to("llvm"))
    option = "{target='my engine.toml'}"
    passes = passes_to("legalized", target="my engine.toml")
    assert passes[2:4] == (f"isolate-unsupported{option}", f"legalize-params{option}")


def test_compile_obeys_any_targets_rules_but_not_on_a_foreign_machine(tmp_path: Path) -> None:
    module = parse_module(TWO_READERS)
    model, array = zp.Model.from_module(module), np.arange(16, dtype=np.int8).reshape(2, 8)
    expected = evaluate_module(module, [array])
    path = write_target(tmp_path / "my engine.toml", {"reshape": "same-as-result"})
    for target in ("host", "tflite", path):
        for got, want in zip(zp.compile(model, target, cache=False).run(array), expected, strict=True):
            np.testing.assert_array_equal(got, want)
    foreign = "x86-64" if load_target("host").machine.architecture == "aarch64" else "aarch64"  # type: ignore[union-attr]
    with pytest.raises(TargetError, match=f"target '{foreign}': its code is for"):
        zp.compile(model, foreign)
