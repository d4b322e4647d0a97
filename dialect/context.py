"""MLIR contexts that know our dialects, and modules parsed in them. One context per model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import PipelineError
from .constants import remember_resources
from .mlir import MLIRError, ir


def new_context() -> Any:
    """A fresh context with the qnn dialect loaded.

    Multithreading is off: op verifiers and passes written in Python would wait for the interpreter lock that the
    thread running the pass manager holds.
    """
    from .qnn import QNN

    context = ir.Context()
    context.enable_multithreading(False)
    with context, ir.Location.unknown():
        QNN.load()
    return context


def parse_module(text: str, context: Any | None = None, name: str = "<text>") -> Any:
    """Parse and verify the text of a module.

    Raises:
        PipelineError: the text does not parse or does not verify; the message has line and column.
    """
    context = context or new_context()
    with context:
        try:
            module = ir.Module.parse(text)
        except MLIRError as error:
            raise PipelineError(f"{name}: {error}") from error
        remember_resources(text)
    return module


def parse_file(path: str | Path, context: Any | None = None) -> Any:
    """:func:`parse_module` of a file."""
    path = Path(path)
    return parse_module(path.read_text(encoding="utf-8"), context, str(path))
