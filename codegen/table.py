"""A program's table as the driver reads it (see ``driver.py``): steps, then the rows of their kernels."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..dialect.buffers import ALIGNMENT, aligned_bytes
from .driver import HEADER_WORDS, STEP_WORDS
from .driver_team import MAX_CHUNKS
from .loader import LoadedCode
from .program import KERNEL, Program, Step

_CHUNKS_PER_THREAD = 16
_CLAIMS_PER_THREAD = 2
"""Who claims takes one part in so many, times threads, of the chunks that are left."""
_CHUNK_NS = 1000
"""A chunk does at least so much work: handing one over takes a quarter of that."""
_SHARED_NS = 10_000
"""A step of less work is not shared. Its data have to move between cores, at 60 bytes per ns or, where cores
have no cache in common, at 20; so do the words by which threads agree, in 0.1 or 0.3 us there and back.
"""

Words = npt.NDArray[np.int64]


def chunks_of(step: Step, threads: int) -> tuple[int, int]:
    """Units of a chunk, and the number of chunks, that a step is cut into for a number of threads."""
    if 0 < step.cost < _SHARED_NS:
        return step.units, 1
    wanted = min(step.units, threads * _CHUNKS_PER_THREAD, MAX_CHUNKS)
    if step.cost:
        wanted = min(wanted, step.cost // _CHUNK_NS)
    if threads == 1 or wanted < 2:
        return step.units, 1
    size = -(-step.units // wanted)
    return size, -(-step.units // size)


def _handovers(steps: Sequence[Step], threads: int) -> list[tuple[int, int, int, int]]:
    """Per step the units of a chunk, the number of chunks, claims, and early steps."""
    found: list[tuple[int, int, int, int]] = []
    for step in steps:
        size, count = chunks_of(step, threads)
        early = 0
        if count > 1 and found and found[-1][1] == 1 and steps[len(found) - 1].overlaps_next:
            early = 1
            found[-1] = (found[-1][0], 0, 0, 0)
        found.append((size, count, _CLAIMS_PER_THREAD * threads, early))
    return found


class TableLayout:
    """Where everything stands in the table of a program, and what is the same in all of its tables."""

    def __init__(
        self,
        program: Program,
        code: LoadedCode,
        constants: int,
        threads: int,
        variables: Sequence[int] = (),
    ) -> None:
        """``constants``: the address of the constant block; ``variables``: those of its variables."""
        kernels = {kernel: code.address(kernel, KERNEL) for kernel in program.kernels}
        steps = (*program.steps, *program.inner)
        head = HEADER_WORDS + STEP_WORDS * len(steps)
        words = [0] * (head + sum(len(step.arguments) for step in steps))
        words[1] = len(program.steps)
        self._own: list[int] = []
        """Positions of words that are relative to the table's own address, and to the arena's."""
        self._arena: list[int] = []
        self.places: list[tuple[int, int, int]] = []
        """Words that point into inputs and outputs: which of them (inputs first), position, bytes from its
        start.
        """
        position = head
        handovers = _handovers(program.steps, threads) + _handovers(program.inner, 1)
        for number, step in enumerate(steps):
            first = HEADER_WORDS + STEP_WORDS * number
            words[first : first + STEP_WORDS] = [
                kernels[step.kernel],
                8 * position,
                step.units,
                *handovers[number],
            ]
            self._own.append(first + 1)
            for argument in step.arguments:
                if isinstance(argument, int):
                    words[position] = argument if argument < 1 << 63 else argument - (1 << 64)
                else:
                    words[position] = argument.offset
                    match argument.base:
                        case "constants":
                            words[position] += constants
                        case "state":
                            words[position] += variables[argument.index]
                        case "steps":
                            behind = len(program.steps) + argument.index
                            words[position] = 8 * (HEADER_WORDS + STEP_WORDS * behind)
                            self._own.append(position)
                        case "arena":
                            self._arena.append(position)
                        case "input":
                            self.places.append((argument.index, position, argument.offset))
                        case "output":
                            result = program.inputs + argument.index
                            self.places.append((result, position, argument.offset))
                position += 1
        self._words = np.array(words, np.int64)
        self.arena_bytes = program.arena_bytes

    def new_table(self, team: int, address: int, arena: int) -> Words:
        """The words of a table that will lie at ``address`` and work in the arena at ``arena``."""
        words: Words = self._words.copy()
        words[0] = team
        words[self._own] += address
        words[self._arena] += arena
        return words


class Workspace:
    """An arena, and a table that works in it: what one run at a time needs."""

    def __init__(self, layout: TableLayout, team: int) -> None:
        """``team``: the address of a team of threads, or 0."""
        self._layout = layout
        self._arena = aligned_bytes(layout.arena_bytes)
        size = len(layout._words) * 8
        self._memory = aligned_bytes(-(-size // ALIGNMENT) * ALIGNMENT)
        self.address = self._memory.ctypes.data
        self._memory[:size].view(np.int64)[:] = layout.new_table(team, self.address, self._arena.ctypes.data)
        self._words = (ctypes.c_int64 * len(layout._words)).from_address(self.address)
        self.owned: Any = None
        """What must live as long as this object does."""

    def point_at(self, addresses: Sequence[int]) -> None:
        """Set the addresses of the inputs, then of the outputs."""
        words = self._words
        for number, position, offset in self._layout.places:
            words[position] = addresses[number] + offset
