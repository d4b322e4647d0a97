"""``zeropoint.compile``: its arguments, and the cache of machine code on disk."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zeropoint as zp
from zeropoint.codegen.machine import Machine
from zeropoint.codegen.split import KernelSource
from zeropoint.dialect.context import parse_module
from zeropoint.kernels.launch import Code
from zeropoint.runtime import cache, kernel_objects

TEXT = """
!q = !quant.uniform<i8:f32, 5.0e-01:3>
func.func @main(%x: tensor<4x!q> {qnn.name = "x"}) -> (tensor<4x!q> {qnn.name = "y"}) {
  %0 = "qnn.add"(%x, %x) {clamp = array<f32>} : (tensor<4x!q>, tensor<4x!q>) -> tensor<4x!q>
  return %0 : tensor<4x!q>
}
"""
X = np.array([1, 2, 3, 4], np.int8)
Y = [-1, 1, 3, 5]


@pytest.fixture
def model() -> zp.Model:
    return zp.Model.from_module(parse_module(TEXT), "add.mlir")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(cache.FOLDER_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def run(model: zp.Model, **options: Any) -> list[int]:
    return [int(v) for v in zp.compile(model, **options).run(X)[0]]


def test_path_is_loaded(tmp_path: Path, folder: Path) -> None:
    path = tmp_path / "add.mlir"
    path.write_text(TEXT)
    assert list(zp.compile(path).run(X)[0]) == Y
    assert list(zp.compile(str(path)).run(X)[0]) == Y


@pytest.mark.parametrize("pipeline", ["reference", "optimized"])
def test_pipelines(model: zp.Model, pipeline: str) -> None:
    assert run(model, pipeline=pipeline, cache=False) == Y


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"target": "host2"}, zp.TargetError, "no target 'host2'; did you mean 'host'?"),
        ({"threads": 0}, zp.InputError, "threads: got 0, expected a positive whole number"),
        ({"threads": 1.5}, zp.InputError, "threads: got 1.5"),
        ({"threads": True}, zp.InputError, "threads: got True"),
        (
            {"pipeline": "optimised"},
            zp.PipelineError,
            "unknown pipeline 'optimised'; did you mean 'optimized'?",
        ),
        (
            {"pipeline": "fast"},
            zp.PipelineError,
            "unknown pipeline 'fast', expected reference or optimized",
        ),
    ],
)
def test_wrong_options(
    model: zp.Model, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        zp.compile(model, **options)
    assert message in str(caught.value)


def test_more_threads_give_the_same_numbers(model: zp.Model) -> None:
    assert run(model, threads=4, cache=False) == Y


def test_dynamic_input_needs_a_shape() -> None:
    text = TEXT.replace("4x!q", "?x!q")
    model = zp.Model.from_module(parse_module(text), "add.mlir")
    with pytest.raises(zp.InputError) as caught:
        zp.compile(model)
    assert str(caught.value) == (
        "add.mlir: input 'x' has the dynamic shape [?]; "
        "load the model with shapes={'x': [1]} or other extents"
    )


@pytest.mark.parametrize("model", [None, b"TFL3"])
def test_what_is_neither_path_nor_model(model: Any) -> None:
    with pytest.raises(zp.InputError, match=f"got {type(model).__name__}, expected a path or a Model"):
        zp.compile(model)
    with pytest.raises(zp.InputError, match=f"path: got {type(model).__name__}, expected the path of a file"):
        zp.load(model)


def test_a_directory_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(zp.InputError, match=r"error: is a directory, expected a \.tflite or \.mlir file"):
        zp.compile(tmp_path)


def test_missing_file() -> None:
    with pytest.raises(zp.ImportModelError, match=r"nowhere.tflite: error: cannot be read"):
        zp.compile("nowhere.tflite")


def test_progress_is_logged(model: zp.Model, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "zeropoint"):
        zp.compile(model, cache=False)
    assert "add.mlir: compiled in" in caplog.text


def test_progress_is_told(model: zp.Model, folder: Path) -> None:
    told: list[str] = []
    zp.compile(model, progress=told.append)
    assert told[0] == "choosing kernels"
    assert told[-1].startswith("compiling kernels: ")
    told.clear()
    zp.compile(model, progress=told.append)
    assert told == ["choosing kernels"], "everything is in the cache"


def test_failing_kernel_ends_the_compilation(
    model: zp.Model, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> bytes:
        raise zp.PipelineError("LLVM said no")

    monkeypatch.setattr("zeropoint.runtime.kernel_objects.to_object", fail)
    with pytest.raises(zp.PipelineError, match="LLVM said no"):
        zp.compile(model)
    assert not folder.exists()


def test_second_compilation_takes_the_code_from_disk(
    model: zp.Model, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(model) == Y
    assert len(list(folder.glob("*.o"))) == 3, "the kernel, the driver, the copy"

    def forbidden(*_: Any, **__: Any) -> bytes:
        raise AssertionError("compiled again")

    monkeypatch.setattr("zeropoint.runtime.kernel_objects.to_object", forbidden)
    assert run(model) == Y


def test_cache_can_be_left_out(model: zp.Model, folder: Path) -> None:
    assert run(model, cache=False) == Y
    assert not folder.exists()


def test_damaged_entry_is_compiled_again(
    model: zp.Model, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run(model)
    entries = sorted(folder.glob("*.o"))
    for entry, keep in zip(entries, (10, 100, None), strict=True):
        data = bytearray(entry.read_bytes())
        data[-1] ^= 1
        entry.write_bytes(data[:keep])
    assert run(model) == Y
    assert caplog.text.count("is damaged; it is not used") == 3
    caplog.clear()
    assert run(model) == Y
    assert "damaged" not in caplog.text


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no permission bits")
def test_folder_that_others_may_write_is_not_used(
    model: zp.Model, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder.mkdir()
    folder.chmod(0o777)
    assert run(model) == Y
    assert not list(folder.iterdir())
    assert "others may write to it" in caplog.text


def test_folder_that_cannot_be_made_is_reported(
    model: zp.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(cache.FOLDER_VARIABLE, str(tmp_path / "file" / "cache"))
    assert run(model) == Y
    assert "is not used" in caplog.text


def test_key_depends_on_kernel_and_machine() -> None:
    machine = Machine("x86_64-unknown-linux-gnu", "x86-64", "+avx2")
    other = Machine("x86_64-unknown-linux-gnu", "x86-64", "")

    def key(identity: str, machine: Machine) -> str:
        return kernel_objects.key(kernel_objects.Recipe(identity, lambda: pytest.fail("made")), machine)

    assert len({key("a", machine), key("b", machine), key("a", other)}) == 3
    assert key("a", machine) == key("a", machine)


def test_identity_of_kernels_follows_the_source_that_writes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    code = Code("conv", "avx2", (("rows", 4),))
    source = KernelSource("func.func private @body() { return }", ())
    before = [kernel_objects.identity(kernel) for kernel in (code, source)]
    assert before == [kernel_objects.identity(kernel) for kernel in (code, source)]
    assert len({*before, kernel_objects.identity(Code("conv", "avx2", (("rows", 6),)))}) == 3
    monkeypatch.setattr(kernel_objects, "sources_digest", lambda package: f"edited {package}")
    after = [kernel_objects.identity(kernel) for kernel in (code, source)]
    assert not set(before) & set(after)


def test_entries_in_use_are_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "LIMIT_BYTES", 250)
    for i, name in enumerate(["a", "b"]):
        cache.write({name: b"x" * 80})
        os.utime(folder / f"{name}.o", (i, i))
    assert cache.read(["a"]) == {"a": b"x" * 80}
    cache.write({"c": b"x" * 80})
    assert sorted(path.stem for path in folder.iterdir()) == ["a", "c"]


def test_oldest_entries_are_evicted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "LIMIT_BYTES", 250)
    for i, name in enumerate(["a", "b", "c"]):
        cache.write({name: b"x" * 80})
        os.utime(folder / f"{name}.o", (i, i))
    left = folder / "writer that died.tmp"
    left.write_bytes(b"")
    os.utime(left, (0, 0))
    cache.write({"d": b"x" * 80})
    assert sorted(path.name for path in folder.iterdir()) == ["c.o", "d.o"]


def test_processes_may_write_and_read_at_once(folder: Path) -> None:
    """Every read gives a whole entry or none, whoever writes meanwhile."""
    script = (
        "from zeropoint.runtime import cache\n"
        "for i in range(60):\n"
        "    names = [str((i + j) % 7) for j in range(4)]\n"
        "    cache.write({n: n.encode() * (1000 + i) for n in names})\n"
        "    for n, code in cache.read(names + ['none']).items():\n"
        "        assert set(code) == set(n.encode())\n"
    )
    environment = {**os.environ, cache.FOLDER_VARIABLE: str(folder)}
    racers = [
        subprocess.Popen([sys.executable, "-c", script], env=environment, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for racer in racers:
        _, errors = racer.communicate(timeout=100)
        assert racer.returncode == 0, errors
        assert not errors, "no entry was found damaged"


def test_folder_follows_the_platform(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(cache.FOLDER_VARIABLE, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.folder() == tmp_path / "zeropoint"


def test_import_is_lazy() -> None:
    """``import zeropoint`` loads neither the bindings nor numpy; the names are there all the same."""
    script = (
        "import sys, zeropoint as zp; "
        "assert not {'torch_mlir', 'mlir', 'llvmlite', 'numpy'} & set(sys.modules), 'heavy import'; "
        "assert {'load', 'compile', 'Model'} <= set(dir(zp)); zp.InputError; zp.compile"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_unknown_name_of_the_package() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = zp.nothing


def test_every_public_name_exists() -> None:
    for name in zp.__all__:
        assert getattr(zp, name) is not None
