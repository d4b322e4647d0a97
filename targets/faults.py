"""The words of a target file's faults: where, got against expected."""

from __future__ import annotations

import re
from typing import Any

from ..errors import did_you_mean
from .locate import Path as KeyPath
from .target import Cache, Dot, Machine

_EXPECTED = {"int": "an integer", "str": "a string", "bool": "true or false", "array": "a list"}
"""msgspec's names of types in TOML's words; anything else is a table."""


def machine_fault(message: str, machine: dict[str, Any]) -> tuple[KeyPath, str]:
    """msgspec's message about the table ``machine``: where, and what is wrong, in our own words."""
    what, _, where = message.partition(" - at `$")
    keys = re.findall(r"\.(\w+)|\[(\d+)\]", where)
    path: KeyPath = ("machine", *(int(index) if index else name for name, index in keys))
    table = str(path[1]) if len(path) > 1 else ""
    fields = {"cache": Cache, "dot": Dot}.get(table, Machine).__struct_fields__
    if match := re.fullmatch(r"Object contains unknown field `(.*)`", what):
        return (*path, match[1]), f"no such key{hint(match[1], fields)}"
    if match := re.fullmatch(r"Object missing required field `(.*)`", what):
        return path, f"'{match[1]}' is missing"
    if match := re.match(r"Expected `(\w+)`(.*)", what):
        expected = _EXPECTED.get(match[1], "a table")
        limit = "" if match[2].startswith(", got") else match[2]
        return path, f"got {shown(_value_in(machine, path[1:]))}, expected {expected}{limit}"
    return path, what[:1].lower() + what[1:]


def _value_in(value: Any, path: KeyPath) -> Any:
    """The value at a path through tables and lists."""
    for key in path:
        value = value[key]
    return value


def path_text(path: KeyPath) -> str:
    """``rules.softmax.i8``, ``machine.dot[0].lhs``."""
    text = ""
    for key in path:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text


def shown(value: Any) -> str:
    """A TOML value for a message."""
    kinds = {bool: "a truth value", int: "an integer", float: "a number", list: "a list", dict: "a table"}
    kind = kinds.get(type(value))
    text = repr(value) if len(repr(value)) <= 60 else f"{repr(value)[:57]}..."
    return f"{text} ({kind})" if kind else text


def hint(name: str, names: tuple[str, ...]) -> str:
    """The name that was probably meant, or all there are."""
    return did_you_mean(name, names) or f"; there are {', '.join(names)}"
