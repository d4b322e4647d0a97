"""legalize-storage: relabelling i8 <-> u8 changes no number of any graph, and reaches what it can reach."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import random_requantizes
import random_rule_graphs
import zeropoint as zp
from random_tensors import quantized, scales, seeds
from zeropoint.dialect import rescale
from zeropoint.dialect.context import parse_module
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.dialect.ir_types import to_tensor_type
from zeropoint.dialect.meaning import evaluate
from zeropoint.dialect.model import find_main
from zeropoint.dialect.numerics import MODES
from zeropoint.dialect.types import TensorType
from zeropoint.passes.decisions import collect
from zeropoint.passes.pass_manager import run_pipeline
from zeropoint.passes.relabelling import Signature, relabelled, what_differs, with_product_in_filter

UNSIGNED, SIGNED = "x86-64-vnni", "aarch64"
"""Targets that like u8 activations with i8 weights, and i8 for both."""
PREFERRED = {UNSIGNED: "u8", SIGNED: "i8"}

OPS = (*random_rule_graphs.MOVING, *random_rule_graphs.POOLING, *random_rule_graphs.COMPUTING)

DATA = Path(__file__).resolve().parents[1] / "data"
MODELS = Path(__file__).resolve().parents[3] / "shared" / "models"

modes = st.sampled_from(sorted(MODES))
targets = st.sampled_from([UNSIGNED, SIGNED])


def check_same_numbers(module: Any, inputs: Sequence[Any], target: str) -> None:
    """Run the pass: equal outputs to the bit, equal types outside, the preferred storage inside."""
    text, type_, before = str(module), str(find_main(module).type), evaluate_module(module, inputs)
    with collect() as decisions:
        run_pipeline(module, f"legalize-storage{{target={target}}}")
    after = evaluate_module(module, inputs)
    for one, other in zip(before, after, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other, err_msg=f"{text}\n=>\n{module}")
    assert str(find_main(module).type) == type_
    if not any(decision.kind == "refused" for decision in decisions):
        assert results_in_other_storage(module, PREFERRED[target]) == []


def results_in_other_storage(module: Any, preferred: str) -> list[str]:
    """Inner 8-bit results that are not in the preferred storage; a requantize may give one to the outside."""
    found = []
    for view in find_main(module).operation.regions[0].blocks[0].operations:
        op = view.operation
        kinds = [to_tensor_type(result.type) for result in op.results]
        if op.name in ("qnn.constant", "qnn.requantize") or not kinds or not kinds[0].is_quantized:
            continue
        if kinds[0].params.storage.bits == 8 and kinds[0].params.storage.name != preferred:
            found.append(str(op))
    return found


@settings(max_examples=40)
@given(seed=seeds, mode=modes, target=targets)
def test_graphs_of_every_op_keep_their_numbers(seed: int, mode: str, target: str) -> None:
    rng = random.Random(seed)
    module = random_rule_graphs.random_module(rng, (*OPS, "requantize"), size=8, mode=mode)
    check_same_numbers(module, random_rule_graphs.random_inputs(rng, module), target)


@settings(max_examples=40)
@given(seed=seeds, mode=modes, target=targets)
def test_graphs_of_bounds_and_uint8_filters_keep_their_numbers(seed: int, mode: str, target: str) -> None:
    module, inputs = random_requantizes.random_module(seed, numerics=mode)
    check_same_numbers(module, inputs, target)


@settings(max_examples=15)
@given(seed=seeds, mode=modes)
def test_there_and_back_again(seed: int, mode: str) -> None:
    module, inputs = random_requantizes.random_module(seed, numerics=mode)
    check_same_numbers(module, inputs, UNSIGNED)
    check_same_numbers(module, inputs, SIGNED)
    check_same_numbers(module, inputs, SIGNED)


@settings(max_examples=15)
@given(seed=seeds, target=targets)
def test_parameter_rules_survive(seed: int, target: str) -> None:
    rng = random.Random(seed)
    module = random_rule_graphs.random_module(rng, OPS, size=6, storages=("i8", "u8"))
    run_pipeline(module, f"legalize-params{{target={target}}},legalize-storage,verify-params")


@pytest.mark.parametrize("target", [UNSIGNED, SIGNED])
@pytest.mark.parametrize("file", ["conv", "depthwise", "elementwise", "movement", "pooling", "reduction"])
def test_compiled_models_keep_their_numbers(file: str, target: str) -> None:
    model = zp.load(DATA / f"{file}.tflite")
    inputs = [random_values(info.type, seed) for seed, info in enumerate(model.inputs)]
    expected = evaluate_module(model.module, inputs)
    run_pipeline(model.module, f"legalize-storage{{target={target}}}")
    for one, other in zip(expected, zp.compile(model, cache=False).run(*inputs), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.skipif(not MODELS.is_dir(), reason="the shared models folder is not beside the project")
@pytest.mark.parametrize("mode", sorted(MODES))
@pytest.mark.parametrize("target", [UNSIGNED, SIGNED])
@pytest.mark.parametrize(
    "file",
    [
        "mlperftiny_kws_int8",
        "mlperftiny_resnet8_int8",
        "mobilenet_v1_0.25_128_quant",
        "tinyengine_person_detection",
    ],
)
def test_networks_keep_their_numbers(file: str, target: str, mode: str) -> None:
    model = zp.load(MODELS / f"{file}.tflite", numerics=mode)
    inputs = [random_values(info.type, seed) for seed, info in enumerate(model.inputs)]
    check_same_numbers(model.module, inputs, target)


def random_values(type_: TensorType, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    if type_.is_float:
        return rng.uniform(-1, 1, type_.shape).astype(type_.dtype)
    bounds = np.iinfo(type_.dtype)
    return rng.integers(bounds.min, bounds.max, type_.shape, dtype=type_.dtype, endpoint=True)


# Why some ops keep their storage: relabelled they would really give other numbers.

REFUSED = {
    "avg_pool2d": (
        quantized((1, 1, 4, 1), "i8", 0.5, 3),
        quantized((1, 1, 3, 1), "i8", 0.5, 3),
        {"window": (1, 2), "strides": (1, 1), "padding": (0, 0, 0, 0), "clamp": ()},
        [-3, -4, -7, 5],
        "ties",
    ),
    "resize_bilinear": (
        quantized((1, 1, 4, 1), "i8", 0.5, 3),
        quantized((1, 1, 8, 1), "i8", 0.5, 3),
        {"align_corners": False, "half_pixel_centers": False},
        [-3, -4, -7, 5],
        "10-bit in i8, float32 in u8",
    ),
    "concat": (
        quantized((1, 1, 4, 1), "i8", 0.25, 3),
        quantized((1, 1, 4, 1), "i8", 0.5, -7),
        {"axis": 1},
        [-128, -126, 0, 4],
        "stored values would give another result",
    ),
}
"""op -> type of input and result, attributes, stored values that betray the label, part of the reason."""


@pytest.mark.parametrize("op", sorted(REFUSED))
def test_refused_ops_depend_on_their_storage(op: str) -> None:
    source, result, attributes, stored, reason = REFUSED[op]
    before = Signature(op, (source,), result, attributes, "reference")
    after = replace(before, types=(relabelled(source, "u8"),), result=relabelled(result, "u8"))
    assert reason in str(what_differs(before, after))
    values = np.array(stored, np.int8).reshape(source.shape)
    (one,) = evaluate(op, [values], [source], [result], attributes)
    (other,) = evaluate(op, [(values ^ -128).view(np.uint8)], list(after.types), [after.result], attributes)
    assert np.any(one.astype(int) + 128 != other)


def pixel(storage: str, scale: float) -> TensorType:
    return quantized((1, 1, 1, 1), storage, scale)


@given(s_x=scales(), s_w=scales(), s_y=scales())
def test_the_product_of_a_uint8_filter_moves_into_its_scale(s_x: float, s_w: float, s_y: float) -> None:
    """The int8 rule with the new scale gives the uint8 rule's multiplier, whatever the input's storage."""
    x, w, y = pixel("u8", s_x), pixel("u8", s_w), pixel("u8", s_y)
    expected = rescale.conv2d(x, w, y).rescale
    for source in (x, relabelled(x, "i8")):
        got = rescale.conv2d(source, with_product_in_filter(source, relabelled(w, "i8")), y).rescale
        assert (got.multipliers, got.shifts) == (expected.multipliers, expected.shifts)


@pytest.mark.parametrize("storage", ["i8", "u8"])
@given(s_x=scales(), s_w=scales(), s_y=scales())
def test_a_convolution_does_not_look_at_its_inputs_storage(
    storage: str, s_x: float, s_w: float, s_y: float
) -> None:
    x, w, y = pixel("i8", s_x), pixel(storage, s_w), pixel("i8", s_y)
    assert rescale.conv2d(x, w, y).rescale == rescale.conv2d(relabelled(x, "u8"), w, y).rescale


def test_a_rule_of_the_target_is_not_broken(tmp_path: Path) -> None:
    """Its softmax is only known in i8: relabelled it would be unsupported."""
    file = tmp_path / "engine.toml"
    file.write_text('[storage]\nactivations = "u8"\n[rules.softmax]\ni8 = "free"\n"*" = "unsupported"\n')
    module = parse_module("""
!i = !quant.uniform<i8:f32, 5.0e-01:3>
!p = !quant.uniform<i8:f32, 3.906250e-03:-128>
func.func @main(%x: tensor<1x4x!i>) -> tensor<1x4x!p> {
  %y = "qnn.softmax"(%x) {beta = 1.0 : f32, axis = 1 : i64} : (tensor<1x4x!i>) -> tensor<1x4x!p>
  return %y : tensor<1x4x!p>
}""")
    text = str(module)
    with collect() as decisions:
        run_pipeline(module, f"legalize-storage{{target={file}}}")
    assert str(module) == text
    (refused,) = decisions
    assert f"target engine says 'unsupported' for u8 ({file}:5)" in refused.detail


def test_a_target_without_preference_changes_nothing() -> None:
    module, _ = random_requantizes.random_module(1)
    text = str(module)
    run_pipeline(module, "legalize-storage{target=reference}")
    assert str(module) == text
