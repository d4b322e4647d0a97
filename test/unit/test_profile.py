"""Profiles: their numbers add up, generic kernels say why they are, and the formats are what others read."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zeropoint as zp
from zeropoint.codegen.lifetimes import Lifetimes
from zeropoint.codegen.llvm import to_assembly
from zeropoint.codegen.machine import Machine, host
from zeropoint.dialect.context import parse_module
from zeropoint.passes.form_kernels.recognized import BUILDERS
from zeropoint.runtime import ceilings as limits
from zeropoint.runtime.ceilings import Ceilings
from zeropoint.runtime.profile import Profile, Work, total_of
from zeropoint.runtime.profile_text import memory_line, short_names, summary
from zeropoint.tools import cli
from zeropoint.tools.demo import NETWORK as DIGITS

NETWORK = """
!x = !quant.uniform<i8:f32, 5.0e-01:3>
!w = !quant.uniform<i8:f32, 2.5e-01>
!y = !quant.uniform<i8:f32, 4.0>
!m = !quant.uniform<i8:f32, 2.0>
func.func @main(%image: tensor<1x16x16x32x!x> {qnn.name = "image"})
    -> (tensor<1x16x16x64x!y> {qnn.name = "conv"}, tensor<1x16x16x!m> {qnn.name = "averaged"}) {
  %w = "qnn.constant"() {value = dense<2> : tensor<64x3x3x32xi8>} : () -> tensor<64x3x3x32x!w>
  %conv = "qnn.conv2d"(%image, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
      groups = 1 : i64, padding = array<i64: 1, 1, 1, 1>, clamp = array<f32>,
      operandSegmentSizes = array<i32: 1, 1, 0>}
      : (tensor<1x16x16x32x!x>, tensor<64x3x3x32x!w>) -> tensor<1x16x16x64x!y> loc("net/conv/out;net/more")
  %averaged = "qnn.mean"(%image) {axes = array<i64: 3>, keep_dims = false}
      : (tensor<1x16x16x32x!x>) -> tensor<1x16x16x!m> loc("net/averaged/out")
  return %conv, %averaged : tensor<1x16x16x64x!y>, tensor<1x16x16x!m>
}
"""
MACS = 16 * 16 * 64 * 3 * 3 * 32
WEIGHTS = 64 * 3 * 3 * 32
NO_FAMILIES = not host().isa
needs_families = pytest.mark.skipif(NO_FAMILIES, reason="no kernel families for this machine")
WORK_KEYS = {
    "us",
    "median_us",
    "share",
    "macs",
    "gmac_per_second",
    "bytes",
    "constant_bytes",
    "least_us",
    "bound",
    "ceiling_share",
}


@pytest.fixture(scope="module")
def executable() -> zp.Executable:
    return zp.compile(zp.Model.from_module(parse_module(NETWORK), "network.mlir"))


@pytest.fixture(scope="module")
def profile(executable: zp.Executable) -> Profile:
    return executable.profile(image(), repeats=20)


def image() -> np.ndarray:
    return np.random.default_rng(0).integers(-128, 128, (1, 16, 16, 32), np.int8)


def test_numbers_add_up(profile: Profile) -> None:
    total = profile.total
    assert total.seconds == pytest.approx(sum(step.work.seconds for step in profile.steps))
    assert total.share == pytest.approx(1)
    assert sum(kernel.work.seconds for kernel in profile.by_kernel()) == pytest.approx(total.seconds)
    assert sum(kernel.calls for kernel in profile.by_kernel()) == len(profile.steps)
    for step in profile.steps:
        assert 0 <= step.work.seconds <= step.work.median_seconds
        assert step.work.constant_bytes <= (step.work.bytes or 0)
        if step.work.ceiling_share is not None and step.work.least_seconds is not None:
            assert step.work.seconds * step.work.ceiling_share == pytest.approx(step.work.least_seconds)
    assert [step.index for step in profile.steps] == list(range(len(profile.steps)))
    times = [step.work.seconds for step in profile.slowest()]
    assert times == sorted(times, reverse=True)
    assert profile.slowest(1) == profile.slowest()[:1]
    assert 0 < profile.run_seconds <= profile.run_median_seconds


@needs_families
def test_a_convolution_and_its_work(profile: Profile) -> None:
    (conv,) = [step for step in profile.steps if step.work.macs]
    assert conv.work.macs == MACS
    assert conv.work.constant_bytes >= WEIGHTS
    assert conv.work.bytes is not None
    assert conv.work.bytes - conv.work.constant_bytes >= image().nbytes + 16 * 16 * 64
    assert conv.kind == "family"
    assert conv.label.split()[0] == "conv2d"
    assert conv.code is not None
    assert conv.isa == conv.code.isa != ""
    assert conv.tensors == ("net/conv/out;net/more",)
    assert conv.reason == ""


@needs_families
def test_generic_kernels_say_why(profile: Profile) -> None:
    assert {step.tensors for step in profile.generic} == {("net/averaged/out",)}
    for step in profile.generic:
        assert step.reason == "mean: it is not over neighbouring dimensions before the last"
        assert (step.isa, step.work.macs) == ("", 0)
    text = "\n".join(summary(profile))
    assert re.search(
        r"no kernel family took these \([\d.]+% of the time\):\n  \d+  \w+ \(net/averaged/out\)", text
    )
    assert "generic: " in str(profile)


@needs_families
def test_an_operator_that_no_family_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(BUILDERS, "conv2d")  # type: ignore[arg-type]
    executable = zp.compile(zp.Model.from_module(parse_module(NETWORK), "network.mlir"))
    reasons = {step.reason for step in executable.profile(image(), repeats=1).generic}
    assert "conv2d: no family computes this operator" in reasons


def test_the_reference_pipeline_has_no_families() -> None:
    executable = zp.compile(DIGITS, pipeline="reference")
    profile = executable.profile(np.zeros((1, 8, 8, 1), np.int8), repeats=1)
    assert {step.kind for step in profile.steps} <= {"generic", "copy"}
    assert {step.reason for step in profile.generic} == {"compiled without kernel families"}
    steps = ", ".join(str(step.index) for step in profile.generic)
    assert summary(profile)[-1] == f"  {steps}: compiled without kernel families"


@pytest.mark.parametrize("threads", [1, 2])
def test_a_loaded_executable_tells_the_same(
    executable: zp.Executable, profile: Profile, threads: int, tmp_path: Path
) -> None:
    executable.save(tmp_path / "network.zpx")
    loaded = zp.load_executable(tmp_path / "network.zpx", threads=threads)
    before = loaded.run(image())
    again = loaded.profile({"image": image()}, repeats=2)
    assert (again.threads, again.repeats) == (threads, 2)
    for mine, theirs in zip(again.steps, profile.steps, strict=True):
        assert (mine.label, mine.code, mine.tensors, mine.reason) == (
            theirs.label,
            theirs.code,
            theirs.tensors,
            theirs.reason,
        )
        assert (mine.work.macs, mine.work.bytes) == (theirs.work.macs, theirs.work.bytes)
    assert (again.arena_bytes, again.least_arena_bytes) == (profile.arena_bytes, profile.least_arena_bytes)
    for one, other in zip(loaded.run(image()), before, strict=True):
        np.testing.assert_array_equal(one, other)


def test_wrong_arguments_are_refused(executable: zp.Executable) -> None:
    with pytest.raises(zp.InputError, match="got 0 inputs"):
        executable.profile()
    for repeats in (0, -1, True, 1.5):
        with pytest.raises(zp.InputError, match="expected a positive whole number"):
            executable.profile(image(), repeats=repeats)  # type: ignore[arg-type]


def test_json_has_a_fixed_schema(profile: Profile) -> None:
    document = json.loads(json.dumps(profile.to_json(), allow_nan=False))
    assert document["schema"] == 1
    assert set(document) == {
        *("schema", "network", "instructions", "threads", "repeats", "run_us", "run_median_us"),
        *("arena_bytes", "least_arena_bytes", "constant_bytes", "ceilings", "total", "steps", "kernels"),
    }
    assert set(document["ceilings"]) == {"gmac_per_second", "read_gb_per_second"}
    assert set(document["total"]) == WORK_KEYS
    for step in document["steps"]:
        assert set(step) == WORK_KEYS | {
            *("index", "kernel", "label", "kind", "family", "isa", "options", "units", "tensors", "reason")
        }
    for kernel in document["kernels"]:
        assert set(kernel) == WORK_KEYS | {"label", "isa", "kind", "kernels", "calls"}


def test_csv_has_a_line_per_step(profile: Profile, tmp_path: Path) -> None:
    profile.save_csv(tmp_path / "steps.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "steps.csv").read_text(encoding="utf-8"))))
    assert [int(row["index"]) for row in rows] == [step.index for step in profile.steps]
    assert sum(float(row["us"]) for row in rows) == pytest.approx(profile.total.seconds * 1e6)
    assert [row["kernel"] for row in rows] == [step.kernel for step in profile.steps]


def test_a_trace_is_one_step_after_the_other(profile: Profile, tmp_path: Path) -> None:
    profile.save_trace(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))
    events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert [event["name"] for event in events] == [step.label for step in profile.steps]
    end = 0.0
    for event in events:
        assert {"ts", "dur", "pid", "tid", "name", "cat", "args"} <= set(event)
        assert event["ts"] == pytest.approx(end)
        end = event["ts"] + event["dur"]
    assert end == pytest.approx(profile.total.seconds * 1e6)
    assert {event["args"]["name"] for event in trace["traceEvents"] if event["ph"] == "M"} == {
        profile.network,
        "steps",
    }


def test_files_that_cannot_be_written(profile: Profile, tmp_path: Path) -> None:
    with pytest.raises(zp.ZeropointError, match=r"steps\.csv: cannot be written: No such file"):
        profile.save_csv(tmp_path / "missing" / "steps.csv")


LIMITS = Ceilings(1e9, ((1 << 10, 4e9), (1 << 20, 2e9)))


def test_the_ceiling_is_what_takes_longer() -> None:
    assert LIMITS.of_step(1_000_000, 0, 1024, 1 << 20) == (pytest.approx(1e-3), "arithmetic")
    assert LIMITS.of_step(10, 4000, 1024, 1 << 20) == (pytest.approx(2e-6 + 256e-9), "memory")
    assert LIMITS.of_step(0, 0, 0, 1 << 20) is None
    assert Ceilings(None, ()).of_step(10, 10, 10, 10) is None


def test_a_total_is_bound_by_most_of_its_parts() -> None:
    def work(seconds: float, least: float | None, bound: Any) -> Work:
        return Work(seconds, seconds, 0.25, 10, None if bound is None else 8, 4, least, bound)

    parts = [work(3, 1, "memory"), work(4, 2, "arithmetic"), work(5, 2, "memory"), work(1, None, None)]
    total = total_of(parts)
    assert (total.seconds, total.macs, total.bytes, total.least_seconds) == (13, 40, 24, 5)
    assert total.bound == "memory"
    assert total.ceiling_share == pytest.approx(5 / 13)
    assert total_of([]).bytes is None


def test_every_dot_product_that_this_machine_has_can_be_measured() -> None:
    features = {name[1:] for name in host().features.split(",") if name.startswith("+")}
    there = [dot for dot in limits._DOTS if dot.features <= features]
    data = np.ones(256, np.uint8)
    address = data.ctypes.data + -data.ctypes.data % 64
    speeds = [limits.dot_speed(dot, address) for dot in there]
    assert all(speed > 1e8 for speed in speeds)
    found = limits.ceilings()
    assert limits.ceilings() is found  # measured once
    assert (found.dot_product is None) == (not there)
    assert [size for size, _ in found.reads] == list(limits.READ_SIZES)


@pytest.mark.parametrize(
    ("features", "instructions"),
    [
        ("neon", {"smull": 1, "smlal": 1, "sadalp": 1}),
        ("neon dotprod", {"sdot": 1}),
        ("neon i8mm", {"smmla": 1}),
    ],
)
def test_what_is_measured_on_aarch64(features: str, instructions: dict[str, int]) -> None:
    """Each accumulator's step is these instructions and no others: nothing is folded, nothing spilled."""
    dot = next(dot for dot in limits._DOTS if dot.features == set(features.split()))
    machine = Machine("aarch64-unknown-linux-gnu", "", ",".join(f"+{name}" for name in dot.features))
    text = to_assembly(limits._dot_ir(dot), machine, optimize=False)
    loop = re.search(r"^\.L\w+:(.*?)\tb\.lo", text, re.DOTALL | re.MULTILINE)
    assert loop, text
    found = Counter(re.findall(r"^\t([a-z]\w*)", loop[1], re.MULTILINE))
    assert (found.pop("add"), found.pop("cmp")) == (1, 1)
    assert found == {name: count * limits.ACCUMULATORS for name, count in instructions.items()}


