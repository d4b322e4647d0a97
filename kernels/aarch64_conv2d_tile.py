"""What tiles of :mod:`.conv2d` cost on AArch64, in instructions."""

from __future__ import annotations

import math
from collections.abc import Mapping

from .aarch64_conv2d import BLOCK_BYTES, step_bytes
from .conv2d_work import Products, Tile, Work
from .instruction_set import InstructionSet
from .narrow import groups_of

_MOST_ROWS = 8
"""There is a pointer for each."""
_MOST_VECTORS = 8
_OTHERS: dict[Products, int] = {"sdot": 2, "smmla": 3, "smull": 5, "smull-pairs": 6}
"""Registers for what is multiplied with pixels, and for products before they are added."""
_BLOCK_LOOP = 3
_TILE = 26
"""Addresses, and the loop over tiles."""
_ROW = 2
_VECTOR = 2
"""Loads of parameters."""
_RESULTS = {"doubling-relu": 2.0, "doubling-linear": 3.0, "doubling-masked": 5.0, "nearest": 3.0}
_OTHER_RESULT = 16.0
_NARROWING = {4: 1.5, 3: 1.8, 2: 2.0, 1: 2.5}
"""Of a vector of i32 to bytes in memory, by how many of a pixel there are."""
_PARTIAL_SUMS = 8
"""To clear and to add up those of one vector, with ``smull``."""
_USUAL = (Tile(6, 4), Tile(5, 4), Tile(4, 6), Tile(4, 4), Tile(3, 2), Tile(8, 2), Tile(7, 3))
"""Tiles that are taken if they cost little more than the best: few kernels serve many layers."""
_LITTLE_MORE = 1.02


def choose(costs: Mapping[Tile, float]) -> Tile:
    """The cheapest tile, or a usual one."""
    least = min(costs.values())
    for tile in _USUAL:
        if costs.get(tile, math.inf) <= _LITTLE_MORE * least:
            return tile
    return min(costs, key=lambda tile: (costs[tile], -tile.sums))


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
    """Whether sums, pixels and what is just multiplied fit into registers."""
    rows, others = tile.rows, _OTHERS[work.products]
    if work.products == "smmla":
        rows += rows % 2
    if work.products == "smull-pairs":
        others += tile.vectors + (4 if tile.vectors == 3 and rows > 4 else 0)  # what LLVM needs
    sums = rows * tile.vectors * (isa.lanes if work.products == "smull" else 1)
    sums += tile.sums * (work.registers_per_sum - 1)
    return sums + rows + others <= isa.registers


def _cost(tile: Tile, work: Work, isa: InstructionSet) -> float:
    """Instructions of all tiles."""
    products, vectors = work.products, tile.rows * tile.vectors
    if products == "sdot":
        block = 4 * vectors + tile.rows
    elif products == "smmla":
        pairs = (tile.rows + 1) // 2
        block = 4 * tile.vectors * pairs + tile.rows + 2 * pairs
    else:
        block = 12 * vectors + tile.rows * (9 if products == "smull-pairs" else 1)
    block += 2 * tile.vectors + _BLOCK_LOOP
    blocks = work.steps * step_bytes(products) / BLOCK_BYTES
    # A start, a rescale, and bytes.
    result = 1 + _RESULTS.get(work.epilogue, _OTHER_RESULT)
    if products == "smull":
        result += _PARTIAL_SUMS
    narrowing = sum(group * _NARROWING[group] for group in groups_of(tile.vectors)) * tile.rows
    each = blocks * block + vectors * result + narrowing
    each += _ROW * tile.rows + _VECTOR * tile.vectors + _TILE
    tiles = work.lines * math.ceil(work.width / tile.rows)
    panels = work.groups * math.ceil(work.channels / tile.channels(isa.lanes))
    return tiles * panels * each
