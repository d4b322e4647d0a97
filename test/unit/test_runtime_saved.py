"""Saved executables: the same results from a file, without the compiler; and files that are refused."""

from __future__ import annotations

import hashlib
import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zeropoint as zp
from zeropoint.codegen import cpu, jit, loader
from zeropoint.codegen.machine import host
from zeropoint.dialect.context import parse_module
from zeropoint.runtime import saved
from zeropoint.runtime.compiler import compile_ahead

NETWORK = """
!x = !quant.uniform<i8:f32, 5.0e-01:3>
!w = !quant.uniform<i8:f32:0, {2.5e-01, 1.25e-01, 1.0e-01, 2.0e-01}>
!y = !quant.uniform<i8:f32, 4.0>
func.func @main(
    %image: tensor<1x60x60x8x!x> {qnn.name = "image"}, %unread: tensor<3xf32> {qnn.name = "unread"})
    -> (tensor<1x60x60x4x!y> {qnn.name = "conv"}, tensor<1x30x30x4xf32> {qnn.name = "real"}) {
  %w = "qnn.constant"() {value = dense<2> : tensor<4x3x3x8xi8>} : () -> tensor<4x3x3x8x!w>
  %conv = "qnn.conv2d"(%image, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
      groups = 1 : i64, padding = array<i64: 1, 1, 1, 1>, clamp = array<f32>,
      operandSegmentSizes = array<i32: 1, 1, 0>}
      : (tensor<1x60x60x8x!x>, tensor<4x3x3x8x!w>) -> tensor<1x60x60x4x!y> loc("conv")
  %pooled = "qnn.max_pool2d"(%conv) {window = array<i64: 2, 2>, strides = array<i64: 2, 2>,
      padding = array<i64: 0, 0, 0, 0>, clamp = array<f32>}
      : (tensor<1x60x60x4x!y>) -> tensor<1x30x30x4x!y> loc("pooled")
  %real = "qnn.dequantize"(%pooled) : (tensor<1x30x30x4x!y>) -> tensor<1x30x30x4xf32> loc("real")
  return %conv, %real : tensor<1x60x60x4x!y>, tensor<1x30x30x4xf32>
}
"""


@pytest.fixture(scope="module")
def model() -> zp.Model:
    return zp.Model.from_module(parse_module(NETWORK), "network.mlir")


@pytest.fixture(scope="module")
def executable(model: zp.Model) -> zp.Executable:
    return zp.compile(model, threads=2)


