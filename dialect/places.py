"""Where an op came from: MLIR's locations as plain data, and in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from .mlir import ir

TEXT_BUFFER = "-"
"""The file name MLIR gives to what it parses from memory."""


@dataclass(frozen=True)
class Place:
    """Where a diagnostic points: line and column from 1, 0 if unknown; ``name`` is the tensor's, if any."""

    file: str | None = None
    line: int = 0
    column: int = 0
    name: str | None = None


def place_of(location: Any) -> Place:
    """The first file position inside a location, and the name nearest to it on the way."""
    if isinstance(location, ir.FileLineColLoc):
        return Place(location.filename, location.start_line, location.start_col)
    if isinstance(location, ir.NameLoc):
        child = place_of(location.child_loc)
        return child if child.name is not None else replace(child, name=location.name_str)
    if isinstance(location, ir.CallSiteLoc):
        return place_of(location.callee)
    if isinstance(location, ir.FusedLoc):
        places = [place_of(part) for part in location.locations]
        return next((place for place in places if place.file is not None), places[0] if places else Place())
    return Place()


def place_text(location: Any) -> str:
    """``op 30, output 'x'`` of a model file; ``file:line:column``, with the tensor's name if there is one."""
    place = place_of(location)
    name = "" if place.name is None else f"'{place.name}'"
    if place.file is None:
        return name or "an unknown place"
    if name and place.column == 0:  # the importer's: lines are operators, which have no columns
        return f"op {place.line}, output {name}"
    if place.file == TEXT_BUFFER:
        text = f"line {place.line}, column {place.column}"
    else:
        text = f"{place.file}:{place.line}:{place.column}"
    return f"{text} ({name})" if name else text
