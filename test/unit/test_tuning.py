"""``--tune``: what a measurer prefers is taken, kept on disk, and changes no bit."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zeropoint as zp
from zeropoint.codegen.machine import host
from zeropoint.kernels import families
from zeropoint.kernels.choices import Problem, Way, choosing
from zeropoint.kernels.instruction_set import INSTRUCTION_SETS
from zeropoint.passes.pass_manager import run_pipeline
from zeropoint.passes.pipelines import passes_to
from zeropoint.runtime import cache, tuning
from zeropoint.tools import cli
from zeropoint.tools.demo import NETWORK

pytestmark = pytest.mark.skipif(not host().isa, reason="no kernels for this machine")

Measure = Callable[[Sequence[zp.Executable], float, Any], np.ndarray]


@pytest.fixture(scope="module")
def kernels_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All tests share compiled kernels, to save time."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def folder(kernels_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache without choices."""
    kernels_folder.chmod(0o700)
    for path in kernels_folder.glob("*.choice"):
        path.unlink()
    monkeypatch.setenv(cache.FOLDER_VARIABLE, str(kernels_folder))
    return kernels_folder


@pytest.fixture
def model() -> zp.Model:
    return zp.load(NETWORK)


def preferring(number: int) -> Measure:
    """Every step of the network of that ``number`` takes a second less than those of the others."""

    def measure(networks: Sequence[zp.Executable], seconds: float, progress: Any) -> np.ndarray:
        times = np.full((len(networks), len(networks[0]._program.steps)), 2.0)
        times[min(number, len(networks) - 1)] = 1.0
        return times

    return measure


def kernels(executable: zp.Executable) -> list[str]:
    return [step.kernel for step in executable._program.steps]


def outputs(executable: zp.Executable) -> list[bytes]:
    random = np.random.default_rng(0)
    inputs = [random.integers(0, 256, i.shape, np.uint8).view(i.dtype) for i in executable.inputs]
    return [value.tobytes() for value in executable.run(*inputs)]


def launches(model: zp.Model) -> list[str]:
    """What form-kernels makes of a model."""
    module = model.module.operation.clone()
    run_pipeline(module, passes_to("formed", isa=host().isa))
    found = [line for line in str(module).splitlines() if "qnn.launches" in line]
    assert found
    return found


