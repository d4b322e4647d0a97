"""Sparse constants for tests: an encoder of its own, level by level, from a dense array."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from random_tensors import Array
from tflite_builder import Level, Sparse


def encode(dense: Array, order: Sequence[int], blocks: dict[int, int], csr: Sequence[bool]) -> Sparse:
    """``dense`` as a tree of levels in traversal ``order``, those marked in ``csr`` sparse.

    ``blocks``: dimension -> block size; dimension ``rank + i`` of the order is inside the i-th of them.
    """
    rank, block_map = dense.ndim, list(blocks)
    split: list[int] = []
    places: dict[int, int] = {}
    for dimension, extent in enumerate(dense.shape):
        places[dimension] = len(split)
        split.append(extent // blocks.get(dimension, 1))
        if dimension in blocks:
            places[rank + block_map.index(dimension)] = len(split)
            split.append(blocks[dimension])
    tree = dense.reshape(split).transpose([places[dimension] for dimension in order])
    levels: list[Level] = []
    nodes = tree[None]  # one node above the first level
    for sparse in csr:
        extent = nodes.shape[1]
        if not sparse:
            levels.append(Level(extent))
            nodes = nodes.reshape(nodes.shape[0] * extent, *nodes.shape[2:])
            continue
        used = (nodes != 0).any(axis=tuple(range(2, nodes.ndim)))
        parents, indices = np.nonzero(used)
        segments = np.concatenate([[0], np.cumsum(used.sum(axis=1))])
        levels.append(Level(0, segments.tolist(), indices.tolist()))
        nodes = nodes[parents, indices]
    return Sparse(list(order), block_map, levels, nodes.reshape(-1))
