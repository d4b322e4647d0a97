"""isolate-unsupported: islands of float compute what the quantized ops mean, are few, and are compiled."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import random_rule_graphs
import zeropoint as zp
from random_tensors import quantized, seeds
from zeropoint.dialect.context import parse_module
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.dialect.ir_types import to_tensor_type
from zeropoint.dialect.model import Model, find_main
from zeropoint.dialect.types import TensorType
from zeropoint.passes.decisions import collect
from zeropoint.passes.isolate_unsupported import MOVES
from zeropoint.passes.pass_manager import run_pipeline
from zeropoint.passes.pipelines import passes_to

DEMO = "float-islands-demo"
OPS = (*random_rule_graphs.MOVING, *random_rule_graphs.POOLING, *random_rule_graphs.COMPUTING)
DATA = Path(__file__).resolve().parents[1] / "data"
MODELS = Path(__file__).resolve().parents[3] / "shared" / "models"

TIES = 1
"""Steps that compiled islands may be off: they add in float32, the meaning in float64, so a value near the
middle of two steps may be quantized to the other one.
"""


@pytest.fixture(scope="module")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A target without any operator."""
    return random_rule_graphs.write_target(
        tmp_path_factory.mktemp("targets") / "nothing.toml", {}, "unsupported"
    )


def operations(module: Any) -> list[Any]:
    return [view.operation for view in find_main(module).operation.regions[0].blocks[0].operations]


def names(module: Any) -> list[str]:
    return [op.name.removeprefix("qnn.") for op in operations(module)]


def isolate(module: Any, target: str, merge: bool = True) -> Any:
    run_pipeline(module, f"isolate-unsupported{{target={target} merge={str(merge).lower()}}}")
    return module


def largest_difference(one: list[Any], other: list[Any]) -> float:
    """In steps."""
    return max(
        float(np.abs(a.astype(np.float64) - b).max(initial=0)) for a, b in zip(one, other, strict=True)
    )


@settings(max_examples=40)
@given(seed=seeds)
def test_an_op_in_float_means_what_it_means_in_integers(nothing: str, seed: int) -> None:
    """One step: the integer kernel rounds more often. A kernel that rounds in the input's parameters before
    it requantizes (pools, resize) may be off by as many steps of the result as one of its input is.
    """
    rng = random.Random(seed)
    module = random_rule_graphs.random_module(rng, OPS, size=1)
    inputs = random_rule_graphs.random_inputs(rng, module)
    expected = evaluate_module(module, inputs)
    made = next(op for op in operations(module) if op.name != "qnn.constant")
    kinds = [to_tensor_type(value.type) for value in (*made.operands, *made.results)]
    ratio = max(k.params.scales[0] for k in kinds[:-1] if k.is_quantized) / kinds[-1].params.scale
    got = evaluate_module(isolate(module, nothing), inputs)
    assert largest_difference(expected, got) <= 1 + ratio, str(made)


@settings(max_examples=15)
@given(seed=seeds, merge=st.booleans(), target=st.sampled_from([DEMO, "nothing"]))
def test_islands_are_compiled(nothing: str, seed: int, merge: bool, target: str) -> None:
    rng = random.Random(seed)
    module = random_rule_graphs.random_module(rng, OPS, size=6, storages=("i8", "u8"))
    inputs = random_rule_graphs.random_inputs(rng, module)
    isolate(module, nothing if target == "nothing" else target, merge)
    expected = evaluate_module(module, inputs)
    got = zp.compile(Model.from_module(module), cache=False).run(*inputs)
    assert largest_difference(expected, got) <= TIES * len(operations(module))


@settings(max_examples=40)
@given(seed=seeds)
def test_islands_are_merged(seed: int) -> None:
    """No value leaves float only to come back: between two islands there is an op of the target."""
    rng = random.Random(seed)
    module = random_rule_graphs.random_module(rng, OPS, size=8, storages=("i8", "u8"))
    text = isolate(module, DEMO)
    for op in operations(module):
        if op.name == "qnn.dequantize":
            assert not only_moved_since_quantized(op.operands[0]), str(text)


def only_moved_since_quantized(value: Any) -> bool:
    """Whether a value comes out of an island by moving alone, and all that reads it goes into one."""
    if not hasattr(value.owner, "operation") or any(
        use.owner.operation.name != "qnn.dequantize" for use in value.uses
    ):
        return False
    op = value.owner.operation
    return op.name == "qnn.quantize" or (
        op.name.removeprefix("qnn.") in MOVES and all(map(only_moved_since_quantized, op.operands))
    )


@settings(max_examples=40)
@given(seed=seeds)
def test_only_unsupported_ops_change(seed: int) -> None:
    rng = random.Random(seed)
    supported = ("add", "arg_max", "avg_pool2d", "conv2d", "max_pool2d", "reshape", "concat")
    module = random_rule_graphs.random_module(rng, [n for n in supported if n in OPS], 8, ("i8", "u8"))
    text = str(module)
    assert str(isolate(module, DEMO)) == text