def test_the_measurer_is_obeyed(folder: Path, model: zp.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = zp.compile(model)
    monkeypatch.setattr(tuning, "measure", preferring(1))
    said: list[str] = []
    tuned = zp.compile(model, tune=True, progress=said.append)
    assert tuned.tuning is not None
    assert tuned.tuning.problems
    assert all(t.is_changed and t.chosen_seconds < t.usual_seconds for t in tuned.tuning.problems)
    changed = sum(t.steps for t in tuned.tuning.problems)
    assert sum(a != b for a, b in zip(kernels(usual), kernels(tuned), strict=True)) == changed
    assert outputs(tuned) == outputs(usual)
    assert any("compiling the winners" in text for text in said)
    # Later compilations take what was stored; those without the cache do not.
    assert kernels(zp.compile(model)) == kernels(tuned)
    assert kernels(zp.compile(model, cache=False)) == kernels(usual)
    # The cost model's may win the next time, which is stored as well.
    monkeypatch.setattr(tuning, "measure", preferring(0))
    assert kernels(zp.compile(model, tune=True)) == kernels(usual)
    assert kernels(zp.compile(model)) == kernels(usual)


def test_a_winner_has_to_win_twice(folder: Path, model: zp.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    measures = iter([preferring(1), preferring(0)])
    monkeypatch.setattr(tuning, "measure", lambda *arguments: next(measures)(*arguments))
    tuned = zp.compile(model, tune=True, cache=False)
    assert tuned.tuning is not None
    assert not any(t.is_changed for t in tuned.tuning.problems)
    assert kernels(tuned) == kernels(zp.compile(model, cache=False))
    assert not list(folder.glob("*.choice"))


@pytest.mark.parametrize("number", [1, 2, 5])
def test_no_way_changes_a_bit(folder: Path, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model = zp.load(NETWORK)
    monkeypatch.setattr(tuning, "measure", preferring(number))
    assert outputs(zp.compile(model, tune=True)) == outputs(zp.compile(model, pipeline="reference"))


def test_really_measured(folder: Path, model: zp.Model) -> None:
    """Whatever is faster here: everything is measured, and the result computes the same."""
    tuned = zp.compile(model, tune=True)
    assert tuned.tuning is not None
    assert 0 < tuned.tuning.chosen_seconds <= tuned.tuning.usual_seconds
    assert tuned.tuning.measuring_seconds < tuned.tuning.seconds
    assert outputs(tuned) == outputs(zp.compile(model, cache=False))


@pytest.mark.parametrize(
    ("damage", "warning"),
    [
        (lambda data: data[:-1], "is damaged"),
        (lambda data: b"", "is damaged"),
        (lambda data: checked(b"[1"), "names no kernel"),
        (lambda data: checked(b'["conv2d", "avx2", [["rows", 1000], ["vectors", 1000]]]'), "names no kernel"),
        (lambda data: checked(b'["conv2d", {"a": 1}, [[[], {}]]]'), "names no kernel"),
    ],
)
def test_damaged_choices(
    damage: Callable[[bytes], bytes],
    warning: str,
    folder: Path,
    model: zp.Model,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(tuning, "measure", preferring(1))
    zp.compile(model, tune=True)
    for path in folder.glob("*.choice"):
        path.write_bytes(damage(path.read_bytes()))
    with caplog.at_level(logging.WARNING):
        assert kernels(zp.compile(model)) == kernels(zp.compile(model, cache=False))
    assert warning in caplog.text


def checked(content: bytes) -> bytes:
    """An entry with the right checksum."""
    import hashlib

    return hashlib.sha256(content).digest() + content


@pytest.mark.skipif(sys.platform == "win32", reason="folders are protected by access lists")
def test_a_folder_of_everybody_is_ignored(
    folder: Path, model: zp.Model, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(tuning, "measure", preferring(1))
    zp.compile(model, tune=True)
    folder.chmod(0o777)
    with caplog.at_level(logging.WARNING):
        assert kernels(zp.compile(model)) == kernels(zp.compile(model, cache=False))
    assert "others may write to it" in caplog.text


def test_passes_alone_choose_nothing(folder: Path, model: zp.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    before = launches(model)
    monkeypatch.setattr(tuning, "measure", preferring(1))
    zp.compile(model, tune=True)
    assert launches(model) == before


@pytest.mark.parametrize("isa", INSTRUCTION_SETS)
def test_ways_of_every_problem(isa: str, model: zp.Model) -> None:
    """No two are the same; equal problems have equal keys."""
    asked = []

    def chooser(problem: Problem, ways: Callable[[], Sequence[Way]]) -> Way:
        found = ways()
        assert len(set(found)) == len(found)
        assert len(found) >= 1
        asked.append((problem, found))
        return found[-1]

    with choosing(chooser):
        run_pipeline(model.module.operation.clone(), passes_to("formed", isa=isa))
    assert any(len(found) > 1 for _, found in asked)
    assert len({problem.key for problem, _ in asked}) == len({problem for problem, _ in asked})


def test_an_unknown_way_is_the_cost_model_s(model: zp.Model) -> None:
    with choosing(lambda problem, ways: Way("conv3d", "z80")):
        found = launches(model)
    assert found == launches(model)


def test_nothing_to_choose(folder: Path, model: zp.Model) -> None:
    executable = zp.compile(model, pipeline="reference", tune=True)
    assert executable.tuning is not None
    assert executable.tuning.problems == ()
    assert families.ways(object(), INSTRUCTION_SETS["avx2"]) == []


def test_command_lines(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tuning, "measure", preferring(1))
    assert cli.main(["run", str(NETWORK), "--tune"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "tuning has changed" in lines
    assert lines[-1].startswith("tuned in ")
    assert cli.main(["bench", str(NETWORK), "--tune", "--json", "--seconds", "0.05"]) == 0
    document = json.loads(capsys.readouterr().out)["tuning"]
    assert all(entry["usual"] != entry["chosen"] for entry in document["problems"])
    assert document["chosen_ms"] < document["usual_ms"]
    assert cli.main(["run", str(NETWORK), "--tune", "--pipeline", "reference"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "tuned: there is nothing to choose in this network"


def test_two_processes_at_once(folder: Path, model: zp.Model) -> None:
    script = (
        "import numpy as np, zeropoint as zp\n"
        "from zeropoint.runtime import tuning\n"
        "tuning.measure = lambda networks, seconds, progress: np.full("
        "(len(networks), len(networks[0]._program.steps)), 2.0) - (np.arange(len(networks)) == 1)[:, None]\n"
        f"tuned = zp.compile({str(NETWORK)!r}, tune=True)\n"
        "print(*[step.kernel for step in tuned._program.steps])"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    printed = [process.communicate()[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert printed[0] == printed[1] == kernels(zp.compile(model))
    assert not list(folder.glob("*.tmp"))
