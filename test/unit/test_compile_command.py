"""``zeropoint compile``: files, the report, and mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import zeropoint as zp
from zeropoint.tools import cli
from zeropoint.tools.demo import NETWORK


def test_files_and_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["compile", str(NETWORK), "--target", "aarch64", "--name", "digits"]) == 0
    lines = capsys.readouterr().out.splitlines()
    exported = zp.export(NETWORK, "aarch64", name="digits")
    assert Path("digits.o").read_bytes() == exported.data
    assert Path("digits.h").read_text() == exported.header
    assert lines[0] == "digits for aarch64: bytes by layer"
    assert lines[1].split() == ["#", "layer", "kernels", "MMAC", "constants", "code", "arena", "in", "use"]
    report = exported.report
    (total,) = (line for line in lines if line.split()[:1] == ["total"])
    assert total.split()[-5:] == [
        f"{report.constant_bytes:,}",
        f"{report.code_bytes:,}",
        f"{report.peak_bytes:,}",
        "at",
        "most",
    ]
    assert f"flash    {report.flash_bytes:,} bytes: {report.constant_bytes:,} constants" in "\n".join(lines)
    assert lines[-2:] == ["wrote    digits.o", "wrote    digits.h"]


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "libdigits.a"
    command = ["compile", str(NETWORK), "--target", "riscv64", "--kind", "static", "-o", str(file), "--json"]
    assert cli.main(command) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["files"] == [str(file), str(tmp_path / "libdigits.h")]
    assert (document["name"], document["target"], document["kind"]) == ("digits_int8", "riscv64", "static")
    report = zp.export(NETWORK, "riscv64").report
    assert document["flash_bytes"] == report.flash_bytes
    assert len(document["layers"]) == len(report.layers)


def test_a_report_alone_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["compile", str(NETWORK), "--report"]) == 0
    assert "wrote" not in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_text_to_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compile", str(NETWORK), "--target", "aarch64", "--kind", "asm", "-o", "-"]) == 0
    text = capsys.readouterr().out
    assert "digits_int8_run:" in text
    assert "layer" not in text.splitlines()[0]
    with pytest.raises(SystemExit) as stopped:
        cli.main(["compile", str(NETWORK), "-o", "-"])
    assert stopped.value.code == 2
    assert "-o -: is for the kinds asm and llvm, got 'object'" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["compile", "import"])
def test_the_model_is_not_overwritten(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "digits.tflite"
    model.write_bytes(NETWORK.read_bytes())
    assert cli.main([command, str(model), "-o", str(model)]) == 1
    assert f"-o {model}: is the model itself" in capsys.readouterr().err
    assert model.read_bytes() == NETWORK.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "aarch65"], "no target 'aarch65'; did you mean 'aarch64'?"),
        (["--target", "xnnpack"], "target 'xnnpack' is rules alone"),
        (["--kind", "objekt"], "kind: got 'objekt'; did you mean 'object'?"),
        (["--name", "9"], "name: got '9', expected a name that C allows"),
    ],
)
def test_mistakes(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compile", str(NETWORK), *arguments]) == 1
    assert f"zeropoint: error: {message}" in capsys.readouterr().err
