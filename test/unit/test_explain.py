"""``zeropoint explain``: rows, reasons and costs of a legalized model (the page: test_explain_page.py)."""

from __future__ import annotations

import json
import random
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings

import random_rule_graphs
from random_tensors import seeds
from zeropoint.dialect.context import parse_module
from zeropoint.dialect.describe import describe
from zeropoint.dialect.model import Model
from zeropoint.errors import InputError, TargetError
from zeropoint.frontends import load
from zeropoint.runtime.explain import explain, split_samples
from zeropoint.runtime.explanation import Explanation, Row
from zeropoint.targets import load_target
from zeropoint.tools import cli
from zeropoint.tools.demo import NETWORK
from zeropoint.tools.explain_text import differences, reasons, totals_text

HALF, QUARTER = "!quant.uniform<i8:f32, 0.5:3>", "!quant.uniform<i8:f32, 0.25:-7>"
RESHAPE = f"""
func.func @main(%x: tensor<2x3x{HALF}>) -> tensor<6x{QUARTER}> {{
  %0 = "qnn.reshape"(%x) : (tensor<2x3x{HALF}>) -> tensor<6x{QUARTER}>
  return %0 : tensor<6x{QUARTER}>
}}
"""
ADD_RESHAPE = f"""
func.func @main(%x: tensor<2x3x{HALF}>) -> tensor<6x{QUARTER}> {{
  %0 = "qnn.add"(%x, %x) {{clamp = array<f32>}} :
    (tensor<2x3x{HALF}>, tensor<2x3x{HALF}>) -> tensor<2x3x{HALF}>
  %1 = "qnn.reshape"(%0) : (tensor<2x3x{HALF}>) -> tensor<6x{QUARTER}>
  return %1 : tensor<6x{QUARTER}>
}}
"""
CONSTANT = f"""
func.func @main(%x: tensor<2x{HALF}>) -> tensor<2x{HALF}> {{
  %c = "qnn.constant"() {{value = dense<[5, -9]> : tensor<2xi8>}} : () -> tensor<2x{QUARTER}>
  %0 = "qnn.add"(%x, %c) {{clamp = array<f32>}} : (tensor<2x{HALF}>, tensor<2x{QUARTER}>) -> tensor<2x{HALF}>
  return %0 : tensor<2x{HALF}>
}}
"""
TWO_READERS = f"""
func.func @main(%x: tensor<4x{HALF}>) -> (tensor<2x2x{QUARTER}>, tensor<1x4x{QUARTER}>) {{
  %0 = "qnn.reshape"(%x) : (tensor<4x{HALF}>) -> tensor<2x2x{QUARTER}>
  %1 = "qnn.reshape"(%x) : (tensor<4x{HALF}>) -> tensor<1x4x{QUARTER}>
  return %0, %1 : tensor<2x2x{QUARTER}>, tensor<1x4x{QUARTER}>
}}
"""
UNREAD = f"""
func.func @main(%x: tensor<4x{HALF}>) -> tensor<4x{HALF}> {{
  %0 = "qnn.add"(%x, %x) {{clamp = array<f32>}} : (tensor<4x{HALF}>, tensor<4x{HALF}>) -> tensor<4x{HALF}>
  return %x : tensor<4x{HALF}>
}}
"""
DYNAMIC = f"""
func.func @main(%x: tensor<?x{HALF}>) -> tensor<?x{HALF}> {{ return %x : tensor<?x{HALF}> }}
"""


def model_of(text: str) -> Model:
    return Model.from_module(parse_module(text), "test.mlir")


@pytest.fixture(scope="module")
def digits() -> Any:
    return load(NETWORK)


def sample_of(model: Model, seed: int = 0) -> list[Any]:
    random = np.random.default_rng(seed)
    return [random.integers(-128, 128, info.shape).astype(info.dtype) for info in model.inputs]


def by_label(explanation: Explanation) -> dict[str, Row]:
    return {row.label: row for row in explanation.rows}


def test_nothing_changes_where_all_rules_hold(digits: Model) -> None:
    explanation = explain(digits, "tflite", [sample_of(digits)])
    assert [row.status for row in explanation.rows] == ["kept"] * 12
    assert explanation.is_unchanged
    assert explanation.outputs == ()
    assert totals_text(explanation)[-1] == "every operator satisfies its rule as it is: nothing changes"


def test_rules_name_the_line_that_says_them(digits: Model) -> None:
    target = load_target("pytorch-xnnpack")
    row = by_label(explain(digits, "pytorch-xnnpack"))["9"]
    assert (row.op, row.rule) == ("mean", target.rule("mean", "i8"))
    assert row.rule is not None
    line = Path(row.rule.origin.file).read_text(encoding="utf-8").splitlines()[row.rule.origin.line - 1]
    assert line.split()[0] == "mean"


