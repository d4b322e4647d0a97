"""Ops that move 8-bit values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ...dialect.meaning import evaluate
from ...dialect.rescale import stored_value
from ...dialect.types import TensorType
from ...kernels.border import Border
from ...kernels.image import Image
from ...kernels.table import Table
from ...kernels.transpose import Transpose
from .. import graph
from .groups import Around, Group, Part, Parts, Stored, Want, as_stored, byte_range, is_8bit, of_four

Frame: TypeAlias = tuple[int, int, int, int]
"""Above, below, left, right."""
_ANY = Want(any_sign=True)


def concat(op: Any, attributes: Mapping[str, Any], around: Around) -> Group | str:
    """``concat`` along the channels: every input is written into its slice, in the result's parameters."""
    values = list(op.operands)
    types = [graph.type_of(value) for value in values]
    result_type = graph.type_of(op.results[0])
    if not all(is_8bit(type_) for type_ in (*types, result_type)):
        return "operands and result are not all 8-bit"
    axis = attributes["axis"] % len(result_type.shape)
    if axis != len(result_type.shape) - 1:
        return "it is not along the channels"

    def make(inputs: Sequence[Stored], result: Stored) -> Parts:
        parts, first = [], 0
        for index, source in enumerate(inputs):
            width = source.type.shape[axis]
            target = _channels_of(result.image, first, width)
            table = _moved(source, result, around.mode)
            parts.append(Part(Table(source.image, target, table), (index,)))
            first += width
        return parts

    return Group(op, tuple(values), (_ANY,) * len(values), make)


def pad(op: Any, attributes: Mapping[str, Any], around: Around) -> Group | str:
    """``pad`` of height and width: the input is written inside a border of its own."""
    types = graph.type_of(op.operands[0]), graph.type_of(op.results[0])
    if refused := _why_not_moved(types):
        return refused
    low, high = attributes["low"], attributes["high"]
    if len(low) != 4 or any(amounts[axis] for amounts in (low, high) for axis in (0, 3)):
        return "it pads something else than height and width"
    if min(*low, *high) < 0:
        return "it cuts off"
    value = stored_value(types[0].params, attributes["value"])
    around_it = (low[1], high[1], low[2], high[2])

    def make(inputs: Sequence[Stored], result: Stored) -> Parts:
        source = inputs[0]
        inside = replace(
            result.image,
            height=source.image.height,
            width=source.image.width,
            border=_plus(result.image.border, around_it),
        )
        table = as_stored(byte_range(source), result)
        return [
            Part(Border(inside, (value + result.shift) & 0xFF), ()),
            Part(Table(source.image, inside, table)),
        ]

    # One border cannot hold two values.
    return Group(op, (op.operands[0],), (_ANY,), make, result_has_border=value == types[0].params.zero_point)


def slice_(op: Any, attributes: Mapping[str, Any], around: Around) -> Group | str:
    """``slice`` of rows, columns and channels: what is cut off is a border of what is copied."""
    types = graph.type_of(op.operands[0]), graph.type_of(op.results[0])
    if refused := _why_not_moved(types):
        return refused
    rank = len(types[0].shape)
    if rank not in (2, 4) or any(stride != 1 for stride in attributes["strides"]):
        return "it is not of neighbours in two or four dimensions"
    starts = [0] * (4 - rank) + list(attributes["offsets"])
    sizes = [1] * (4 - rank) + list(attributes["sizes"])

    def make(inputs: Sequence[Stored], result: Stored) -> Parts:
        image = inputs[0].image
        if sizes[0] != image.batch:
            return "it takes some of the images"
        rows, columns = (
            (starts[axis], extent - starts[axis] - sizes[axis])
            for axis, extent in ((1, image.height), (2, image.width))
        )
        part = replace(
            _channels_of(image, starts[3], sizes[3]),
            height=sizes[1],
            width=sizes[2],
            border=_plus(image.border, (*rows, *columns)),
        )
        return [Part(Table(part, result.image, as_stored(byte_range(inputs[0]), result)))]

    return Group(op, (op.operands[0],), (_ANY,), make)


