"""Sparse constants: every traversal order, block map and kind of level densifies as LiteRT does it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings

from operator_models import check_model
from random_tensors import quantized, seeds, values
from sparse_tensors import encode
from tflite_builder import Builder, Level, Sparse
from zeropoint.errors import ImportModelError
from zeropoint.frontends import load_bytes
from zeropoint.frontends.tflite import sparsity as reader
from zeropoint.frontends.tflite.reader import read_model


def sparse_array(rng: np.random.Generator, shape: Sequence[int]) -> np.ndarray:
    array = rng.integers(-127, 128, shape).astype(np.int8)
    return np.where(rng.random(shape) < 0.3, array, 0).astype(np.int8)


@settings(max_examples=200)
@given(seeds)
def test_every_layout_is_read_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(1, 5))
    chosen = [d for d in range(rank) if rng.random() < 0.5]
    blocks = {d: int(rng.integers(1, 4)) for d in rng.permutation(chosen).astype(int).tolist()}
    shape = [int(rng.integers(1, 5)) * blocks.get(d, 1) for d in range(rank)]
    dense = sparse_array(rng, shape)
    order = rng.permutation(rank + len(blocks)).tolist()
    csr = [bool(rng.integers(2)) if d < rank else False for d in order]
    sparse = encode(dense, order, blocks, csr)
    for level in sparse.levels:
        level.bits = int(rng.choice([8, 16, 32])) if max(level.segments or [0]) < 256 else 16
    model = Builder()
    model.sparse("w", shape, sparse, scales=0.5)
    (graph,) = read_model(model.build([], []), "m.tflite").graphs
    np.testing.assert_array_equal(graph.tensors[0].data, dense)


@settings(max_examples=25)
@given(seeds)
def test_densify_in_front_of_a_convolution(seed: int) -> None:
    """Per-channel weights in the orders and blocks that LiteRT's converter takes: dense outer levels."""
    rng = np.random.default_rng(seed)
    model, scales = Builder(), rng.uniform(0.01, 0.1, 4)
    dense = sparse_array(rng, (4, 3, 3, 8))
    blocks = {0: 2, 3: 4} if rng.integers(2) else {}
    order = list(range(4 + len(blocks)))
    csr = [False, False, False, True, *[False] * len(blocks)]
    w = model.sparse("sparse", dense.shape, encode(dense, order, blocks, csr), scales=scales)
    x = model.tensor("x", (1, 5, 5, 8), np.int8, scales=0.5, zero_points=3)
    full = model.tensor("w", dense.shape, np.int8, scales=scales)
    b = model.constant("b", rng.integers(-99, 99, 4).astype(np.int32), scales=0.5 * scales)
    y = model.tensor("y", (1, 3, 3, 4), np.int8, scales=20.0)
    model.op("DENSIFY", [w], [full])
    model.op("CONV_2D", [x, full, b], [y], Padding="VALID", StrideH=1, StrideW=1)
    array = values(rng, quantized((1, 5, 5, 8), "i8", 0.5, 3))
    check_model(model, [x], [y], [array], compiled=seed % 16 == 0)


FAULTS: list[tuple[str, Callable[[Sparse], None]]] = [
    ("does not name each of 2 dimensions once", lambda s: setattr(s, "traversal_order", [0, 7])),
    ("size 5, expected 2", lambda s: setattr(s.levels[0], "size", 5)),
    ("size -1, expected 2", lambda s: setattr(s.levels[0], "size", -1)),
    ("2 segments, expected 3", lambda s: setattr(s.levels[1], "segments", [0, 2])),
    ("segments do not rise from 0", lambda s: setattr(s.levels[1], "segments", [0, 3, 2])),
    ("segments do not rise from 0", lambda s: setattr(s.levels[1], "segments", [-1, 1, 2])),
    ("indices from 0 to 3, expected 0 to 2", lambda s: setattr(s.levels[1], "indices", [0, 3])),
    ("got 2 sparse dimensions, expected 3", lambda s: setattr(s, "block_map", [1])),
    ("buffer 1 holds 3 bytes, expected 2", lambda s: setattr(s, "values", np.zeros(3, np.int8))),
]


@pytest.mark.parametrize(("message", "spoil"), FAULTS, ids=[message for message, _ in FAULTS])
def test_faults(message: str, spoil: Callable[[Sparse], None]) -> None:
    sparse = Sparse([0, 1], [], [Level(2), Level(0, [0, 1, 2], [0, 2])], np.ones(2, np.int8))
    spoil(sparse)
    model = Builder()
    model.sparse("w", (2, 3), sparse, scales=0.5)
    with pytest.raises(ImportModelError, match=message):
        read_model(model.build([], []), "m.tflite")


@pytest.mark.parametrize(
    ("blocks", "message"), [([2], "block map"), ([0, 0], "block map"), ([0], "blocks of 2")]
)
def test_blocks_that_do_not_fit(blocks: list[int], message: str) -> None:
    levels = [Level(3), *[Level(2)] * len(blocks)]
    sparse = Sparse(list(range(len(levels))), blocks, levels, np.ones(6, np.int8))
    model = Builder()
    model.sparse("w", (3,), sparse, scales=0.5)
    with pytest.raises(ImportModelError, match=message):
        read_model(model.build([], []), "m.tflite")


def test_a_level_is_never_larger_than_the_file() -> None:
    """A billion nodes of dense levels are refused before they are made."""

    def fail(what: str) -> None:
        raise ValueError(what)

    level = reader.Level(1 << 15)
    with pytest.raises(ValueError, match="more than the file has values for"):
        reader.positions(reader.Sparsity((0, 1), (), (level, level)), (1 << 15, 1 << 15), 1000, fail)  # type: ignore[arg-type]


def test_densify_checks_its_output() -> None:
    model = Builder()
    sparse = Sparse([0], [], [Level(0, [0, 1], [1])], np.ones(1, np.int8))
    w, y = model.sparse("w", (3,), sparse, scales=0.5), model.tensor("y", (4,), np.int8, scales=0.5)
    model.op("DENSIFY", [w], [y])
    with pytest.raises(ImportModelError, match=r"declares output shape \[4\]"):
        load_bytes(model.build([], [y]), name="m.tflite")
