"""Innermost loops of counted code: where the instructions of a network are spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .aarch64_counts import Executed
from .aarch64_decode import branch_offset


@dataclass(frozen=True)
class Loop:
    """Instructions from the target of a branch back to that branch, without such a loop inside."""

    begin: int
    words: tuple[int, ...]
    executed: int
    """Instructions, all iterations together."""
    iterations: int


def innermost_loops(code: Sequence[Executed]) -> list[Loop]:
    """The loops in ``code``, instructions by address, that executed the most first.

    A branch back counts as a loop if every instruction between its target and itself was executed at least
    half as often as the branch: else it is a jump between parts of a function.
    """
    places = {instruction.address: index for index, instruction in enumerate(code)}
    spans: list[tuple[int, int]] = []
    for index, instruction in enumerate(code):
        offset = branch_offset(instruction.word)
        first = places.get(instruction.address + offset) if offset is not None and offset <= 0 else None
        if first is not None and _is_loop(code[first : index + 1]):
            spans.append((first, index))
    found = []
    for first, last in spans:
        if any((a, b) != (first, last) and first <= a and b <= last for a, b in spans):
            continue
        part = code[first : last + 1]
        words = tuple(instruction.word for instruction in part)
        found.append(Loop(part[0].address, words, sum(i.count for i in part), part[-1].count))
    return sorted(found, key=lambda loop: (-loop.executed, loop.begin))


def _is_loop(part: Sequence[Executed]) -> bool:
    contiguous = part[-1].address - part[0].address == 4 * (len(part) - 1)
    return contiguous and min(instruction.count for instruction in part) * 2 >= part[-1].count