def test_what_is_inserted_follows_its_op_and_says_for_whom(digits: Model) -> None:
    explanation = explain(digits, "pytorch-xnnpack")
    rows = by_label(explanation)
    assert [row.label for row in explanation.rows if row.status == "inserted"] == ["9a", "10a", "11a"]
    assert [(rows[label].op, rows[label].forced_by) for label in ("9a", "10a", "11a")] == [
        ("requantize", 9),
        ("dequantize", 11),
        ("quantize", 11),
    ]
    positions = {row.label: i for i, row in enumerate(explanation.rows)}
    assert rows["9a"].reads == (positions["9"],)
    assert rows["10"].reads == (positions["9a"],)
    assert (rows["9"].status, rows["11"].status, rows["10"].status) == ("changed", "float", "kept")


def test_multipliers_before_and_after(digits: Model) -> None:
    row = by_label(explain(digits, "pytorch-xnnpack"))["9"]
    assert row.before == describe(digits.module)[9]
    assert row.after is not None
    assert (row.after.multipliers, row.after.shifts) == ((1 << 30,), (-1,))  # a mean over 4: by 1/4


def test_refusals_say_why(digits: Model) -> None:
    rows = by_label(explain(digits, "pytorch-xnnpack"))
    refused = {note.by: note.detail for note in rows["9a"].notes if note.kind == "refused"}
    assert refused["hoist"] == "qnn.mean does more than move values"
    assert "rule 'same-as-input'" in refused["fold_into_producer"]
    assert any(text.startswith("not by fold_into_producer: ") for text in reasons(rows["9a"]))
    assert not reasons(rows["10"])


NO_FAMILY = """
!q = !quant.uniform<i8:f32, 5.0e-01:3>
!m = !quant.uniform<i8:f32, 2.5e-01:0>
func.func @main(%x: tensor<1x8x8x4x!q>) -> (tensor<1x10x10x4x!q>, tensor<1x8x8x!m>) {
  %0 = "qnn.pad"(%x) {low = array<i64: 0, 1, 1, 0>, high = array<i64: 0, 1, 1, 0>, value = 0.0 : f32}
      : (tensor<1x8x8x4x!q>) -> tensor<1x10x10x4x!q> loc("padded")
  %1 = "qnn.mean"(%x) {axes = array<i64: 3>, keep_dims = false}
      : (tensor<1x8x8x4x!q>) -> tensor<1x8x8x!m> loc("averaged")
  return %0, %1 : tensor<1x10x10x4x!q>, tensor<1x8x8x!m>
}
"""


def test_ops_that_no_kernel_family_takes_say_why() -> None:
    found = explain(Model.from_module(parse_module(NO_FAMILY)), "x86-64-v3")
    rows = by_label(found)
    assert found.isa == "avx2"
    assert rows["0"].no_family == ""
    assert reasons(rows["1"]) == ["no kernel family: it is not over neighbouring dimensions before the last"]
    assert "1 operator that no kernel family of avx2 takes: loops" in totals_text(found)


def test_islands_are_counted(digits: Model) -> None:
    totals = explain(digits, "float-islands-demo").totals
    assert (totals.float_ops, totals.float_islands, totals.inserted) == (2, 2, 4)
    assert (totals.ops_before, totals.ops_after) == (12, 16)
    # dequantize: 1 byte to 4, quantize: 4 to 1; around a mean over 256 values to 64, and a softmax over 10
    assert totals.bytes == 5 * (256 + 64 + 10 + 10)
    assert totals.macs == 256 + 64 + 10 + 10


def test_cost_of_a_requantize_is_measured_from_its_input() -> None:
    model = model_of(RESHAPE)
    stored = np.array([[3, 4, -128], [127, 40, 60]], np.int8)
    explanation = explain(model, "tflite", [[stored]])
    row = by_label(explanation)["0a"]
    reals = (stored.astype(float) - 3) * 0.5
    kept = np.clip(reals, (-128 + 7) * 0.25, (127 + 7) * 0.25)  # steps of 0.25 hold multiples of 0.5
    sqnr = 10 * np.log10(np.square(reals).sum() / np.square(reals - kept).sum())
    assert row.cost is not None
    assert row.cost.accuracy is not None
    assert row.cost.accuracy.sqnr == pytest.approx(sqnr)
    assert row.cost.accuracy.max_error == np.abs(reals - kept).max()
    assert (row.cost.accuracy.changed, row.cost.accuracy.elements) == (2, 6)
    assert (row.cost.bytes, row.cost.macs) == (12, 6)
    # the reshape did this by itself: the output is the same
    assert row.notes[0].kind == "explicit"
    assert explanation.outputs[0].accuracy.is_exact


