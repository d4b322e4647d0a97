"""Builtin operator name -> the function that imports it. The family modules fill the table when they are
imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .operator_import import OperatorImport

Importer = Callable[["OperatorImport"], None]

IMPORTERS: dict[str, Importer] = {}


def importer(*names: str) -> Callable[[Importer], Importer]:
    """Register a function for these builtin operators."""

    def register(function: Importer) -> Importer:
        for name in names:
            assert name not in IMPORTERS, f"two importers for {name}"
            IMPORTERS[name] = function
        return function

    return register
