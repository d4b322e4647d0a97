"""A target file of one's own, from the command line: the tools obey it, and say what is wrong with it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sample_passes
import zeropoint as zp
from zeropoint.passes import registry
from zeropoint.tools import cli, qopt

ENGINE = """\
description = "our engine: no multiplier behind the pooling unit, no softmax"

[storage]
activations = "i8"
weights = "i8"

[rules]
default = "free"
max_pool2d = "same-as-input"
reshape = "same-as-input"
slice = "same-as-input"
transpose = "same-as-input"
pad = "same-as-input"
avg_pool2d = "same-as-input"
softmax = "unsupported"
"""

MODEL = """\
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>
!s = !quant.uniform<i8:f32, 0.00390625:-128>
func.func @main(%x: tensor<1x4x4x4x!a> {qnn.name = "image"}) -> (tensor<1x16x!s> {qnn.name = "scores"}) {
  %p = "qnn.avg_pool2d"(%x) {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, clamp = array<f32>} : (tensor<1x4x4x4x!a>) -> tensor<1x2x2x4x!b>
  %r = "qnn.reshape"(%p) : (tensor<1x2x2x4x!b>) -> tensor<1x16x!b>
  %s = "qnn.softmax"(%r) {beta = 1.0 : f32, axis = 1 : i64} : (tensor<1x16x!b>) -> tensor<1x16x!s>
  return %s : tensor<1x16x!s>
}
"""  # noqa: E501 - one op, one line

WRONG = {
    'avg_pool = "same-as-input"': "rules.avg_pool: no op 'avg_pool'; did you mean 'avg_pool2d'?",
    'avg_pool2d = "same-as-inputs"': "rules.avg_pool2d: got 'same-as-inputs', expected free, same-as-input, "
    "same-as-result, fixed(scale, zero_point), derived, unsupported; did you mean 'same-as-input'?",
    "softmax = unsupported": "not valid TOML",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with a target and a model in it."""
    (tmp_path / "my.toml").write_text(ENGINE)
    (tmp_path / "model.mlir").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


Capture = Any  # pytest.CaptureFixture[str], which is generic in some versions only


@pytest.mark.parametrize("called", ["my.toml", "./my.toml"])
def test_every_tool_takes_a_file(folder: Path, called: str, capsys: Capture) -> None:
    assert ENGINE.count("\n") == 15
    assert cli.main(["targets", called]) == 0
    assert re.search(r"avg_pool2d +any +same-as-input", capsys.readouterr().out)
    assert cli.main(["explain", "model.mlir", "--target", called]) == 0
    explained = capsys.readouterr().out
    assert re.search(r"avg_pool2d .*same-as-input +my\.toml:14", explained)
    assert re.search(r"softmax \(float\) .*unsupported +my\.toml:15", explained)
    arguments = ["model.mlir", f"--target={called}", "--to=legalized", "--verify-params"]
    assert qopt.main(arguments) == 0
    printed = capsys.readouterr().out
    assert f'qnn.target = "{called}"' in printed
    assert '"qnn.softmax"(%' in printed and "(tensor<1x16xf32>) -> tensor<1x16xf32>" in printed  # noqa: PT018


def test_run_means_what_compile_means(folder: Path, capsys: Capture) -> None:
    model = zp.load("model.mlir")
    assert cli.main(["run", "model.mlir", "--target", "my.toml", "--json", "--output-dir", "out"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["outputs"]
    assert row["output"] == "scores"
    assert cli.main(["run", "model.mlir", "--json"]) == 0
    assert zp.compile(model, "my.toml", cache=False).outputs[0].name == "scores"


@pytest.mark.parametrize(("line", "message"), list(WRONG.items()))
def test_mistakes_are_said_with_file_and_line(folder: Path, line: str, message: str, capsys: Capture) -> None:
    (folder / "my.toml").write_text(f"[rules]\n{line}\n")
    calls: list[tuple[Callable[[list[str]], int], list[str], int]] = [
        (cli.main, ["run", "model.mlir", "--target", "my.toml"], 1),
        (cli.main, ["explain", "model.mlir", "--target", "my.toml"], 1),
        (cli.main, ["targets", "./my.toml"], 1),
        (qopt.main, ["model.mlir", "--target=my.toml", "--to=legalized"], 2),
        (qopt.main, ["model.mlir", "-p", "cse", "--verify-params=./my.toml"], 2),
        (qopt.main, ["model.mlir", "-p", "legalize-params{target=my.toml}"], 1),
    ]
    for main, arguments, status in calls:
        assert main(arguments) == status, arguments
        error = capsys.readouterr().err
        assert re.search(rf"my\.toml:2(:\d+)?: error: {re.escape(message)}", error), arguments
        assert "Traceback" not in error


def test_what_breaks_a_rule_is_caught_behind_the_pass_that_did_it(
    folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry.PASSES, "test-retype", sample_passes.RetypePass)
    passes = "isolate-unsupported,legalize-params,cse,test-retype,canonicalize"
    arguments = ["model.mlir", "--target=my.toml", "-p", passes]
    assert qopt.main(arguments) == 0
    capsys.readouterr()
    assert qopt.main([*arguments, "--verify-params"]) == 1
    error = capsys.readouterr().err
    expected = (
        "model.mlir:6:8: error: 'qnn.reshape' op breaks rule 'same-as-input' of target 'my' (my.toml:10): "
        "result has i8 scale 0.5 zero point 4, expected i8 scale 0.5 zero point 3 (its input's); requantize "
        "its result, as legalize-params{target=my.toml} does (after pass 'test-retype')"
    )
    assert expected in error


def test_an_unknown_target_of_run_is_an_error(folder: Path, capsys: Capture) -> None:
    assert cli.main(["run", "model.mlir", "--target", "tflight"]) == 1
    assert "no target 'tflight'; did you mean 'tflite'" in capsys.readouterr().err
