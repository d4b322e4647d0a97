"""What is cut into tiles, and what a tile is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Products = Literal["", "sdot", "smmla", "smull", "smull-pairs"]
"""See :mod:`.aarch64_conv2d`; empty: those of x86."""


@dataclass(frozen=True)
class Tile:
    """``rows`` pixels by ``vectors`` vectors of channels, whose sums stay in registers."""

    rows: int
    vectors: int
    halved: bool = False
    """Whether two pixels share the last vector, of half as many channels."""

    @property
    def sums(self) -> int:
        """In vectors."""
        return self.rows * self.vectors - (self.rows // 2 if self.halved else 0)

    def channels(self, lanes: int) -> int:
        return self.vectors * lanes - (lanes // 2 if self.halved else 0)


@dataclass(frozen=True)
class Work:
    """What is to be cut."""

    lines: int
    """Pixels lie in lines: tiles do not cross their ends."""
    width: int
    """Pixels of a line."""
    channels: int
    """Result channels of a group."""
    groups: int
    steps: int
    """Groups of four bytes, or of as many as ``products`` take, that a result channel sums up."""
    epilogue: str
    halves: bool = True
    """Whether two pixels may share a vector."""
    registers_per_sum: int = 1
    products: Products = ""
