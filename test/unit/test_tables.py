"""Tables on a terminal: what is folded, shortened and left out when the room is short."""

from __future__ import annotations

import re
import sys

import pytest

from zeropoint.tools import tables

COLUMNS = ("#", "tensor", "parameters", "bytes")
ROWS = [("0", "network/block_1/depthwise/Relu6", "i8 (0.0235285, -128)", "12"), ("1", "out", "f32", "")]


def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], columns: int) -> list[str]:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    tables.print_table(COLUMNS, ROWS, right=("bytes",), shorten=("tensor",), spare=("bytes", "tensor"))
    out = re.sub(r"\x1b\[\d*m", "", capsys.readouterr().out)
    return [line.rstrip() for line in out.splitlines()]


def test_a_pipe_gets_whole_lines(capsys: pytest.CaptureFixture[str]) -> None:
    tables.print_table(COLUMNS, ROWS, right=("bytes",), shorten=("tensor",), spare=("bytes",))
    assert capsys.readouterr().out.splitlines() == [
        "#  tensor                           parameters            bytes",
        "0  network/block_1/depthwise/Relu6  i8 (0.0235285, -128)     12",
        "1  out                              f32",
    ]


def test_a_wide_terminal_gets_whole_cells(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = shown(monkeypatch, capsys, 80)
    assert lines[2] == "0  network/block_1/depthwise/Relu6  i8 (0.0235285, -128)     12"
    assert len(lines) == 4


def test_a_narrower_one_names_without_their_beginning(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = shown(monkeypatch, capsys, 55)
    assert lines[2] == "0  …lock_1/depthwise/Relu6  i8 (0.0235285, -128)     12"
    assert len(lines) == 4


def test_a_narrow_one_fewer_columns_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = shown(monkeypatch, capsys, 30)
    assert lines[2] == "0  i8 (0.0235285, -128)"
    assert lines[-1] == "(tensor, bytes: left out, the terminal is too narrow; `| less -S` shows all)"


def test_prose_without_room_goes_below_its_row(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "50")
    rows = [
        ("0", "network/block_1", "one word after another, [1, 2], until the line is full"),
        ("1", "out", ""),
    ]
    tables.print_table(("#", "tensor", "why"), rows)
    out = re.sub(r"\x1b\[\d*m", "", capsys.readouterr().out)
    assert [line.rstrip() for line in out.splitlines() if "─" not in line] == [
        "#  tensor",
        "   why",
        "0  network/block_1",
        "   one word after another, [1, 2], until the line",
        "   is full",
        "1  out",
    ]


def test_columns_never_get_wider_than_the_terminal() -> None:
    for width in range(20, 90):
        widths = tables.shrunk([30, 5, 22], [16, 5, 22], width)
        assert sum(widths) + 2 * tables.GAP <= max(width, 5 + 2 * tables.MINIMUM + 2 * tables.GAP)
