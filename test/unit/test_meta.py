"""Tests about the tests and about the source: what every op, pass, lit file and import must have."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from source_tree import BOTTOM, PACKAGES, ROOT, imports, layer, module_name, source_files
from zeropoint.dialect import qnn
from zeropoint.dialect.meaning import MEANINGS
from zeropoint.passes import PASS_NAMES, registry
from zeropoint.passes.convert_qnn_to_linalg import LOWERINGS
from zeropoint.passes.pipeline_text import parse_pass_list
from zeropoint.passes.pipelines import PIPELINES

TEST = ROOT / "test"
LIT_FILES = [
    path
    for path in sorted([*TEST.rglob("*.mlir"), *TEST.rglob("*.test")])
    if not {"Output", "Inputs", "data"} & set(path.relative_to(TEST).parts)
]
SOURCES = source_files()
DIALECT_FILES = [path for path in LIT_FILES if path.parent.name == "dialect"]
_RUN = re.compile(r"^\W*RUN:(.*)$", re.MULTILINE)
_PREFIX = re.compile(r"--check-prefix[= ]([\w-]+)")
_SUFFIX = "(-NEXT|-SAME|-NOT|-LABEL|-DAG|-EMPTY|-COUNT-[0-9]+)?"


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def has_directive(text: str, prefix: str) -> bool:
    return re.search(rf"^\W*{prefix}{_SUFFIX}:", text, re.MULTILINE) is not None


@pytest.mark.parametrize("path", LIT_FILES, ids=relative)
def test_lit_file_checks_something(path: Path) -> None:
    """CHECK lines go to filecheck, each prefix it names has lines, expected diagnostics are verified."""
    text = path.read_text(encoding="utf-8")
    runs = _RUN.findall(text)
    assert runs, "no RUN line"
    filechecks = [run for run in runs if "filecheck" in run]
    if has_directive(text, "CHECK"):
        plain = [run for run in filechecks if not _PREFIX.search(run)]
        assert plain, "CHECK lines, but no RUN line pipes to %filecheck without a prefix"
    for run in filechecks:
        prefix = _PREFIX.search(run)
        assert has_directive(text, prefix[1] if prefix else "CHECK"), f"no lines for: {run.strip()}"
        assert "%filecheck" in run, (
            f"use %filecheck, plain filecheck lets undefined variables pass: {run.strip()}"
        )
    if re.search(r"//.*expected-(error|warning|note|remark)", text):
        assert any("--verify-diagnostics" in run for run in runs), "expected-... comments nobody verifies"
    assert filechecks or any("--verify-diagnostics" in run or "diff" in run for run in runs), "checks nothing"


@pytest.mark.parametrize("name", PASS_NAMES)
def test_pass_is_named_by_convention_and_tested(name: str) -> None:
    cls = registry.lookup(name)
    assert cls is not None
    assert cls.__name__ == "".join(part.capitalize() for part in name.split("-")) + "Pass"
    assert cls.__module__.startswith(f"zeropoint.passes.{name.replace('-', '_')}")
    assert cls.summary(), "a pass needs a docstring: --list-passes prints its first line"
    alone, folder = TEST / "passes" / f"{name}.mlir", TEST / "passes" / name
    lit_files = [alone] if alone.is_file() else sorted(folder.glob("*.mlir"))
    assert lit_files, f"{relative(alone)} is missing, and so is a folder of that name"
    for lit_file in lit_files:
        runs = "".join(_RUN.findall(lit_file.read_text(encoding="utf-8")))
        assert re.search(rf"(?<![\w-]){name}(?![\w-])", runs), f"{relative(lit_file)} does not run the pass"


def test_pass_names_are_sorted() -> None:
    assert list(PASS_NAMES) == sorted(set(PASS_NAMES))


def test_pass_files_are_listed() -> None:
    """A file that registers a pass is in PASS_NAMES."""
    unlisted = [
        path.stem
        for path in sorted((ROOT / "passes").glob("*.py"))
        if re.search(r"^@(registry\.)?register$", path.read_text(encoding="utf-8"), re.MULTILINE)
        and path.stem.replace("_", "-") not in PASS_NAMES
    ]
    assert not unlisted


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_pipeline_steps_exist_and_levels_are_in_order(pipeline: str) -> None:
    from zeropoint.dialect.context import new_context
    from zeropoint.passes.pass_manager import build_pass_manager

    stages = PIPELINES[pipeline]
    assert [stage.level for stage in stages] == ["qnn", "legalized", "formed", "linalg", "kernels", "llvm"]
    text = ",".join(p for stage in stages for p in (*stage.for_target, *stage.passes))
    build_pass_manager(parse_pass_list(text), new_context())


@pytest.mark.parametrize("op", qnn.OPS)
def test_op_has_round_trip_and_invalid_lit_files(op: str) -> None:
    mention = f'"qnn.{op}"('
    files = {path.name: path.read_text(encoding="utf-8") for path in DIALECT_FILES}
    assert any(mention in text for name, text in files.items() if "invalid" not in name), "no round trip"
    invalid = [text for name, text in files.items() if name.endswith("-invalid.mlir") and mention in text]
    assert any("expected-error" in text for text in invalid), "no test/dialect/*-invalid.mlir has it"


def test_every_op_has_a_meaning_and_a_lowering() -> None:
    assert set(MEANINGS) == set(qnn.OPS)
    assert {*LOWERINGS, "constant"} == set(qnn.OPS)  # constants are materialized on demand


@pytest.mark.parametrize("op", qnn.OPS)
def test_op_has_a_docstring(op: str) -> None:
    assert (qnn.OPS[op].__doc__ or "").strip()


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_imports_go_one_way(path: Path) -> None:
    own = layer(module_name(path))
    if own is None or own not in PACKAGES:
        return  # the public API beside the folders hands everything out
    allowed = {*PACKAGES[: PACKAGES.index(own) + 1], *BOTTOM}
    for imported in imports(path):
        target = layer(imported.module)
        if imported.module.split(".")[0] == "zeropoint":
            assert target in allowed, (
                f"{relative(path)}:{imported.line}: {own} may not import {imported.module}"
            )


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_imports_inside_the_package_are_relative(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        absolute = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            absolute = [node.module or ""]
        assert not [name for name in absolute if name.split(".")[0] == "zeropoint"], f"line {node.lineno}"  # type: ignore[attr-defined]


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_only_the_shim_imports_the_bindings(path: Path) -> None:
    if path == ROOT / "dialect" / "mlir.py":
        return
    for imported in imports(path):
        assert imported.module.split(".")[0] not in ("mlir", "torch_mlir"), f"line {imported.line}"
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert not node.value.startswith("torch_mlir."), f"line {node.lineno}: import by name"


def test_bottom_modules_import_nothing_of_ours() -> None:
    for name in BOTTOM:
        assert not [i for i in imports(ROOT / f"{name}.py") if i.module.startswith("zeropoint")]


def test_public_api_is_short() -> None:
    assert len((ROOT / "__init__.py").read_text(encoding="utf-8").splitlines()) < 80


def test_every_package_folder_is_listed_for_installation() -> None:
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 cannot read TOML")
    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    folders = {module_name(path) for path in SOURCES if path.name == "__init__.py"}
    assert listed == folders


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_source_is_within_the_package_list_of_layers(path: Path) -> None:
    """A new folder beside the others must be given its place in the order of imports."""
    own = layer(module_name(path))
    assert own in (None, *PACKAGES, *BOTTOM)


def test_every_flag_of_qopt_is_documented() -> None:
    from zeropoint.tools.qopt_arguments import build_parser

    page = (ROOT / "docs" / "qopt.md").read_text(encoding="utf-8")
    flags = {flag for action in build_parser()._actions for flag in action.option_strings}
    assert not sorted(flag for flag in flags if not re.search(rf"(?<![\w-]){flag}(?![\w-])", page))
