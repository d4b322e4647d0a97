"""The i64 numbers of a kernel's row, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .writer import Writer


class Scalars:
    """``names`` in the order of their slots, from slot ``first`` on."""

    def __init__(self, first: int, names: Sequence[str]) -> None:
        self._slots = {name: first + i for i, name in enumerate(names)}

    def pack(self, values: Mapping[str, int]) -> tuple[int, ...]:
        """What a launch holds; every name has a value."""
        return tuple(int(values[name]) for name in self._slots)

    def load(self, w: Writer, name: str) -> str:
        """The number, loaded where this is called: a row is in the first cache, registers are few."""
        return w.scalar(self._slots[name])
