"""Depthwise convolutions: rows of the input are interleaved byte by byte, so that one dot product sums the
taps of a column that lie in one group of rows (four; two where bytes are multiplied as i16). Where there is
no dot product of bytes, but a product of two vectors of them, rows stay as they are: a group is one row.

A unit of work is one line of one block (:mod:`.depthwise_blocks`): all its pixels in one row of outputs, or
in a few (:mod:`.depthwise_tiles`; other windows: :mod:`.depthwise_streaming`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from . import depthwise_streaming, depthwise_tiles, epilogue
from .channels import Channels, as_bytes, wrap_int32
from .choices import Options
from .conv import Conv
from .depthwise_blocks import Blocks, interleaved, layouts, table
from .depthwise_tile import Sharing, Tile
from .depthwise_vectors import TAIL, VECTORS, rows_per_group, vectors_per_group
from .epilogue import Epilogue
from .instruction_set import InstructionSet
from .launch import Bytes, Code, Launch, Option

Form: TypeAlias = tuple[Blocks, Tile | None]
"""No tile where taps are not written out."""
_MOST_TAPS = 49
"""That are written out."""
_WORTH_A_TRY = 1.3
"""A form that costs at most so many times more may turn out to be faster."""


def plan(conv: Conv, isa: InstructionSet) -> Launch | str:
    return _why_not(conv, isa) or _launch(conv, isa, _form(conv, isa))


def candidates(conv: Conv, isa: InstructionSet) -> list[Options]:
    """Blocks and tiles."""
    return [] if _why_not(conv, isa) else list(_forms(conv, isa))


def plan_as(conv: Conv, isa: InstructionSet, options: Options) -> Launch | str:
    return _why_not(conv, isa) or _launch(conv, isa, _forms(conv, isa)[options])


def _why_not(conv: Conv, isa: InstructionSet) -> str | None:
    if conv.kind != "depthwise_conv2d":
        return f"kind '{conv.kind}' is another family's"
    if conv.input_signed == isa.unsigned_inputs:
        return f"the input is {'signed' if conv.input_signed else 'unsigned'}"
    if conv.residual is not None:
        return "a residual"
    return epilogue.why_not(conv.rescale)


def _launch(conv: Conv, isa: InstructionSet, form: Form) -> Launch:
    blocks, tile = form
    channels = interleaved(blocks, conv.output.channels, isa.lanes)
    weights = _by_block(_filter(conv), channels, tile, isa)
    terms = _terms(weights, isa)
    inputs = (-128, 127) if conv.input_signed else (0, 255)
    reach = epilogue.reach(conv.filter, conv.filter_zero_points, conv.bias, inputs)
    ending = Epilogue.of(conv.rescale, reach, isa=isa)
    lines = _lines(conv, tile)
    scalars, options = _scalars(conv, blocks, tile, sum(term[0].nbytes for term in terms))
    options = (
        ("parts", blocks.parts),
        ("stored", blocks.stored),
        ("tail", blocks.tail),
        ("gathers", blocks.gathers),
        ("terms", len(terms)),
        ("signed", conv.result_signed),
        *options,
        *ending.options,
    )
    constants = [
        as_bytes(_ordered(terms, tile, isa)).reshape(-1),
        _parameters(conv, channels, ending),
        as_bytes(table(blocks, _flags(blocks, terms))).reshape(-1),
        as_bytes(lines).reshape(-1),
    ]
    if blocks.gathers:
        constants.append(blocks.gather.astype(np.uint8).reshape(-1))
    return Launch(
        Code("depthwise_conv2d", isa.name, options),
        len(lines) * len(blocks.channels),
        tuple(constants),
        scalars,
        conv.output.elements * conv.kernel[0] * conv.kernel[1],
    )


def emit(code: Code, isa: InstructionSet) -> str:
    written_out = "pixels" in dict(code.options)
    return depthwise_tiles.write(code, isa) if written_out else depthwise_streaming.write(code, isa)


def _form(conv: Conv, isa: InstructionSet) -> Form:
    """The cheapest blocks and their tile of outputs; no tile where taps are not written out."""
    found = layouts(conv, isa)
    if conv.kernel[0] * conv.kernel[1] > _MOST_TAPS:
        return min((b for b in found if not b.tail), key=lambda b: int(b.steps.sum())), None
    forms = [(blocks, _tiles(conv, blocks, isa)[0]) for blocks in found]
    return min(forms, key=lambda form: _cost(form[0], form[1], isa))


def _forms(conv: Conv, isa: InstructionSet) -> dict[Options, Form]:
    """What may be as fast as the cheapest form, which is the first, by what tells them apart."""
    chosen = _form(conv, isa)
    blocks, tile = chosen
    if tile is None:
        return {(): chosen}
    limit = _WORTH_A_TRY * _cost(blocks, tile, isa) / tile.rows
    others = [(b, t) for b in layouts(conv, isa) for t in _tiles(conv, b, isa)]
    tried = [(b, t) for b, t in others if _cost(b, t, isa) / t.rows <= limit]
    return {
        (("parts", b.parts), ("tail", b.tail), ("rows", t.rows)): (b, t) for b, t in [(blocks, tile), *tried]
    }


def _tiles(conv: Conv, blocks: Blocks, isa: InstructionSet) -> list[Tile]:
    """Of one row or two; first what is usually better."""
    vertical, horizontal = _sharing(conv, blocks)
    many = isa.registers > 16
    # Sums of all channels of a block take the registers of a second pixel.
    pixels = 1 + (many and vectors_per_group(isa) > 1)
    one = Tile(conv.kernel, vertical.shift, horizontal.shift, 1, pixels, "registers", horizontal.apart > 1)
    two = replace(one, rows=2)
    # Two rows should share groups of rows, and every image and phase has to have two.
    shares = two.dots(isa) <= 2 * one.dots(isa)
    tiles = [two, one] if shares else [one, two]
    return [_placed(t, isa) for t in tiles if conv.output.height >= t.rows * vertical.apart or t.rows == 1]


def _placed(tile: Tile, isa: InstructionSet) -> Tile:
    """With its columns where they fit."""
    many = isa.registers > 16
    each = vectors_per_group(isa)
    if tile.kept and tile.columns * tile.groups(isa) * each <= (20 if many else 24):
        return tile  # beyond that LLVM moves columns to the stack and back, again and again
    on_stack = tile.kept and tile.shift == 1 and tile.rows > 1 and each > 1
    return replace(tile, columns_in="stack" if on_stack else "passing")


def _cost(blocks: Blocks, tile: Tile, isa: InstructionSet) -> float:
    """Vector instructions of a line, roughly."""
    new = min(tile.shift, tile.window[1]) if tile.kept else tile.columns / tile.pixels
    dots = VECTORS * tile.dots(isa) * tile.window[1]
    epilogues = 6 * VECTORS * tile.rows
    columns = new * (2 * VECTORS * tile.groups(isa) + blocks.gathers * tile.input_rows)
    more_parts = 2 * new * tile.input_rows + tile.rows
    whole = dots + epilogues + columns
    parts = np.full(len(blocks.steps), blocks.parts)
    if blocks.tail:
        parts[-1] = blocks.tail
    return float(np.sum(blocks.steps * (whole + (parts - 1) * more_parts)))


def _sharing(conv: Conv, blocks: Blocks) -> tuple[Sharing, Sharing]:
    """Of rows, and of columns."""
    return (
        Sharing.of(conv.strides[0], conv.dilations[0]),
        Sharing.of(conv.strides[1] * blocks.group, conv.dilations[1]),
    )


def _filter(conv: Conv) -> npt.NDArray[np.int64]:
    """``[channels, height, width]``, less the zero points."""
    points = np.asarray(conv.filter_zero_points, np.int64).reshape(-1, 1, 1)
    centred: npt.NDArray[np.int64] = conv.filter.reshape(-1, *conv.kernel).astype(np.int64) - points
    return centred


def _by_block(
    filter: npt.NDArray[np.int64], channels: Channels, tile: Tile | None, isa: InstructionSet
) -> npt.NDArray[np.int64]:
    """``[blocks, ..., ..., vectors, lanes, rows of a group]``; between them columns and what has taps in
    them, or groups of rows and columns.
    """
    rows = rows_per_group(isa)
    if tile is not None:
        ordered = tile.weights(filter, isa)
    else:
        padded = np.pad(filter, ((0, 0), (0, -filter.shape[1] % rows), (0, 0)))
        ordered = padded.reshape(len(filter), -1, rows, filter.shape[2]).transpose(0, 1, 3, 2)
    by_lane = channels.spread_rows(ordered).reshape(-1, VECTORS, isa.lanes, *ordered.shape[1:])
    transposed: npt.NDArray[np.int64] = by_lane.transpose(0, 3, 4, 1, 2, 5)
    return transposed


def _terms(values: npt.NDArray[np.int64], isa: InstructionSet) -> list[npt.NDArray[np.generic]]:
    """As few arrays as possible whose sum is ``values``, of the type that weights are multiplied in."""
    if isa.dot == "multiply-add-i16":
        return [values.astype(np.int16)]
    lowest = -127 if isa.dot == "multiply-add-s8" else -128  # two products shall fit into an i16
    terms: list[npt.NDArray[np.generic]] = []
    while not terms or np.any(values):
        term = np.clip(values, lowest, 127)
        terms.append(term.astype(np.int8))
        values = values - term
    return terms


def _ordered(
    terms: Sequence[npt.NDArray[np.generic]], tile: Tile | None, isa: InstructionSet
) -> npt.NDArray[np.generic]:
    """``[blocks, ...]``: the terms of :func:`_by_block`, in the order in which they are loaded."""
    by_tap = np.stack(terms, axis=3)
    if tile is None or vectors_per_group(isa) == 1 or not tile.weights_by_vector(isa):
        return by_tap
    return np.moveaxis(by_tap, 4, 1)


def _flags(blocks: Blocks, terms: Sequence[npt.NDArray[np.generic]]) -> npt.NDArray[np.int64]:
    """``[blocks]``: a bit for each vector that has weights beyond the first term, and for a tail."""
    beyond = np.zeros((len(terms[0]), VECTORS), np.bool_)
    for term in terms[1:]:
        beyond |= np.any(term, axis=(1, 2, 4, 5))
    flags: npt.NDArray[np.int64] = beyond @ (1 << np.arange(VECTORS))
    if blocks.tail:
        flags[-1] |= TAIL
    return flags


def _parameters(conv: Conv, channels: Channels, ending: Epilogue) -> Bytes:
    """The header; then per block and vector of channels what sums start with, and the epilogue's numbers."""
    start = channels.spread(wrap_int32(np.asarray(conv.bias, np.int64) + ending.start), np.int32)
    columns = [as_bytes(start), ending.pack(conv.rescale, channels)]
    return np.concatenate([epilogue.header(conv.rescale), np.concatenate(columns, axis=1).reshape(-1)])


