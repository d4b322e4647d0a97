"""Random ops that move, choose and order values, with their operands: for tests that compare two ways of
computing them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lowered_ops import Array, Case
from random_tensors import quantized
from zeropoint.dialect.types import TensorType

PLAIN = ("f32", "i1", "i8", "u8", "i16", "i32", "u32", "i64", "f16", "f64")
ORDERED = ("f32", "i8", "u8", "i32", "i64", "q i8", "q u8", "q i16")
STORAGES = ("q i8", "q u8", "q i16", "q i32")


def shape_of(rng: np.random.Generator, rank: int, low: int = 1, high: int = 5) -> tuple[int, ...]:
    return tuple(int(n) for n in rng.integers(low, high, rank))


def random_type(
    rng: np.random.Generator, shape: Sequence[int], elements: Sequence[str] = (*PLAIN, *STORAGES)
) -> TensorType:
    """A type of this shape; one in two is quantized."""
    chosen = [e for e in elements if e.startswith("q") == bool(rng.integers(0, 2))] or list(elements)
    element = str(rng.choice(chosen))
    if not element.startswith("q"):
        return TensorType(tuple(shape), element)
    storage = element[2:]
    point = int(rng.integers(-9, 9)) + 128 * (storage == "u8") if storage in ("i8", "u8") else 0
    return quantized(shape, storage, 2.0 ** float(rng.uniform(-6, 2)), point)


def random_values(rng: np.random.Generator, kind: TensorType, few: bool = False) -> Array:
    """Values from the whole range, or (``few``) with many ties."""
    if kind.dtype.kind == "f":
        array = rng.normal(0, 100, kind.shape)
        return (np.round(array / 50) if few else array).astype(kind.dtype)
    if kind.dtype.kind == "b":
        return rng.integers(0, 2, kind.shape).astype(bool)
    limits = np.iinfo(kind.dtype)
    low, high = (-2 * (limits.min < 0), 2) if few else (limits.min, limits.max)
    return rng.integers(low, high, kind.shape, dtype=kind.dtype, endpoint=True)


def like(kind: TensorType, shape: Sequence[int]) -> TensorType:
    return TensorType(tuple(int(n) for n in shape), kind.element)


def index_values(
    rng: np.random.Generator, shape: Sequence[int], low: int, high: int
) -> tuple[TensorType, Array]:
    """Indices in i32 or i64, from ``low`` to ``high`` - 1."""
    kind = TensorType(tuple(shape), str(rng.choice(["i32", "i64"])))
    return kind, rng.integers(low, high, shape).astype(kind.dtype)


def gather(rng: np.random.Generator) -> Case:
    rank = int(rng.integers(1, 5))
    x = random_type(rng, shape_of(rng, rank))
    axis = int(rng.integers(0, rank))
    depth = int(rng.integers(1, min(3, rank - axis) + 1))
    batch_dims = int(rng.integers(0, axis + 1))
    middle = shape_of(rng, int(rng.integers(0, 3)))
    i, places = index_values(rng, (*x.shape[:batch_dims], *middle, depth), -1, 6)
    result = like(x, (*x.shape[:axis], *middle, *x.shape[axis + depth :]))
    attributes = {"axis": axis, "batch_dims": batch_dims}
    return Case("gather", [random_values(rng, x), places], [x, i], result, attributes)


def scatter_nd(rng: np.random.Generator) -> Case:
    rank = int(rng.integers(1, 4))
    depth = int(rng.integers(1, rank + 1))
    elements = ("f32", "i1", "i8", "u8", "i32", "i64", "q i8", "q u8", "q i16")
    result = random_type(rng, shape_of(rng, rank), elements)
    outer = shape_of(rng, int(rng.integers(0, 3)))
    updates = like(result, (*outer, *result.shape[depth:]))
    i, places = index_values(rng, (*outer, depth), -1, 6)
    return Case("scatter_nd", [random_values(rng, updates), places], [updates, i], result)


def dynamic_slice(rng: np.random.Generator) -> Case:
    rank = int(rng.integers(1, 4))
    x = random_type(rng, shape_of(rng, rank))
    b, begin = index_values(rng, (rank,), -1, 5)
    result = like(x, [int(rng.integers(1, n + 1)) for n in x.shape])
    return Case("dynamic_slice", [random_values(rng, x), begin], [x, b], result)


def dynamic_update_slice(rng: np.random.Generator) -> Case:
    rank = int(rng.integers(1, 4))
    x = random_type(rng, shape_of(rng, rank))
    b, begin = index_values(rng, (rank,), -1, 5)
    part = like(x, [int(rng.integers(1, n + 1)) for n in x.shape])
    arrays = [random_values(rng, x), random_values(rng, part), begin]
    return Case("dynamic_update_slice", arrays, [x, part, b], x)


def one_hot(rng: np.random.Generator) -> Case:
    rank = int(rng.integers(0, 3))
    i, places = index_values(rng, shape_of(rng, rank), -1, 6)
    axis = int(rng.integers(0, rank + 1))
    result = random_type(rng, (*i.shape[:axis], int(rng.integers(1, 6)), *i.shape[axis:]))
    value = like(result, ())
    arrays = [random_values(rng, value), random_values(rng, value), places]
    return Case("one_hot", arrays, [value, value, i], result, {"axis": axis})


def broadcast(rng: np.random.Generator) -> Case:
    result = shape_of(rng, int(rng.integers(0, 5)))
    kept = result[int(rng.integers(0, len(result) + 1)) :]
    x = random_type(rng, [int(rng.choice([1, n])) for n in kept])
    return Case("broadcast", [random_values(rng, x)], [x], like(x, result))


def reverse(rng: np.random.Generator) -> Case:
    rank = int(rng.integers(1, 5))
    x = random_type(rng, shape_of(rng, rank))
    axes = [d for d in range(rank) if rng.integers(0, 2)]
    return Case("reverse", [random_values(rng, x)], [x], x, {"axes": axes})


def reverse_sequence(rng: np.random.Generator) -> Case:
    rank = int(rng.integers(2, 5))
    x = random_type(rng, shape_of(rng, rank))
    axis, batch_axis = (int(d) for d in rng.permutation(rank)[:2])
    n, lengths = index_values(rng, (x.shape[batch_axis],), 0, x.shape[axis] + 1)
    attributes = {"axis": axis, "batch_axis": batch_axis}
    return Case("reverse_sequence", [random_values(rng, x), lengths], [x, n], x, attributes)


def select(rng: np.random.Generator) -> Case:
    result = random_type(rng, shape_of(rng, int(rng.integers(0, 5))))

    def operand() -> tuple[int, ...]:
        return tuple(int(rng.choice([1, n])) for n in result.shape)

    shapes = [result.shape if i == 0 else operand() for i in rng.permutation(3)]
    types = [like(result, shapes[0]), like(result, shapes[1]), TensorType(shapes[2], "i1")]
    return Case("select", [random_values(rng, type_) for type_ in types], types, result)


def cast(rng: np.random.Generator) -> Case:
    shape = (2, 9)
    x, y = random_type(rng, shape), random_type(rng, shape)
    array = random_values(rng, x)
    if x.dtype.kind == "f":
        special = [0.4, -0.6, 1e9, -1e9, 3e9, 1e19, -1e19, np.nan, np.inf, -np.inf, 127.5, 255.9, -128.9, 128]
        with np.errstate(over="ignore"):
            array = np.where(rng.random(shape) < 0.7, rng.choice(special, shape), array).astype(x.dtype)
    return Case("cast", [array], [x], y)


def arg_min(rng: np.random.Generator) -> Case:
    rank = int(rng.integers(1, 5))
    x = random_type(rng, shape_of(rng, rank, 1, 7), ORDERED)
    axis = int(rng.integers(0, rank))
    result = TensorType((*x.shape[:axis], *x.shape[axis + 1 :]), str(rng.choice(["i32", "i64"])))
    return Case("arg_min", [random_values(rng, x, few=bool(rng.integers(0, 2)))], [x], result, {"axis": axis})


def arg_max(rng: np.random.Generator) -> Case:
    case = arg_min(rng)
    return Case("arg_max", case.arrays, case.types, case.result, case.attributes)


def top_k(rng: np.random.Generator) -> Case:
    rank = int(rng.integers(1, 4))
    x = random_type(rng, shape_of(rng, rank, 1, 8), ORDERED)
    count = int(rng.integers(1, x.shape[-1] + 1))
    result = TensorType((*x.shape[:-1], count), str(rng.choice(["i32", "i64"])))
    return Case("top_k", [random_values(rng, x, few=bool(rng.integers(0, 2)))], [x], result)


def nonzero(rng: np.random.Generator) -> Case:
    x = TensorType((int(rng.integers(1, 30)),), "i1")
    result = TensorType(x.shape, str(rng.choice(["i32", "i64"])))
    return Case("nonzero", [rng.random(x.shape) < rng.choice([0.0, 0.3, 1.0])], [x], result)


MAKERS: dict[str, Callable[[Any], Case]] = {
    maker.__name__: maker
    for maker in (
        arg_max,
        arg_min,
        broadcast,
        cast,
        dynamic_slice,
        dynamic_update_slice,
        gather,
        nonzero,
        one_hot,
        reverse,
        reverse_sequence,
        scatter_nd,
        select,
        top_k,
    )
}
"""op -> a function that draws one with its operands."""
