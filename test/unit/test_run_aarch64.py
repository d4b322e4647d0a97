"""Comparing saved networks with this machine's bits, with this machine in the emulated one's place."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

import aarch64_worker
import run_aarch64
from zeropoint.tools.demo import NETWORK as DIGITS


@pytest.fixture
def job(tmp_path: Path) -> run_aarch64.Job:
    (subject,) = run_aarch64.networks(Path(DIGITS).parent, "digits*")
    job = run_aarch64.prepare(subject, "host", tmp_path)
    assert isinstance(job, run_aarch64.Job)
    return job


def test_a_network_has_its_own_bits(job: run_aarch64.Job) -> None:
    assert aarch64_worker.check(asdict(job)) == ""


def test_every_invocation_is_compared(job: run_aarch64.Job) -> None:
    with np.load(job.data) as data:
        arrays = dict(data)
    last = f"output {run_aarch64.INVOCATIONS - 1} 0"
    arrays[last][0, 3] ^= 1
    np.savez(job.data, **arrays)
    why = aarch64_worker.check(asdict(job))
    assert why.startswith("invocation 2: output 0: 1 of 10 elements differ, first [3]: got ")


@pytest.mark.parametrize(
    ("got", "want", "why"),
    [
        (np.float32([1, np.nan]), np.float32([1, np.nan]), ""),
        (np.float32([0.0]), np.float32([-0.0]), "output 0: signs of zeros or bits of NaNs differ"),
        (np.int8([1]), np.uint8([1]), "output 0: got int8(1,), expected uint8(1,)"),
        (
            np.int8([1, 2, 4]),
            np.int8([1, 3, 5]),
            "output 0: 2 of 3 elements differ, first [1]: got 2, expected 3",
        ),
    ],
)
def test_differences(got: np.ndarray, want: np.ndarray, why: str) -> None:
    assert aarch64_worker.difference([got], [want]) == why
