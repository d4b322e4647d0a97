"""How a convolution is cut into tiles: pixels times vectors of channels, chosen by what they cost.

Costs are cycles of a core that does one dot product of whole vectors at a time; they were fitted to
measurements of many tiles and layers. Only their ratios matter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from . import aarch64_conv2d_tile
from .conv2d_work import Tile, Work
from .instruction_set import InstructionSet

_ROWS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16)
_DIVISORS = (9, 11, 13, 15, *range(17, 25))
"""Rows only of lines that they divide."""
_MOST_VECTORS = 6
_MOST_VECTORS_OF_A_PIXEL = 8
_LEAST_DOTS = 10
"""Of a step, in the time that one takes to give its sum to the next."""
_LOAD = 0.05
_STORE = 1.8
_RESULTS = {
    "truncate-relu": 1.4,
    "truncate-linear": 1.9,
    "nearest": 1.4,
    "double-relu": 3.0,
    "double-linear": 3.7,
    "sums": 0.5,
    "reals": 2.5,
}
_OTHER_RESULT = 8.0
_TILE = 8.0
_SHARE = 0.15
_FIRST_CACHE = 24 << 10
"""Bytes of a panel that stay in the first cache; a larger one costs more loads."""
_FAR_LOAD = 0.3
_FAR_BYTES = 27
"""From the second cache in the time of a dot product."""
_MOST_PAIR_SUMS = 8
"""What leaves enough of 16 registers for products before they are added."""


_USUAL = (Tile(4, 4), Tile(8, 2), Tile(6, 4), Tile(7, 2), Tile(5, 4), Tile(3, 2), Tile(4, 2))
"""Tiles that are taken if they cost little more than the best: few kernels serve many layers."""
_LITTLE_MORE = 1.03
_WORTH_A_TRY = 1.3
"""Costs are estimates: a tile may turn out to be faster than one that costs so many times less."""
_MOST_TRIES = 6


def choose_tile(work: Work, isa: InstructionSet) -> Tile:
    """The cheapest tile that fits the registers, or a usual one."""
    return _chosen(costs(work, isa), isa)


def candidate_tiles(work: Work, isa: InstructionSet) -> list[Tile]:
    """What :func:`choose_tile` takes, then others that cost little more, cheapest first."""
    found = costs(work, isa)
    chosen, limit = _chosen(found, isa), _WORTH_A_TRY * min(found.values())
    others = sorted(
        (t for t in found if t != chosen and found[t] <= limit), key=lambda t: (found[t], -t.sums)
    )
    return [chosen, *others[: _MOST_TRIES - 1]]


def costs(work: Work, isa: InstructionSet) -> dict[Tile, float]:
    """Of all tiles that fit."""
    if isa.architecture == "aarch64":
        return aarch64_conv2d_tile.costs(work, isa)
    needed = -(-work.channels // isa.lanes)
    tiles = [
        Tile(rows, vectors, halved)
        for rows in (*_ROWS, *(rows for rows in _DIVISORS if work.width % rows == 0))
        for vectors in range(1, min(_MOST_VECTORS_OF_A_PIXEL if rows == 1 else _MOST_VECTORS, needed) + 1)
        for halved in ((False, True) if work.halves else (False,))
    ]
    return {
        tile: _cost(tile, work, isa) for tile in tiles if tile.rows <= work.width and _fits(tile, work, isa)
    }


def _chosen(costs: Mapping[Tile, float], isa: InstructionSet) -> Tile:
    if isa.architecture == "aarch64":
        return aarch64_conv2d_tile.choose(costs)
    limit = min(costs.values())
    for tile in _USUAL if isa.registers > 16 else ():
        if costs.get(tile, math.inf) <= _LITTLE_MORE * limit:
            return tile
    return min(costs, key=lambda tile: (costs[tile], -tile.sums))


def _fits(tile: Tile, work: Work, isa: InstructionSet) -> bool:
    """Sums, the filter's vectors and the broadcast pixel; a single pixel takes the filter from memory."""
    sums = tile.sums * work.registers_per_sum
    if isa.dot != "dot-u8s8":
        return sums <= _MOST_PAIR_SUMS and not tile.halved
    if tile.halved and (tile.rows % 2 or tile.vectors == 1):
        return False
    pixels = 2 if tile.halved else 1
    return sums + (tile.vectors if tile.rows > 1 else 1) + pixels <= isa.registers


def _cost(tile: Tile, work: Work, isa: InstructionSet) -> float:
    dots, loads = tile.sums, tile.rows + tile.vectors
    if isa.dot == "dot-u8s8":
        step, step_bytes = max(dots, _LEAST_DOTS) + _LOAD * loads, tile.vectors * isa.vector_bytes
    else:  # two multiplications and additions, half as long as a dot product; two operations for a pixel
        step, step_bytes = (
            max(dots, 2) + 0.5 * tile.rows + 2 * _LOAD * loads,
            2 * tile.vectors * isa.vector_bytes,
        )
    if work.steps * step_bytes > _FIRST_CACHE:
        step = max(step + _FAR_LOAD * tile.vectors, step_bytes / _FAR_BYTES)
    if tile.halved:  # the pixels' bytes are put side by side
        step += _SHARE * tile.rows
    full, rest = divmod(tile.vectors - tile.halved, 4)
    stores = tile.rows * (full + (0, 1, 1, 2)[rest] + tile.halved)
    each = work.steps * step + dots * _RESULTS.get(work.epilogue, _OTHER_RESULT) + _STORE * stores + _TILE
    tiles = work.lines * math.ceil(work.width / tile.rows)
    panels = work.groups * math.ceil(work.channels / tile.channels(isa.lanes))
    return tiles * panels * each