@pytest.fixture(scope="module")
def path(executable: zp.Executable, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "network.zpx"
    executable.save(path)
    return path


def random_inputs() -> list[Any]:
    rng = np.random.default_rng(0)
    return [rng.integers(-128, 128, (1, 60, 60, 8), np.int8), np.zeros(3, np.float32)]


def assert_same(left: list[Any], right: list[Any]) -> None:
    assert len(left) == len(right)
    for a, b in zip(left, right, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("threads", [None, 1, 3])
def test_results_are_the_same(executable: zp.Executable, path: Path, threads: int | None) -> None:
    loaded = zp.load_executable(path, threads=threads)
    assert loaded.threads == (threads or 2)
    assert_same(loaded.run(*random_inputs()), executable.run(*random_inputs()))
    assert_same(loaded.run({"image": random_inputs()[0]}), executable.run(*random_inputs()))
    assert_same(loaded.bind(*random_inputs())(), executable.run(*random_inputs()))


def test_everything_is_described_as_before(executable: zp.Executable, path: Path) -> None:
    loaded = zp.load_executable(str(path))
    assert (loaded.name, loaded.inputs, loaded.outputs) == (
        executable.name,
        executable.inputs,
        executable.outputs,
    )
    assert (loaded.arena_bytes, loaded.constant_bytes) == (executable.arena_bytes, executable.constant_bytes)
    assert loaded._program == executable._program
    assert repr(loaded) == repr(executable)


def test_intermediates_are_kept(model: zp.Model, tmp_path: Path) -> None:
    executable = zp.compile(model, keep_intermediates=True)
    executable.save(tmp_path / "all.zpx")
    loaded = zp.load_executable(tmp_path / "all.zpx")
    for each in (executable, loaded):
        each.run(*random_inputs())
    kept = loaded.intermediates()
    assert set(kept) == {"conv", "pooled", "real"}
    for name, value in executable.intermediates().items():
        np.testing.assert_array_equal(kept[name], value)


def test_a_loaded_executable_is_saved_again(executable: zp.Executable, path: Path, tmp_path: Path) -> None:
    zp.load_executable(path).save(tmp_path / "again.zpx")
    assert (tmp_path / "again.zpx").read_bytes() == path.read_bytes()


def test_loading_needs_no_compiler(path: Path, executable: zp.Executable, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", random_inputs()[0])
    script = (
        "import sys, numpy as np, zeropoint as zp\n"
        "exe = zp.load_executable(sys.argv[1])\n"
        "np.save(sys.argv[3], exe.run({'image': np.load(sys.argv[2])})[0])\n"
        "heavy = {'torch_mlir', 'mlir', 'llvmlite', 'msgspec', 'rich', 'flatbuffers', 'tflite', 'difflib',\n"
        "         'zeropoint.frontends', 'zeropoint.passes', 'zeropoint.targets'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    arguments = [str(path), str(tmp_path / "x.npy"), str(tmp_path / "y.npy")]
    subprocess.run([sys.executable, "-c", script, *arguments], check=True, timeout=60)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), executable.run(*random_inputs())[0])


def test_constants_are_mapped_from_the_file(path: Path) -> None:
    constants = zp.load_executable(path)._constants
    assert constants.ctypes.data % 4096 == 0
    assert not constants.flags.writeable
    if Path("/proc/self/maps").exists():
        lines = Path("/proc/self/maps").read_text().splitlines()
        assert any(line.split()[1] == "r--s" and line.endswith(str(path)) for line in lines)


def test_a_file_that_is_cut_short_is_refused(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    short = tmp_path / "short.zpx"
    for size in [0, 1, 15, 16, 40, 87, 88, 200, 5000, len(data) // 2, len(data) - 1]:
        short.write_bytes(data[:size])
        with pytest.raises(zp.ImportModelError, match=r"short\.zpx: error: "):
            zp.load_executable(short)
    short.write_bytes(data + b"x")
    with pytest.raises(zp.ImportModelError, match="bytes, which are not those it was saved with"):
        zp.load_executable(short)


def test_any_damaged_byte_is_noticed(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    damaged = tmp_path / "damaged.zpx"
    for place in [0, 14, 16, 20, 25, 33, 41, 49, 60, 90, 1000, 20000, len(data) - 200, len(data) - 1]:
        damaged.write_bytes(data[:place] + bytes([data[place] ^ 16]) + data[place + 1 :])
        with pytest.raises(zp.ImportModelError, match=r"damaged\.zpx: error: "):
            zp.load_executable(damaged)


def test_what_is_no_saved_executable(tmp_path: Path) -> None:
    other = tmp_path / "other.zpx"
    other.write_bytes(b"TFL3" * 100)
    with pytest.raises(zp.ImportModelError, match=r"is no executable that Executable\.save wrote"):
        zp.load_executable(other)
    with pytest.raises(zp.ImportModelError, match=r"nowhere\.zpx: error: cannot be read: No such file"):
        zp.load_executable(tmp_path / "nowhere.zpx")
    with pytest.raises(zp.ImportModelError, match="cannot be read"):
        zp.load_executable(tmp_path)
    with pytest.raises(zp.InputError, match="path: got int, expected the path of a file"):
        zp.load_executable(3)  # type: ignore[arg-type]
    with pytest.raises(zp.InputError, match="threads: got 0, expected a positive whole number"):
        zp.load_executable(other, threads=0)


def changed(
    path: Path, target: Path, change: Callable[[dict[str, Any]], None], version: int = saved.VERSION
) -> Path:
    """``path`` with another header, and a checksum that fits."""
    data = path.read_bytes()
    _, _, _, header, code, start, constants, _ = saved._PREFIX.unpack_from(data)
    fields = json.loads(data[saved._PREFIX.size : saved._PREFIX.size + header])
    change(fields)
    text = json.dumps(fields).encode()
    body = text + data[saved._PREFIX.size + header : saved._PREFIX.size + header + code]
    new_start = -(-(saved._PREFIX.size + len(body)) // saved.PAGE) * saved.PAGE
    body += bytes(new_start - saved._PREFIX.size - len(body)) + data[start:]
    numbers = (saved.MAGIC, version, 0, len(text), code, new_start, constants)
    digest = hashlib.sha256(saved._PREFIX.pack(*numbers, b"") + body).digest()
    target.write_bytes(saved._PREFIX.pack(*numbers, digest) + body)
    return target


def put(value: Any, *keys: Any) -> Callable[[dict[str, Any]], None]:
    def change(fields: Any) -> None:
        for key in keys[:-1]:
            fields = fields[key]
        fields[keys[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put(5, "name"), "the header is damaged: Expected `str`, got `int` - at `\\$.name`"),
        (put([], "inputs"), "a number in it is out of range"),
        (put(7, "program", "outputs"), "a number in it is out of range"),
        (put(-1, "program", "arena_bytes"), "a number in it is out of range"),
        (
            put([{"base": "input", "index": 9, "offset": 0}], "program", "steps", 0, "arguments"),
            "out of range",
        ),
        (
            put([{"base": "heap", "index": 0, "offset": 0}], "program", "steps", 0, "arguments"),
            "damaged: Invalid",
        ),
        (put([[1 << 40, "expf"]], "image", "imports"), "a number in it is out of range"),
        (put([[-8, 0]], "image", "absolute"), "a number in it is out of range"),
        (put(1 << 40, "image", "code_bytes"), "a number in it is out of range"),
        (put(0, "threads"), "a number in it is out of range"),
        (put(1 << 70, "program", "arena_bytes"), "damaged"),
        (put("x", "more"), "damaged: Object contains unknown field"),
    ],
)
def test_headers_that_make_no_sense(
    path: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None], message: str
) -> None:
    with pytest.raises(zp.ImportModelError, match=message):
        zp.load_executable(changed(path, tmp_path / "odd.zpx", change))


def test_unchanged_copy_is_read(path: Path, tmp_path: Path, executable: zp.Executable) -> None:
    loaded = zp.load_executable(changed(path, tmp_path / "same.zpx", lambda fields: None))
    assert_same(loaded.run(*random_inputs()), executable.run(*random_inputs()))


def test_missing_function_of_the_system(path: Path, tmp_path: Path) -> None:
    odd = changed(path, tmp_path / "odd.zpx", put([[8, "no_such_function"]], "image", "imports"))
    with pytest.raises(zp.PipelineError, match="calls 'no_such_function', which this process does not have"):
        zp.load_executable(odd)


def test_another_version(path: Path, tmp_path: Path) -> None:
    with pytest.raises(zp.ImportModelError, match=r"format version 9, expected 2; compile the model again"):
        zp.load_executable(changed(path, tmp_path / "new.zpx", lambda fields: None, version=9))


def test_another_system_or_cpu(path: Path, tmp_path: Path) -> None:
    other = changed(path, tmp_path / "other.zpx", put("plan9 pdp11", "system"))
    with pytest.raises(zp.TargetError, match=r"is for plan9 pdp11, this is .*; compile the model here"):
        zp.load_executable(other)
    other = changed(path, tmp_path / "other.zpx", put(["avx9", min(cpu.here())], "instructions"))
    with pytest.raises(zp.TargetError, match=r"uses instructions that this CPU lacks \(avx9\)"):
        zp.load_executable(other)


def test_features_that_linux_names() -> None:
    intel = "processor\t: 0\nflags\t\t: fpu sse2 pni sse4_2 avx512f avx512_vnni ht amx_tile abm\nbugs\t: x\n"
    assert cpu.features_in(intel) == {
        "sse2",
        "sse3",
        "sse4.2",
        "crc32",
        "avx512f",
        "avx512vnni",
        "amx-tile",
        "lzcnt",
    }
    arm = "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd evtstrm aes asimddp cpuid i8mm\n"
    assert cpu.features_in(arm) == {"fp-armv8", "neon", "aes", "dotprod", "i8mm"}
    assert cpu.features_in("") == frozenset()


def test_llvm_and_the_system_name_the_same_features() -> None:
    """Else a file could not be loaded where it was made."""
    found = cpu.instructions(host().features.split(","))
    assert found <= cpu.here()
    assert found


def test_a_network_is_saved_for_this_machine_without_loading_it(
    model: zp.Model, executable: zp.Executable, path: Path, tmp_path: Path
) -> None:
    compile_ahead(model, "host", threads=2).save(tmp_path / "ahead.zpx")
    assert (tmp_path / "ahead.zpx").read_bytes() == path.read_bytes()


def test_a_network_is_saved_for_another_machine(model: zp.Model, tmp_path: Path) -> None:
    foreign = "x86-64" if cpu.architecture() == "aarch64" else "aarch64-i8mm"
    there = {"x86-64": "linux x86_64", "aarch64-i8mm": "linux aarch64"}[foreign]
    compile_ahead(model, foreign).save(tmp_path / "there.zpx")
    with pytest.raises(zp.TargetError, match=f"is for {there}, this is {saved.system()}; compile the model"):
        zp.load_executable(tmp_path / "there.zpx")
    with pytest.raises(zp.TargetError, match=f"target '{foreign}': its code is for"):
        zp.compile(model, foreign)


@pytest.mark.parametrize(
    ("triple", "system"),
    [
        ("x86_64-unknown-linux-gnu", "linux x86_64"),
        ("arm64-apple-macosx11.0", "darwin aarch64"),
        ("aarch64-linux-android", "linux aarch64"),
        ("x86_64-pc-windows-msvc", "win32 x86_64"),
        ("thumbv7em-none-eabi", "none thumbv7em"),
    ],
)
def test_systems_are_named_as_python_names_them(triple: str, system: str) -> None:
    assert saved.system_of(triple) == system
    assert saved.system_of(host().triple) == saved.system()


def test_saving_replaces_a_file_as_a_whole(executable: zp.Executable, tmp_path: Path, path: Path) -> None:
    place = tmp_path / "network.zpx"
    place.write_bytes(b"old")
    executable.save(place)
    assert place.read_bytes() == path.read_bytes()
    assert list(tmp_path.iterdir()) == [place]
    with pytest.raises(zp.ZeropointError, match="cannot be written: No such file or directory"):
        executable.save(tmp_path / "nowhere" / "network.zpx")
    (tmp_path / "folder").mkdir()
    with pytest.raises(zp.ZeropointError, match="cannot be written"):
        executable.save(tmp_path / "folder")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder", "network.zpx"]
    if os.name == "posix":
        assert place.stat().st_mode & 0o400


def test_object_files_where_images_cannot_be_mapped(
    model: zp.Model, executable: zp.Executable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on systems whose object format only LLVM reads."""
    monkeypatch.setattr(loader, "can_map", lambda: False)
    other = zp.compile(model)
    assert isinstance(other._code, jit.JitCode)
    other.save(tmp_path / "objects.zpx")
    loaded = zp.load_executable(tmp_path / "objects.zpx")
    assert_same(loaded.run(*random_inputs()), executable.run(*random_inputs()))


def test_prefix_has_no_holes() -> None:
    assert saved._PREFIX.size == 16 + 4 + 4 + 4 * 8 + 32
    assert struct.calcsize(saved._PREFIX.format) == saved._PREFIX.size
