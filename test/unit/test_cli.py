"""``zeropoint``: mistakes in what is typed or handed over are named, with the status `--help` promises."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zeropoint as zp
from zeropoint.tools import cli
from zeropoint.tools.demo import NETWORK


@pytest.mark.parametrize(
    ("flag", "text", "least"), [("--seed", "-1", 0), ("--top", "many", 0), ("--repeat", "0", 1)]
)
def test_counts_that_are_none_are_wrong_usage(
    flag: str, text: str, least: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["run", str(NETWORK), flag, text])
    assert stopped.value.code == 2
    expected = f"argument {flag}: got {text}, expected a whole number of {least} or more\n"
    assert capsys.readouterr().err.endswith(expected)


def test_an_archive_is_no_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "inputs.npz", a=np.zeros(3))
    assert cli.main(["run", str(NETWORK), "--input", str(tmp_path / "inputs.npz")]) == 1
    assert "error: got an archive of arrays (.npz), expected a .npy file of one" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "fault"), [(None, "cannot be read: No such file"), (b"\xff", "no UTF-8, expected labels")]
)
def test_labels_that_cannot_be_read(
    content: bytes | None, fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "labels.txt"
    if content is not None:
        file.write_bytes(content)
    assert cli.main(["run", str(NETWORK), "--labels", str(file)]) == 1
    message = capsys.readouterr().err
    assert message.startswith(f"{file}: error: ")
    assert fault in message


def test_explain_checks_its_seed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["explain", str(NETWORK), "--target", "tflite", "--seed", "-1"])
    assert stopped.value.code == 2
    assert "argument --seed: got -1, expected a whole number of 0 or more" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["compile", "explain", "targets"])
def test_help_fits_a_terminal(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main([command, "--help"])
    description = capsys.readouterr().out.split("\n\n")[1]
    assert all(len(line) <= 80 for line in description.splitlines())


def test_no_command_prints_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main([])
    assert stopped.value.code == 2
    assert "zeropoint inspect model.tflite" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["insepct", "x"], "no command 'insepct'; did you mean 'inspect'?"),
        (
            ["qqq"],
            "no command 'qqq', expected one of demo, import, inspect, explain, run, bench, compile, targets",
        ),
        (["targets", "diff", "glow"], "diff: needs two targets, got 1: glow"),
        (["targets", "diff"], "diff: needs two targets, got 0"),
    ],
)
def test_wrong_words(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(words)
    assert stopped.value.code == 2
    assert capsys.readouterr().err.endswith(f"error: {message}\n")


@pytest.mark.parametrize(
    ("change", "advice"),
    [
        (lambda zeros: zeros.astype(np.float32), "got float32, expected int8; --quantize takes real values"),
        (lambda zeros: zeros.astype(np.int64), "got int64, expected int8; save it as .astype(np.int8)"),
        (lambda zeros: zeros[0], "if the order of the elements is right"),
        (lambda zeros: np.concatenate([zeros, zeros]), "a .tflite model can take another size: --shape "),
    ],
)
def test_advice_is_for_the_command_line(
    change: Callable[[Any], Any], advice: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (info,) = zp.load(NETWORK).inputs
    np.save(tmp_path / "x.npy", change(np.zeros(info.shape, info.dtype)))
    assert cli.main(["run", str(NETWORK), "--input", str(tmp_path / "x.npy")]) == 1
    message = capsys.readouterr().err
    assert advice in message
    assert "np.clip" not in message
    assert "shapes=" not in message


def test_a_file_keeps_the_tensor_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["inspect", str(NETWORK)]) == 0
    table = capsys.readouterr().out
    file = tmp_path / "model.mlir"
    assert cli.main(["import", str(NETWORK), "-o", str(file)]) == 0
    assert cli.main(["inspect", str(file)]) == 0
    assert capsys.readouterr().out == table
    assert cli.main(["import", str(NETWORK), "-o", str(file), "--no-locations"]) == 0
    assert "loc(" not in file.read_text(encoding="utf-8")
    assert cli.main(["import", str(NETWORK)]) == 0
    assert "loc(" not in capsys.readouterr().out
