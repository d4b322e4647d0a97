"""``python -m bench``: what it computes from measured times, and one small comparison for real."""

from __future__ import annotations

import json
import os
import signal
import time
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zeropoint.bench import __main__ as command
from zeropoint.bench import contestants, machine, networks, plot, report, results
from zeropoint.bench.ceilings import measure_on
from zeropoint.bench.compare import Entry, measure
from zeropoint.bench.network import Network, load_network
from zeropoint.bench.processes import Worker, WorkerError
from zeropoint.runtime.ceilings import READ_SIZES, Ceilings
from zeropoint.tools.demo import NETWORK

pytestmark = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="workers are pinned as on Linux")

REPORT = {
    "version": "1.0",
    "load_seconds": None,
    "compile_seconds": 0.5,
    "recompile_seconds": 0.25,
    "first_seconds": 0.125,
    "base_kib": 1024,
}
NO_CEILINGS = Ceilings(None, ())


def entry(name: str, rounds: list[list[int]], outputs: list[Any] | None = None) -> Entry:
    return Entry(name, report=REPORT, rounds=rounds, peak_kib=2048, outputs=outputs)


def network(macs: int = 1_000_000) -> Network:
    return Network("net", Path("net.tflite"), None, macs, 1 << 20, ["x"], [np.zeros((1, 4), np.int8)])


def rows_of(*entries: Entry, limits: Ceilings = NO_CEILINGS) -> list[dict[str, Any]]:
    return [results.row(network(), 1, one, entries, limits) for one in entries]


def test_ratios_are_to_the_fastest_peer() -> None:
    mine = entry("zeropoint", [[2_000_000, 3_000_000], [4_000_000]])
    slow = entry("litert", [[8_000_000], [8_000_000]])
    fast = entry("openvino", [[5_000_000], [4_000_000, 9_000_000]])
    first, _, _ = rows_of(mine, slow, fast)
    assert first["best_peer"] == "openvino"
    assert first["min_ms"] == 2.0
    assert first["median_ms"] == 3.0
    assert first["ratio_of_minima"] == 0.5
    assert first["median_paired_ratio"] == pytest.approx((2 / 5 + 4 / 4) / 2)
    assert first["ratio_to"] == {"litert": 0.25, "openvino": 0.5}
    assert first["gmac_per_second"] == pytest.approx(0.5)
    assert (first["load_ms"], first["compile_ms"], first["recompile_ms"]) == (None, 500, 250)
    assert first["peak_memory_mib"] == 2


def test_no_peer_no_ratio() -> None:
    refused = Entry("litert", refused="not installed")
    first, second = rows_of(entry("zeropoint", [[1000]]), refused)
    assert first["ratio_of_minima"] is None
    assert first["median_paired_ratio"] is None
    assert second == {"network": "net", "threads": 1, "contestant": "litert", "refused": "not installed"}


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        (np.array([1, 2, 3], np.int8), "=reference"),
        (np.array([1, 2, 4], np.int8), "=default"),
        (np.array([1, 9, 9], np.int8), "2 of 3 differ"),
        (np.array([1, 2, 3], np.uint8), "other type"),
        (np.array([1, 2], np.int8), "other type"),
    ],
)
def test_agreement(outputs: Any, expected: str) -> None:
    judge = Entry(contestants.JUDGE, outputs=[np.array([[1, 2, 3]], np.int8)])
    default = Entry("litert", outputs=[np.array([[1, 2, 4]], np.int8)])
    mine = Entry("zeropoint", outputs=[outputs])
    assert results.agreement(mine, [mine, judge, default]) == expected
    assert results.agreement(mine, [mine]) == "-"


def test_agreement_with_both_judges() -> None:
    same = [np.array([1.5], np.float32)]
    entries = [Entry(name, outputs=same) for name in ("zeropoint", "litert", contestants.JUDGE)]
    assert results.agreement(entries[0], entries) == "=reference=default"


def test_least_time_is_the_arithmetic_or_the_weights() -> None:
    limits = Ceilings(1e9, ((1 << 10, 4e9), (1 << 20, 2e9)))
    assert limits.least_seconds(1_000_000, 0, 1) == pytest.approx(1e-3)
    assert limits.least_seconds(1_000_000, 0, 2) == pytest.approx(5e-4)
    assert limits.least_seconds(0, 1 << 20, 1) == pytest.approx((1 << 20) / 2e9)
    assert limits.read_bandwidth(1 << 15) == pytest.approx(3e9)  # halfway on a logarithmic scale
    assert limits.read_bandwidth(1 << 30) == pytest.approx(2e9)
    assert NO_CEILINGS.least_seconds(1, 1, 1) is None
    (row,) = rows_of(entry("zeropoint", [[2_000_000]]), limits=limits)
    assert row["ceiling_share"] == pytest.approx(0.5)


