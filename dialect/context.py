"""MLIR contexts that know our dialects, and modules parsed in them. One context per model."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import PipelineError
from .constants import remember_resources
from .mlir import MLIRError, ir

_FILE_POSITION = re.compile(r'^loc\("((?:[^"\\]|\\.)*)":(\d+):(\d+)\)$')


def new_context() -> Any:
    """A fresh context with the qnn dialect loaded.

    Multithreading is off: op verifiers and passes written in Python would wait for the interpreter lock that
    the thread running the pass manager holds.
    """
    from .qnn import QNN

    context = ir.Context()
    context.enable_multithreading(False)
    with context, ir.Location.unknown():
        QNN.load()
    return context


def parse_module(text: str, context: Any | None = None, name: str = "<text>") -> Any:
    """Parse and verify the text of a module; its locations carry no file name.

    Raises:
        PipelineError: the text does not parse or does not verify; the message has ``name``, line and column.
    """
    return _parse(ir.Module.parse, text, text, context or new_context(), name)


def parse_file(path: str | Path, context: Any | None = None) -> Any:
    """:func:`parse_module` of a file; locations carry its name. Raises ``OSError`` if it cannot be read."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise PipelineError(f"{path}: error: not a text file in UTF-8") from error
    return _parse(ir.Module.parseFile, str(path), text, context or new_context(), str(path))


def _parse(parse: Callable[[str], Any], source: str, text: str, context: Any, name: str) -> Any:
    with context:
        remember_resources(text, context)
        try:
            return parse(source)
        except MLIRError as error:
            raise PipelineError(diagnostics_text(error, name)) from error


def diagnostics_text(error: Any, name: str) -> str:
    """The diagnostics of an ``MLIRError``, one per line as ``file:line:column: error: message``.

    ``name`` stands for a file that MLIR does not know (text that was parsed from memory).
    """
    lines = []
    for diagnostic in error.error_diagnostics:
        lines.append(f"{_position(diagnostic.location, name)}: error: {diagnostic.message}")
        lines.extend(f"{_position(note.location, name)}: note: {note.message}" for note in diagnostic.notes)
    return "\n".join(lines) or f"{name}: error: {error}"


def _position(location: Any, name: str) -> str:
    found = _FILE_POSITION.match(str(location))
    if found is None:
        return name
    return f"{name if found[1] == '-' else found[1]}:{found[2]}:{found[3]}"
