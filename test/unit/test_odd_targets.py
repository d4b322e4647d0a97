"""Targets and graphs that nobody would write on purpose: every graph can obey every target, and runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zeropoint as zp
from zeropoint.dialect.context import parse_module
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.dialect.mlir import ir
from zeropoint.passes.decisions import collect
from zeropoint.passes.pass_manager import run_pipeline
from zeropoint.passes.pipeline_text import parse_pass_list
from zeropoint.passes.pipelines import passes_to
from zeropoint.passes.verify_params import with_verification
from zeropoint.targets.operators import OPERATORS, WITHOUT_RESULT_PARAMETERS

PARTS = (Path(__file__).parent.parent / "data" / "odd_graphs.mlir").read_text().split("// -----\n")[1:]
GRAPHS = {re.findall(r"@(\w+)", part)[-1]: part for part in PARTS}
"""Name of the last function -> text; that function is to be ``@main``."""
RULED = [op for op in OPERATORS if op not in WITHOUT_RESULT_PARAMETERS]


def everywhere(rule: str) -> str:
    return "[rules]\n" + "".join(f"{op} = {rule}\n" for op in RULED)


FIXED = '{ i8 = "fixed(1/16, 3)", u8 = "fixed(1/8, 128)", i16 = "fixed(1/1024, 0)", "*" = "free" }'
TARGETS = {
    "nothing_supported": '[rules]\ndefault = "unsupported"\n',
    "all_same_as_input": everywhere('"same-as-input"'),
    "all_same_as_result": everywhere('"same-as-result"'),
    "all_fixed": everywhere(FIXED),
    "all_fixed_alike": everywhere('"fixed(1/16, 0)"'),
    "u8_alone": '[storage]\ntypes = ["u8"]\nactivations = "u8"\n' + everywhere('"same-as-input"'),
    "i16_alone": '[storage]\ntypes = ["i16"]\n' + everywhere('"same-as-result"'),
    "by_storage": """[rules]
reshape = { i8 = "same-as-input", u8 = "unsupported", i16 = "fixed(1/512, 0)" }
transpose = { i8 = "fixed(1/4, 1)", "*" = "same-as-result" }
concat = { i8 = "fixed(1/4, 0)", "*" = "unsupported" }
""",
    "raw_accumulators": """[rules]
fully_connected = { "*" = "same-as-result", i32 = "derived", bias = "derived" }
""",
    "grandchild": 'extends = "./child.toml"\n[rules.softmax]\ni8 = "same-as-input"\n',
    "child": 'extends = "tflite"\n[rules]\nreshape = "unsupported"\nadd = "same-as-result"\n',
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("targets")
    for name, text in TARGETS.items():
        (path / f"{name}.toml").write_text(text)
    return path


def graph(name: str, mode: str) -> Any:
    text = GRAPHS[name].replace(f"@{name}", "@main")
    module = parse_module(text)
    with module.context:
        module.operation.attributes["qnn.numerics"] = ir.StringAttr.get(mode)
    return module


def random_arrays(model: zp.Model) -> list[Any]:
    rng = np.random.default_rng(0)
    return [
        rng.standard_normal(info.shape).astype(np.float32)
        if info.dtype.kind == "f"
        else rng.integers(-100, 100, info.shape).astype(info.dtype)
        for info in model.inputs
    ]


def assert_close(got: Sequence[Any], want: Sequence[Any], steps: int, what: str) -> None:
    for one, other in zip(got, want, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        apart = np.abs(one.astype(np.float64) - other.astype(np.float64))
        assert apart.max(initial=0) <= steps, what


@pytest.mark.parametrize("name", GRAPHS)
def test_every_graph_obeys_every_target(folder: Path, name: str) -> None:
    for index, called in enumerate([*TARGETS, "xnnpack", "pytorch-xnnpack"]):
        mode = ("reference", "xnnpack")[index % 2]
        model = zp.Model.from_module(graph(name, mode), name)
        is_static = all(info.type.is_static for info in model.inputs)
        arrays = random_arrays(model) if is_static else []
        target = str(folder / f"{called}.toml") if called in TARGETS else called
        module = graph(name, mode)
        steps = with_verification(parse_pass_list(",".join(passes_to("legalized", target=target))), None)
        with collect() as decisions:
            run_pipeline(module, [step.text() for step in steps])
        if not is_static:
            continue
        results = evaluate_module(module, arrays)
        if not any(decision.kind in ("inserted", "isolated") for decision in decisions):
            assert_close(results, evaluate_module(model.module, arrays), 0, called)
        if called in ("nothing_supported", "all_fixed", "all_same_as_result"):
            steps_apart = int("f32>" in str(module))  # floats are summed in an order of the compiler's
            assert_close(zp.compile(model, target, cache=False).run(*arrays), results, steps_apart, called)