def test_ceilings_of_this_machine() -> None:
    found = measure_on(max(os.sched_getaffinity(0)))
    assert found.dot_product is None or found.dot_product > 1e9
    assert [size for size, _ in found.reads] == list(READ_SIZES)
    assert all(speed > 1e8 for _, speed in found.reads)


def test_warnings_name_the_cause() -> None:
    quiet = machine.Moment(0.1, 1000, 0)
    assert machine.warnings(quiet, machine.Moment(1.0, 2000, 5), [0.0, 0.01]) == []
    assert machine.stolen_share(quiet, machine.Moment(1.0, 2000, 50)) == pytest.approx(0.05)
    busy = machine.warnings(machine.Moment(2.0, 1000, 0), machine.Moment(2.0, 2000, 50), [0.5, 0.0])
    assert [text.split(":")[0] for text in busy][:2] == [
        "the load average was 2.0 before this began",
        "the hypervisor took 5.0% of the processor's time",
    ]
    assert busy[2].startswith("1 of 2 rows waited for a core")
    assert machine.stolen_share(machine.Moment(None), quiet) is None


def test_models_by_file_folder_and_name(tmp_path: Path) -> None:
    for name in ("a", "b", "mobilenetv2_224_int8"):
        (tmp_path / f"{name}.tflite").write_bytes(b"")
    built = tmp_path / "mobilenetv2_224_int8.tflite"
    assert networks.find_models([], tmp_path) == sorted(tmp_path.glob("*.tflite"))
    assert networks.find_models(["mobilenetv2_224_int8", str(tmp_path)], tmp_path)[0] == built
    assert len(networks.find_models([str(tmp_path), str(built)], tmp_path)) == 3
    with pytest.raises(FileNotFoundError, match=r"python -m bench\.build_networks resnet50_224_int8"):
        networks.find_models(["resnet50_224_int8"], tmp_path)
    with pytest.raises(FileNotFoundError, match=r"expected a \.tflite file, a folder of them, or one of"):
        networks.find_models(["c.tflite"], tmp_path)
    with pytest.raises(FileNotFoundError, match="build_networks makes some"):
        networks.find_models([], tmp_path / "empty")


def test_a_missing_model_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["compare", "none.tflite", "--networks-dir", str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith("bench: error: none.tflite: expected a .tflite file")


def test_a_changed_model_has_another_conversion(tmp_path: Path) -> None:
    model = tmp_path / "m.tflite"
    model.write_bytes(b"one")
    first = networks.onnx_path(model, tmp_path)
    model.write_bytes(b"two")
    assert networks.onnx_path(model, tmp_path) != first
    assert first.parent == tmp_path / "onnx"


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.float32])
def test_images_look_like_photos(dtype: Any) -> None:
    """Neighbouring pixels are alike, unlike in noise; contrast is full."""
    image = networks.sample_input((1, 64, 48, 3), dtype, np.random.default_rng(0))
    assert image.shape == (1, 64, 48, 3)
    assert image.dtype == dtype
    values = image.astype(np.float64)
    assert np.ptp(values) == (2 if dtype == np.float32 else 255)
    assert np.abs(np.diff(values, axis=1)).mean() < 0.4 * values.std()


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.float32, np.bool_])
def test_other_inputs_are_random(dtype: Any) -> None:
    value = networks.sample_input((2, 50), dtype, np.random.default_rng(0))
    assert value.dtype == dtype
    assert len(np.unique(value)) >= 2


def test_tables(capsys: pytest.CaptureFixture[str]) -> None:
    mine, peer = entry("zeropoint", [[1_000_000]]), entry("litert", [[2_000_000]])
    others = [Entry("openvino", refused="RuntimeError: no\nsuch op"), Entry("onnxruntime", refused="absent")]
    report.print_report(rows_of(mine, peer, *others))
    text = capsys.readouterr().out
    lines = [line.split() for line in text.splitlines()]
    assert lines[1][:6] == ["net", "1", "zeropoint", "1", "1", "0.50"]
    assert lines[3][2:5] == ["openvino", "-", "-"]
    assert "  openvino: net: RuntimeError: no such op" in text
    assert lines[-1] == ["net", "1", "litert", "0.50", "-", "-", "0.50", *["-"] * 4]


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0.0028341, "0.00283"), (3.4567, "3.46"), (123.4, "123"), (2345.6, "2346"), (0, "0")],
)
def test_numbers_without_exponents(value: float | None, text: str) -> None:
    assert report.number(value) == text


