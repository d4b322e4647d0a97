"""The memory plan: buffers that are alive together never overlap, and little is wasted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from zeropoint.passes.entry import ALIGNMENT
from zeropoint.passes.plan_memory import Buffer, assign_offsets


@st.composite
def buffer_lists(draw: st.DrawFn) -> list[Buffer]:
    buffers = []
    for _ in range(draw(st.integers(0, 40))):
        first = draw(st.integers(0, 60))
        buffers.append(Buffer(draw(st.integers(0, 5000)), first, first + draw(st.integers(0, 20))))
    return buffers


def rounded(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


@given(buffer_lists())
def test_plan_is_sound(buffers: list[Buffer]) -> None:
    offsets, total = assign_offsets(buffers)
    placed = list(zip(buffers, offsets, strict=True))
    for i, (a, start) in enumerate(placed):
        assert start % ALIGNMENT == 0
        assert start + a.size <= total
        for b, other in placed[:i]:
            alive_together = a.first <= b.last and b.first <= a.last
            if alive_together and a.size and b.size:
                assert start + a.size <= other or other + b.size <= start


@given(buffer_lists())
def test_plan_lies_between_the_live_maximum_and_no_sharing(buffers: list[Buffer]) -> None:
    _, total = assign_offsets(buffers)
    live = [sum(rounded(b.size) for b in buffers if b.first <= step <= b.last) for step in range(81)]
    assert max(live, default=0) <= total <= sum(rounded(b.size) for b in buffers)


def test_chain_takes_its_widest_step() -> None:
    """Each buffer lives from its producer to its one consumer: two at a time."""
    sizes = [640, 128, 1280, 64, 512]
    buffers = [Buffer(size, step, step + 1) for step, size in enumerate(sizes)]
    assert assign_offsets(buffers)[1] == 128 + 1280


def test_hole_is_reused() -> None:
    long, first, second = Buffer(640, 0, 9), Buffer(320, 0, 3), Buffer(320, 4, 9)
    offsets, total = assign_offsets([long, first, second])
    assert offsets[1] == offsets[2]
    assert total == 640 + 320


def test_long_chain_is_fast_and_small() -> None:
    buffers = [Buffer(1024, step, step + 1) for step in range(6000)]
    assert assign_offsets(buffers)[1] == 2048
