"""The emulated AArch64 environment: how it is set up, without setting it up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from source_tree import ROOT
from zeropoint.errors import ZeropointError
from zeropoint.tools.aarch64 import debian, emulated_cpus, environment, run, setup, wheels
from zeropoint.tools.aarch64.__main__ import main
from zeropoint.tools.aarch64.environment import Environment


@pytest.fixture
def place(tmp_path: Path) -> Environment:
    """An environment whose parts are there, but empty; its Python is a script that says what it is given."""
    place = Environment(tmp_path / "it's here")
    for folder in (place.root / "usr" / "bin", place.root / "lib", place.site):
        folder.mkdir(parents=True)
    (place.site / "zeropoint-requirements").write_text(wheels.stamp(wheels.requirements()))
    return place


def fake(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def emulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A qemu whose CPUs have the features of a Neoverse N1, and which runs nothing."""
    fake(tmp_path / "fakes", "qemu-aarch64", 'case "$*" in *getauxval*) echo 1155067 0;; *) echo "$@";; esac')
    monkeypatch.setenv("PATH", str(tmp_path / "fakes"), prepend=os.pathsep)
    monkeypatch.delenv("QEMU_CPU", raising=False)


def test_the_wheels_are_those_that_pyproject_asks_for() -> None:
    wanted = wheels.requirements()
    assert any(line.startswith("torch-mlir==") for line in wanted)
    assert any(line.startswith("ai-edge-litert==") for line in wanted)
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert all(f'"{line}"' in text for line in wanted)


def test_other_requirements_want_other_wheels(place: Environment) -> None:
    wanted = wheels.requirements()
    assert wheels.is_current(place, wanted)
    assert not wheels.is_current(place, [*wanted, "another"])
    assert not wheels.is_current(Environment(place.folder / "nowhere"), wanted)


def test_apt_has_folders_of_its_own(tmp_path: Path) -> None:
    text = debian._configured(tmp_path / "apt").read_text()
    paths = [line.split('"')[1] for line in text.splitlines() if line.startswith("Dir::")]
    assert len(paths) == 4
    assert all(path.startswith(str(tmp_path)) for path in paths)
    assert (tmp_path / "apt" / "status").read_text() == ""


@pytest.mark.usefixtures("emulator")
def test_what_is_there_is_not_set_up_again(place: Environment, capfd: pytest.CaptureFixture[str]) -> None:
    """Only the scripts and what depends on the emulator were missing."""
    setup.set_up(place)
    assert capfd.readouterr().err == ""
    assert sorted(path.name for path in place.commands.iterdir()) == [
        *("pytest", "python", "python3", "qopt", "zeropoint")
    ]
    told = subprocess.run([place.commands / "pytest", "-q", "a b"], capture_output=True, text=True).stdout
    assert told.split(" -m ")[1] == "pytest -q a b\n"
    assert f"-L {place.prefix('max')}" in told
    assert f"-0 {place.launcher}" in told


@pytest.mark.usefixtures("emulator")
def test_each_cpu_has_a_text_about_itself(place: Environment) -> None:
    emulated_cpus.prepare(place, "neoverse-n1")
    prefix = place.prefix("neoverse-n1")
    text = (prefix / "proc" / "cpuinfo").read_text()
    assert text.count("processor\t: ") == os.cpu_count()
    assert "CPU implementer\t: 0x41\n" in text
    assert "CPU part\t: 0xd0c\n" in text
    assert "CPU variant\t: 0x4\n" in text
    assert " asimddp\n" in text
    assert (prefix / "usr" / "bin").samefile(place.root / "usr" / "bin")
    (prefix / "proc" / "cpuinfo").write_text("kept")
    emulated_cpus.prepare(place, "neoverse-n1")
    assert (prefix / "proc" / "cpuinfo").read_text() == "kept"


def test_a_cpu_that_qemu_does_not_know(
    place: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(tmp_path / "fakes", "qemu-aarch64", "echo no such CPU >&2; exit 1")
    monkeypatch.setenv("PATH", str(tmp_path / "fakes"), prepend=os.pathsep)
    with pytest.raises(
        ZeropointError, match=r"CPU 'x' .* failed \(qemu-aarch64, exit status 1\):\n  no such"
    ):
        emulated_cpus.prepare(place, "x")
    assert not place.prefix("x").exists()


def test_missing_programs_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["setup", "--folder", str(tmp_path / "env")]) == 1
    assert "qemu-aarch64 is missing; install it: apt-get install qemu-user" in capsys.readouterr().err
    with pytest.raises(ZeropointError, match="apt-get is missing; install it: apt-get install apt"):
        debian.unpack(Environment(tmp_path / "env"))
    monkeypatch.setattr(wheels.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ZeropointError, match=r"pip is missing in .*: apt-get install python3-pip"):
        wheels.unpack(Environment(tmp_path / "env"), [], (3, 11), 36)


def test_a_failing_apt_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(
        tmp_path / "fakes",
        "apt-get",
        '[ "$1" = install ] && echo "E: Unable to locate it" >&2 && exit 100; exit 0',
    )
    fake(tmp_path / "fakes", "dpkg-deb", "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path / "fakes"), prepend=os.pathsep)
    place = Environment(tmp_path / "env")
    with pytest.raises(
        ZeropointError, match=r"exit status 100\):\n  E: Unable to locate it\n  apt's sources"
    ):
        debian.unpack(place)
    assert not place.root.exists()


def test_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["nonsense"], ["run"]):
        with pytest.raises(SystemExit, match="2"):
            main(words)
    assert "run: no command; see --help" in capsys.readouterr().err


@pytest.mark.usefixtures("emulator")
def test_what_a_command_becomes(place: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    became: list[list[str]] = []

    def execve(path: str, command: list[str], variables: dict[str, str]) -> None:
        became.append([path, *command, variables["QEMU_CPU"], variables["PYTHONPATH"]])
        raise InterruptedError

    def become(*words: str, cpu: str | None = None) -> list[str]:
        with pytest.raises(InterruptedError):
            run.run(place, words, cpu)
        return became.pop()

    monkeypatch.setattr(os, "execve", execve)
    monkeypatch.setattr(run, "architecture", lambda: "x86_64")
    monkeypatch.setenv("PYTHONPATH", "/mine")
    path, *command, cpu, paths = become("python3", "-c", "1")
    assert (path, command, cpu) == (str(place.commands / "python3"), ["python3", "-c", "1"], "max")
    mine, checkout = paths.split(os.pathsep)
    assert mine == "/mine"
    assert (Path(checkout) / "zeropoint").samefile(ROOT)
    program = tmp_path / "a.out"
    program.write_bytes(b"\x7fELF\x02\x01" + bytes(12) + b"\xb7\0")
    program.chmod(0o755)
    path, *command, cpu, _ = become(str(program), "x", cpu="cortex-a53")
    prefix = str(place.prefix("cortex-a53"))
    assert command == [environment.qemu(), "-L", prefix, str(program), "x"]
    assert (path, cpu) == (environment.qemu(), "cortex-a53")
    assert become(sys.executable, "x")[1:3] == [sys.executable, "x"]
    with pytest.raises(ZeropointError, match="no command 'nonsense'"):
        run.run(place, ["nonsense"])
