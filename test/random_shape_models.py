"""Random models of operators that only say where values go: slices, joins, repetition, shapes, resizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from drawn_model import MOVED, Drawn, drawn_source
from random_movements import Array, like, random_type, random_values, shape_of
from zeropoint.dialect.types import TensorType


def reverse(rng: np.random.Generator) -> Drawn:
    rank = int(rng.integers(1, 5))
    drawn, x, source = drawn_source(rng, rank)
    axis = int(rng.integers(-rank, rank))
    drawn.model.op("REVERSE_V2", [source, drawn.integers([axis])], [drawn.result(x)])
    return drawn


def mirror_pad(rng: np.random.Generator) -> Drawn:
    rank = int(rng.integers(1, 5))
    drawn, x, source = drawn_source(rng, rank)
    mode = int(rng.integers(0, 2))
    most = np.asarray(x.shape)[:, None] - (mode == 0)
    pads = rng.integers(0, np.broadcast_to(most + 1, (rank, 2)))
    result = drawn.result(like(x, np.asarray(x.shape) + pads.sum(axis=1)))
    drawn.model.op("MIRROR_PAD", [source, drawn.integers(pads)], [result], Mode=mode)
    return drawn


def pad(rng: np.random.Generator) -> Drawn:
    rank = int(rng.integers(1, 5))
    drawn, x, source = drawn_source(rng, rank)
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
    drawn, x, source = drawn_source(rng, rank)
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
    drawn, x, source = drawn_source(rng, int(rng.integers(0, 4)), ("f32", "i32", "i64"))
    drawn.model.op("ZEROS_LIKE", [source], [drawn.result(x)])
    return drawn


def slice_(rng: np.random.Generator) -> Drawn:
    """Constant or computed begins."""
    rank = int(rng.integers(1, 6))
    drawn, x, source = drawn_source(rng, rank)
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
    drawn, x, source = drawn_source(rng, rank)
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


def strided_slice_computed(rng: np.random.Generator) -> Drawn:
    """One element or a range along some of the dimensions, at places that are inputs."""
    rank = int(rng.integers(1, 5))
    drawn, x, source = drawn_source(rng, rank)
    used = int(rng.integers(1, rank + 1))
    ways = rng.choice(["whole", "one", "range", "first", "last"], used)
    # LiteRT's process ends where offsets are fewer than dimensions.
    offset = used == rank and set(ways.tolist()) <= {"one", "range"} and bool(rng.integers(0, 2))
    lengths = np.asarray([rng.integers(1, n + 1) for n in x.shape[:used]], np.int32)
    lengths = np.where(ways == "one", 1, np.where(ways == "whole", x.shape[:used], lengths)).astype(np.int32)
    begins = np.asarray(
        [rng.integers(0, n - m + 1) for n, m in zip(x.shape, lengths, strict=False)], np.int32
    )
    begins = np.where(ways == "first", 0, np.where(ways == "last", x.shape[:used] - lengths, begins))
    ends = begins + lengths
    below = rng.random(used) < 0.3  # counted from the end; the end of a range too, unless it is all of it
    written = np.where(below, begins - x.shape[:used], begins).astype(np.int32)
    ends = np.where(below & (ends < x.shape[:used]), ends - x.shape[:used], ends).astype(np.int32)
    ends = lengths if offset else np.where(ways == "one", written + 1, ends).astype(np.int32)
    kind = TensorType((used,), "i32")
    begin = drawn.source(kind, written, "b")
    end = drawn.integers(ends) if offset else drawn.source(kind, ends, "e")
    masks = {
        "BeginMask": _bits(np.isin(ways, ["whole", "first"])),
        "EndMask": _bits(np.isin(ways, ["whole", "last"])),
        "ShrinkAxisMask": _bits(ways == "one"),
    }
    kept = [n for n, way in zip(lengths.tolist(), ways, strict=True) if way != "one"]
    operands = [source, begin, end, drawn.integers([1] * used)]
    result = drawn.result(like(x, [*kept, *x.shape[used:]]))
    drawn.model.op("STRIDED_SLICE", operands, [result], **masks, **({"Offset": True} if offset else {}))
    return drawn


def _bits(chosen: Array) -> int:
    return sum(1 << i for i, bit in enumerate(chosen.tolist()) if bit)


def transpose(rng: np.random.Generator) -> Drawn:
    rank = int(rng.integers(1, 7))
    drawn, x, source = drawn_source(rng, rank)
    order = rng.permutation(rank)
    result = drawn.result(like(x, np.asarray(x.shape)[order]))
    drawn.model.op("TRANSPOSE", [source, drawn.integers(order)], [result])
    return drawn


def reshape(rng: np.random.Generator) -> Drawn:
    """The new shape as an input, with a -1 perhaps, or as an option."""
    drawn, x, source = drawn_source(rng, int(rng.integers(0, 5)))
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
    drawn, x, source = drawn_source(rng, rank)
    axis = int(rng.integers(-rank - 1, rank + 1))
    where = axis % (rank + 1)
    result = drawn.result(like(x, (*x.shape[:where], 1, *x.shape[where:])))
    drawn.model.op("EXPAND_DIMS", [source, drawn.integers(axis)], [result])
    return drawn


def pack(rng: np.random.Generator) -> Drawn:
    rank, count = int(rng.integers(0, 4)), int(rng.integers(1, 5))
    drawn, x, source = drawn_source(rng, rank)
    axis = int(rng.integers(-rank - 1, rank + 1))
    where = axis % (rank + 1)
    sources = [source, *(drawn.source(x, name=f"x{k}") for k in range(1, count))]
    result = drawn.result(like(x, (*x.shape[:where], count, *x.shape[where:])))
    drawn.model.op("PACK", sources, [result], Axis=axis, ValuesCount=count)
    return drawn


def unpack(rng: np.random.Generator) -> Drawn:
    rank = int(rng.integers(1, 5))
    drawn, x, source = drawn_source(rng, rank)
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
    drawn, x, source = drawn_source(rng, rank)
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
    drawn, x, source = drawn_source(rng, rank)
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


SHAPES: dict[str, Callable[[Any], Drawn]] = {
    maker.__name__: maker
    for maker in (
        broadcast_to,
        concatenation,
        depth_and_space,
        expand_dims,
        fill,
        mirror_pad,
        pack,
        pad,
        reshape,
        resize,
        reverse,
        slice_,
        space_and_batch,
        split,
        split_v,
        squeeze,
        strided_slice,
        strided_slice_computed,
        tile,
        transpose,
        unpack,
        zeros_like,
    )
}
"""Name -> a function that draws a model with inputs."""
