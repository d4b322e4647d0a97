"""The table of passes, and what all passes share: options read from text, and reasons for non-matches."""

from __future__ import annotations

import dataclasses
import importlib
import sys
import types
import typing
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from ..errors import PipelineError, did_you_mean
from . import PASS_NAMES
from .decisions import record


@dataclass(frozen=True)
class ModulePass(ABC):
    """Base of every pass: a frozen dataclass whose fields are the pass's options.

    A field ``across_concat: bool = False`` is the option ``name{across-concat=true}``. Fields may be
    ``bool``, ``int``, ``float``, ``str``, ``Literal[...]`` of strings, ``T | None``, or ``tuple[T, ...]`` of
    these (written ``a,b,c``).
    """

    name: ClassVar[str]

    @abstractmethod
    def run(self, module: Any) -> None:
        """Transform the ``builtin.module`` operation in place.

        To fail, raise a :class:`~zeropoint.errors.PipelineError` or emit an error at an op's location.
        """

    @classmethod
    def summary(cls) -> str:
        """The first paragraph of the docstring, as one line of plain text."""
        paragraph = (cls.__doc__ or "").strip().partition("\n\n")[0]
        return " ".join(paragraph.split()).replace("``", "")

    @classmethod
    def from_options(cls, text: str) -> ModulePass:
        """The pass with options read from the text between its braces, e.g. ``across-concat=true limit=3``.

        Raises:
            PipelineError: an option does not exist or its value does not fit its type.
        """
        values: dict[str, Any] = {}
        known = dict(cls.option_types())
        for option, value in split_options(text, cls.name):
            if option not in known:
                raise PipelineError(f"pass '{cls.name}': no option '{option}'{_option_hint(option, known)}")
            values[option.replace("-", "_")] = _convert(
                value, known[option], f"pass '{cls.name}': option '{option}'"
            )
        required = {f.name for f in dataclasses.fields(cls) if _has_no_default(f)}
        for missing in sorted(required - set(values)):
            raise PipelineError(f"pass '{cls.name}': option '{missing.replace('_', '-')}' is required")
        return cls(**values)

    @classmethod
    def option_types(cls) -> Iterator[tuple[str, Any]]:
        """Each option in kebab case, with its type."""
        hints = typing.get_type_hints(cls)
        for field in dataclasses.fields(cls):
            yield field.name.replace("_", "-"), hints[field.name]

    @classmethod
    def option_defaults(cls) -> list[str | None]:
        """The default of each option as text; None where there is none."""
        return [None if _has_no_default(f) else _format(_default(f)) for f in dataclasses.fields(cls)]

    def text(self) -> str:
        """The pass as pipeline text, options that differ from their default included."""
        changed = [
            f"{field.name.replace('_', '-')}={_format(getattr(self, field.name))}"
            for field in dataclasses.fields(self)
            if _has_no_default(field) or getattr(self, field.name) != _default(field)
        ]
        return self.name + ("{" + " ".join(changed) + "}" if changed else "")


PASSES: dict[str, type[ModulePass]] = {}
"""The passes imported so far; :func:`lookup` imports one on demand, :func:`load_all` all of them."""

_Pass = TypeVar("_Pass", bound=type[ModulePass])


def register(cls: _Pass) -> _Pass:
    """Class decorator: make a pass known by its ``name``."""
    assert PASSES.get(cls.name, cls).__qualname__ == cls.__qualname__, f"two passes are named {cls.name}"
    PASSES[cls.name] = cls
    return cls


def lookup(name: str) -> type[ModulePass] | None:
    """The class of our pass ``name``, or None if we have none (it may be upstream's)."""
    if name in PASSES:
        return PASSES[name]
    if name not in PASS_NAMES:
        return None
    importlib.import_module(f".{name.replace('-', '_')}", __package__)
    assert name in PASSES, f"passes/{name.replace('-', '_')} registers no pass named {name}"
    return PASSES[name]


def load_all() -> dict[str, type[ModulePass]]:
    """Import every pass; by name."""
    for name in PASS_NAMES:
        lookup(name)
    return dict(sorted(PASSES.items()))


def no_match(op: Any, reason: str) -> bool:
    """Say why a rewrite pattern leaves ``op`` alone; returns True: "no match" to the rewrite driver.

    Recorded as ``refused`` (see ``decisions.py``), and logged at DEBUG as ``<pattern>: no match: <op> at
    <place>: <reason>``; ``qopt --explain`` shows it.
    """
    record("refused", op, reason, by=sys._getframe(1).f_code.co_name)
    return True


def split_options(text: str, owner: str) -> Iterator[tuple[str, str | None]]:
    """``a=1 b c='x y' d={e f}`` -> ``("a", "1"), ("b", None), ("c", "x y"), ("d", "e f")``.

    Raises:
        PipelineError: a quote or brace is not closed, or an option has no name.
    """
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        start = at
        while at < len(text) and not text[at].isspace() and text[at] != "=":
            at += 1
        option = text[start:at]
        if not option:
            raise PipelineError(f"pass '{owner}': an option without a name in '{text}'")
        if at == len(text) or text[at] != "=":
            yield option, None
            continue
        value, at = _option_value(text, at + 1, owner)
        yield option, value


def _option_value(text: str, at: int, owner: str) -> tuple[str, int]:
    """The value that starts at ``at``, without its quotes or braces, and where it ends."""
    closing = {"'": "'", '"': '"', "{": "}"}.get(text[at : at + 1])
    if closing is None:
        end = at
        while end < len(text) and not text[end].isspace():
            end += 1
        return text[at:end], end
    depth, end = 1, at + 1
    while end < len(text):
        if text[end] == closing:
            depth -= 1
            if not depth:
                return text[at + 1 : end], end + 1
        elif text[end] == text[at]:
            depth += 1
        end += 1
    raise PipelineError(f"pass '{owner}': {text[at]} is not closed in '{text}'")


def _convert(text: str | None, type_: Any, where: str) -> Any:
    """An option's text as a value of its field's type."""
    origin = typing.get_origin(type_)
    if type_ is bool:
        values = {"true": True, "1": True, "false": False, "0": False}
        if text is None or text.lower() in values:
            return True if text is None else values[text.lower()]
        raise PipelineError(f"{where}: got '{text}', expected true or false")
    if text is None:
        raise PipelineError(f"{where}: a value is missing, write option=value")
    if origin is tuple:
        element = typing.get_args(type_)[0]
        return tuple(_convert(part.strip(), element, where) for part in text.split(",") if part.strip())
    if origin is typing.Literal:
        choices = typing.get_args(type_)
        if text not in choices:
            raise PipelineError(
                f"{where}: got '{text}', expected one of {', '.join(choices)}{did_you_mean(text, choices)}"
            )
        return text
    if origin in (typing.Union, types.UnionType):  # T | None
        return _convert(text, typing.get_args(type_)[0], where)
    try:
        return type_(text)
    except ValueError:
        kind = {int: "an integer", float: "a number"}.get(type_, type_.__name__)
        raise PipelineError(f"{where}: got '{text}', expected {kind}") from None


def _format(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ",".join(_format(v) for v in value)
    return f"'{value}'" if isinstance(value, str) and (" " in value or not value) else str(value)


def _has_no_default(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    assert field.default_factory is not dataclasses.MISSING, "only fields with a default"
    return field.default_factory()


def _option_hint(option: str, known: Iterable[str]) -> str:
    names = list(known)
    return did_you_mean(option, names) or (f" (it has: {', '.join(names)})" if names else " (it has none)")
