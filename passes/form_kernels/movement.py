"""Ops that move 8-bit values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...dialect.meaning import evaluate
from ...dialect.types import TensorType
from ...kernels.image import Image
from ...kernels.table import Table
from .. import graph
from .groups import Around, Group, Part, Parts, Stored, Want, as_stored, byte_range, is_8bit


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

    return Group(op, tuple(values), (Want(any_sign=True),) * len(values), make)


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
        added = ((value,), (Want(any_sign=True),)) if producer is None else (producer.inputs, producer.wants)
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
            parts += [Part(part.spec, tuple(span.start + i for i in part.inputs)) for part in made]
        return parts

    inner = [inner_op for producer in producers if producer for inner_op in (*producer.inner, producer.op)]
    return Group(op, tuple(inputs), tuple(wants), make, inner=tuple(inner))
