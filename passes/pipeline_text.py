"""The textual form of pipelines, as mlir-opt writes them: ``a,b{x=1},func.func(c,d)``.

Upstream's own parser does not know passes written in Python, so the text is split here into single steps;
each goes to the pass manager as ours or as upstream's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import PipelineError


@dataclass(frozen=True)
class Step:
    """A pass: its name, the text of its options, and the ops it is nested under (outermost first)."""

    name: str
    options: str = ""
    anchors: tuple[str, ...] = ()

    def text(self) -> str:
        """Pipeline text of this step alone, e.g. ``func.func(cse)``."""
        own = self.name + (f"{{{self.options}}}" if self.options else "")
        return "(".join([*self.anchors, own]) + ")" * len(self.anchors)


def quoted(value: str) -> str:
    """An option's value as it is written in a pipeline: a path may have spaces in it."""
    quote = '"' if "'" in value else "'"
    return f"{quote}{value}{quote}"


def parse_pass_list(text: str) -> list[Step]:
    """The steps of a bare list ``a,b{x=1}``, as given to ``qopt -p``.

    ``func.func(a,b)`` becomes two steps: functions are independent of each other, so order does not matter.

    Raises:
        PipelineError: braces or parentheses do not match, or a pass has no name; shows where.
    """
    reader = _Reader(text)
    steps = list(reader.steps(()))
    if reader.at < len(text):
        raise reader.error(f"unexpected '{text[reader.at]}'")
    return steps


def parse_pipeline(text: str) -> list[Step]:
    """The steps of a whole pipeline ``builtin.module(a,b{x=1})``, as given to ``--pass-pipeline``.

    Raises:
        PipelineError: the text is malformed or is not anchored on the module.
    """
    stripped = text.strip()
    anchor = stripped.partition("(")[0].strip()
    if anchor not in ("builtin.module", "any") or not stripped.endswith(")"):
        raise PipelineError(
            f"pipeline '{text}': expected 'builtin.module(...)'; a bare list of passes goes to -p"
        )
    steps = parse_pass_list(stripped)
    if any(not step.anchors or step.anchors[0] != anchor for step in steps):
        raise PipelineError(f"pipeline '{text}': expected one 'builtin.module(...)' around all passes")
    return [Step(step.name, step.options, step.anchors[1:]) for step in steps]


_MAX_NESTING = 32
"""Deeper text is refused: no pipeline needs it, and the reader recurses."""


class _Reader:
    """A cursor over pipeline text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def error(self, message: str) -> PipelineError:
        return PipelineError(f"pipeline: {message}\n  {self.text}\n  {' ' * self.at}^")

    def steps(self, anchors: tuple[str, ...]) -> Iterator[Step]:
        """Passes separated by commas, up to the end or a parenthesis that this level did not open."""
        self._skip_space()
        if self.at == len(self.text) or self.text[self.at] == ")":
            return
        while True:
            yield from self._element(anchors)
            self._skip_space()
            if self.at == len(self.text) or self.text[self.at] != ",":
                return
            self.at += 1

    def _element(self, anchors: tuple[str, ...]) -> Iterator[Step]:
        self._skip_space()
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in ",(){}":
            self.at += 1
        name = self.text[start : self.at].strip()
        if not name or " " in name:
            self.at = start
            raise self.error(
                "expected the name of a pass" if not name else f"'{name}' is not the name of a pass"
            )
        following = self.text[self.at : self.at + 1]
        if following == "(":
            if len(anchors) == _MAX_NESTING:
                raise self.error(f"nested more than {_MAX_NESTING} deep")
            opened = self.at
            self.at += 1
            yield from self.steps((*anchors, name))
            if self.text[self.at : self.at + 1] != ")":
                self.at = opened
                raise self.error("'(' is not closed")
            self.at += 1
            return
        options = self._braces() if following == "{" else ""
        yield Step(name, options, anchors)

    def _braces(self) -> str:
        """The text between balanced braces; quotes hide braces."""
        opened, depth, quote = self.at, 0, ""
        for at in range(opened, len(self.text)):
            character = self.text[at]
            if quote:
                quote = "" if character == quote else quote
            elif character in "'\"":
                quote = character
            elif character == "{":
                depth += 1
            elif character == "}":
                depth -= 1
                if not depth:
                    self.at = at + 1
                    return self.text[opened + 1 : at].strip()
        raise self.error("'{' is not closed")

    def _skip_space(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
