"""How long a program's buffers are needed, and so how small its arena could be at best."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from itertools import accumulate


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

    def alive(self, steps: int) -> list[int]:
        """The sum of the sizes of buffers that are alive, at each of so many steps. No arena is smaller than
        the largest.
        """
        changes: dict[int, int] = defaultdict(int)
        for buffer, (first, last) in self._spans.items():
            changes[first] += self._sizes[buffer]
            changes[last + 1] -= self._sizes[buffer]
        return list(accumulate(changes[step] for step in range(steps)))
