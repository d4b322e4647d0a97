"""The package's own source as data, for the tests about it: files, layers, imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("dialect", "targets", "kernels", "passes", "codegen", "frontends", "runtime", "quantize", "tools")
"""The package's folders, from the bottom up: each may import the ones before it, never one after it."""

BOTTOM = ("errors", "hwcap", "version")
"""Modules beside the folders that everyone may import."""


@dataclass(frozen=True)
class Import:
    """``module`` is dotted and absolute; ``line`` is where it is written."""

    module: str
    line: int


def source_files() -> list[Path]:
    """Every Python file of the package, without tests, examples and benchmarks."""
    inside = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    return [*sorted(ROOT.glob("*.py")), *inside]


def module_name(path: Path) -> str:
    """``dialect/qnn/__init__.py`` -> ``zeropoint.dialect.qnn``."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(["zeropoint", *(parts[:-1] if parts[-1] == "__init__" else parts)])


def imports(path: Path) -> Iterator[Import]:
    """All imports of a file, inside functions too; a name taken from a package counts as its submodule."""
    name = module_name(path)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")
                above = parents[: len(parents) - node.level + 1]
                base = ".".join([*above, *([base] if base else [])])
            for alias in node.names:
                yield Import(f"{base}.{alias.name}", node.lineno)


def layer(module: str) -> str | None:
    """The folder a module of the package lies in; the module's own name for those beside the folders."""
    parts = module.split(".")
    return parts[1] if parts[0] == "zeropoint" and len(parts) > 1 else None
