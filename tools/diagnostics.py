"""MLIR's diagnostics as text: ``file:line:col: error: message``, the source line, a caret; notes likewise."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from ..dialect.places import TEXT_BUFFER, Place, place_of
from ..errors import ZeropointError

CURRENT_OPERATION = "see current operation: "
"""How the note starts that MLIR adds to errors of ops."""
_SHOWN_CHARACTERS = 400
_HAS_PLACE = re.compile(r"[^\n]*?: error: ")


@dataclass(frozen=True)
class Finding:
    """A diagnostic as plain data (MLIR's own object dies with its handler)."""

    severity: str
    message: str
    place: Place = field(default_factory=Place)
    notes: tuple[Finding, ...] = ()


class Source:
    """The input, by the name shown to the user. ``text`` is None for a model, whose lines are operators."""

    def __init__(self, name: str, text: str | None) -> None:
        self.name = name
        self.is_model = text is None
        self.lines = [] if text is None else text.split("\n")

    def shown(self, finding: Finding) -> str:
        """A finding and its notes as the lines to print, without a final newline."""
        return "\n".join([self._one(finding), *(self.shown(note) for note in finding.notes)])

    def _one(self, finding: Finding) -> str:
        place, message = finding.place, _shortened(finding.message)
        if place.file is None:
            return f"{self.name}: {finding.severity}: {_named(place)}{message}"
        if self.is_model or place.file.endswith(".tflite"):
            operator = "" if place.name is None else f"op {place.line}, output '{place.name}': "
            return f"{place.file}: {finding.severity}: {operator}{message}"
        head = f"{place.file}:{place.line}:{place.column}: {finding.severity}: {_named(place)}{message}"
        if message.startswith(CURRENT_OPERATION) or place.file != self.name:
            return head
        return "\n".join([head, *self._excerpt(place)])

    def _excerpt(self, place: Place) -> list[str]:
        """The source line and a caret under its column (MLIR counts bytes)."""
        if not 0 < place.line <= len(self.lines):
            return []
        line = self.lines[place.line - 1].rstrip("\r")
        before = line.encode()[: max(0, place.column - 1)].decode(errors="ignore")
        return [line, "".join("\t" if c == "\t" else " " for c in before) + "^"]


def finding_of(diagnostic: Any, source_name: str) -> Finding:
    """A diagnostic of MLIR as plain data, ``source_name`` in place of the buffer's name."""
    place = place_of(diagnostic.location)
    if place.file == TEXT_BUFFER:
        place = replace(place, file=source_name) if place.line else Place(name=place.name)
    notes = tuple(finding_of(note, source_name) for note in diagnostic.notes)
    return Finding(diagnostic.severity.name.lower(), diagnostic.message, place, notes)


class Collector:
    """Receives all diagnostics of a context; use as a context manager."""

    def __init__(self, context: Any, source_name: str, report: Callable[[Finding], None]) -> None:
        self._context, self._source_name, self._report = context, source_name, report
        self.errors = 0

    def __enter__(self) -> Collector:
        self._context.emit_error_diagnostics = True  # else errors go only into exceptions
        self._handler = self._context.attach_diagnostic_handler(self._receive)
        return self

    def __exit__(self, *exception: object) -> None:
        self._handler.detach()

    def _receive(self, diagnostic: Any) -> bool:
        self.add(finding_of(diagnostic, self._source_name))
        return True

    def add(self, finding: Finding) -> None:
        """Report a finding that did not come from MLIR."""
        self.errors += finding.severity == "error"
        self._report(finding)


def error_block(error: ZeropointError, tool: str) -> str:
    """An error of ours as one block; a message that says where (``file: error: ...``) stays as it is."""
    message = str(error)
    return message if _HAS_PLACE.match(message) else f"{tool}: error: {message}"


def _named(place: Place) -> str:
    return "" if place.name is None else f"'{place.name}': "


def _shortened(message: str) -> str:
    """A note that prints an operation can be megabytes long: only the first line is shown, up to a limit."""
    if not message.startswith(CURRENT_OPERATION):
        return message
    operation = message.removeprefix(CURRENT_OPERATION).strip()
    line = operation.partition("\n")[0][:_SHOWN_CHARACTERS]
    return f"{CURRENT_OPERATION}{line}{'' if line == operation else ' ...'}"