def test_samples_add_up() -> None:
    model = model_of(RESHAPE)
    first, second = np.full((2, 3), 100, np.int8), np.full((2, 3), 4, np.int8)
    row = by_label(explain(model, "tflite", [[first], [second]]))["0a"]
    assert row.cost is not None
    assert row.cost.accuracy is not None
    assert (row.cost.accuracy.changed, row.cost.accuracy.elements) == (6, 12)


def test_without_samples_nothing_is_measured() -> None:
    explanation = explain(model_of(RESHAPE), "tflite")
    row = by_label(explanation)["0a"]
    assert row.cost is not None
    assert (row.cost.accuracy, row.cost.bytes, explanation.outputs) == (None, 12, ())


def test_shared_and_moved_requantizes_are_counted() -> None:
    explanation = explain(model_of(TWO_READERS), "tflite")
    totals = explanation.totals
    assert (totals.inserted, totals.shared, totals.ops_after) == (1, 1, 3)
    assert totals.moved > 0


def test_what_nothing_reads_is_gone() -> None:
    (row,) = explain(model_of(UNREAD), "tflite").rows
    assert (row.status, row.after) == ("gone", None)
    assert reasons(row) == ["nothing reads it, or an equal one is there"]


def test_the_model_is_left_alone(digits: Model) -> None:
    before = digits.text(locations=True, elide_larger_than=16)
    explain(digits, "float-islands-demo", [sample_of(digits)])
    assert digits.text(locations=True, elide_larger_than=16) == before


def test_differences_of_two_targets(digits: Model) -> None:
    a, b = explain(digits, "tflite"), explain(digits, "pytorch-xnnpack")
    found = {difference.source: difference for difference in differences(a, b)}
    assert list(found) == [9, 10, 11]
    assert found[9].a == "free"
    assert found[9].b.startswith("same-as-input: gives i8 (0.0331104, -128); + requantize")
    assert not differences(a, a)


def test_samples_along_an_axis_of_their_own_or_in_the_first_dimension() -> None:
    model = model_of(RESHAPE)
    array = np.arange(18, dtype=np.int8)
    for shape, count in (((3, 2, 3), 3), ((6, 3), 3), ((2, 3), 1)):
        (*samples,) = split_samples(model, [array[: np.prod(shape)].reshape(shape)])
        assert len(samples) == count
        assert all(sample.shape == (2, 3) for (sample,) in samples)
    with pytest.raises(InputError, match=r"shape: got \[3, 3\], expected \[2, 3\]"):
        split_samples(model, [array[:9].reshape(3, 3)])
    with pytest.raises(InputError, match="dtype: got float64, expected int8"):
        split_samples(model, [np.zeros((2, 3))])
    with pytest.raises(InputError, match=r"shape: got \[0, 2, 3\]"):
        split_samples(model, [np.zeros((0, 2, 3), np.int8)])


def test_dynamic_inputs_are_refused() -> None:
    with pytest.raises(InputError, match=r"input 'input_0' has the dynamic shape \[\?\]; .*--shape input_0="):
        explain(model_of(DYNAMIC), "tflite")


def test_unknown_target() -> None:
    with pytest.raises(TargetError, match="did you mean 'tflite'"):
        explain(model_of(RESHAPE), "tflit")


KINDS = ("free", "same-as-input", "same-as-result", "fixed", "unsupported")
OPS = (*random_rule_graphs.MOVING, *random_rule_graphs.POOLING, *random_rule_graphs.COMPUTING)


