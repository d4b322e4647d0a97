"""Convolutions and matrix products of int16 values with 8-bit weights.

A tile keeps the sums of ``rows`` pixels and ``vectors`` vectors of channels in i32 registers; in every step a
pair of int16 of each pixel is broadcast and multiplied with pairs of weights, widened to int16. Where the
accumulator is an int64, the taps are cut into *blocks* whose sums fit 32 bits whatever the input is, as the
weights tell; after each, the sums are added to 64-bit ones. Nearly all layers are one block.

What does not fill a tile or a panel of channels is computed twice: the last of both start earlier. The code
is in :mod:`.conv2d_16x8_code`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..dialect import fixed_point as fx
from ..dialect.fixed_point import Ints
from ..dialect.numerics import Rounding
from ..dialect.op_constants import Rescale
from .conv2d_16x8_code import RESCALE_NUMBERS, SCALARS, Kernel
from .image import Image
from .instruction_set import InstructionSet
from .launch import Bytes, Code, Launch
from .runs import narrowed

_SUMS = {"x86_64": 8, "aarch64": 16}
"""Vectors of sums in a tile: enough to hide how long a product takes; on AArch64 to load weights seldom."""
_MOST_VECTORS = 4
_FEWEST_LANES = 4
_BLOCK_LIMIT = 65535
"""Of a block's sum of ``|weight|``: times 32768 it is below 2^31."""


@dataclass(frozen=True, eq=False)
class Conv16x8:
    """``rescale(sum x * filter + bias)`` of int16 images; borders are as wide as the padding asks, and hold
    the zero point.
    """

    input: Image
    output: Image
    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    padding: tuple[int, int]
    """Rows above, columns to the left."""
    groups: int
    filter: npt.NDArray[np.int16]
    """``[out_channels, kernel_height, kernel_width, in_channels / groups]``, less its zero points."""
    bias: Ints
    """``[out_channels]``, the input's zero point folded in."""
    is_wide: bool
    """Whether accumulators are int64; else they wrap around at 32 bits."""
    rescale: Rescale


def plan(spec: Conv16x8, isa: InstructionSet) -> Launch | str:
    """Units are tiles of pixels times panels of channels."""
    if spec.input.element_bytes != 2 or spec.output.element_bytes != 2:
        return "elements of another size than two bytes"
    if spec.rescale.rounding not in RESCALE_NUMBERS:
        return f"rounding '{spec.rescale.rounding.value}' of int16"
    return _Plan(spec, isa).launch()