def test_plot_has_a_bar_per_system() -> None:
    mine, peer = entry("zeropoint", [[1_000_000]]), entry("litert", [[2_000_000]])
    slow = entry("onnxruntime", [[20_000_000]])
    root = ET.fromstring(plot.to_svg(rows_of(mine, peer, slow, Entry("openvino", refused="absent"))))
    space = "{http://www.w3.org/2000/svg}"
    bars = [rect for rect in root.iter(f"{space}rect") if rect.find(f"{space}title") is not None]
    widths = [float(bar.get("width", "")) for bar in bars]
    assert widths[1] == pytest.approx(2 * widths[0])
    assert widths[2] == pytest.approx(plot.LONGEST * widths[1])  # ends at the edge; its label says 10
    assert "10.00 →" in [text.text for text in root.iter(f"{space}text")]


def demo_worker(folder: Path, **changes: Any) -> Worker:
    net = load_network(NETWORK, folder)
    np.savez(folder / "inputs.npz", *net.inputs)
    config = {
        "contestant": "litert",
        "model": str(net.path),
        "onnx": None,
        "names": list(net.input_names),
        "inputs": str(folder / "inputs.npz"),
        "outputs": str(folder / "outputs.npz"),
        "threads": 1,
        "cpus": [max(os.sched_getaffinity(0))],
        "rounds": True,
    }
    return Worker(config | changes, folder, timeout=120)


def test_a_worker_is_stopped_between_rounds_and_its_death_is_told(tmp_path: Path) -> None:
    worker = demo_worker(tmp_path)
    try:
        answer = worker.round(0.001, 3, timeout=60)
        assert len(answer["times"]) >= 3
        assert min(answer["times"]) > 0
        deadline = time.monotonic() + 10
        while (state := Path(f"/proc/{worker.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]) != "T":
            assert time.monotonic() < deadline, state
        os.kill(worker.pid, signal.SIGKILL)
        with pytest.raises(WorkerError, match="killed by SIGKILL"):
            worker.round(0.001, 3, timeout=60)
    finally:
        worker.close()


def test_a_refusal_has_the_libraries_words(tmp_path: Path) -> None:
    broken = tmp_path / "broken.tflite"
    broken.write_bytes(b"not a model")
    with pytest.raises(WorkerError, match="ValueError: "):
        demo_worker(tmp_path, model=str(broken))
    with pytest.raises(WorkerError, match=r"no ONNX conversion|not installed"):
        demo_worker(tmp_path, contestant="onnxruntime")


def test_an_absent_peer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(contestants.PACKAGES, "openvino", "no_such_package")
    task = contestants.Task(NETWORK, None, [], [], 1)
    with pytest.raises(contestants.RefusedError, match="not installed"):
        contestants.open_session("openvino", task)


def test_the_demo_network_against_litert(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Processes, rounds, bits and reports; nothing about speed."""
    words = ["compare", str(NETWORK), "--seconds", "0.2", "--systems", "zeropoint", "litert", "--json"]
    words += ["--networks-dir", str(tmp_path), "--plot", str(tmp_path / "plot.svg")]
    assert command.main(words) == 0
    document = json.loads(capsys.readouterr().out)
    mine, peer = document["rows"]
    assert (mine["contestant"], peer["contestant"]) == ("zeropoint", "litert")
    assert mine["bits"].startswith("=reference")
    assert mine["rounds"] == peer["rounds"] >= 3
    assert mine["ratio_of_minima"] == pytest.approx(mine["min_ms"] / peer["min_ms"])
    assert mine["recompile_ms"] > 0
    assert mine["peak_memory_mib"] > mine["memory_before_mib"] > 0
    assert document["versions"]["litert"] == peer["version"]
    assert ET.parse(tmp_path / "plot.svg").getroot().tag.endswith("svg")


def test_a_network_nobody_runs_has_reasons() -> None:
    """A file that is gone by then: every contestant refuses, and nothing is timed."""
    cpus = [max(os.sched_getaffinity(0))]
    entries = measure(network(), ["litert", contestants.JUDGE], threads=1, cpus=cpus, seconds=0.01)
    assert all(one.refused and "net.tflite" in one.refused for one in entries)
