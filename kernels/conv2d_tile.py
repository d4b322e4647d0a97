"""How a convolution is cut into tiles: pixels times vectors of channels, chosen by what they cost.

Every count is of one instruction set's vectors; costs are cycles of a core that does one dot product of whole
vectors, one load and two other instructions at a time. Only their ratios matter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .instruction_set import InstructionSet

_MOST_VECTORS = 8
_DOT_LATENCY = 4
_LOOP = 0.5
"""Of a step, for the loop around it."""
_TILE = 16.0
"""What a tile costs besides its steps and its results."""
_RESULT_COSTS = {
    "truncate-relu": 1.6,
    "truncate-linear": 2.1,
    "nearest": 1.6,
    "double-relu": 3.5,
    "double-linear": 4.5,
}
_OTHER_RESULT_COST = 8.0


@dataclass(frozen=True)
class Tile:
    """``rows`` pixels by ``vectors`` vectors of channels, whose sums stay in registers."""

    rows: int
    vectors: int


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
    """Groups of four bytes that a result channel sums up."""
    epilogue: str


def choose_tile(work: Work, isa: InstructionSet) -> Tile:
    """The cheapest tile that fits the registers."""
    needed = -(-work.channels // isa.lanes)
    tiles = [
        Tile(rows, vectors)
        for vectors in range(1, min(_MOST_VECTORS, needed) + 1)
        for rows in range(1, min(work.width, isa.registers) + 1)
        if _fits(rows, vectors, isa)
    ]
    return min(tiles, key=lambda tile: (_cost(tile, work, isa), -tile.rows * tile.vectors))


def _fits(rows: int, vectors: int, isa: InstructionSet) -> bool:
    """Sums, the filter's vectors and the broadcast pixel; a single pixel takes the filter from memory."""
    sums = rows * vectors
    if sums > isa.registers * 3 // 4 + (4 if vectors <= 2 and isa.registers > 16 else 0):
        return False
    other = 2 if isa.dot == "dot-u8s8" else 3  # a pixel and its mask, a product before it is added
    return sums + (vectors if rows > 1 else 1) + other - 1 <= isa.registers


def _cost(tile: Tile, work: Work, isa: InstructionSet) -> float:
    dots = tile.rows * tile.vectors
    loads = tile.rows + tile.vectors
    if isa.dot == "dot-u8s8":
        step = max(dots, loads, _DOT_LATENCY) + 0.1 * loads + _LOOP
    else:
        step = 2 * (max(dots, _DOT_LATENCY // 4) + 0.5 * tile.rows + 0.1 * loads) + _LOOP
    result = _RESULT_COSTS.get(work.epilogue, _OTHER_RESULT_COST)
    stores = tile.rows * (-(-tile.vectors // 4) + (1 if tile.vectors % 4 == 3 else 0))
    each = work.steps * step + dots * result + stores + 2 * tile.vectors + _TILE
    tiles = work.lines * math.ceil(work.width / tile.rows)
    panels = work.groups * math.ceil(work.channels / (tile.vectors * isa.lanes))
    return tiles * panels * each
