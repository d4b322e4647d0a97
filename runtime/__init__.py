"""Compiled networks at run time: compiling, running, and LiteRT's interpreter calls on top."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .compiler import compile
    from .executable import BoundStep, Executable

__all__ = ["BoundStep", "Executable", "compile"]

# Imported on first use: a saved executable runs without the compiler.
_HOMES = {"BoundStep": "executable", "Executable": "executable", "compile": "compiler"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value
