"""Space to batch and to depth, and back: split dimensions, transpose, join dimensions.

Converters write a dilated convolution as SPACE_TO_BATCH_ND, CONV_2D, BATCH_TO_SPACE_ND.
"""

from __future__ import annotations

import math
from typing import Any

from ...dialect.qnn.shapes import pad_shape
from ...dialect.types import TensorType
from .operator_import import MOVABLE, OperatorImport
from .registry import importer


@importer("SPACE_TO_BATCH_ND")
def space_to_batch(op: OperatorImport) -> None:
    """[N, H, W, C], padded, to [bh * bw * N, H / bh, W / bw, C]; any number of spatial dimensions."""
    op.demand_counts((3,))
    op.demand_same_kind(MOVABLE)
    x, block = op.type(0), _block(op)
    low, high = _amounts(op, len(block))
    count, rest = len(block), len(x.shape) - 1 - len(block)
    padded = op.infer(pad_shape, x.shape, (0, *low, *(0,) * rest), (0, *high, *(0,) * rest))
    op.demand_memory(padded, x)
    value = op.value(0)
    if padded != x.shape:
        attributes = {"low": (0, *low, *(0,) * rest), "high": (0, *high, *(0,) * rest), "value": 0.0}
        value = op.build("pad", [value], TensorType(padded, x.element), attributes)
    spatial = padded[1 : 1 + count]
    for extent, size in zip(spatial, block, strict=True):
        if extent % size:
            op.fail(f"padded shape {list(padded)} does not divide into blocks of {list(block)}")
    pairs = [part for extent, size in zip(spatial, block, strict=True) for part in (extent // size, size)]
    tail = padded[1 + count :]
    order = [2 + 2 * i for i in range(count)] + [0] + [1 + 2 * i for i in range(count)]
    small = tuple(extent // size for extent, size in zip(spatial, block, strict=True))
    batch = padded[0] * math.prod(block)
    _rearrange(op, value, (padded[0], *pairs, *tail), order, (batch, *small, *tail))


@importer("BATCH_TO_SPACE_ND")
def batch_to_space(op: OperatorImport) -> None:
    """[bh * bw * N, H, W, C] to [N, H * bh, W * bw, C], cropped; any number of spatial dimensions."""
    op.demand_counts((3,))
    op.demand_same_kind(MOVABLE)
    x, block = op.type(0), _block(op)
    low, high = _amounts(op, len(block))
    count = len(block)
    if x.shape[0] % math.prod(block):
        op.fail(f"a batch of {x.shape[0]} does not divide into blocks of {list(block)}")
    batch, spatial, tail = x.shape[0] // math.prod(block), x.shape[1 : 1 + count], x.shape[1 + count :]
    order = [count] + [i for k in range(count) for i in (count + 1 + k, k)]
    large = tuple(extent * size for extent, size in zip(spatial, block, strict=True))
    whole = (batch, *large, *tail)
    sizes = tuple(extent - before - after for extent, before, after in zip(large, low, high, strict=True))
    if min(sizes) < 1:
        op.fail(f"crops of {list(low)} and {list(high)} leave nothing of shape {list(whole)}")
    if sizes == large:
        _rearrange(op, op.value(0), (*block, batch, *spatial, *tail), order, whole)
        return
    value = _split_and_transpose(op, op.value(0), (*block, batch, *spatial, *tail), order)
    value = op.build("reshape", [value], TensorType(whole, x.element), {})
    cropped = (batch, *sizes, *tail)
    attributes = {
        "offsets": (0, *low, *(0,) * len(tail)),
        "sizes": cropped,
        "strides": (1,) * len(cropped),
    }
    op.emit("slice", [value], cropped, attributes)


@importer("SPACE_TO_DEPTH")
def space_to_depth(op: OperatorImport) -> None:
    """[N, H, W, C] to [N, H / b, W / b, b * b * C]."""
    (n, h, w, c), b = _image_and_block(op)
    if h % b or w % b:
        op.fail(f"shape {[n, h, w, c]} does not divide into blocks of {b}")
    shape = (n, h // b, w // b, b * b * c)
    _rearrange(op, op.value(0), (n, h // b, b, w // b, b, c), [0, 1, 3, 2, 4, 5], shape)


@importer("DEPTH_TO_SPACE")
def depth_to_space(op: OperatorImport) -> None:
    """[N, H, W, b * b * C] to [N, H * b, W * b, C]."""
    (n, h, w, c), b = _image_and_block(op)
    if c % (b * b):
        op.fail(f"{c} channels do not divide into blocks of {b} x {b}")
    depth = c // (b * b)
    shape = (n, h * b, w * b, depth)
    _rearrange(op, op.value(0), (n, h, w, b, b, depth), [0, 1, 3, 2, 4, 5], shape)


def _image_and_block(op: OperatorImport) -> tuple[tuple[int, ...], int]:
    op.demand_counts((1,))
    op.demand_same_kind(MOVABLE)
    op.demand_rank(op.type(0), 4)
    block: int = op.option("block_size")
    op.demand_positive(block_size=block)
    return op.type(0).shape, block


def _block(op: OperatorImport) -> tuple[int, ...]:
    """The constant block shape: one positive extent per spatial dimension."""
    block = op.integers(1, "block shapes")
    if not 0 < len(block) < len(op.type(0).shape) or min(block) < 1:
        op.fail(f"block shape {list(block)} does not fit shape {list(op.type(0).shape)}")
    return block


def _amounts(op: OperatorImport, count: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Constant paddings or crops before and behind each spatial dimension."""
    amounts = op.integers(2, "paddings and crops")
    if op.type(2).shape != (count, 2) or min(amounts) < 0:
        op.fail(f"paddings or crops {list(amounts)} do not fit {count} spatial dimensions")
    return amounts[0::2], amounts[1::2]


def _rearrange(
    op: OperatorImport, value: Any, split: tuple[int, ...], order: list[int], shape: tuple[int, ...]
) -> None:
    """Split dimensions, bring them in ``order`` (what it leaves out stays behind), join them to ``shape``."""
    op.emit("reshape", [_split_and_transpose(op, value, split, order)], shape)


def _split_and_transpose(op: OperatorImport, value: Any, split: tuple[int, ...], order: list[int]) -> Any:
    element = op.type(0).element
    permutation = (*order, *range(len(order), len(split)))
    parts = op.build("reshape", [value], TensorType(split, element), {})
    transposed = TensorType(tuple(split[p] for p in permutation), element)
    return op.build("transpose", [parts], transposed, {"permutation": permutation})