def _lines(conv: Conv, tile: Tile | None) -> npt.NDArray[np.int64]:
    """``[lines, 2]``: bytes from the first row of the input and of the output to those of each line."""
    height = conv.output.height
    apart = Sharing.of(conv.strides[0], conv.dilations[0]).apart
    rows = tile.rows if tile is not None else 1
    first = []
    for phase in range(min(apart, height)):
        count = -(-(height - phase) // apart)
        first.append(phase + np.minimum(np.arange(0, count, rows), count - rows) * apart)
    row = np.sort(np.concatenate(first))
    pitches = [
        (conv.input.image_pitch, conv.strides[0] * conv.input.row_pitch),
        (conv.output.image_pitch, conv.output.row_pitch),
    ]
    image = np.arange(conv.output.batch)[:, None]
    return np.stack([(image * of_image + row * of_row).reshape(-1) for of_image, of_row in pitches], axis=1)


def _scalars(
    conv: Conv, blocks: Blocks, tile: Tile | None, block_bytes: int
) -> tuple[tuple[int, ...], tuple[tuple[str, Option], ...]]:
    """The kernel's scalars, and the options of its kind."""
    x, y = conv.input, conv.output
    in_step, out_step = conv.strides[1] * blocks.group * x.pixel_pitch, blocks.group * y.pixel_pitch
    tap_row, tap_column = conv.dilations[0] * x.row_pitch, conv.dilations[1] * x.pixel_pitch
    count = len(blocks.channels)
    if tile is None:
        return (count, in_step, out_step, tap_row, tap_column, *conv.kernel, block_bytes), ()
    vertical, horizontal = _sharing(conv, blocks)
    numbers = [count, tap_column, tap_row, vertical.apart * y.row_pitch, horizontal.apart * out_step]
    if tile.phases:
        numbers += [horizontal.apart, in_step, out_step]
    return tuple(numbers), tile.options
