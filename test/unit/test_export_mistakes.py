"""What goes wrong around ``zp.export`` and saved executables: names that C's macros have, outputs that are no
files, a model that would be written over, arguments of a wrong type.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import zeropoint as zp
from c_program import WARNINGS, build
from zeropoint.codegen.ahead.names import field_name
from zeropoint.dialect.context import parse_module
from zeropoint.tools.cli import main
from zeropoint.tools.demo import NETWORK

MACROS = ["NET_INPUTS", "NET_H", "NET_INPUT_LINUX", "linux", "unix", "NULL", "I", "EOF", "INT8_MAX", "errno"]
MACROS += ["complex", "stdin", "INT"]
NOWHERE = ["", ".", "..", "/", "a\0b"]


def model_with_inputs(names: list[str]) -> zp.Model:
    arguments = ", ".join(f'%a{i}: tensor<2xf32> {{qnn.name = "{name}"}}' for i, name in enumerate(names))
    return zp.Model.from_module(
        parse_module(f"""
          func.func @main({arguments}) -> (tensor<2xf32> {{qnn.name = "NET_OK"}}) {{
            %0 = "qnn.add"(%a0, %a1) {{clamp = array<f32>}}
                : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
            return %0 : tensor<2xf32>
          }}"""),
        "net",
    )


@pytest.mark.parametrize(
    ("compiler", "language"), [("cc", "c99"), ("cc", "gnu11"), ("c++", "c++11"), ("c++", "gnu++20")]
)
def test_fields_are_not_the_names_of_macros(compiler: str, language: str, tmp_path: Path) -> None:
    """Neither of the header's own, nor of what is included before it, nor of a compiler's."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    header = zp.export(model_with_inputs(MACROS), pipeline="reference").header
    (tmp_path / "net.h").write_text(header)
    source = tmp_path / ("main.cpp" if "++" in language else "main.c")
    included = ["errno", "limits", "stdio", *(["complex"] if compiler == "cc" else [])]
    lines = [*(f"#include <{name}.h>" for name in included), '#include "net.h"']
    source.write_text("\n".join([*lines, "int main(void) { return NET_INPUT_LINUX_; }", ""]))
    build([compiler, *WARNINGS, f"-std={language}", "-fsyntax-only", str(source)])


def test_names_of_fields() -> None:
    given = ["IMAGE", "image", "I", "NULL", "INT", "X_2", "Ab", "linux", "1", "€"]
    names = ["image", "image", "i", "null", "int_", "x_2", "Ab", "linux_", "in_1", "in"]
    assert [field_name(name, "in") for name in given] == names


@pytest.mark.parametrize("output", [*NOWHERE, 3, b"net.o"])
def test_outputs_that_are_no_files(output: Any) -> None:
    with pytest.raises(zp.InputError, match=r"output: got .*, expected (the path of a file|a file's name)"):
        zp.export(NETWORK, pipeline="reference", output=output)


@pytest.mark.parametrize(("model", "output"), [("net.bin", "net.bin"), ("net.h", "net.o")])
def test_the_model_is_not_written_over(model: str, output: str, tmp_path: Path) -> None:
    """By the object, or by the header beside it; also under another name."""
    path = tmp_path / model
    shutil.copyfile(NETWORK, path)
    before = path.read_bytes()
    with pytest.raises(zp.InputError, match="would be written over the model; take another name"):
        zp.export(path, pipeline="reference", output=tmp_path / output)
    link = tmp_path / "linked.o"
    link.symlink_to(path)
    assert main(["compile", str(path), "-o", str(link)]) == 1
    assert path.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == sorted([path, link])


def test_a_model_that_is_not_there_and_an_output_that_is(tmp_path: Path) -> None:
    (tmp_path / "net.o").write_bytes(b"old")
    with pytest.raises(zp.ImportModelError, match="No such file"):
        zp.export(tmp_path / "none.tflite", output=tmp_path / "net.o")
    assert (tmp_path / "net.o").read_bytes() == b"old"


def test_files_that_are_there_are_replaced(tmp_path: Path) -> None:
    for name in ("net.o", "net.h"):
        (tmp_path / name).write_bytes(b"old" * 100_000)
    exported = zp.export(NETWORK, "thumbv7em", pipeline="reference", output=tmp_path / "net.o")
    assert (tmp_path / "net.o").read_bytes() == exported.data
    assert (tmp_path / "net.h").read_text() == exported.header


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"kind": ["object"]}, zp.InputError, r"kind: got \['object'\]"),
        ({"name": 3}, zp.InputError, "name: got int, expected a name"),
        ({"name": "x\n"}, zp.InputError, r"name: got 'x\\n', .* for example 'x'"),
        ({"target": None}, zp.TargetError, "target: got NoneType, expected a name or the path of a file"),
    ],
)
def test_arguments_of_a_wrong_type(arguments: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        zp.export(NETWORK, **arguments)


@pytest.mark.parametrize("path", NOWHERE)
def test_saved_executables_that_are_no_files(path: str) -> None:
    executable = zp.compile(NETWORK, pipeline="reference")
    with pytest.raises(zp.ZeropointError, match=r"expected the path of a file|cannot be written"):
        executable.save(path)
    with pytest.raises(zp.ZeropointError, match=r"expected the path of a file|cannot be read"):
        zp.load_executable(path)
