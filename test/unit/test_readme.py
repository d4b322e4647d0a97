"""What the README shows is what happens: its Python runs, its command prints what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from zeropoint.tools import qopt

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The fenced code blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)


def test_python_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    (code,) = blocks("python")
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out.startswith("[[")


def test_qopt_prints_what_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    (console,) = blocks("console")
    command, expected = console.split("\n", 1)
    words = shlex.split(command.removeprefix("$ "))
    assert words[0] == "qopt"
    assert qopt.main(words[1:]) == 0
    assert capsys.readouterr().out.strip() == expected.strip()


def test_the_shown_lowering_is_the_real_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    (mlir,) = blocks("mlir")
    shown = [line.split("//")[0].split("=", 1)[1].strip() for line in mlir.splitlines() if "= arith." in line]
    assert qopt.main(["examples/requantize.mlir", "--to=linalg", "--pipeline=reference"]) == 0
    printed = [
        line.split("=", 1)[1].strip() for line in capsys.readouterr().out.splitlines() if "= arith." in line
    ]
    assert shown
    position = [printed.index(line) for line in shown]
    assert position == sorted(position)


def test_documentation_links_exist() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target
