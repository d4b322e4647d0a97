"""JSON to data classes: what was written is read back, and anything else is refused with its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from zeropoint.runtime.typed_json import decode, encode


@dataclass(frozen=True)
class Leaf:
    kind: Literal["a", "b"]
    number: int = 3


@dataclass(frozen=True)
class Tree:
    name: str
    leaves: tuple[Leaf | int, ...]
    pair: tuple[str, float] = ("x", 0.5)
    sizes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    below: Tree | None = None
    option: bool | int | str = False


TREE = Tree("é", (Leaf("a"), 7, Leaf("b", -1)), ("y", 2.0), {"k": (1, 2)}, Tree("inner", (), option="z"), 5)


def test_round_trip() -> None:
    text = encode(TREE)
    assert decode(text, Tree) == TREE
    assert encode(decode(text, Tree)) == text
    assert decode(b'{"name": "x", "leaves": [], "pair": ["a", 1]}', Tree).pair == ("a", 1.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"name": 5, "leaves": []}', r"Expected `str`, got `int` - at `\$.name`"),
        ('{"name": null, "leaves": []}', r"Expected `str`, got `null` - at `\$.name`"),
        ('{"name": "x"}', r"Object missing required field `leaves` - at `\$`"),
        ('{"name": "x", "leaves": [], "more": 1}', r"Object contains unknown field `more`"),
        (
            '{"name": "x", "leaves": [1, 2, "3"]}',
            r"Expected `object \| int`, got `str` - at `\$.leaves\[2\]`",
        ),
        ('{"name": "x", "leaves": [1, true]}', r"got `bool` - at `\$.leaves\[1\]`"),
        ('{"name": "x", "leaves": [{"kind": "c"}]}', r"Invalid value 'c'.* - at `\$.leaves\[0\].kind`"),
        ('{"name": "x", "leaves": [{"kind": "a", "number": 1.5}]}', r"Expected `int`, got `float`"),
        ('{"name": "x", "leaves": {}}', r"Expected `array`, got `object`"),
        ('{"name": "x", "leaves": [], "pair": ["a"]}', r"Expected `array` of length 2, got 1"),
        ('{"name": "x", "leaves": [], "sizes": {"k": [1, []]}}', r"- at `\$.sizes\['k'\]\[1\]`"),
        ('{"name": "x", "leaves": [], "below": {"name": "y", "leaves": 1}}', r"at `\$.below.leaves`"),
        ("[]", r"Expected `object`, got `array` - at `\$`"),
        ('{"name": "x", "leaves": [NaN]}', "NaN is no number of JSON"),
        ('{"name": "x", ', "Expecting"),
        ('{"name": "\xff"}', "can't decode"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        decode(text.encode("latin-1"), Tree)


def test_numbers_that_are_none_are_not_written() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode(Tree("x", (), ("y", float("nan"))))


def test_deep_nesting() -> None:
    value: Any = None
    for _ in range(20):
        value = Tree("x", (), below=value)
    assert decode(encode(value), Tree) == value
