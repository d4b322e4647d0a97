"""What is said about mistakes in target files: never a traceback, always where, got against expected."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zeropoint import targets
from zeropoint.dialect.numerics import MODES
from zeropoint.errors import TargetError


def fault_of(folder: Path, text: str) -> str:
    """The message about a file with this text, its folder left out."""
    file = folder / "t.toml"
    file.write_text(text)
    with pytest.raises(TargetError) as caught:
        targets.load_target(file)
    return str(caught.value).replace(f"{folder}/", "")


def mistakes() -> Iterator[tuple[str, str]]:
    """Text of a file -> message, from the table beside the tools' tests."""
    table = Path(__file__).parent.parent / "tools" / "targets_mistakes.txt"
    for block in table.read_text().split("\n\n")[1:]:
        text, _, message = block.strip().partition("\n=> ")
        yield text, message


@pytest.mark.parametrize(("text", "message"), list(mistakes()))
def test_messages(tmp_path: Path, text: str, message: str) -> None:
    assert fault_of(tmp_path, text).replace("t.toml", "", 1).replace(" error:", "", 1) == message


def test_numerics_must_be_a_mode(tmp_path: Path) -> None:
    expected = (
        f"t.toml:1: error: numerics: got 'referense', expected {', '.join(MODES)}; did you mean 'reference'?"
    )
    assert fault_of(tmp_path, 'numerics = "referense"') == expected


def test_all_mistakes_are_said_at_once_in_the_order_of_lines(tmp_path: Path) -> None:
    text = '[rules]\nadd = "fre"\nmull = "free"\n[storage]\nweights = "x"\n'
    assert [line.split(": ")[2] for line in fault_of(tmp_path, text).splitlines()] == [
        "rules.add",
        "rules.mull",
        "storage.weights",
    ]


def test_circles_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('\nextends = "./b.toml"')
    (tmp_path / "b.toml").write_text('extends = "a.toml"')
    with pytest.raises(TargetError) as caught:
        targets.load_target(tmp_path / "a.toml")
    expected = "b.toml:1: error: extends: got 'a', which leads back here: a.toml -> b.toml -> a.toml"
    assert str(caught.value) == f"{tmp_path}/{expected}"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b'description = "\xe9"')
    (tmp_path / "big.toml").write_bytes(b"#" * 2_000_000)
    (tmp_path / "folder.toml").mkdir()
    for name, message in (
        ("none.toml", "cannot read the target file: No such file or directory"),
        ("folder.toml", "cannot read the target file: Is a directory"),
        ("latin.toml", "not a text file in UTF-8"),
        ("big.toml", "larger than 1048576 bytes, not a target file"),
    ):
        with pytest.raises(TargetError) as caught:
            targets.load_target(tmp_path / name)
        assert str(caught.value) == f"{tmp_path / name}: error: {message}"


def test_unknown_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text("")
    with pytest.raises(TargetError, match="no target 'x86-64-v5'; did you mean 'x86-64-v4'"):
        targets.load_target("x86-64-v5")
    with pytest.raises(TargetError, match=r"no target 'mine'; a file is given by its path: 'mine\.toml'"):
        targets.load_target("mine")
    assert targets.load_target("mine.toml").name == "mine"
    tflite = targets.load_target("tflite")
    with pytest.raises(TargetError, match="no op 'avg_pool'; did you mean 'avg_pool2d'"):
        tflite.rule("avg_pool", "i8")
    with pytest.raises(TargetError, match="no storage type 'int8'"):
        tflite.rule("add", "int8")
    with pytest.raises(TargetError, match="no op with a bias 'add'"):
        tflite.bias_rule("add")


# Any value in the place of any other: a file is read or refused, never a traceback
VALUES = st.recursive(
    st.one_of(
        st.booleans(),
        st.integers(-9, 9),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=6),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(st.sampled_from(["i8", "*", "dot", "lhs", ""]), inner, max_size=2),
    ),
    max_leaves=4,
)
PLACES = st.sampled_from(
    [
        *(
            "description",
            "extends",
            "numerics",
            "machine",
            "storage",
            "rules",
            "machine.triple",
            "machine.dot",
        ),
        *("machine.features", "machine.cache", "machine.cache.l1_kib", "storage.types", "storage.ops"),
        *(
            "storage.ops.add",
            "storage.weights",
            "rules.default",
            "rules.add",
            "rules.conv2d.bias",
            "rules.add.i8",
        ),
    ]
)


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, str):
        return '"' + "".join(f"\\U{ord(c):08x}" for c in value) + '"'
    return json.dumps(value)


@given(place=PLACES, value=VALUES)
def test_any_value_anywhere_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, place: str, value: Any
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.toml"
    file.write_text(f"{place} = {toml(value)}\n")
    try:
        target = targets.load_target(file)
    except TargetError as error:
        said = str(error)
    else:
        said = f"{file}: fine, {len(targets.to_plain(target))} facts"
    assert said.startswith(str(file))
