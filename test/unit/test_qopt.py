"""The pass driver's exit statuses, messages and files, in this process (its IR output is tested by lit)."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

import sample_passes
from zeropoint.dialect.context import parse_module
from zeropoint.dialect.places import Place, place_text
from zeropoint.tools import qopt
from zeropoint.tools.diagnostics import Finding, Source, error_block
from zeropoint.tools.qopt_expected import compare, expectations
from zeropoint.tools.qopt_input import split_chunks

GOOD = "func.func @f(%a: i32) -> i32 {\n  %0 = arith.addi %a, %a : i32\n  return %a : i32\n}\n"
BAD = "func.func @f() -> i32 {\n  return\n}\n"
DIGITS = Path(qopt.__file__).parent / "demo" / "digits_int8.tflite"


@pytest.fixture
def good(tmp_path: Path) -> str:
    path = tmp_path / "good.mlir"
    path.write_text(GOOD)
    return str(path)


@pytest.fixture
def bad(tmp_path: Path) -> str:
    path = tmp_path / "bad.mlir"
    path.write_text(BAD)
    return str(path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-p", "canonicalise"], "unknown pass 'canonicalise'; did you mean 'canonicalize'?"),
        (["-p", "outline-kernel"], "unknown pass 'outline-kernel'; did you mean 'outline-kernels'?"),
        (["-p", "canonicalize{iterations=2}"], "pass 'canonicalize': no such option iterations"),
        (["-p", "a(b"], "pipeline: '(' is not closed\n  a(b\n   ^"),
        (["--pass-pipeline=cse"], "expected 'builtin.module(...)'; a bare list"),
        (["--to=linlag"], "unknown level 'linlag'; did you mean 'linalg'?"),
        (["--to=linalg", "-p", "cse"], "give either --to or passes"),
        (["-p", "cse", "--pass-pipeline=any(cse)"], "give either -p or --pass-pipeline"),
        (["--to=linalg", "--pipeline=optimised"], "unknown pipeline 'optimised'; did you mean 'optimized'?"),
        (["--numerics=referense"], "unknown mode 'referense'; did you mean 'reference'?"),
        (
            ["--mlir-print-ir-after-al"],
            "unknown flag '--mlir-print-ir-after-al'; did you mean '--mlir-print-ir-after-all'?",
        ),
        (["--split-input-files"], "unknown flag '--split-input-files'; did you mean '--split-input-file'?"),
        (["--canonicalize"], "unknown flag '--canonicalize'; a pass is run by -p canonicalize"),
        (
            ["-p", "cse", "--mlir-print-ir-after=csa"],
            "pass 'csa' is not in the pipeline; did you mean 'cse'?",
        ),
        (["--verify-each=maybe"], "got 'maybe', expected true or false"),
        (["--mlir-elide-elementsattrs-if-larger=many"], "got 'many', expected a number"),
        (["second.mlir"], "one input file expected"),
        (["-p"], "expected one argument"),
    ],
)
def test_usage_errors(
    arguments: list[str], message: str, good: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert qopt.main([good, *arguments]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("qopt: error: ")
    assert message in err


def test_success_prints_ir_only(good: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert qopt.main([good, "-p", "canonicalize"]) == 0
    out, err = capfd.readouterr()
    assert out.startswith("module {")
    assert err == ""


def test_errors_have_position_line_and_caret(bad: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert qopt.main([bad]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert err.splitlines()[:3] == [
        f"{bad}:2:3: error: 'func.return' op has 0 operands, but enclosing function (@f) returns 1",
        "  return",
        "  ^",
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.mlir", None, "missing.mlir: error: cannot read: No such file or directory"),
        ("binary.mlir", b"\x00\xff\xfe", "error: neither a TFLite model nor UTF-8 text"),
        ("text.tflite", b"func.func @f()", "error:"),
        ("short.tflite", b"", "error:"),
        ("magic.bin", b"\x10\x00\x00\x00TFL3", "error:"),
    ],
)
def test_unreadable_input(
    name: str, content: bytes | None, message: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    assert qopt.main([str(path)]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert message in err
    assert len(err.splitlines()) == 1


def test_directory_as_input(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert qopt.main([str(tmp_path)]) == 1
    assert "cannot read" in capfd.readouterr().err


def test_output_file(good: str, bad: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "out.mlir"
    assert qopt.main([good, "-o", str(target)]) == 0
    assert target.read_text().startswith("module {")
    target.unlink()
    assert qopt.main([bad, "-o", str(target)]) == 1
    assert not target.exists(), "nothing is written after an error"
    assert qopt.main([good, "-o", str(tmp_path / "no" / "out.mlir")]) == 1
    assert "cannot write" in capfd.readouterr().err


def test_models_by_extension_and_from_stdin(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert qopt.main([str(DIGITS), "--to=qnn"]) == 0
    from_file = capfd.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(DIGITS.read_bytes())))
    assert qopt.main(["--to=qnn"]) == 0
    assert capfd.readouterr().out == from_file
    assert '"qnn.conv2d"' in from_file


def test_flags_for_text_are_refused_for_models(capfd: pytest.CaptureFixture[str]) -> None:
    assert qopt.main([str(DIGITS), "--verify-diagnostics"]) == 2
    assert "--split-input-file are for text" in capfd.readouterr().err


@pytest.mark.parametrize("level", ["legalized", "linalg"])
def test_levels_are_text_that_reads_back(
    level: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    first, second = tmp_path / "first.mlir", tmp_path / "second.mlir"
    assert qopt.main([str(DIGITS), f"--to={level}", "-o", str(first)]) == 0
    assert qopt.main([str(first), "-o", str(second)]) == 0
    assert second.read_text() == first.read_text()
    assert qopt.main([str(first), "--to=llvm"]) == 0
    assert "define" in capfd.readouterr().out


def test_a_model_s_diagnostics_name_operator_and_tensor(capfd: pytest.CaptureFixture[str]) -> None:
    assert qopt.main([str(DIGITS), "-p", "one-shot-bufferize"]) == 1
    first, *_ = capfd.readouterr().err.splitlines()
    assert first.startswith("digits_int8.tflite: error: op 0, output 'digits")
    assert first.endswith("': op was not bufferized")


def test_invalid_ir_after_a_pass_is_caught_by_default(
    good: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from zeropoint.passes import registry

    monkeypatch.setitem(registry.PASSES, "test-fail", sample_passes.FailPass)
    for flags in (["--verify-each"], ["--verify-each=false"], []):
        assert qopt.main([good, "-p", "test-fail{how=break}", *flags]) == 1
        assert "sym_name" in capfd.readouterr().err
    assert qopt.main([good, "-p", "test-fail{how=raise}"]) == 1
    assert (
        "qopt: error: this network cannot be done\nqopt: note: pass 'test-fail' failed\n"
        in capfd.readouterr().err
    )
    assert qopt.main([good, "-p", "test-fail{how=diagnose}", "--mlir-print-ir-after-failure"]) == 1
    err = capfd.readouterr().err
    assert f"{good}:1:1: error: this function cannot be done\n{GOOD.splitlines()[0]}\n^\n" in err
    assert "IR Dump After test-fail Failed (test-fail)" in err


def test_explain_shows_why_nothing_matched(
    good: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from zeropoint.passes import decisions, registry

    def run(self: registry.ModulePass, module: object) -> None:
        sample_passes.fold_nothing(module.regions[0].blocks[0].operations[0])  # type: ignore[attr-defined]

    monkeypatch.setattr(sample_passes.RecordPass, "run", run)
    monkeypatch.setitem(registry.PASSES, "test-record", sample_passes.RecordPass)
    monkeypatch.setattr(decisions.LOG, "handlers", [])
    level = decisions.LOG.level
    try:
        assert qopt.main([good, "-p", "test-record", "--explain"]) == 0
    finally:
        decisions.LOG.setLevel(level)  # forgets what loggers remember of the level before
    assert f"explain: fold_nothing: no match: func.func at {good}:1:1: " in capfd.readouterr().err


@pytest.mark.parametrize(
    ("location", "text"),
    [
        ('"x"("model.tflite":30:0)', "op 30, output 'x'"),
        ('fused<7 : i32>["x"("model.tflite":30:0)]', "op 30, output 'x'"),
        ('"model.mlir":3:5', "model.mlir:3:5"),
        ('"x"("model.mlir":3:5)', "model.mlir:3:5 ('x')"),
        ('"-":3:5', "line 3, column 5"),
        ('"x"', "'x'"),
        ("unknown", "an unknown place"),
    ],
)
def test_places_in_words(location: str, text: str) -> None:
    module = parse_module(f"module {{}} loc({location})")
    assert place_text(module.operation.location) == text


def test_broken_pipe_is_quiet(good: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "zeropoint.tools.qopt", good, "--mlir-print-op-generic"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


def test_chunks_keep_their_line_numbers() -> None:
    chunks = split_chunks("a\n// -----\nb\n// ----- \nc\n  // -----\n")
    assert [chunk.first_line for chunk in chunks] == [1, 3, 5]
    assert [chunk.text for chunk in chunks] == ["a\n", "\n\nb\n", "\n\n\n\nc\n  // -----\n"]


def test_source_excerpt_counts_bytes_and_keeps_tabs() -> None:
    source = Source("x.mlir", 'é\n\té"ü" = foo\n')
    shown = source.shown(Finding("error", "no", Place("x.mlir", 2, 12)))
    assert shown == 'x.mlir:2:12: error: no\n\té"ü" = foo\n\t' + " " * 8 + "^"
    assert source.shown(Finding("error", "no", Place("x.mlir", 99, 1))) == "x.mlir:99:1: error: no"
    assert source.shown(Finding("warning", "no", Place(None, name="t"))) == "x.mlir: warning: 't': no"


def test_long_operations_in_notes_are_cut() -> None:
    note = Finding("note", "see current operation: \nfoo(" + "x" * 5000 + "\nbar", Place("m.mlir", 1, 1))
    shown = Source("m.mlir", "foo").shown(note)
    assert len(shown) < 500
    assert "\n" not in shown


def test_error_blocks_say_who_or_where() -> None:
    from zeropoint.errors import ImportModelError, PipelineError

    assert error_block(PipelineError("no"), "qopt") == "qopt: error: no"
    assert error_block(ImportModelError("m.tflite: error: no"), "qopt") == "m.tflite: error: no"


def found(kind: str, line: int, message: str, *notes: Finding) -> Finding:
    return Finding(kind, message, Place("x", line, 1), notes)


def test_expected_diagnostics_at_every_place() -> None:
    lines = [
        "// expected-error@+1 {{one}}",
        "x",
        "// expected-note@above {{three}}",
        "// expected-remark@below {{four}}",
        "// expected-error@6 {{five}}",
        "y",
        "// expected-error@* {{six}}",
        "// expected-error@unknown {{seven}}",
        "// expected-error-re@-7 {{a{{[0-9]+}}(b}}",
        "z // expected-warning {{two}}",
    ]
    expected, malformed = expectations(lines, first=1)
    assert malformed == []
    assert [e.line for e in expected] == [2, 2, 6, 6, -1, 0, 2, 10]
    findings = [
        found("error", 2, "xonex", found("note", 2, "three")),
        found("warning", 10, "two"),
        found("remark", 6, "four"),
        found("error", 6, "five"),
        found("error", 77, "six"),
        found("error", 0, "seven"),
        found("error", 2, "a12(b", found("note", 5, "see current operation: x")),
    ]
    assert compare(expected, findings) == []


def test_mismatches_of_expected_diagnostics() -> None:
    expected, _ = expectations(["// expected-error@+1 {{[a-z]+}}", "x"])
    messages = [m.message for m in compare(expected, [found("error", 2, "abc")])]
    assert messages == ['expected error "[a-z]+" was not produced', "unexpected error: abc"]
    expected, _ = expectations(["// expected-error@+1 {{abc}}", "x"])
    (missing, other_kind) = compare(expected, [found("warning", 2, "abc")])
    assert other_kind.message == "'warning' emitted where 'error' is expected: abc"
    assert missing.line == 1
    expected, _ = expectations(["// expected-error {{abc}}"])
    assert len(compare(expected, [found("error", 2, "abc")])) == 2, "another line"
    assert len(compare(expected, [found("error", 2, "abc")], only_expected=True)) == 1
    _, malformed = expectations(
        ["// expected-error@+1 abc", "// expected-error-re {{{{(}}}}", "// expected-note@below {{x}}"]
    )
    assert [m.line for m in malformed] == [1, 2, 3]