def test_the_least_arena() -> None:
    lifetimes = Lifetimes()
    assert lifetimes.alive(0) == []
    for step, buffers in enumerate(["ab", "bc", "c", "d", "cd"]):
        for buffer in buffers:
            lifetimes.use(buffer, {"a": 10, "b": 20, "c": 25, "d": 4}[buffer], step)
    # b and c need most, when a is no longer needed; c is, while d alone is used
    assert lifetimes.alive(5) == [30, 45, 25, 29, 29]


@needs_families
def test_the_arena_holds_at_least_what_is_alive(executable: zp.Executable) -> None:
    with_border = 18 * 18 * 32
    assert with_border <= executable.least_arena_bytes <= executable.arena_bytes


def test_memory_in_words() -> None:
    assert memory_line(1 << 21, 1 << 20, 2048) == (
        "memory: arena 2.0 MiB (1.0 MiB in use at one time), constants 2 KiB"
    )
    assert memory_line(1024, 0, 0) == "memory: arena 1 KiB, constants 0 KiB"


def test_names_without_what_they_share() -> None:
    names = ["net/block_1/conv/bias;x/y", "net/block_2/conv/bias", "net/block_3/add", "net/conv"]
    assert short_names(names) == ["block_1/bias", "block_2/bias", "block_3/add", "conv"]
    assert short_names(["net/a", "net/b"]) == ["net/a", "net/b"]
    assert short_names(["", "one"]) == ["", "one"]


