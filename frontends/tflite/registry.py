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

CUSTOM_IMPORTERS: dict[str, Importer] = {}
"""The same by the name of a custom operator: names that anyone may choose, so a table of their own."""


def importer(*names: str) -> Callable[[Importer], Importer]:
    """Register a function for these builtin operators."""

    def register(function: Importer) -> Importer:
        for name in names:
            assert name not in IMPORTERS, f"two importers for {name}"
            IMPORTERS[name] = function
        return function

    return register


def custom_importer(name: str) -> Callable[[Importer], Importer]:
    """Register a function for a custom operator."""

    def register(function: Importer) -> Importer:
        assert name not in CUSTOM_IMPORTERS, f"two importers for {name}"
        CUSTOM_IMPORTERS[name] = function
        return function

    return register
