"""``zeropoint bench``: its numbers are those of the runs it made, in words or as JSON."""

from __future__ import annotations

import json

import pytest

from zeropoint.tools import cli, cli_bench
from zeropoint.tools.demo import NETWORK


def test_statistics_of_known_times() -> None:
    found = cli_bench.statistics([0.004, 0.001, 0.002, 0.001])
    assert found["inferences"] == 4
    assert found["min_ms"] == pytest.approx(1)
    assert found["p50_ms"] == pytest.approx(1.5)
    assert found["max_ms"] == pytest.approx(4)
    assert found["per_second"] == pytest.approx(500)


def test_a_slow_network_still_runs_some_times() -> None:
    calls: list[int] = []
    times = cli_bench.timed(lambda: calls.append(0), 1e-9)
    assert len(times) == cli_bench.LEAST_RUNS
    assert len(calls) >= len(times)


@pytest.mark.parametrize("threads", [1, 2])
def test_json(threads: int, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bench", str(NETWORK), "--seconds", "0.05", "--json", "--threads", str(threads)]
    assert cli.main(words) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["threads"] == threads
    order = [document[f"{name}_ms"] for name in ("min", "p50", "p90", "p99", "max")]
    assert order == sorted(order)
    assert order[0] > 0
    assert document["inferences"] >= cli_bench.LEAST_RUNS
    assert document["constant_bytes"] > 10_000  # the network's weights
    assert document["compile_ms"] > 0


def test_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", str(NETWORK), "--seconds", "0.05", "--numerics", "xnnpack"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "milliseconds of one inference"
    assert lines[1].split() == ["min", "p50", "p90", "p99", "max"]
    assert len([float(word) for word in lines[2].split()]) == 5
    assert "1 thread\n" in "\n".join(lines) + "\n"
    assert lines[-1].startswith("memory: arena ")


@pytest.mark.parametrize("text", ["0", "-1", "soon", "nan", "inf"])
def test_seconds_are_positive(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["bench", str(NETWORK), "--seconds", text])
    assert stopped.value.code == 2
    expected = f"argument --seconds: got {text}, expected a positive number of seconds\n"
    assert capsys.readouterr().err.endswith(expected)