def transpose(op: Any, attributes: Mapping[str, Any], around: Around) -> Group | str:
    """``transpose`` of four dimensions, or of more of which enough stay neighbours."""
    types = graph.type_of(op.operands[0]), graph.type_of(op.results[0])
    if refused := _why_not_moved(types):
        return refused
    shape, order = types[0].shape, tuple(attributes["permutation"])
    joined = len(shape) > 4
    if joined:
        shape, order = _neighbours_joined(shape, order)
    missing = 4 - len(shape)
    if missing < 0:
        return "it has more than four dimensions"
    sizes = [*(1,) * missing, *shape]
    axes = [*range(missing), *(axis + missing for axis in order)]
    permutation = axes[0], axes[1], axes[2], axes[3]

    def make(inputs: Sequence[Stored], result: Stored) -> Parts:
        if inputs[0].shift != result.shift:
            return "its input and result are kept in different forms"
        if not joined:
            return [Part(Transpose(of_four(inputs[0]), of_four(result), permutation))]
        if not (inputs[0].image.is_dense and result.image.is_dense):
            return "it has more than four dimensions, and gaps between them"
        n, h, w, c = sizes
        b, y, x, o = (sizes[axis] for axis in permutation)
        return [Part(Transpose(Image(n, h, w, c), Image(b, y, x, o), permutation))]

    return Group(op, (op.operands[0],), (Want(like_result=True),), make)


def _neighbours_joined(shape: Sequence[int], order: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A permutation with axes that follow each other before and after it made one, and without those of
    extent 1: shape and order.
    """
    blocks: list[list[int]] = []
    for axis in (axis for axis in order if shape[axis] != 1):
        if blocks and all(shape[i] == 1 for i in range(blocks[-1][-1] + 1, axis)) and axis > blocks[-1][-1]:
            blocks[-1].append(axis)
        else:
            blocks.append([axis])
    ranks = sorted(range(len(blocks)), key=lambda i: blocks[i])
    joined = tuple(math.prod(shape[axis] for axis in blocks[i]) for i in ranks)
    return joined, tuple(ranks.index(i) for i in range(len(blocks)))


def _why_not_moved(types: tuple[TensorType, TensorType]) -> str | None:
    """None if values of the first type are the same numbers in the second."""
    if not all(is_8bit(type_) for type_ in types):
        return "input and result are not both 8-bit"
    if not types[0].params.same_values(types[1].params):
        return "its result has other parameters than its input"
    return None


def _plus(one: Frame, other: Frame) -> Frame:
    top, bottom, left, right = (a + b for a, b in zip(one, other, strict=True))
    return top, bottom, left, right


def _channels_of(image: Image, first: int, count: int) -> Image:
    """A slice of an image, which may be a slice itself."""
    return replace(
        image,
        channels=count,
        pixel_channels=image.pixel_channels or image.channels,
        first_channel=image.first_channel + first,
    )


def _moved(source: Stored, result: Stored, mode: str) -> npt.NDArray[np.uint8]:
    """What concat makes of every byte of an input: its own meaning, on 256 values."""
    line = TensorType((256,), source.type.element)
    target = TensorType((256,), result.type.element)
    (values,) = evaluate("concat", [byte_range(source)], [line], [target], {"axis": 0}, mode)
    return as_stored(values, result)


def concat_of_producers(
    op: Any, attributes: Mapping[str, Any], around: Around, producers: Sequence[Group | None]
) -> Group | str:
    """``concat`` along the channels whose inputs are written into their slices by who computes them, where
    there is a group (one per input, or None) that nobody else reads.
    """
    alone = concat(op, attributes, around)
    if isinstance(alone, str):
        return alone
    inputs: list[Any] = []
    wants: list[Want] = []
    spans: list[slice] = []
    for value, producer in zip(op.operands, producers, strict=True):
        added = ((value,), (_ANY,)) if producer is None else (producer.inputs, producer.wants)
        spans.append(slice(len(inputs), len(inputs) + len(added[0])))
        inputs += added[0]
        wants += added[1]
    types = [graph.type_of(value) for value in op.operands]

    def make(given: Sequence[Stored], result: Stored) -> Parts:
        parts, first = [], 0
        for type_, producer, span in zip(types, producers, spans, strict=True):
            width = type_.shape[-1]
            target = _channels_of(result.image, first, width)
            first += width
            if producer is None:
                table = _moved(given[span.start], result, around.mode)
                parts.append(Part(Table(given[span.start].image, target, table), (span.start,)))
                continue
            made = producer.make(given[span], Stored(type_, result.form, target))
            if isinstance(made, str):
                return made
            if any(part.temporary for part in made):
                return "one of its inputs is computed in several steps"
            parts += [Part(part.spec, tuple(span.start + i for i in part.inputs)) for part in made]
        return parts

    fused = [producer for producer in producers if producer]
    inner = [inner_op for producer in fused for inner_op in (*producer.inner, producer.op)]
    has_border = all(producer.result_has_border for producer in fused)
    return Group(op, tuple(inputs), tuple(wants), make, has_border, tuple(inner))