@dataclass(frozen=True)
class _Plan:
    spec: Conv16x8
    whole: InstructionSet

    def launch(self) -> Launch:
        spec = self.spec
        options = (
            ("bytes", self.isa.vector_bytes),
            ("rows", self.rows),
            ("vectors", self.vectors),
            ("few", self.is_few),
            ("wide", spec.is_wide),
            ("folds", len(self.blocks) > 1),
            ("rounding", spec.rescale.rounding.value),
        )
        constants = (_bytes(self.packed_filter), _bytes(self.parameters), _bytes(self.tables))
        code = Code("conv2d_16x8", self.whole.name, options)
        units = self.lines * self.tiles * len(self.panel_channels)
        macs = spec.output.elements * int(np.prod(spec.filter.shape[1:]))
        return Launch(code, units, constants, self.scalars(), macs)

    # Pixels.

    @cached_property
    def is_flat(self) -> bool:
        """Whether all pixels are one line."""
        spec = self.spec
        if spec.kernel != (1, 1) or spec.strides != (1, 1) or spec.padding != (0, 0):
            return False
        return all(
            image.row_pitch == image.width * image.pixel_pitch
            and image.image_pitch == image.height * image.row_pitch
            for image in (spec.input, spec.output)
        )

    @property
    def lines(self) -> int:
        return 1 if self.is_flat else self.spec.output.batch * self.spec.output.height

    @property
    def width(self) -> int:
        output = self.spec.output
        return output.batch * output.height * output.width if self.is_flat else output.width

    @property
    def tiles(self) -> int:
        """Of a line."""
        return math.ceil(self.width / self.rows)

    # Channels.

    @property
    def group_channels(self) -> int:
        return self.spec.output.channels // self.spec.groups

    @property
    def is_few(self) -> bool:
        """Whether channels of a group do not fill the narrowest vector."""
        return self.group_channels < _FEWEST_LANES

    @cached_property
    def isa(self) -> InstructionSet:
        """With vectors of no more lanes than there are channels."""
        return narrowed(self.whole, 4 * max(_FEWEST_LANES, _power_of_two(self.group_channels)))

    @cached_property
    def vectors(self) -> int:
        usual = 4 if self.isa.architecture == "aarch64" else 2
        return min(_MOST_VECTORS if self.width < _MOST_VECTORS else usual, self._most_vectors)

    @property
    def _most_vectors(self) -> int:
        return _power_of_two(max(1, self.group_channels // self.isa.lanes))

    @property
    def rows(self) -> int:
        return min(_power_of_two(self.width), _SUMS[self.isa.architecture] // self.vectors)

    @property
    def panel_width(self) -> int:
        return self.vectors * self.isa.lanes

    @cached_property
    def panel_channels(self) -> Ints:
        """The first channel of each panel."""
        within = np.arange(0, self.group_channels, self.panel_width)
        within = np.minimum(within, max(0, self.group_channels - self.panel_width))
        first: Ints = (np.arange(self.spec.groups)[:, None] * self.group_channels + within).reshape(-1)
        return first

    @cached_property
    def lanes(self) -> Ints:
        """``[panels, panel width]``: the channel of each lane; where there is none, some other."""
        lanes: Ints = self.panel_channels[:, None] + np.arange(self.panel_width)
        return np.minimum(lanes, self.spec.output.channels - 1)

    # Taps.

    @cached_property
    def runs(self) -> list[int]:
        """Where in the input, from a pixel's first tap on, each run of neighbours starts; all are as long."""
        spec = self.spec
        across = 1 if self.is_row_run else spec.kernel[1]
        return [
            down * spec.dilations[0] * spec.input.row_pitch
            + right * spec.dilations[1] * spec.input.pixel_pitch
            for down in range(spec.kernel[0])
            for right in range(across)
        ]

    @property
    def is_row_run(self) -> bool:
        """Whether a row of the kernel lies side by side in the input."""
        spec = self.spec
        return spec.dilations[1] == 1 and 2 * spec.filter.shape[3] == spec.input.pixel_pitch

    @cached_property
    def pairs(self) -> npt.NDArray[np.int16]:
        """``[out_channels, runs, pairs of a run, 2]``; an odd run's last weight is followed by a zero."""
        runs = self.spec.filter.reshape(self.spec.output.channels, len(self.runs), -1)
        padded = np.pad(runs, ((0, 0), (0, 0), (0, runs.shape[2] % 2)))
        return padded.reshape(*padded.shape[:2], -1, 2)

    @cached_property
    def blocks(self) -> list[list[tuple[int, int]]]:
        """Segments ``(start in the input, pairs)`` of every block."""
        largest = np.abs(self.pairs.astype(np.int64)).sum(3).max(0)
        blocks: list[list[tuple[int, int]]] = [[]]
        total = 0
        for start, sums in zip(self.runs, largest.tolist(), strict=True):
            first = 0
            for pair, size in enumerate(sums):
                if self.spec.is_wide and total + size > _BLOCK_LIMIT:
                    blocks[-1].append((start + 4 * first, pair - first))
                    blocks.append([])
                    first, total = pair, 0
                total += size
            blocks[-1].append((start + 4 * first, len(sums) - first))
        return blocks

    # What is packed.

    @property
    def packed_filter(self) -> npt.NDArray[np.int16]:
        """``[panels, pairs, vectors, lanes, 2]``; on AArch64 the first of all lanes of a vector, then the
        second.
        """
        every = self.pairs.reshape(self.spec.output.channels, -1, 2)
        packed: npt.NDArray[np.int16] = every[self.lanes].transpose(0, 2, 1, 3)
        if self.isa.architecture == "aarch64":
            by_vector = packed.reshape(*packed.shape[:2], -1, self.isa.lanes, 2)
            packed = by_vector.swapaxes(3, 4).reshape(packed.shape)
        return packed

    @cached_property
    def parameters(self) -> Ints:
        """``[panels, numbers, panel width]``."""
        spec, rescale = self.spec, self.spec.rescale
        numbers = np.stack([spec.bias, *_numbers(rescale, spec.output.channels)])
        packed: Ints = numbers[:, self.lanes].transpose(1, 0, 2)
        return packed

    @property
    def tables(self) -> Ints:
        """Per panel where it starts in a pixel of the input and of the result; per block how many segments it
        has; the segments.
        """
        inputs = self.panel_channels // self.group_channels * self.spec.filter.shape[3]
        panels = 2 * np.stack([inputs, self.panel_channels], 1)
        counts = [len(block) for block in self.blocks]
        segments = [number for block in self.blocks for segment in block for number in segment]
        return np.concatenate([panels.reshape(-1), counts, segments]).astype(np.int64)

    def scalars(self) -> tuple[int, ...]:
        spec, source, target = self.spec, self.spec.input, self.spec.output
        panels = len(self.panel_channels)
        values = {
            "panels": panels,
            "tiles": self.tiles,
            "last_pixel": self.width - self.rows,
            "lines": 1 if self.is_flat else target.height,
            "channels": self.group_channels,
            "source": source.start
            - spec.padding[0] * source.row_pitch
            - spec.padding[1] * source.pixel_pitch,
            "source_image": source.image_pitch,
            "source_line": source.row_pitch * spec.strides[0],
            "source_pixel": source.pixel_pitch * spec.strides[1],
            "target": target.start,
            "target_image": target.image_pitch,
            "target_line": target.row_pitch,
            "target_pixel": target.pixel_pitch,
            "filter_panel": self.packed_filter[0].nbytes,
            "parameters_panel": self.parameters[0].nbytes,
            "blocks": len(self.blocks),
            "segments": 8 * (2 * panels + len(self.blocks)),
            "zero_point": spec.rescale.zero_point,
            "low": spec.rescale.low,
            "high": spec.rescale.high,
        }
        return SCALARS.pack(values)


def _numbers(rescale: Rescale, channels: int) -> list[Ints]:
    """As :data:`RESCALE_NUMBERS` lists them."""
    multiplier, shift = (
        (
            np.broadcast_to(np.asarray(values, np.int64), (channels,))
            for values in (rescale.multipliers, rescale.shifts)
        )
        if rescale.multipliers
        else (np.zeros(channels, np.int64),) * 2
    )
    if rescale.rounding is Rounding.Q15_HALF_UP:
        m15, right = fx.q15_multiplier(multiplier, shift)
        return [m15, np.left_shift(1, right - 1), right]
    if rescale.rounding is Rounding.DOUBLE:
        right = np.maximum(-shift, 0)
        half = np.where(right > 0, np.left_shift(1, np.maximum(right - 1, 0)), 0)
        return [multiplier, np.maximum(shift, 0) % 32, half, right, -(right > 0).astype(np.int64)]
    return [np.broadcast_to(np.asarray(rescale.scales, np.float64), (channels,)).copy().view(np.int64)]


def _bytes(array: npt.NDArray[np.generic]) -> Bytes:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _power_of_two(count: int) -> int:
    """The largest one that is no larger."""
    return 1 << (count.bit_length() - 1)


def emit(code: Code, isa: InstructionSet) -> str:
    return Kernel(code, isa).text()
