"""What the counting plugin (aarch64_counter.c) wrote: how often every instruction was executed, by label."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_WORD_DIGITS = 8


class CountsError(Exception):
    """A file of counts that cannot be used; the message says why and what to do."""


@dataclass(frozen=True)
class Block:
    """Instructions that were translated together: executed from the first to the last."""

    address: int
    words: tuple[int, ...]
    """The instructions, 4 bytes each."""
    executions: dict[int, int]
    """Label -> how often the block was entered."""


@dataclass(frozen=True)
class Mapping:
    begin: int
    end: int
    path: str
    """Empty for anonymous memory."""


@dataclass(frozen=True)
class Executed:
    """One instruction at one address, and how often it was executed."""

    address: int
    word: int
    count: int


@dataclass(frozen=True)
class Counts:
    """One run of a program under the emulator."""

    threads: int
    blocks: Sequence[Block]
    mappings: Sequence[Mapping]

    def total(self, label: int) -> int:
        """Instructions executed under ``label``."""
        return sum(block.executions.get(label, 0) * len(block.words) for block in self.blocks)

    def words(self) -> set[int]:
        """Every instruction that was executed under any label but 0."""
        return {word for block in self.blocks if block.executions.keys() - {0} for word in block.words}

    def instructions(self, label: int, begin: int = 0, end: int = 1 << 64) -> list[Executed]:
        """Every instruction executed under ``label`` in ``begin <= address < end``, by address.

        Code that was replaced by other code at the same address counts separately.
        """
        found: Counter[tuple[int, int]] = Counter()
        for block in self.blocks:
            executions = block.executions.get(label, 0)
            if executions and begin <= block.address < end:
                for index, word in enumerate(block.words):
                    found[block.address + 4 * index, word] += executions
        return [Executed(address, word, count) for (address, word), count in sorted(found.items())]

    def path_at(self, address: int) -> str:
        """The file that is mapped at ``address``; empty where none is."""
        at = bisect.bisect_right(self.mappings, address, key=lambda mapping: mapping.begin) - 1
        if at < 0 or address >= self.mappings[at].end:
            return ""
        return self.mappings[at].path


def read_counts(path: Path) -> Counts:
    """Raises CountsError if the program under the emulator did not end as it should."""
    try:
        lines = path.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    except OSError as error:
        raise CountsError(
            f"{path}: {error.strerror}: the program ended before the emulator wrote its counts"
        ) from None
    if lines[-2:] != ["end", ""] or not lines[0].startswith("threads "):
        raise CountsError(f"{path}: is cut short: the program was killed while its counts were written")
    mappings = [_mapping(line) for line in lines if line.startswith("map ")]
    blocks = [_block(line) for line in lines if line.startswith("block ")]
    return Counts(int(lines[0].split()[1]), blocks, sorted(mappings, key=lambda mapping: mapping.begin))


def _mapping(line: str) -> Mapping:
    _, begin, end, path = line.split(" ", 3)
    return Mapping(int(begin, 16), int(end, 16), path)


def _block(line: str) -> Block:
    _, address, digits, *executions = line.split()
    words = tuple(_words(digits))
    pairs = (pair.split(":") for pair in executions)
    return Block(int(address, 16), words, {int(label): int(count) for label, count in pairs})


def _words(digits: str) -> Iterator[int]:
    for at in range(0, len(digits), _WORD_DIGITS):
        yield int(digits[at : at + _WORD_DIGITS], 16)