@settings(max_examples=25)
@given(seed=seeds, merge=st.booleans())
def test_the_rules_hold_afterwards(seed: int, merge: bool) -> None:
    rng = random.Random(seed)
    module = random_rule_graphs.random_module(rng, OPS, size=8)
    isolate(module, DEMO, merge)
    run_pipeline(module, f"legalize-params{{target={DEMO}}},verify-params")


CHAIN = """
!q = !quant.uniform<i8:f32, 3.125000e-02:3>
!r = !quant.uniform<i8<-100:50>:f32, 6.250000e-02:-90>
func.func @main(%x: tensor<64x3x!q>) -> tensor<64x!q> {
  %m = "qnn.mean"(%x) {axes = array<i64: 1>, keep_dims = false} : (tensor<64x3x!q>) -> tensor<64x!r>
  %y = "qnn.tanh"(%m) : (tensor<64x!r>) -> tensor<64x!q>
  return %y : tensor<64x!q>
}"""


def test_merging_drops_a_rounding_and_no_saturation() -> None:
    """What the second op reads is off by half a step at most, also where the quantized value saturates."""
    arrays = [random_values(quantized((64, 3), "i8", 1 / 32, 3))]
    merged, apart = isolate(parse_module(CHAIN), DEMO), isolate(parse_module(CHAIN), DEMO, merge=False)
    assert names(merged) == ["dequantize", "mean", "clamp", "tanh", "quantize", "func.return"]
    read = [values_read(module, arrays, "qnn.tanh") for module in (merged, apart)]
    difference = np.abs(read[0] - read[1])
    assert 0 < difference.max() <= 0.0625 / 2
    low, high = (-100 + 90) * 0.0625, (50 + 90) * 0.0625
    assert read[0].min() == low
    assert read[0].max() <= high


def values_read(module: Any, arrays: list[Any], name: str) -> Any:
    """What the first op of that name reads."""
    kept: dict[Any, Any] = {}
    evaluate_module(module, arrays, keep=lambda op, results: kept.update({op.results[0]: results[0]}))
    return next(kept[op.operands[0]] for op in operations(module) if op.name == name)


def random_values(type_: TensorType, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    if type_.is_float:
        return rng.uniform(-1, 1, type_.shape).astype(type_.dtype)
    bounds = np.iinfo(type_.dtype)
    return rng.integers(bounds.min, bounds.max, type_.shape, dtype=type_.dtype, endpoint=True)


FILES = [
    "activation",
    "conv",
    "depthwise",
    "elementwise",
    "fully_connected",
    "movement",
    "pooling",
    "reduction",
]


@pytest.mark.parametrize("file", FILES)
def test_models_without_any_operator_run_in_float(file: str, nothing: str) -> None:
    model = zp.load(DATA / f"{file}.tflite")
    inputs = [random_values(info.type, seed) for seed, info in enumerate(model.inputs)]
    expected = evaluate_module(model.module, inputs)
    got = zp.compile(model, target=nothing, cache=False).run(*inputs)
    assert largest_difference(expected, got) <= 1


@pytest.mark.parametrize("file", FILES)
def test_models_compile_for_the_demonstration(file: str) -> None:
    model = zp.load(DATA / f"{file}.tflite")
    inputs = [random_values(info.type, seed) for seed, info in enumerate(model.inputs)]
    got = zp.compile(model, target=DEMO, cache=False).run(*inputs)
    run_pipeline(model.module, passes_to("legalized", target=DEMO))
    assert largest_difference(evaluate_module(model.module, inputs), got) <= TIES


@pytest.mark.skipif(not MODELS.is_dir(), reason="the shared models folder is not beside the project")
@pytest.mark.parametrize("file", ["mlperftiny_kws_int8", "mlperftiny_resnet8_int8", "tflm_micro_speech_int8"])
def test_networks_compile_for_the_demonstration(file: str, nothing: str) -> None:
    """Their softmax is an island; without any operator the network is one."""
    for target in (DEMO, nothing):
        model = zp.load(MODELS / f"{file}.tflite")
        inputs = [random_values(info.type, seed) for seed, info in enumerate(model.inputs)]
        got = zp.compile(model, target=target, cache=False).run(*inputs)
        run_pipeline(model.module, passes_to("legalized", target=target))
        assert "dequantize" in names(model.module)
        assert largest_difference(evaluate_module(model.module, inputs), got) <= TIES


def test_every_op_says_why_it_is_isolated() -> None:
    with collect() as decisions:
        isolate(parse_module(CHAIN), DEMO)
    assert [(d.kind, d.op) for d in decisions] == [("isolated", "qnn.mean"), ("isolated", "qnn.tanh")]
    assert all("target float-islands-demo says 'unsupported'" in d.detail for d in decisions)
    assert all("float-islands-demo.toml:" in d.detail for d in decisions)
