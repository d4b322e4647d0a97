"""Random models of the operators that look at values to choose, order, place or convert others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from drawn_model import MOVED, Drawn, drawn_source, inner_indices
from random_movements import PLAIN, STORAGES, like, random_type, random_values, shape_of
from random_tensors import add_tensor
from tflite_builder import TENSOR_TYPES
from zeropoint.dialect.types import TensorType


def gather(rng: np.random.Generator) -> Drawn:
    rank = int(rng.integers(1, 5))
    drawn, x, source = drawn_source(rng, rank)
    axis = int(rng.integers(0, rank))
    batch_dims = int(rng.integers(0, axis + 1)) if rng.integers(0, 2) else 0
    middle = shape_of(rng, int(rng.integers(0, 3)))
    i, places = inner_indices(drawn, (*x.shape[:batch_dims], *middle), [x.shape[axis]])
    result = drawn.result(like(x, (*x.shape[:axis], *middle, *x.shape[axis + 1 :])))
    written = axis - rank if rng.integers(0, 2) else axis
    drawn.model.op(
        "GATHER", [source, drawn.maybe_constant(i, places)], [result], Axis=written, BatchDims=batch_dims
    )
    return drawn


def gather_nd(rng: np.random.Generator) -> Drawn:
    rank = int(rng.integers(1, 5))
    drawn, x, source = drawn_source(rng, rank)
    depth = int(rng.integers(1, rank + 1))
    outer = shape_of(rng, int(rng.integers(1, 3)))
    i, places = inner_indices(drawn, (*outer, depth), x.shape[:depth])
    result = drawn.result(like(x, (*outer, *x.shape[depth:])))
    drawn.model.op("GATHER_ND", [source, drawn.maybe_constant(i, places)], [result])
    return drawn


def embedding_lookup(rng: np.random.Generator) -> Drawn:
    drawn = Drawn(rng)
    x = random_type(rng, shape_of(rng, int(rng.integers(2, 4))), ("f32", "i8", "u8", "q i8", "q u8"))
    i, places = inner_indices(drawn, (int(rng.integers(1, 5)),), [x.shape[0]])
    lookup = drawn.source(TensorType(i.shape, "i32"), places.astype(np.int32), "i")
    values = add_tensor(drawn.model, "x", x, random_values(rng, x))
    result = drawn.result(like(x, (*i.shape, *x.shape[1:])))
    drawn.model.op("EMBEDDING_LOOKUP", [lookup, values], [result])
    return drawn


def embedding_lookup_hybrid(rng: np.random.Generator) -> Drawn:
    """8-bit rows with a scale for all or for each, a float result."""
    drawn = Drawn(rng)
    rows, columns = (int(n) for n in rng.integers(1, 6, 2))
    scales = np.exp2(rng.uniform(-8, 2, rows if rng.integers(0, 2) else 1)).astype(np.float32)
    data = rng.integers(-127, 128, (rows, columns)).astype(np.int8)
    i, places = inner_indices(drawn, (3,), [rows])
    lookup = drawn.source(TensorType(i.shape, "i32"), places.astype(np.int32), "i")
    values = drawn.model.tensor("x", data.shape, np.int8, scales=scales, data=data)
    result = drawn.result(TensorType((3, columns), "f32"))
    drawn.model.op("EMBEDDING_LOOKUP", [lookup, values], [result])
    return drawn


def scatter_nd(rng: np.random.Generator) -> Drawn:
    drawn = Drawn(rng)
    rank = int(rng.integers(1, 4))
    # LiteRT adds stored values to stored zeros, which is right for a zero point of 0 alone.
    y = random_type(rng, shape_of(rng, rank), ("f32", "i8", "u8", "i32", "i64", "i1"))
    depth = int(rng.integers(1, rank + 1))
    outer = shape_of(rng, int(rng.integers(1, 3)))
    i, places = inner_indices(drawn, (*outer, depth), y.shape[:depth])
    i, places = TensorType(i.shape, "i32"), places.astype(np.int32)
    updates = like(y, (*outer, *y.shape[depth:]))
    operands = [drawn.maybe_constant(i, places), drawn.source(updates), drawn.integers(y.shape)]
    drawn.model.op("SCATTER_ND", operands, [drawn.result(y)])
    return drawn


def one_hot(rng: np.random.Generator) -> Drawn:
    drawn = Drawn(rng)
    rank = int(rng.integers(0, 3))
    shape, depth, axis = shape_of(rng, rank), int(rng.integers(1, 6)), int(rng.integers(-1, rank + 1))
    i = TensorType(shape, str(rng.choice(["i32", "i64"])))
    places = drawn.source(i, rng.integers(-1, depth + 1, shape).astype(i.dtype), "i")
    where = rank if axis < 0 else axis
    y = random_type(
        rng, (*shape[:where], depth, *shape[where:]), ("f32", "i8", "u8", "i16", "i32", "i64", "i1")
    )
    values = [add_tensor(drawn.model, n, like(y, ()), random_values(rng, like(y, ()))) for n in ("on", "off")]
    drawn.model.op("ONE_HOT", [places, drawn.integers(depth), *values], [drawn.result(y)], Axis=axis)
    return drawn


def dynamic_update_slice(rng: np.random.Generator) -> Drawn:
    rank = int(rng.integers(1, 5))
    drawn, x, source = drawn_source(rng, rank)
    part = like(x, [int(rng.integers(1, n + 1)) for n in x.shape])
    update = drawn.source(part, name="u")
    b = TensorType((rank,), str(rng.choice(["i32", "i64"])))
    begin = drawn.maybe_constant(b, rng.integers(-2, 6, rank).astype(b.dtype))
    drawn.model.op("DYNAMIC_UPDATE_SLICE", [source, update, begin], [drawn.result(x)])
    return drawn


def reverse_sequence(rng: np.random.Generator) -> Drawn:
    rank = int(rng.integers(2, 5))
    drawn, x, source = drawn_source(rng, rank)
    axis, batch_axis = (int(d) for d in rng.permutation(rank)[:2])
    n = TensorType((x.shape[batch_axis],), str(rng.choice(["i32", "i64"])))
    lengths = drawn.maybe_constant(n, rng.integers(1, x.shape[axis] + 1, n.shape).astype(n.dtype))
    result = drawn.result(x)
    drawn.model.op("REVERSE_SEQUENCE", [source, lengths], [result], SeqDim=axis, BatchDim=batch_axis)
    return drawn


def select(rng: np.random.Generator) -> Drawn:
    drawn, x, source = drawn_source(rng, int(rng.integers(1, 5)))
    shape = [x.shape, x.shape[:1]][int(rng.integers(0, 2))]
    condition = drawn.source(TensorType(shape, "i1"), name="c")
    other = drawn.source(x, name="z")
    drawn.model.op("SELECT", [condition, source, other], [drawn.result(x)])
    return drawn


def select_v2(rng: np.random.Generator) -> Drawn:
    drawn = Drawn(rng)
    y = random_type(rng, shape_of(rng, int(rng.integers(1, 5))), MOVED)
    shapes = [tuple(int(rng.choice([1, n])) for n in y.shape) for _ in range(3)]
    shapes[int(rng.integers(0, 3))] = y.shape
    condition = drawn.source(TensorType(shapes[0], "i1"), name="c")
    operands = [drawn.source(like(y, shape), name=f"x{k}") for k, shape in enumerate(shapes[1:])]
    drawn.model.op("SELECT_V2", [condition, *operands], [drawn.result(y)])
    return drawn


def top_k(rng: np.random.Generator) -> Drawn:
    drawn = Drawn(rng)
    x = random_type(
        rng, shape_of(rng, int(rng.integers(1, 4)), 1, 8), ("f32", "i8", "u8", "i32", "i64", "q i8", "q u8")
    )
    source = drawn.source(x, random_values(rng, x, few=bool(rng.integers(0, 2))))
    count = int(rng.integers(1, x.shape[-1] + 1))
    shape = (*x.shape[:-1], count)
    results = [drawn.result(like(x, shape)), drawn.result(TensorType(shape, "i32"))]
    drawn.model.op("TOPK_V2", [source, drawn.integers(count)], results)
    return drawn


def _arg_extreme(rng: np.random.Generator, name: str) -> Drawn:
    drawn = Drawn(rng)
    rank = int(rng.integers(1, 5))
    x = random_type(rng, shape_of(rng, rank, 1, 7), ("f32", "i32", "q i8", "q u8"))
    source = drawn.source(x, random_values(rng, x, few=bool(rng.integers(0, 2))))
    axis = int(rng.integers(-rank, rank))
    y = TensorType(tuple(np.delete(x.shape, axis).tolist()), str(rng.choice(["i32", "i64"])))
    kind = TENSOR_TYPES[y.dtype.name]
    drawn.model.op(name, [source, drawn.integers(axis)], [drawn.result(y)], OutputType=kind)
    return drawn


def arg_max(rng: np.random.Generator) -> Drawn:
    return _arg_extreme(rng, "ARG_MAX")


def arg_min(rng: np.random.Generator) -> Drawn:
    return _arg_extreme(rng, "ARG_MIN")


def cast(rng: np.random.Generator) -> Drawn:
    drawn = Drawn(rng)
    shape = shape_of(rng, int(rng.integers(0, 4)))
    x, y = (
        random_type(rng, shape, (*PLAIN, "u16", *STORAGES)),
        random_type(rng, shape, (*PLAIN, "u16", *STORAGES)),
    )
    array = random_values(rng, x)
    if x.dtype.kind == "f":
        special = [0.4, -0.6, 1e9, -1e9, 3e9, 1e19, -1e19, np.nan, np.inf, -np.inf, 127.5, 255.9, -128.9, 128]
        with np.errstate(over="ignore"):
            array = np.where(rng.random(shape) < 0.5, rng.choice(special, shape), array).astype(x.dtype)
    source = drawn.source(x, array)
    types = {"InDataType": TENSOR_TYPES[x.dtype.name], "OutDataType": TENSOR_TYPES[y.dtype.name]}
    drawn.model.op("CAST", [source], [drawn.result(y)], **types)
    return drawn


def dequantize_half(rng: np.random.Generator) -> Drawn:
    drawn, x, source = drawn_source(rng, int(rng.integers(0, 4)), ("f16",))
    drawn.model.op("DEQUANTIZE", [source], [drawn.result(TensorType(x.shape, "f32"))])
    return drawn


def matrix_diag(rng: np.random.Generator) -> Drawn:
    # LiteRT corrupts its memory with booleans, and fills with stored zeros whatever the zero point.
    drawn, x, source = drawn_source(rng, int(rng.integers(1, 4)), ("f32", "i8", "u8", "i16", "i32", "i64"))
    drawn.model.op("MATRIX_DIAG", [source], [drawn.result(like(x, (*x.shape, x.shape[-1])))])
    return drawn


def matrix_set_diag(rng: np.random.Generator) -> Drawn:
    drawn, x, source = drawn_source(rng, int(rng.integers(2, 5)), tuple(e for e in MOVED if e != "i1"))
    diagonal = drawn.source(like(x, (*x.shape[:-2], min(x.shape[-2:]))), name="d")
    drawn.model.op("MATRIX_SET_DIAG", [source, diagonal], [drawn.result(x)])
    return drawn


def sparse_to_dense(rng: np.random.Generator) -> Drawn:
    """Different places, in order, as the operator demands."""
    drawn = Drawn(rng)
    y = random_type(rng, shape_of(rng, int(rng.integers(1, 4))), ("f32", "i8", "u8", "i32", "i64"))
    count = int(rng.integers(1, y.elements + 1))
    flat = np.sort(rng.choice(y.elements, count, replace=False))
    places = np.stack(np.unravel_index(flat, y.shape), axis=-1)
    places = places[:, 0] if len(y.shape) == 1 and rng.integers(0, 2) else places
    i = TensorType(places.shape, str(rng.choice(["i32", "i64"])))
    values = like(y, [(), (count,)][int(rng.integers(0, 2))])
    operands = [
        drawn.maybe_constant(i, places.astype(i.dtype)),
        drawn.integers(y.shape, i.dtype.type),
        drawn.source(values, name="v"),
        drawn.source(like(y, ()), name="d"),
    ]
    drawn.model.op("SPARSE_TO_DENSE", operands, [drawn.result(y)], ValidateIndices=False)
    return drawn


def where(rng: np.random.Generator) -> Drawn:
    """Places of values that only a run knows."""
    drawn = Drawn(rng)
    x = random_type(rng, shape_of(rng, int(rng.integers(1, 5))), ("i1", "f32", "i8", "u8", "i32", "i64"))
    share = float(rng.choice([0.2, 0.7, 1.0]))
    array = np.where(rng.random(x.shape) < share, random_values(rng, x), 0).astype(x.dtype)
    array.reshape(-1)[0] = 1  # the interpreter cannot hand out what has no elements
    source = drawn.source(x, array)
    drawn.model.op("WHERE", [source], [drawn.result(TensorType((1, len(x.shape)), "i64"))])
    return drawn


def unique(rng: np.random.Generator) -> Drawn:
    """Different ones of values that only a run knows."""
    drawn = Drawn(rng)
    x = random_type(rng, (int(rng.integers(1, 30)),), ("f32", "i8", "u8", "i16", "i32", "i64"))
    source = drawn.source(x, random_values(rng, x, few=True))
    index = str(rng.choice(["i32", "i64"]))
    results = [drawn.result(like(x, (1,))), drawn.result(TensorType(x.shape, index))]
    drawn.model.op("UNIQUE", [source], results, IdxOutType=TENSOR_TYPES[TensorType((), index).dtype.name])
    return drawn


INDICES: dict[str, Callable[[Any], Drawn]] = {
    maker.__name__: maker
    for maker in (
        arg_max,
        arg_min,
        cast,
        dequantize_half,
        dynamic_update_slice,
        embedding_lookup,
        embedding_lookup_hybrid,
        gather,
        gather_nd,
        matrix_diag,
        matrix_set_diag,
        one_hot,
        reverse_sequence,
        scatter_nd,
        select,
        select_v2,
        sparse_to_dense,
        top_k,
        unique,
        where,
    )
}
"""Name -> a function that draws a model with inputs."""
