"""How long a program's buffers are needed, and so how small its arena could be at best."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable


class Lifetimes:
    """Buffers by any name of theirs, each alive from its first use to its last."""

    def __init__(self) -> None:
        self._sizes: dict[Hashable, int] = {}
        self._spans: dict[Hashable, tuple[int, int]] = {}

    def use(self, buffer: Hashable, size: int, step: int) -> None:
        """``step`` reads or writes a buffer of ``size`` bytes. Steps come in the order they run."""
        self._sizes[buffer] = size
        first, _ = self._spans.get(buffer, (step, step))
        self._spans[buffer] = first, step

    def most_alive(self) -> int:
        """The largest sum of the sizes of buffers that are alive at one step: no arena is smaller."""
        changes: dict[int, int] = defaultdict(int)
        for buffer, (first, last) in self._spans.items():
            changes[first] += self._sizes[buffer]
            changes[last + 1] -= self._sizes[buffer]
        alive = most = 0
        for step in sorted(changes):
            alive += changes[step]
            most = max(most, alive)
        return most
