"""Convolutions and matrix products with AMX: blocks of 16x64, 32x32 or 64x16 results in four tiles.

Tiles of input bytes are loaded straight from the image; the steps of the sum are a table of offsets into it
(:mod:`.amx_tiling`). Results pass through memory into vectors, where they are rescaled.

A filter whose zero point is not that of its storage needs the sum of each pixel's inputs: those of a block
are products with a tile of ones, done once for all channels.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..dialect.fixed_point import Ints
from . import amx_instructions as amx
from . import epilogue
from . import residual as residuals
from .amx_conv2d_code import LANES, PANEL_HEADER, Kernel, Tiles, scalars
from .amx_tiling import JUNK, ROW_GROUP, Reduction, Tiling, best, vector_cycles
from .channels import Channels, as_bytes, wrap_int32
from .conv import Conv
from .epilogue import Epilogue
from .image import Image
from .instruction_set import InstructionSet
from .launch import Bytes, Code, Launch, Option
from .narrow import group_order

Options: TypeAlias = tuple[tuple[str, Option], ...]
_FEWEST_PIXELS = 4
"""Fewer are a matter of reading the filter; vectors do that as well."""
_UNITS = 8
"""At least, where there is work for them."""
_LEAST_GAIN = 1.4
"""How much faster than vectors it has to look: the estimate knows nothing of slow modes and of starting."""


def plan(conv: Conv, isa: InstructionSet) -> Launch | str:
    reason = _why_not(conv)
    if reason is not None:
        return reason
    residual = conv.residual
    if residual is None:
        return _launch(conv, isa, residuals.NO_OPTIONS, np.zeros(0, np.uint8))
    found = residuals.prove(residual, conv.result_signed, isa)
    if isinstance(found, str):
        return found
    if conv.result_signed:
        conv = replace(conv, rescale=residuals.unsigned_rescale(conv.rescale), result_signed=False)
    return _launch(conv, isa, residuals.options(residual, found), residuals.header(residual, found))


def _launch(conv: Conv, isa: InstructionSet, residual: Options, residual_header: Bytes) -> Launch | str:
    reduction = Reduction.of(conv)
    tiling = best(conv, reduction)
    gain = vector_cycles(conv) / tiling.cycles
    if gain < _LEAST_GAIN:
        return f"tiles would be poorly filled: about {gain:.1f} times as fast as vectors"
    filter_, zero_points = _filter(conv)
    sums = bool(np.any(zero_points))
    rescales = Epilogue.of(conv.rescale, _reach(conv), isa=isa)
    code = Code(
        "amx_conv2d",
        isa.name,
        (
            ("rows", tiling.shape[0]),
            ("columns", tiling.shape[1]),
            ("input_signed", conv.input_signed),
            ("filter_signed", filter_.dtype == np.int8),
            ("sums", sums),
            ("result_signed", conv.result_signed),
            *rescales.options,
            *residual,
        ),
    )
    panels = _panels(conv, reduction, tiling, filter_, zero_points, rescales)
    panels_per_unit = _panels_per_unit(conv, tiling) if sums else 1
    header = np.concatenate([_header(conv, tiling), residual_header])
    constants = [header, as_bytes(reduction.offsets).reshape(-1), _blocks(conv, tiling)]
    constants.append(panels.reshape(-1))
    if sums:
        constants.append(_ones(reduction, filter_.dtype))
    row_groups = math.ceil(tiling.block_rows / ROW_GROUP)
    values = {
        "blocks": tiling.blocks,
        "panels": len(panels),
        "panels_per_unit": panels_per_unit,
        "steps": reduction.steps,
        "pitch": tiling.scan.pitch,
        "tile_row_bytes": tiling.rows * tiling.shape[1] * amx.TILE_ROW_BYTES,
        "row_groups": row_groups,
        "row_groups_per_step": math.ceil(row_groups / reduction.steps),
        "block_entry_bytes": constants[2].size // tiling.blocks,
        "panel_bytes": panels.shape[1],
    }
    out = conv.output
    macs = out.batch * out.height * out.width * int(filter_.size)
    units = tiling.blocks * math.ceil(len(panels) / panels_per_unit)
    return Launch(code, units, tuple(constants), scalars(sums, conv.residual is not None).pack(values), macs)


def _panels_per_unit(conv: Conv, tiling: Tiling) -> int:
    """Where the sums of pixels are needed, which are made once a unit: many, of one group of channels."""
    count = tiling.panels // conv.groups
    return count if conv.groups > 1 else math.ceil(count * min(1.0, tiling.blocks / _UNITS))


def _why_not(conv: Conv) -> str | None:
    out = conv.output
    if conv.kind != "conv2d":
        return f"{conv.kind} has no products of matrices"
    if conv.input.element_bytes != 1 or out.element_bytes != 1:
        return "elements of more than a byte"
    if out.batch * out.height * out.width < _FEWEST_PIXELS:
        return f"fewer than {_FEWEST_PIXELS} pixels or rows"
    return epilogue.why_not(conv.rescale)


def _filter(conv: Conv) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """The filter and its zero points ``[out_channels]``, as signed or as unsigned bytes: products of both
    kinds cost the same, so the kind is chosen that has its zero points at zero.
    """
    filter_ = conv.filter.astype(np.int8 if conv.filter_signed else np.uint8)
    zero_points = np.broadcast_to(np.array(conv.filter_zero_points, np.int64), (len(filter_),))
    shift = 128 if conv.filter_signed else -128
    if np.all(zero_points == -shift):
        other = np.uint8 if conv.filter_signed else np.int8
        return (filter_.astype(np.int64) + shift).astype(other), np.zeros_like(zero_points)
    return filter_, zero_points


def _reach(conv: Conv) -> tuple[Ints, Ints]:
    """The lowest and the highest sum of each channel."""
    bias = conv.bias.astype(np.int64)
    if conv.input_signed:  # as if inputs were 128 higher
        centred = conv.filter.astype(np.int64) - np.reshape(conv.filter_zero_points, (-1, 1, 1, 1))
        bias = bias - 128 * centred.sum((1, 2, 3))
    return epilogue.reach(conv.filter, conv.filter_zero_points, bias)


def _header(conv: Conv, tiling: Tiling) -> Bytes:
    """The tiles' shapes, and the epilogue's header."""
    heights = Tiles(*tiling.shape).heights(tiling.rows)
    return np.concatenate([amx.configuration(heights), epilogue.header(conv.rescale)])


def _blocks(conv: Conv, tiling: Tiling) -> Bytes:
    """Per block of pixels, as i32: the input byte of each tile; the output byte of each row, with rows up to
    a multiple of :data:`ROW_GROUP`, negative where nothing is stored; and the byte of each row in the tensor
    that is added, if there is one.
    """
    count = tiling.shape[0]
    tiles = list(tiling.scan.tiles(tiling.rows))
    tiles += tiles[-1:] * (tiling.blocks * count - len(tiles))
    inputs = np.array([start for start, _ in tiles], np.int64).reshape(tiling.blocks, count)
    pixels = np.stack([pixels for _, pixels in tiles]).reshape(tiling.blocks, -1)
    padded = np.pad(pixels, ((0, 0), (0, -tiling.block_rows % ROW_GROUP)), constant_values=JUNK)
    columns = [inputs, np.where(padded == JUNK, -1, _places(conv.output)[padded])]
    if conv.residual is not None:
        columns.append(np.where(padded == JUNK, 0, _places(conv.residual.other)[padded]))
    return as_bytes(np.concatenate(columns, 1).astype(np.int32)).reshape(-1)


def _places(image: Image) -> Ints:
    """The byte of each pixel."""
    n, y, x = np.ogrid[: image.batch, : image.height, : image.width]
    places: Ints = image.start + n * image.image_pitch + y * image.row_pitch + x * image.pixel_pitch
    return places.reshape(-1)


def _panels(
    conv: Conv,
    reduction: Reduction,
    tiling: Tiling,
    filter_: npt.NDArray[Any],
    zero_points: npt.NDArray[np.int64],
    rescales: Epilogue,
) -> Bytes:
    """``[panels, panel_bytes]``: all that belongs to 16, 32 or 64 channels. A header (byte offset of the
    group's input channels, of the output channels, mask of the bytes to store), the filter by steps, bias,
    zero points, parameters of the rescale.
    """
    columns = tiling.shape[1]
    width = columns * LANES
    bias = conv.bias + np.int64(rescales.start)
    per_group = conv.output.channels // conv.groups
    group_bytes = conv.input.channels // conv.groups
    # With the zeros of the steps' ends as one more column.
    order = group_order(columns, LANES)
    flat = np.pad(filter_.reshape(len(filter_), -1), ((0, 0), (0, 1)))
    panels = []
    for group in range(conv.groups):
        for first in range(0, per_group, width):
            count = min(width, per_group - first)
            start = group * per_group + first
            lanes = Channels(
                conv.output.channels,
                columns,
                LANES,
                np.where(order < count, start + order, conv.output.channels),
            )
            header = np.array([group * group_bytes, start, (1 << count) - 1], np.uint64)
            parts = [header.view(np.uint8), np.zeros(PANEL_HEADER - header.nbytes, np.uint8)]
            parts.append(_packed_filter(lanes.spread_rows(flat), reduction, columns))
            parts.append(as_bytes(lanes.spread(wrap_int32(bias), np.int32)).reshape(-1))
            if np.any(zero_points):
                parts.append(as_bytes(lanes.spread(-zero_points, np.int32)).reshape(-1))
            parts.append(rescales.pack(conv.rescale, lanes).reshape(-1))
            panels.append(np.concatenate(parts))
    return np.stack(panels)


def _packed_filter(rows: npt.NDArray[Any], reduction: Reduction, columns: int) -> Bytes:
    """``[columns * 16, k]`` as ``[steps, columns, 16 quads of k, 16 channels, 4]``."""
    steps = rows[:, reduction.sources].reshape(columns, LANES, reduction.steps, amx.TILE_ROWS, 4)
    return as_bytes(steps.transpose(2, 0, 3, 1, 4)).reshape(-1)


def _ones(reduction: Reduction, dtype: npt.DTypeLike) -> Bytes:
    """A filter of one tile of channels that sums inputs up."""
    row = np.append(np.ones(reduction.sources.max() + 1, dtype), np.zeros(1, dtype))
    return _packed_filter(np.tile(row, (LANES, 1)), reduction, 1)


def emit(code: Code, isa: InstructionSet) -> str:
    return Kernel(code, isa).text()
