"""What tiles of :mod:`.conv2d` cost on AArch64, in instructions."""

from __future__ import annotations

import math

from .aarch64_conv2d import BLOCK_BYTES, products_of
from .conv2d_work import Tile, Work
from .instruction_set import InstructionSet

_MOST_ROWS = 16
_MOST_VECTORS = 8
_BLOCK_LOOP = 2
_TILE = 30
"""Addresses, and the loop over tiles."""
_ROW = 3
_RESULTS = {"doubling-relu": 2.0, "doubling-linear": 3.0, "nearest": 3.0}
_OTHER_RESULT = 16.0
_NARROWING = 2.5
"""Of a vector of i32 to bytes in memory, the clamp included."""
_PARTIAL_SUMS = 5
"""To start and to add up those of one vector, with ``smull``."""


def costs(work: Work, isa: InstructionSet) -> dict[Tile, float]:
    """Of all tiles that fit."""
    needed = -(-work.channels // isa.lanes)
    tiles = [
        Tile(rows, vectors)
        for rows in range(1, min(_MOST_ROWS, work.width) + 1)
        for vectors in range(1, min(_MOST_VECTORS, needed) + 1)
    ]
    return {tile: _cost(tile, work, isa) for tile in tiles if _fits(tile, work, isa)}


def _fits(tile: Tile, work: Work, isa: InstructionSet) -> bool:
    """Whether sums, pixels and the weights that are just multiplied fit into registers."""
    products, pixels = products_of(isa), tile.rows
    sums = tile.sums * (isa.lanes if products == "smull" else 1)
    if products == "smmla":
        sums += tile.vectors * (tile.rows % 2)
        pixels += tile.rows % 2
    sums += tile.sums * (work.registers_per_sum - 1)
    others = {"sdot": 2, "smmla": 2, "smull": 3}[products]
    return sums + pixels + others <= isa.registers


def _cost(tile: Tile, work: Work, isa: InstructionSet) -> float:
    """Instructions of all tiles."""
    products = products_of(isa)
    blocks = work.steps * (4 if products == "sdot" else 8) / BLOCK_BYTES
    vectors = tile.rows * tile.vectors
    pixels = tile.rows
    if products == "sdot":
        multiplications = 4 * vectors
    elif products == "smmla":
        pixels = 2 * (tile.rows + tile.rows % 2)
        multiplications = 2 * tile.vectors * (tile.rows + tile.rows % 2)
    else:
        multiplications = 12 * vectors
    addresses = math.ceil(tile.rows / 4) + 1
    block = multiplications + pixels + 2 * tile.vectors + addresses + _BLOCK_LOOP
    result = _RESULTS.get(work.epilogue, _OTHER_RESULT) + _NARROWING + 1
    if products == "smull":
        result += _PARTIAL_SUMS
    each = blocks * block + vectors * result + _ROW * tile.rows + 4 * tile.vectors + _TILE
    tiles = work.lines * math.ceil(work.width / tile.rows)
    panels = work.groups * math.ceil(work.channels / tile.channels(isa.lanes))
    return tiles * panels * each
