"""Random one-operator models of TFLite's operators that move, choose, order and convert values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from random_movements import PLAIN, STORAGES, Array, like, random_type, random_values, shape_of
from random_tensors import add_tensor
from tflite_builder import TENSOR_TYPES, Builder
from zeropoint.dialect.types import TensorType

MOVED = ("f32", "i8", "u8", "i16", "i32", "i64", "i1", "q i8", "q u8", "q i16")


@dataclass
class Drawn:
    """A model under construction, the arrays for its inputs, and its outputs."""

    rng: np.random.Generator
    model: Builder = field(default_factory=Builder)
    inputs: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    arrays: list[Array] = field(default_factory=list)

    def build(self) -> bytes:
        return self.model.build(self.inputs, self.outputs)

    def source(self, kind: TensorType, array: Array | None = None, name: str = "x") -> int:
        """An input of the model."""
        self.inputs.append(add_tensor(self.model, name, kind))
        self.arrays.append(random_values(self.rng, kind) if array is None else array)
        return self.inputs[-1]

    def integers(self, values: Any, dtype: type[np.generic] = np.int32) -> int:
        """A constant."""
        return self.model.constant(f"c{len(self.model.tensors)}", np.asarray(values, dtype))

    def maybe_constant(self, kind: TensorType, array: Array) -> int:
        """An input of the model, or a constant."""
        if self.rng.integers(0, 2):
            return self.source(kind, array, f"i{len(self.inputs)}")
        return add_tensor(self.model, f"i{len(self.model.tensors)}", kind, array)

    def result(self, kind: TensorType) -> int:
        self.outputs.append(add_tensor(self.model, f"y{len(self.outputs)}", kind))
        return self.outputs[-1]


def _indices(drawn: Drawn, shape: Sequence[int], extents: Sequence[int]) -> tuple[TensorType, Array]:
    """Indices inside ``extents``, one per place of the last dimension (one for all: of any shape)."""
    kind = TensorType(tuple(shape), str(drawn.rng.choice(["i32", "i64"])))
    high = np.asarray(extents) if len(extents) > 1 else extents[0]
    return kind, drawn.rng.integers(0, high, shape).astype(kind.dtype)


def _drawn(
    rng: np.random.Generator, rank: int, elements: Sequence[str] = MOVED
) -> tuple[Drawn, TensorType, int]:
    drawn = Drawn(rng)
    kind = random_type(rng, shape_of(rng, rank), elements)
    return drawn, kind, drawn.source(kind)


def gather(rng: np.random.Generator) -> Drawn:
    rank = int(rng.integers(1, 5))
    drawn, x, source = _drawn(rng, rank)
    axis = int(rng.integers(0, rank))
    batch_dims = int(rng.integers(0, axis + 1)) if rng.integers(0, 2) else 0
    middle = shape_of(rng, int(rng.integers(0, 3)))
    i, places = _indices(drawn, (*x.shape[:batch_dims], *middle), [x.shape[axis]])
    result = drawn.result(like(x, (*x.shape[:axis], *middle, *x.shape[axis + 1 :])))
    written = axis - rank if rng.integers(0, 2) else axis
    drawn.model.op(
        "GATHER", [source, drawn.maybe_constant(i, places)], [result], Axis=written, BatchDims=batch_dims
    )
    return drawn


def gather_nd(rng: np.random.Generator) -> Drawn:
    rank = int(rng.integers(1, 5))
    drawn, x, source = _drawn(rng, rank)
    depth = int(rng.integers(1, rank + 1))
    outer = shape_of(rng, int(rng.integers(1, 3)))
    i, places = _indices(drawn, (*outer, depth), x.shape[:depth])
    result = drawn.result(like(x, (*outer, *x.shape[depth:])))
    drawn.model.op("GATHER_ND", [source, drawn.maybe_constant(i, places)], [result])
    return drawn


def embedding_lookup(rng: np.random.Generator) -> Drawn:
    drawn = Drawn(rng)
    x = random_type(rng, shape_of(rng, int(rng.integers(2, 4))), ("f32", "i8", "u8", "q i8", "q u8"))
    i, places = _indices(drawn, (int(rng.integers(1, 5)),), [x.shape[0]])
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
    i, places = _indices(drawn, (3,), [rows])
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
    i, places = _indices(drawn, (*outer, depth), y.shape[:depth])
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
    drawn, x, source = _drawn(rng, rank)
    part = like(x, [int(rng.integers(1, n + 1)) for n in x.shape])
    update = drawn.source(part, name="u")
    b = TensorType((rank,), str(rng.choice(["i32", "i64"])))
    begin = drawn.maybe_constant(b, rng.integers(-2, 6, rank).astype(b.dtype))
    drawn.model.op("DYNAMIC_UPDATE_SLICE", [source, update, begin], [drawn.result(x)])
    return drawn


def reverse_sequence(rng: np.random.Generator) -> Drawn:
    rank = int(rng.integers(2, 5))
    drawn, x, source = _drawn(rng, rank)
    axis, batch_axis = (int(d) for d in rng.permutation(rank)[:2])
    n = TensorType((x.shape[batch_axis],), str(rng.choice(["i32", "i64"])))
    lengths = drawn.maybe_constant(n, rng.integers(1, x.shape[axis] + 1, n.shape).astype(n.dtype))
    result = drawn.result(x)
    drawn.model.op("REVERSE_SEQUENCE", [source, lengths], [result], SeqDim=axis, BatchDim=batch_axis)
    return drawn


def reverse(rng: np.random.Generator) -> Drawn:
    rank = int(rng.integers(1, 5))
    drawn, x, source = _drawn(rng, rank)
    axis = int(rng.integers(-rank, rank))
    drawn.model.op("REVERSE_V2", [source, drawn.integers([axis])], [drawn.result(x)])
    return drawn


def mirror_pad(rng: np.random.Generator) -> Drawn:
    rank = int(rng.integers(1, 5))
    drawn, x, source = _drawn(rng, rank)
    mode = int(rng.integers(0, 2))
    most = np.asarray(x.shape)[:, None] - (mode == 0)
    pads = rng.integers(0, np.broadcast_to(most + 1, (rank, 2)))
    result = drawn.result(like(x, np.asarray(x.shape) + pads.sum(axis=1)))
    drawn.model.op("MIRROR_PAD", [source, drawn.integers(pads)], [result], Mode=mode)
    return drawn


def pad(rng: np.random.Generator) -> Drawn:
    rank = int(rng.integers(1, 5))
    drawn, x, source = _drawn(rng, rank)
    pads = rng.integers(0, 3, (rank, 2))
    result = drawn.result(like(x, np.asarray(x.shape) + pads.sum(axis=1)))
    if rng.integers(0, 2):
        drawn.model.op("PAD", [source, drawn.integers(pads)], [result])
        return drawn
    value = like(x, [(), (1,)][int(rng.integers(0, 2))])
    filling = drawn.maybe_constant(value, random_values(rng, value))
    drawn.model.op("PADV2", [source, drawn.integers(pads), filling], [result])
    return drawn


def resize(rng: np.random.Generator) -> Drawn:
    drawn = Drawn(rng)
    name = str(rng.choice(["RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"]))
    n, h, w, c, tall, wide = (int(v) for v in rng.integers(1, 7, 6))
    x = random_type(rng, (n, h, w, c), ("f32", "q i8", "q u8", "q i16"))
    options = [{}, {"AlignCorners": True}, {"HalfPixelCenters": True}][int(rng.integers(0, 3))]
    operands = [drawn.source(x), drawn.integers([tall, wide])]
    drawn.model.op(name, operands, [drawn.result(like(x, (n, tall, wide, c)))], **options)
    return drawn


def tile(rng: np.random.Generator) -> Drawn:
    rank = int(rng.integers(1, 5))
    drawn, x, source = _drawn(rng, rank)
    multiples = rng.integers(1, 4, rank)
    dtype = np.int32 if rng.integers(0, 2) else np.int64
    drawn.model.op(
        "TILE",
        [source, drawn.integers(multiples, dtype)],
        [drawn.result(like(x, np.asarray(x.shape) * multiples))],
    )
    return drawn


def broadcast_to(rng: np.random.Generator) -> Drawn:
    drawn = Drawn(rng)
    shape = shape_of(rng, int(rng.integers(1, 6)))
    kept = shape[int(rng.integers(0, len(shape) + 1)) :]
    x = random_type(rng, [int(rng.choice([1, n])) for n in kept], MOVED)
    source = drawn.source(x)
    drawn.model.op("BROADCAST_TO", [source, drawn.integers(shape)], [drawn.result(like(x, shape))])
    return drawn


def fill(rng: np.random.Generator) -> Drawn:
    drawn = Drawn(rng)
    y = random_type(rng, shape_of(rng, int(rng.integers(1, 4))), ("f32", "i32", "i64", "i1", "q i8", "q i16"))
    value = drawn.source(like(y, ()))
    drawn.model.op("FILL", [drawn.integers(y.shape), value], [drawn.result(y)])
    return drawn


def zeros_like(rng: np.random.Generator) -> Drawn:
    drawn, x, source = _drawn(rng, int(rng.integers(0, 4)), ("f32", "i32", "i64"))
    drawn.model.op("ZEROS_LIKE", [source], [drawn.result(x)])
    return drawn


def select(rng: np.random.Generator) -> Drawn:
    drawn, x, source = _drawn(rng, int(rng.integers(1, 5)))
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
    drawn, x, source = _drawn(rng, int(rng.integers(0, 4)), ("f16",))
    drawn.model.op("DEQUANTIZE", [source], [drawn.result(TensorType(x.shape, "f32"))])
    return drawn


def slice_(rng: np.random.Generator) -> Drawn:
    """Constant or computed begins."""
    rank = int(rng.integers(1, 6))
    drawn, x, source = _drawn(rng, rank)
    begin = rng.integers(0, x.shape)
    sizes = rng.integers(1, np.asarray(x.shape) - begin + 1)
    b = TensorType((rank,), str(rng.choice(["i32", "i64"])))
    begins = drawn.maybe_constant(b, begin.astype(b.dtype))
    left = (begin + sizes == x.shape) & (rng.random(rank) < 0.5) & (begins not in drawn.inputs)
    written = drawn.integers(np.where(left, -1, sizes), b.dtype.type)
    drawn.model.op("SLICE", [source, begins, written], [drawn.result(like(x, sizes))])
    return drawn


def strided_slice(rng: np.random.Generator) -> Drawn:
    """All masks, steps back and forth."""
    rank = int(rng.integers(1, 5))
    drawn, x, source = _drawn(rng, rank)
    used = int(rng.integers(1, rank + 1))
    dims = list(range(used))
    # An ellipsis that stands for no dimension takes the next one in LiteRT, or makes it crash.
    ellipsis = int(rng.integers(0, used + 1)) if used < rank and rng.integers(0, 2) == 0 else None
    begin, end, step, index = [], [], [], []
    masks = dict.fromkeys(("Begin", "End", "Ellipsis", "NewAxis", "ShrinkAxis"), 0)
    entries: list[Any] = list(dims)
    if ellipsis is not None:
        tail = rank - used
        entries = [*dims[:ellipsis], "...", *(d + tail for d in dims[ellipsis:])]
    if rng.integers(0, 4) == 0:
        entries.insert(int(rng.integers(0, len(entries) + 1)), "new")
    for i, entry in enumerate(entries):
        b, e, s = (int(v) for v in (rng.integers(-5, 6), rng.integers(-5, 6), rng.choice([1, 1, 2, -1, -2])))
        if entry == "...":
            masks["Ellipsis"] |= 1 << i
            index.append(Ellipsis)
        elif entry == "new":
            masks["NewAxis"] |= 1 << i
            index.append(None)
        elif rng.integers(0, 4) == 0:
            masks["ShrinkAxis"] |= 1 << i
            b, s = int(rng.integers(-x.shape[entry], x.shape[entry])), 1
            e = b + 1
            index.append(b)
        else:
            open_begin, open_end = (bool(rng.integers(0, 2)) for _ in range(2))
            masks["Begin"] |= open_begin << i
            masks["End"] |= open_end << i
            index.append(slice(None if open_begin else b, None if open_end else e, s))
        begin.append(b)
        end.append(e)
        step.append(s)
    shape = np.zeros(x.shape)[tuple(index)].shape
    if 0 in shape:
        return strided_slice(rng)
    operands = [source, *(drawn.integers(v) for v in (begin, end, step))]
    result = drawn.result(like(x, shape))
    drawn.model.op(
        "STRIDED_SLICE", operands, [result], **{f"{name}Mask": mask for name, mask in masks.items()}
    )
    return drawn


def matrix_diag(rng: np.random.Generator) -> Drawn:
    # LiteRT corrupts its memory with booleans, and fills with stored zeros whatever the zero point.
    drawn, x, source = _drawn(rng, int(rng.integers(1, 4)), ("f32", "i8", "u8", "i16", "i32", "i64"))
    drawn.model.op("MATRIX_DIAG", [source], [drawn.result(like(x, (*x.shape, x.shape[-1])))])
    return drawn


def matrix_set_diag(rng: np.random.Generator) -> Drawn:
    drawn, x, source = _drawn(rng, int(rng.integers(2, 5)), tuple(e for e in MOVED if e != "i1"))
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


def strided_slice_computed(rng: np.random.Generator) -> Drawn:
    """One element along some of the dimensions, at places that are inputs."""
    rank = int(rng.integers(1, 5))
    drawn, x, source = _drawn(rng, rank)
    used = int(rng.integers(1, rank + 1))
    shrunk = [bool(rng.integers(0, 2)) for _ in range(used)]
    places = np.asarray([rng.integers(-n, n) for n in x.shape[:used]], np.int32)
    kind = TensorType((used,), "i32")
    begin, end = drawn.source(kind, places, "b"), drawn.source(kind, places + 1, "e")
    whole = sum(1 << i for i, s in enumerate(shrunk) if not s)
    options = {"BeginMask": whole, "EndMask": whole, "ShrinkAxisMask": (1 << used) - 1 - whole}
    kept = [n for d, n in enumerate(x.shape) if d >= used or not shrunk[d]]
    operands = [source, begin, end, drawn.integers([1] * used)]
    drawn.model.op("STRIDED_SLICE", operands, [drawn.result(like(x, kept))], **options)
    return drawn


def transpose(rng: np.random.Generator) -> Drawn:
    rank = int(rng.integers(1, 7))
    drawn, x, source = _drawn(rng, rank)
    order = rng.permutation(rank)
    result = drawn.result(like(x, np.asarray(x.shape)[order]))
    drawn.model.op("TRANSPOSE", [source, drawn.integers(order)], [result])
    return drawn


def reshape(rng: np.random.Generator) -> Drawn:
    """The new shape as an input, with a -1 perhaps, or as an option."""
    drawn, x, source = _drawn(rng, int(rng.integers(0, 5)))
    shape = list(rng.permutation([*x.shape, 1]))
    result = drawn.result(like(x, shape))
    written = [int(n) for n in shape]
    if rng.integers(0, 2):
        written[int(rng.integers(0, len(written)))] = -1
    if rng.integers(0, 3) == 0:
        drawn.model.op("RESHAPE", [source], [result], NewShape=written)
    else:
        drawn.model.op("RESHAPE", [source, drawn.integers(written)], [result])
    return drawn


def squeeze(rng: np.random.Generator) -> Drawn:
    drawn = Drawn(rng)
    rank = int(rng.integers(1, 5))
    ones = [d for d in range(rank) if rng.integers(0, 2)]
    shape = [1 if d in ones else int(rng.integers(2, 5)) for d in range(rank)]
    x = random_type(rng, shape, MOVED)
    named = [d for d in ones if rng.integers(0, 2)]
    dropped = named or ones
    result = like(x, [n for d, n in enumerate(shape) if d not in dropped])
    written = [d - rank if rng.integers(0, 2) else d for d in named]
    drawn.model.op("SQUEEZE", [drawn.source(x)], [drawn.result(result)], SqueezeDims=written)
    return drawn


def expand_dims(rng: np.random.Generator) -> Drawn:
    rank = int(rng.integers(0, 5))
    drawn, x, source = _drawn(rng, rank)
    axis = int(rng.integers(-rank - 1, rank + 1))
    where = axis % (rank + 1)
    result = drawn.result(like(x, (*x.shape[:where], 1, *x.shape[where:])))
    drawn.model.op("EXPAND_DIMS", [source, drawn.integers(axis)], [result])
    return drawn


def pack(rng: np.random.Generator) -> Drawn:
    rank, count = int(rng.integers(0, 4)), int(rng.integers(1, 5))
    drawn, x, source = _drawn(rng, rank)
    axis = int(rng.integers(-rank - 1, rank + 1))
    where = axis % (rank + 1)
    sources = [source, *(drawn.source(x, name=f"x{k}") for k in range(1, count))]
    result = drawn.result(like(x, (*x.shape[:where], count, *x.shape[where:])))
    drawn.model.op("PACK", sources, [result], Axis=axis, ValuesCount=count)
    return drawn


def unpack(rng: np.random.Generator) -> Drawn:
    rank = int(rng.integers(1, 5))
    drawn, x, source = _drawn(rng, rank)
    axis = int(rng.integers(-rank, rank))
    part = like(x, np.delete(x.shape, axis))
    results = [drawn.result(part) for _ in range(x.shape[axis])]
    drawn.model.op("UNPACK", [source], results, Axis=axis, Num=len(results))
    return drawn


def split(rng: np.random.Generator) -> Drawn:
    drawn = Drawn(rng)
    rank = int(rng.integers(1, 5))
    axis, count = int(rng.integers(-rank, rank)), int(rng.integers(1, 4))
    part = random_type(rng, shape_of(rng, rank), MOVED)
    shape = list(part.shape)
    shape[axis] *= count
    source = drawn.source(like(part, shape))
    results = [drawn.result(part) for _ in range(count)]
    drawn.model.op("SPLIT", [drawn.integers(axis), source], results, NumSplits=count)
    return drawn


def split_v(rng: np.random.Generator) -> Drawn:
    rank = int(rng.integers(1, 5))
    drawn, x, source = _drawn(rng, rank)
    axis = int(rng.integers(-rank, rank))
    cuts = np.sort(rng.choice(x.shape[axis] - 1, int(rng.integers(0, x.shape[axis])), replace=False) + 1)
    sizes = np.diff([0, *cuts, x.shape[axis]]).tolist()
    parts = []
    for size in sizes:
        shape = list(x.shape)
        shape[axis] = size
        parts.append(drawn.result(like(x, shape)))
    if rng.integers(0, 2):
        sizes[int(rng.integers(0, len(sizes)))] = -1
    drawn.model.op(
        "SPLIT_V", [source, drawn.integers(sizes), drawn.integers(axis)], parts, NumSplits=len(sizes)
    )
    return drawn


def concatenation(rng: np.random.Generator) -> Drawn:
    rank, count = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    drawn, x, source = _drawn(rng, rank)
    axis = int(rng.integers(-rank, rank))
    sources, total = [source], x.shape[axis]
    for k in range(1, count):
        shape = list(x.shape)
        shape[axis] = int(rng.integers(1, 4))
        total += shape[axis]
        sources.append(drawn.source(like(x, shape), name=f"x{k}"))
    shape = list(x.shape)
    shape[axis] = total
    drawn.model.op("CONCATENATION", sources, [drawn.result(like(x, shape))], Axis=axis)
    return drawn


def depth_and_space(rng: np.random.Generator) -> Drawn:
    drawn = Drawn(rng)
    n, h, w, c, b = (int(v) for v in rng.integers(1, 4, 5))
    deep, wide = (n, h, w, c * b * b), (n, h * b, w * b, c)
    name = str(rng.choice(["DEPTH_TO_SPACE", "SPACE_TO_DEPTH"]))
    before, after = (deep, wide) if name == "DEPTH_TO_SPACE" else (wide, deep)
    x = random_type(rng, before, ("f32", "i8", "u8", "i32", "i64", "q i8", "q u8"))
    drawn.model.op(name, [drawn.source(x)], [drawn.result(like(x, after))], BlockSize=b)
    return drawn


def space_and_batch(rng: np.random.Generator) -> Drawn:
    drawn = Drawn(rng)
    dims = int(rng.integers(1, 3))
    block, small = rng.integers(1, 4, dims), rng.integers(1, 4, dims)
    batch, channels = (int(v) for v in rng.integers(1, 4, 2))
    large = block * small
    ends = np.stack([rng.integers(0, 2, dims), rng.integers(0, 2, dims)], 1)
    ends = np.where((large > ends.sum(axis=1))[:, None], ends, 0)
    cropped = large - ends.sum(axis=1)
    split, joined = (batch * int(block.prod()), *small, channels), (batch, *cropped, channels)
    name = str(rng.choice(["BATCH_TO_SPACE_ND", "SPACE_TO_BATCH_ND"]))
    before, after = (split, joined) if name == "BATCH_TO_SPACE_ND" else (joined, split)
    x = like(random_type(rng, (), ("f32", "i8", "u8", "i32", "i64", "q i8", "q u8", "q i16")), before)
    operands = [drawn.source(x), drawn.integers(block), drawn.integers(ends)]
    drawn.model.op(name, operands, [drawn.result(like(x, after))])
    return drawn


MODELS: dict[str, Callable[[Any], Drawn]] = {
    maker.__name__: maker
    for maker in (
        arg_max,
        arg_min,
        broadcast_to,
        cast,
        concatenation,
        depth_and_space,
        dequantize_half,
        dynamic_update_slice,
        embedding_lookup,
        embedding_lookup_hybrid,
        expand_dims,
        fill,
        gather,
        gather_nd,
        matrix_diag,
        matrix_set_diag,
        mirror_pad,
        one_hot,
        pack,
        pad,
        reshape,
        resize,
        reverse,
        reverse_sequence,
        scatter_nd,
        select,
        select_v2,
        slice_,
        sparse_to_dense,
        space_and_batch,
        split,
        split_v,
        squeeze,
        strided_slice,
        strided_slice_computed,
        tile,
        top_k,
        transpose,
        unpack,
        zeros_like,
    )
}
"""Name -> a function that draws a model with inputs."""
