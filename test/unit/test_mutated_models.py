"""Damaged files give a result or a ZeropointError, in bounded time and memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from mutated_models import damaged, field_places, seed_of, try_files

ROOT = Path(__file__).parents[2]
FILES = [ROOT / "tools" / "demo" / "digits_int8.tflite", *sorted((ROOT / "test" / "data").glob("*.tflite"))]
MEMORY = 1 << 30


@pytest.mark.parametrize(("how", "count"), [("load", 14), ("run", 3)])
def test_damaged_files(how: str, count: int) -> None:
    """A few copies of every small model, loaded or also evaluated, in a process of its own."""
    jobs = [(str(path), seed_of(path.name, number), how) for number in range(count) for path in FILES]
    outcomes = list(try_files(jobs))
    assert len(outcomes) == len(jobs)
    wrong = [o for o in outcomes if o.status not in ("ok", "refused")]
    assert not wrong, "\n".join(f"{o.model} seed {o.seed}: {o.status}\n{o.detail}" for o in wrong)
    assert {o.status for o in outcomes} == {"ok", "refused"}
    assert max(o.peak for o in outcomes) < MEMORY


def test_damage_is_reproducible_and_of_every_kind() -> None:
    data = FILES[0].read_bytes()
    copies = [damaged(data, seed, field_places(data)) for seed in range(60)]
    assert copies[:5] == [damaged(data, seed) for seed in range(5)]
    assert any(len(copy) != len(data) for copy in copies)
    assert sum(copy != data for copy in copies) > 50
