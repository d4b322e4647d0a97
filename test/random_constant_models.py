"""Random one-operator models without inputs: RANGE, BROADCAST_ARGS and DENSIFY are computed at import."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from drawn_model import Drawn
from sparse_tensors import encode
from zeropoint.dialect.types import TensorType


def range_(rng: np.random.Generator) -> Drawn:
    drawn, element = Drawn(rng), str(rng.choice(["i32", "i64", "f32"]))
    kind = TensorType((), element)
    count, delta = int(rng.integers(1, 40)), int(rng.integers(1, 9)) * int(rng.choice([-1, 1]))
    start, step = int(rng.integers(-50, 50)), float(delta)
    if element == "f32":
        step = float(np.float32(delta * rng.choice([0.25, 0.1, 1 / 3])))
    limit = start + step * (count - float(rng.choice([0, 0.5])))
    if element != "f32":
        limit = int(limit)
    numbers = np.asarray([start, limit, step], kind.dtype)
    extent = max(int(np.ceil((numbers[1] - numbers[0]) / numbers[2])), 1)
    operands = [drawn.model.constant(f"c{k}", value) for k, value in enumerate(numbers)]
    drawn.model.op("RANGE", operands, [drawn.result(TensorType((extent,), element))])
    return drawn


def broadcast_args(rng: np.random.Generator) -> Drawn:
    drawn, kind = Drawn(rng), rng.choice([np.int32, np.int64])
    whole = rng.integers(1, 9, int(rng.integers(1, 6)))
    first = np.where(rng.random(whole.size) < 0.3, 1, whole)
    second = np.where(rng.random(whole.size) < 0.3, 1, whole)[int(rng.integers(0, whole.size)) :]
    shapes = [first, second] if rng.integers(0, 2) else [second, first]
    operands = [drawn.integers(shape, kind) for shape in shapes]
    element = "i32" if kind is np.int32 else "i64"
    drawn.model.op("BROADCAST_ARGS", operands, [drawn.result(TensorType((whole.size,), element))])
    return drawn


def densify(rng: np.random.Generator) -> Drawn:
    """Dense outer levels around a sparse one, with or without blocks, as LiteRT's converter writes them."""
    drawn, element = Drawn(rng), str(rng.choice(["f32", "i8"]))
    rank = int(rng.integers(2, 5))
    blocks = {0: 2, rank - 1: 4} if rng.integers(0, 2) else {}
    shape = [int(rng.integers(1, 5)) * blocks.get(d, 1) for d in range(rank)]
    kind = TensorType(tuple(shape), element)
    dense = np.where(rng.random(shape) < 0.3, rng.integers(-127, 128, shape), 0).astype(kind.dtype)
    order = list(range(rank + len(blocks)))
    csr = [False] * (rank - 1) + [True] + [False] * len(blocks)
    sparse = drawn.model.sparse("sparse", shape, encode(dense, order, blocks, csr))
    drawn.model.op("DENSIFY", [sparse], [drawn.result(kind)])
    return drawn


MODELS: dict[str, Callable[[np.random.Generator], Drawn]] = {
    maker.__name__: maker for maker in (broadcast_args, densify, range_)
}
"""Name -> a function that draws a model."""
