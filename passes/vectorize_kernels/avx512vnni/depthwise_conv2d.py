"""Depthwise convolutions: sixteen channels at a time, one multiply-accumulate per tap.

A channel's byte is widened to an i32 lane, whose low half is multiplied with the tap's weight by
``vpdpwssd`` (the high
half of the weight is zero). Weights less their zero point fit into 16 bits, so u8 filters need no
correction. Columns of
the input that neighbouring pixels share are loaded once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..spec import ConvSpec
from . import epilogue
from .channels import Channels, as_bytes, wrap_int32
from .epilogue import Epilogue
from .instructions import dot_words
from .rows import row_offset
from .writer import BYTES, I32, LANES, Writer

_MOST_PIXELS = 4
_MOST_TAPS = 64
"""Every tap is written out for every pixel of a tile."""


def supports(spec: ConvSpec) -> str | None:
    """None if there is a kernel for ``spec``, else the reason why not."""
    if spec.kind != "depthwise_conv2d":
        return f"kind '{spec.kind}' is another family's"
    if spec.result_bits != 8:
        return f"{spec.result_bits}-bit results are not stored by this family"
    if spec.out_channels != spec.in_channels:
        return f"a depth multiplier of {spec.out_channels // spec.in_channels}"
    if spec.in_channels < LANES // 2:
        return f"{spec.in_channels} channels would leave most of a vector idle"
    if spec.in_channels < LANES and not spec.input_slack:
        return "the last pixel would be read past the end of a buffer that is not ours"
    if spec.kernel_height * spec.kernel_width > _MOST_TAPS:
        return f"more than {_MOST_TAPS} taps"
    return epilogue.why_not(spec.rescale)


def _channels(spec: ConvSpec) -> Channels:
    return Channels(spec.in_channels, -(-spec.in_channels // LANES))


def pack(
    spec: ConvSpec, filter: npt.NDArray[Any], bias: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Weights as ``[vectors][taps][16]`` i32 whose high halves are zero; and per vector bias and epilogue."""
    channels = _channels(spec)
    raw = np.asarray(filter).reshape(-1, spec.in_channels)
    stored = raw.view(np.int8 if spec.filter_signed else np.uint8).astype(np.int64)
    centred = stored - np.asarray(spec.filter_zero_points, np.int64)
    lanes = (channels.spread_rows(centred.T) & 0xFFFF).astype(np.uint32)  # [vectors * 16, taps]
    weights = lanes.reshape(-1, LANES, lanes.shape[1]).transpose(0, 2, 1)
    start = wrap_int32(np.broadcast_to(np.asarray(bias, np.int64), (spec.in_channels,)))
    columns = [as_bytes(channels.spread(start, np.int32)), Epilogue(spec.rescale).pack(channels)]
    return as_bytes(weights.reshape(1, -1)).reshape(-1), np.concatenate(columns, 1).reshape(-1)


def emit(name: str, spec: ConvSpec) -> str:
    """The kernel's text: vectors of channels, whose weights stay in registers, then rows, then tiles."""
    return _Kernel(spec).write(name)


class _Kernel:
    def __init__(self, spec: ConvSpec) -> None:
        self.spec = spec
        self.epilogue = Epilogue(spec.rescale)
        self.channels = _channels(spec)
        self.w = Writer()
        self.taps = spec.kernel_height * spec.kernel_width
        self.pitch_bytes = spec.in_width * spec.in_channels
        self.vector_parameters = LANES * 4 + self.epilogue.parameter_bytes
        most = min(_MOST_PIXELS, spec.out_width)
        # Pixels of a tile share columns; a last tile that overlaps the one before it wastes work.
        self.pixels = min(
            range(1, most + 1),
            key=lambda n: math.ceil(spec.out_width / n) * (n * (self.taps + 8) + self.taps / 2),
        )

    def write(self, name: str) -> str:
        self.w.loop(len(self.channels.lanes) // LANES, self._vector)
        return self.w.text(name)

    def _vector(self, index: str) -> Sequence[str]:
        w, spec = self.w, self.spec
        channel = self.channels.start(w, index, 1, 0)
        filter = w.at("%w", w.times(index, self.taps * LANES * 4))
        parameters = w.at("%p", w.times(index, self.vector_parameters))
        weights = [w.load(w.at(filter, tap * LANES * 4), I32, 64) for tap in range(self.taps)]
        bias = w.load(parameters, I32)
        epilogue_parameters = w.at(parameters, LANES * 4)
        source, target = w.at("%x", channel), w.at("%out", channel)

        def row(number: str) -> Sequence[str]:
            row_source = w.at(source, row_offset(w, spec, number, spec.batch, spec.out_height))
            row_target = w.at(target, w.times(number, spec.out_width * spec.in_channels))

            def tile(number: str) -> Sequence[str]:
                x = w.at_most(w.times(number, self.pixels), spec.out_width - self.pixels)
                sums = self._sums(
                    w.at(row_source, w.times(x, spec.strides[1] * spec.in_channels)), weights, bias
                )
                tile_target = w.at(row_target, w.times(x, spec.in_channels))
                loaded = self.epilogue.load(w, epilogue_parameters)
                for i, value in enumerate(sums):
                    stored = self.epilogue.apply(w, value, loaded)
                    w.store_bytes(stored, w.at(tile_target, i * spec.in_channels), spec.in_channels)
                return []

            w.loop(math.ceil(spec.out_width / self.pixels), tile)
            return []

        w.loop(spec.batch * spec.out_height, row)
        return []

    def _sums(self, source: str, weights: Sequence[str], bias: str) -> list[str]:
        """The accumulators of one tile's pixels."""
        w, spec = self.w, self.spec
        widen = "extsi" if spec.input_signed else "extui"
        sums = [bias] * self.pixels
        for i in range(spec.kernel_height):
            columns: dict[int, str] = {}
            for j in range(spec.kernel_width):
                for pixel in range(self.pixels):
                    column = pixel * spec.strides[1] + j * spec.dilations[1]
                    if column not in columns:
                        offset = i * spec.dilations[0] * self.pitch_bytes + column * spec.in_channels
                        loaded = w.load(w.at(source, offset), BYTES)
                        columns[column] = w.op(f"arith.{widen} {loaded} : {BYTES} to {I32}")
                    tap = weights[i * spec.kernel_width + j]
                    sums[pixel] = dot_words(w, sums[pixel], columns[column], tap)
        return sums