def profiled(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main(["run", str(DIGITS), "--repeat", "3", *words]) == 0
    return capsys.readouterr().out


def test_command_in_program_order_and_by_time(capsys: pytest.CaptureFixture[str]) -> None:
    lines = profiled(capsys, "--profile").splitlines()
    count = lines.index("") - 1
    assert [int(line.split()[0]) for line in lines[1 : 1 + count]] == list(range(count))
    assert f"{count} steps: " in lines[count + 2]
    top = profiled(capsys, "--profile", "--top", "2").splitlines()
    assert re.fullmatch(rf"\({count - 2} more steps: [\d.]+% of the time\)", top[3])


def test_command_by_kernel_on_two_threads(capsys: pytest.CaptureFixture[str]) -> None:
    out = profiled(capsys, "--by-kernel", "--threads", "2")
    assert out.splitlines()[0].split()[:2] == ["kernel", "isa"] or NO_FAMILIES
    assert "a whole inference on 2 threads: " in out


def test_command_writes_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["--profile-csv", str(tmp_path / "a.csv"), "--profile-trace", str(tmp_path / "a.json"), "--json"]
    document = json.loads(profiled(capsys, *words, "--output-dir", str(tmp_path / "outputs")))
    assert document["repeats"] == 3
    assert len((tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()) == 1 + len(document["steps"])
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["traceEvents"]
    assert len(list((tmp_path / "outputs").glob("*.npy"))) == 1


def test_command_refuses_labels_beside_a_profile(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert cli.main(["run", str(DIGITS), "--profile", "--labels", str(tmp_path / "labels.txt")]) == 1
    assert "--labels: a profile shows no outputs" in capsys.readouterr().err


@pytest.mark.parametrize("width", [80, 160])
def test_a_terminal_gets_lines_that_fit(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    lines = re.sub(r"\x1b\[\d*m", "", profiled(capsys, "--profile")).splitlines()
    table = lines[: next(i for i, line in enumerate(lines) if line.startswith(("(", "\n")) or not line)]
    assert max(map(len, table)) <= width
    assert len(table) == 2 + int(
        re.search(r"^(\d+) steps", "\n".join(lines), re.MULTILINE)[1]
    )  # nothing folded
