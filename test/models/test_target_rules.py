"""Parameter rules on real networks and on the shared model cases.

Every shipped target can be obeyed, and what a network's own system demands is what it already does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zeropoint as zp
from networks import FOLDER, NETWORKS, Network, random_inputs
from zeropoint.dialect.mlir import ir
from zeropoint.passes.decisions import Decision, collect
from zeropoint.passes.pass_manager import run_pipeline
from zeropoint.passes.pipeline_text import parse_pass_list
from zeropoint.passes.pipelines import passes_to
from zeropoint.passes.target_attribute import TARGET_ATTRIBUTE
from zeropoint.passes.verify_params import with_verification

CASES = FOLDER.parent / "cases"
pytestmark = pytest.mark.skipif(
    not (FOLDER.is_dir() and CASES.is_dir()), reason="the shared models and cases are not beside the project"
)

PROFILES = (
    *("tflite", "xnnpack", "glow", "onnxruntime", "tvm", "pytorch-xnnpack", "stablehlo"),
    *("reference", "float-islands-demo"),  # the CPU targets have the rules of reference
)
BREAKS_TFLITES_RULES = {"tfl_avgpool_diff_params", "tfl_maxpool_diff_params"}
"""Cases that TFLite's own kernels get wrong, since their parameters differ."""
SMALL = ("mlperftiny_kws_int8", "tflm_micro_speech_int8", "mlperftiny_ad01_int8")


def copy_of(model: zp.Model) -> Any:
    with model.context:
        return model.module.operation.clone()


def legalized(model: zp.Model, target: str) -> tuple[Any, list[Decision]]:
    """A copy of a model's module that obeys ``target``, its rules checked after every pass; and what was
    decided.
    """
    module = copy_of(model)
    steps = with_verification(parse_pass_list(",".join(passes_to("legalized", target=target))), None)
    with collect() as decisions:
        run_pipeline(module, [step.text() for step in steps], verify_each=False)
    assert module.operation.verify()
    return module, decisions


def text_of(module: Any) -> str:
    return str(module.operation.get_asm(large_resource_limit=64))


def is_forced(decisions: Sequence[Decision]) -> bool:
    """Whether a rule forced anything; a requantize may have been folded since."""
    return any(decision.kind in ("inserted", "isolated") for decision in decisions)


def case_models() -> Iterator[tuple[str, Path, zp.Model]]:
    """The TFLite cases that import, with their names and folders."""
    for folder in sorted(CASES.glob("tfl_*")):
        try:
            yield folder.name, folder, zp.load(folder / "model.tflite")
        except zp.ZeropointError:
            continue


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.name)
def test_networks_obey_every_target(network: Network) -> None:
    model = zp.load(network.path)
    for target in PROFILES:
        _, decisions = legalized(model, target)
        if target in ("tflite", "reference"):
            assert not is_forced(decisions), target


def _without_target(op: Any) -> Any:
    """Branches and loops are modules of their own, which remember the target too."""
    if TARGET_ATTRIBUTE in op.attributes:
        del op.attributes[TARGET_ATTRIBUTE]
    return ir.WalkResult.ADVANCE


def assert_unchanged(model: zp.Model, module: Any) -> None:
    """``module`` is the model but for dead ops, as it would be without a target."""
    tidied = copy_of(model)
    run_pipeline(tidied, passes_to("legalized"), verify_each=False)
    module.operation.walk(_without_target)
    assert text_of(module) == text_of(tidied)


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.name)
def test_tflites_rules_change_nothing_in_its_networks(network: Network) -> None:
    model = zp.load(network.path)
    assert_unchanged(model, legalized(model, "tflite")[0])


def test_cases_obey_every_target_and_nearly_all_obey_tflites_as_they_are() -> None:
    count, changed = 0, set()
    for name, _, model in case_models():
        count += 1
        for target in PROFILES:
            module, decisions = legalized(model, target)
            if target == "tflite" and is_forced(decisions):
                changed.add(name)
            elif target == "tflite":
                assert_unchanged(model, module)
    assert count > 60
    assert changed == BREAKS_TFLITES_RULES


@pytest.mark.parametrize("name", [n for n in SMALL if any(n == network.name for network in NETWORKS)])
def test_legalized_networks_run(name: str) -> None:
    """Where no rule forced anything, results are those of the network as it is, to the bit."""
    network = next(network for network in NETWORKS if network.name == name)
    model = zp.load(network.path)
    (array,) = random_inputs(model.inputs[0], 1)
    expected = zp.compile(model, cache=False).run(array)
    for target in PROFILES:
        results = zp.compile(model, target, cache=False).run(array)
        for got, want in zip(results, expected, strict=True):
            assert (got.shape, got.dtype) == (want.shape, want.dtype)
        if not is_forced(legalized(model, target)[1]):
            np.testing.assert_array_equal(results, expected, err_msg=target)


@pytest.mark.parametrize("target", ["host", "tflite", "reference", "glow", "xnnpack"])
def test_unequal_parameters_give_the_formulas_value(target: str) -> None:
    folders = sorted(CASES.glob("tfl_*_diff_params"))
    assert len(folders) >= 5
    for folder in folders:
        case = json.loads((folder / "case.json").read_text())
        arrays = [np.load(folder / described["file"]) for described in case["inputs"]]
        results = zp.compile(folder / "model.tflite", target, cache=False).run(*arrays)
        for index, got in enumerate(results):
            formula = folder / f"formula_{index}.npy"
            right = np.load(formula if formula.exists() else folder / f"expected_{index}.npy")
            off = np.abs(got.astype(np.int64) - right.astype(np.int64)).max()
            assert off <= (case.get("formula_tolerance", 0) if formula.exists() else 1), (folder.name, target)
