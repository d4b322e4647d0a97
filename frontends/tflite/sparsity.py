"""Sparse constants: from stored values and the tree of their indices to a dense array.

A sparse tensor is a tree with one level per dimension, outermost first in *traversal order*. A dense level
has every index; a sparse one (CSR) lists the children of each node: node ``p`` has those from ``segments[p]``
to ``segments[p + 1]``, at ``indices``. Dimensions beyond the tensor's rank are inside a block: ``block_map``
says of which dimension, whose index is then ``outer * block size + inner``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .flatbuffer import Table
from .topology import Fail

Indices: TypeAlias = npt.NDArray[np.int64]

_DENSE, _CSR = 0, 1
_INDEX_TYPES = {1: "int32", 2: "uint16", 3: "uint8"}
"""Tag of a vector of indices -> its numbers."""


@dataclass(frozen=True)
class Level:
    """One level of the tree: a size, or the children of each node."""

    size: int
    segments: Indices | None = None
    indices: Indices | None = None


@dataclass(frozen=True)
class Sparsity:
    """How a tensor's values are laid out; ``levels`` are in traversal order."""

    traversal_order: tuple[int, ...]
    block_map: tuple[int, ...]
    levels: tuple[Level, ...]


def read_sparsity(table: Table, fail: Fail) -> Sparsity:
    """The sparsity of a tensor; what does not depend on its shape is checked."""
    levels = tuple(_level(one, i, fail) for i, one in enumerate(table.tables(2, "sparse dimension")))
    sparsity = Sparsity(table.integers(0), table.integers(1), levels)
    order = sparsity.traversal_order
    if sorted(order) != list(range(len(levels))):
        fail(f"sparse traversal order {list(order)} does not name each of {len(levels)} dimensions once")
    return sparsity


def _level(table: Table, number: int, fail: Fail) -> Level:
    kind = table.integer(0, "i8")
    if kind == _DENSE:
        return Level(table.integer(1))
    if kind != _CSR:
        fail(f"sparse dimension {number}: unknown format {kind}, expected 0 (dense) or 1 (CSR)")
    segments, indices = (_index_vector(table, slot, number, fail) for slot in (2, 4))
    return Level(table.integer(1), segments, indices)


def _index_vector(table: Table, slot: int, number: int, fail: Fail) -> Indices:
    """A union of vectors of different integers: its tag, then the vector in a table."""
    tag, vector = table.integer(slot, "u8"), table.table(slot + 1, f"sparse dimension {number} indices")
    if tag not in _INDEX_TYPES or vector is None:
        fail(f"sparse dimension {number}: segments or indices are missing (type {tag})")
    values = vector.array(0, _INDEX_TYPES[tag])
    return np.zeros(0, np.int64) if values is None else values.astype(np.int64)


def positions(sparsity: Sparsity, shape: Sequence[int], most: int, fail: Fail) -> Indices:
    """Where in the dense tensor, flat and row-major, each stored value belongs.

    A tree with a level of more than ``most`` nodes is refused before it is built.
    """
    extents, block_sizes = _extents(sparsity, shape, fail)
    nodes, count = np.zeros(1, np.int64), 1
    at: dict[int, Indices] = {}
    for number, (dimension, level) in enumerate(zip(sparsity.traversal_order, sparsity.levels, strict=True)):
        where = f"sparse dimension {number}"
        count *= extents[dimension]
        if level.segments is None and nodes.size * extents[dimension] > most:
            fail(f"{where}: {nodes.size * extents[dimension]} nodes, more than the file has values for")
        parents, index = _children(level, nodes.size, extents[dimension], where, fail)
        if index.size > count:
            fail(f"{where}: {index.size} values do not fit into {count}")
        at = {known: values[parents] for known, values in at.items()}
        at[dimension] = index
        nodes = np.arange(index.size)
    flat = np.zeros(nodes.size, np.int64)
    inner = {dimension: len(shape) + i for i, dimension in enumerate(sparsity.block_map)}
    for dimension, extent in enumerate(shape):
        index = at[dimension]
        if dimension in inner:
            index = index * block_sizes[dimension] + at[inner[dimension]]
        flat = flat * extent + index
    return flat


def _extents(sparsity: Sparsity, shape: Sequence[int], fail: Fail) -> tuple[list[int], dict[int, int]]:
    """The extent of every dimension of the tree, and the block sizes by dimension of the tensor."""
    rank, blocks = len(shape), sparsity.block_map
    if len(sparsity.levels) != rank + len(blocks):
        fail(
            f"got {len(sparsity.levels)} sparse dimensions, expected {rank + len(blocks)} "
            f"({rank} of the shape, {len(blocks)} of blocks)"
        )
    if len(set(blocks)) != len(blocks) or not all(0 <= dimension < rank for dimension in blocks):
        fail(f"sparse block map {list(blocks)} does not name different dimensions of shape {list(shape)}")
    level_of = dict(zip(sparsity.traversal_order, sparsity.levels, strict=True))
    sizes = {dimension: level_of[rank + i].size for i, dimension in enumerate(blocks)}
    for dimension, size in sizes.items():
        if size < 1 or shape[dimension] % size:
            fail(f"blocks of {size} do not divide dimension {dimension} of shape {list(shape)}")
    outer = [extent // sizes.get(dimension, 1) for dimension, extent in enumerate(shape)]
    return [*outer, *(sizes[dimension] for dimension in blocks)], sizes


def _children(level: Level, nodes: int, extent: int, where: str, fail: Fail) -> tuple[Indices, Indices]:
    """(parent, index) of every node of a level that has ``nodes`` parents."""
    if level.segments is None or level.indices is None:
        if level.size != extent:
            fail(f"{where}: size {level.size}, expected {extent}")
        return np.repeat(np.arange(nodes), extent), np.tile(np.arange(extent), nodes)
    segments, indices = level.segments, level.indices
    if segments.size != nodes + 1:
        fail(f"{where}: {segments.size} segments, expected {nodes + 1} (one more than nodes above)")
    if segments[0] or (np.diff(segments) < 0).any() or segments[-1] != indices.size:
        fail(f"{where}: segments do not rise from 0 to the number of indices, {indices.size}")
    if indices.size and not 0 <= indices.min() <= indices.max() < extent:
        fail(f"{where}: indices from {indices.min()} to {indices.max()}, expected 0 to {extent - 1}")
    return np.repeat(np.arange(nodes), np.diff(segments)), indices
