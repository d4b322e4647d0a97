"""``zeropoint``: mistakes in what is typed or handed over are named, with the status `--help` promises."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

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