@given(seeds)
@example(3475)  # a logistic with equal inputs and results of other parameters does not requantize
@example(2698)  # a pad is copied, to have its result in two parameters
@settings(max_examples=40, deadline=None)
def test_numbers_change_only_where_a_row_says_so(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """Random graphs and rules: without a forced change of numbers outputs are equal to the bit."""
    rng = random.Random(seed)
    model = Model.from_module(random_rule_graphs.random_module(rng, OPS, 8))
    table = random_rule_graphs.random_table(rng, KINDS, OPS)
    target = random_rule_graphs.write_target(tmp_path_factory.mktemp("target") / "target.toml", table)
    explanation = explain(model, target, [random_rule_graphs.random_inputs(rng, model.module)])
    inserted = [row for row in explanation.rows if row.status == "inserted"]
    explicit = {row.forced_by for row in inserted if "explicit" in [note.kind for note in row.notes]}
    forced = [
        row
        for row in explanation.rows
        if (row.status in ("changed", "float") and row.source not in explicit)
        or (row.status == "inserted" and row.forced_by not in explicit)
    ]
    if not forced:
        assert all(output.accuracy.is_exact for output in explanation.outputs)
    for position, row in enumerate(explanation.rows):
        assert all(-1 - len(model.inputs) < read < position for read in row.reads)
        assert (row.cost is not None) == (row.status == "inserted")
        assert row.status != "inserted" or row.rule is not None
    labels = [row.label for row in explanation.rows]
    assert len(labels) == len(set(labels))
    assert {row.source for row in explanation.rows} >= set(range(len(describe(model.module))))


def test_what_is_folded_is_told_where_it_was() -> None:
    explanation = explain(model_of(ADD_RESHAPE), "tflite")
    assert (explanation.totals.inserted, explanation.totals.folded) == (0, 1)
    assert "folded by fold-requantize-into-producer: into qnn.add" in reasons(by_label(explanation)["1"])


def test_constants_take_requantizes(tmp_path: Path) -> None:
    target = random_rule_graphs.write_target(tmp_path / "target.toml", {"add": "same-as-result"})
    (row,) = explain(model_of(CONSTANT), target).rows
    assert "folded by fold-requantize-into-constant: into a constant" in reasons(row)


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "reshape.mlir"
    path.write_text(RESHAPE, encoding="utf-8")
    return str(path)


def test_command_prints_a_table(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", file, "--target", "tflite"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["#", "operator", "rule"]  # no tensor has a name: no column
    assert lines[1].split()[:3] == ["0", "reshape", "(changed)"]
    assert "tflite.toml:" in lines[1]
    assert lines[2].startswith("0a  + requantize")
    assert "1 operator, 2 for tflite: 1 inserted, 0 folded, 0 shared, 2 moved" in lines
    assert lines[-1] == "output output_0: none of 6 values differs on 1 sample"


def test_command_leaves_out_what_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", str(NETWORK), "--target", "tvm", "--changed", "--no-accuracy"]) == 0
    rows = capsys.readouterr().out.split("\n\n")[0].splitlines()[1:]
    assert [row.split()[0] for row in rows] == ["9", "9a"]


def test_command_reads_samples(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "x.npy", np.full((5, 2, 3), 4, np.int8))
    arguments = ["explain", file, "--target", "tflite", "--input", str(tmp_path / "x.npy")]
    assert cli.main(arguments) == 0
    assert "on 5 samples" in capsys.readouterr().out


def test_command_as_json(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", file, "--target", "tflite", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["totals"]["inserted"] == 1
    operator, inserted = document["operators"]
    assert operator["rule"]["text"] == "same-as-input"
    assert operator["rule"]["file"].endswith("tflite.toml")
    assert inserted["cost"]["accuracy"]["elements"] == 6
    assert {note["kind"] for note in inserted["notes"]} >= {"explicit", "refused"}
    assert cli.main(["explain", file, "--target", "tflite", "--diff", "reference", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [part["target"] for part in document["targets"]] == ["tflite", "reference"]
    assert document["differences"] == []


def test_json_has_no_infinities(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", str(NETWORK), "--target", "tflite", "--no-accuracy", "--json"]) == 0
    text = capsys.readouterr().out
    clamps = [row["after"]["attributes"].get("clamp") for row in json.loads(text)["operators"]]
    assert [0.0, "inf"] in clamps  # a relu
    assert "Infinity" not in text


def test_command_compares(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", str(NETWORK), "--target", "tflite", "--diff", "tvm", "--no-accuracy"]) == 0
    first, *_ = capsys.readouterr().out.split("\n\n")
    assert [line.split()[0] for line in first.splitlines()] == ["#", "9", "11"]


def test_command_errors(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        cli.main(["explain", file, "--target", "tflite", "--html", str(tmp_path / "no" / "page.html")]) == 1
    )
    assert "page.html: error: cannot be written: No such file or directory" in capsys.readouterr().err
    assert cli.main(["explain", file, "--target", "nobody"]) == 1
    assert "nobody" in capsys.readouterr().err


def test_the_documentation_shows_what_happens(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = Path(__file__).resolve().parents[2]
    monkeypatch.chdir(root)
    text = (root / "docs" / "explain.md").read_text(encoding="utf-8")
    consoles = re.findall(r"^```console\n\$ zeropoint (.*)\n((?:.*\n)*?)```", text, re.MULTILINE)
    assert len(consoles) == 2
    for command, shown in consoles:
        assert cli.main(shlex.split(command)) == 0
        assert capsys.readouterr().out == shown
    (code,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    exec(compile(code, "docs/explain.md", "exec"), {})
    assert capsys.readouterr().out.startswith("1\n9a same-as-input ")
