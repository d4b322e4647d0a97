"""Convolutions and matrix products as tiles of output pixels times vectors of output channels.

A tile keeps the sums of ``rows`` pixels and ``vectors`` vectors of channels in registers. In every step four
bytes of each pixel are broadcast and multiplied with the vectors of the filter. A *panel* is the channels of
one tile. The filter is packed in the order it is read,

    ``[panels][steps][vectors][lanes][4 bytes]``

where the taps are in the order of :mod:`.conv2d_taps`.

Pixels lie in *lines*, rows of the result; all of them are one line where neither input nor result has gaps
and each pixel is read once. What does not fill a tile or a panel is computed twice: the last tile of a line
starts earlier, and so does the last panel. The code is in :mod:`.conv2d_code`.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from . import aarch64_conv2d, aarch64_conv2d_code
from . import epilogue as epilogues
from . import residual as residuals
from .channels import Channels, Indices, as_bytes, wrap_int32
from .choices import Options
from .conv import Conv
from .conv2d_code import Kernel, scalars_of
from .conv2d_results import MASK_BYTES, table_start
from .conv2d_taps import Taps
from .conv2d_tile import candidate_tiles, choose_tile, costs
from .conv2d_work import Products, Tile, Work
from .epilogue import Epilogue
from .float32_sum import Float32Sum
from .instruction_set import InstructionSet
from .launch import Bytes, Code, Launch, Option
from .narrow import group_order
from .runs import narrowed

_UNITS = 64
"""At least, where there is work for them."""
_FEW_CHANNELS = 8
"""Of a group: they have narrower vectors, which are at least as fast."""
_UNIT_MACS = 1 << 18
"""At least, of a unit."""


def plan(spec: Conv, isa: InstructionSet) -> Launch | str:
    """Units are chunks of lines or tiles times groups of panels. All panels of a chunk follow each other: the
    first half of the units are the first half of the pixels, if there are several chunks, as in kernels
    before and after this one. So a thread mostly reads what it has written.
    """
    found = _plan(spec, isa)
    return found if isinstance(found, str) else found.launch()


def candidates(spec: Conv, isa: InstructionSet) -> list[Options]:
    """Tiles."""
    found = _plan(spec, isa)
    if isinstance(found, str):
        return []
    products = (("products", found.work.products),) if found.work.products else ()
    return [(*asdict(tile).items(), *products) for tile in candidate_tiles(found.work, found.isa)]


def plan_as(spec: Conv, isa: InstructionSet, options: Options) -> Launch | str:
    found = _plan(spec, isa)
    if isinstance(found, str):
        return found
    chosen = dict(options)
    tile = Tile(int(chosen["rows"]), int(chosen["vectors"]), bool(chosen["halved"]))
    return replace(found, chosen=tile, products=cast(Products, chosen.get("products", ""))).launch()


def _plan(spec: Conv, isa: InstructionSet) -> Plan | str:
    if (reason := _why_not(spec, isa)) is not None:
        return reason
    isa = isa_for(spec, isa)
    if spec.residual is None:
        return Plan(spec, isa)
    found = residuals.prove(spec.residual, spec.result_signed, isa)
    if isinstance(found, str):
        return found
    if spec.result_signed:
        spec = replace(spec, rescale=residuals.unsigned_rescale(spec.rescale), result_signed=False)
    return Plan(spec, isa, found)


def isa_for(spec: Conv, isa: InstructionSet) -> InstructionSet:
    """With vectors for the channels of a group."""
    few = spec.output.channels // spec.groups <= _FEW_CHANNELS
    return narrowed(isa, 4 * _FEW_CHANNELS) if few else isa


def emit(code: Code, isa: InstructionSet) -> str:
    if isa.architecture == "aarch64":
        return aarch64_conv2d_code.kernel_of(code)(code, isa).text()
    return Kernel(code, isa).text()


def _why_not(spec: Conv, isa: InstructionSet) -> str | None:
    if spec.kind == "depthwise_conv2d" and spec.input.channels > 1:
        return f"kind '{spec.kind}' is another family's"
    if spec.input_signed == isa.unsigned_inputs:
        return f"an input of {'signed' if spec.input_signed else 'unsigned'} bytes"
    if aarch64_conv2d.has_matrices(isa) and spec.output.batch * spec.output.height * spec.output.width == 1:
        return "a single pixel, where there are products of matrices"
    if spec.input.element_bytes != 1 or spec.output.element_bytes != 1:
        return "elements of more than a byte"
    return epilogues.why_not(spec.rescale)


@dataclass(frozen=True)
class Plan:
    """How one convolution is cut up and packed."""

    spec: Conv
    """With a residual its own results are u8."""
    isa: InstructionSet
    sum: Float32Sum | None = None
    """Of the residual."""
    chosen: Tile | None = None
    """Else the cost model chooses, and the products."""
    products: Products = ""

    def launch(self) -> Launch:
        spec, tile = self.spec, self.tile
        options = (
            ("rows", tile.rows),
            ("vectors", tile.vectors),
            ("halved", tile.halved),
            ("bytes", self.isa.vector_bytes),
            ("width", min(self.group_channels, self.panel_width)),
            ("dense", self.is_dense),
            ("gathered", self.taps.gathered),
            ("sums", self.taps.needs_sums),
            *(self.steps.options if self.steps else ()),
            *self.epilogue.options,
            ("signed", spec.result_signed),
            *self._residual_options(),
        )
        constants = (self.packed_filter(), self.parameters(), self.tables())
        code = Code("conv2d", self.isa.name, options)
        macs = spec.output.elements * self.taps.count
        return Launch(code, self.panel_groups * self.chunks, constants, self.scalars(), macs)

    def _residual_options(self) -> tuple[tuple[str, Option], ...]:
        if self.spec.residual is None or self.sum is None:
            return residuals.NO_OPTIONS
        return residuals.options(self.spec.residual, self.sum)

    @cached_property
    def taps(self) -> Taps:
        return self.steps.taps if self.steps else Taps(self.spec)

    @cached_property
    def steps(self) -> aarch64_conv2d.Steps | None:
        """On AArch64: of the chosen products, or the cheapest."""
        every = (self.products,) if self.products else aarch64_conv2d.products_of(self.isa)
        found = [aarch64_conv2d.Steps.of(self.spec, products) for products in every]
        if len(found) < 2:
            return found[0] if found else None
        return min(found, key=lambda steps: min(costs(self._work(steps.taps, steps), self.isa).values()))

    @cached_property
    def epilogue(self) -> Epilogue:
        return Epilogue.of(self.spec.rescale, Taps(self.spec).reach(), isa=self.isa)

    # Pixels.

    @cached_property
    def is_flat(self) -> bool:
        """Whether all pixels are one line."""
        return self._is_flat()

    def _is_flat(self) -> bool:
        spec = self.spec
        if spec.kernel != (1, 1) or spec.strides != (1, 1) or spec.padding != (0, 0):
            return False
        return all(
            image.row_pitch == spec.output.width * image.pixel_pitch
            and image.image_pitch == spec.output.height * image.row_pitch
            for image in (spec.input, spec.output, *([spec.residual.other] if spec.residual else []))
        )

    @property
    def lines(self) -> int:
        return 1 if self.is_flat else self.spec.output.batch * self.spec.output.height

    @property
    def width(self) -> int:
        """Pixels of a line."""
        output = self.spec.output
        return output.batch * output.height * output.width if self.is_flat else output.width

    @property
    def tiles(self) -> int:
        """Of a line."""
        return math.ceil(self.width / self.tile.rows)

    # Channels.

    @property
    def group_channels(self) -> int:
        return self.spec.output.channels // self.spec.groups

    @property
    def tile(self) -> Tile:
        return self.chosen or self._cheapest_tile

    @cached_property
    def _cheapest_tile(self) -> Tile:
        return choose_tile(self.work, self.isa)

    @property
    def work(self) -> Work:
        return self._work(self.taps, self.steps)

    def _work(self, taps: Taps, steps: aarch64_conv2d.Steps | None) -> Work:
        return Work(
            self.lines,
            self.width,
            self.group_channels,
            self.spec.groups,
            len(taps.steps[0]),
            self.epilogue.kind,
            products=steps.products if steps else "",
        )

    @property
    def panel_width(self) -> int:
        """Channels of a panel."""
        return self.tile.channels(self.isa.lanes)

    @property
    def panels(self) -> int:
        return self.spec.groups * self.group_panels

    @property
    def group_panels(self) -> int:
        return math.ceil(self.group_channels / self.panel_width)

    @cached_property
    def panel_channels(self) -> npt.NDArray[np.int64]:
        """The first channel of each panel."""
        last = max(0, self.group_channels - self.panel_width)
        within = np.minimum(np.arange(self.group_panels) * self.panel_width, last)
        return (np.arange(self.spec.groups)[:, None] * self.group_channels + within).reshape(-1)

    @cached_property
    def channels(self) -> Channels:
        count = self.spec.output.channels
        order = self.lane_order
        lanes = self.panel_channels[:, None] + order
        lanes = np.where(order < self.group_channels, lanes, count).reshape(-1)
        return Channels(count, 0, self.isa.lanes, lanes)

    @property
    def lane_order(self) -> Indices:
        """``[panel width]``: the channel of each lane, from a panel's first."""
        return group_order(self.tile.vectors, self.isa.lanes, self.tile.halved)

    @property
    def is_dense(self) -> bool:
        """Whether the results of four pixels make one vector that can be stored as it is."""
        images = [self.spec.output, *([self.spec.residual.other] if self.spec.residual else [])]
        whole = self.group_channels == self.panel_width and self.tile.vectors == 1
        return whole and all(image.pixel_pitch == self.panel_width for image in images)

    # Units.

    @property
    def filter_bytes(self) -> int:
        return self.panels * self.panel_bytes

    @property
    def panel_bytes(self) -> int:
        """Of the filter."""
        step_bytes = self.taps.step_bytes * (2 if self.isa.dot == "multiply-add-i16" else 1)
        return len(self.taps.steps[0]) * self.tile.vectors * self.isa.lanes * step_bytes

    @property
    def _wanted_units(self) -> int:
        macs = self.lines * self.tiles * self.tile.rows * self.panels * self.panel_width * self.taps.count
        return max(1, min(_UNITS, macs // _UNIT_MACS))

    @cached_property
    def panels_per_unit(self) -> int:
        """So that little is read again: every chunk of pixels reads the whole filter, and every group of
        panels the whole input.
        """

        def reads(count: int) -> tuple[bool, int]:
            groups = math.ceil(self.panels / count)
            chunks = min(math.ceil(self._wanted_units / groups), self.lines * self.tiles)
            few = groups * chunks < self._wanted_units
            return few, chunks * self.filter_bytes + groups * self.spec.input.elements

        groups = math.ceil(self.panels / min(range(self.panels, 0, -1), key=reads))
        return math.ceil(self.panels / groups)  # as even as can be

    @property
    def panel_groups(self) -> int:
        return math.ceil(self.panels / self.panels_per_unit)

    @cached_property
    def chunk(self) -> tuple[int, int]:
        """Lines and tiles of a line that a unit takes."""
        wanted = math.ceil(self._wanted_units / self.panel_groups)
        if self.lines > 1:
            return math.ceil(self.lines / min(wanted, self.lines)), self.tiles
        return 1, math.ceil(self.tiles / min(wanted, self.tiles))

    @property
    def chunks(self) -> int:
        lines, tiles = self.chunk
        return math.ceil(self.lines / lines) * math.ceil(self.tiles / tiles)

    def scalars(self) -> tuple[int, ...]:
        return scalars_of(self.spec.residual is not None).pack(self.numbers())

    def numbers(self) -> dict[str, int]:
        """The scalars by name."""
        spec, (lines, tiles) = self.spec, self.chunk
        image, result = spec.input, spec.output
        start = image.start - spec.padding[0] * image.row_pitch - spec.padding[1] * image.pixel_pitch
        residual = spec.residual
        has_residual = residual is not None
        values = {
            "panel_groups": self.panel_groups,
            "tile_chunks": math.ceil(self.tiles / tiles),
            "panels": self.panels,
            "panels_per_unit": self.panels_per_unit,
            "lines": self.lines,
            "lines_per_chunk": lines,
            "tiles": self.tiles,
            "tiles_per_chunk": tiles,
            "last_pixel": self.width - self.tile.rows,
            "lines_per_image": self.lines if self.is_flat else result.height,
            "input_start": start,
            "input_image": image.image_pitch,
            "input_line": spec.strides[0] * image.row_pitch,
            "input_pixel": spec.strides[1] * image.pixel_pitch,
            "output_start": result.start,
            "output_image": result.image_pitch,
            "output_line": result.row_pitch,
            "output_pixel": result.pixel_pitch,
            "runs": self.taps.plain_runs if self.steps else len(self.taps.runs),
            "again": self.steps.again if self.steps else 0,
            "blocks": self.steps.blocks if self.steps else 0,
            "gathers": len(self.taps.gather_places),
            "run_table": table_start(has_residual) + 16 * self.panels,
            "run_bytes": self.taps.run_bytes,
            "panel_bytes": self.panel_bytes,
        }
        if residual is not None:
            other = residual.other
            values |= {
                "other_start": other.start,
                "other_image": other.image_pitch,
                "other_line": other.row_pitch,
                "other_pixel": other.pixel_pitch,
            }
        return values

    # Constants.

    def packed_filter(self) -> Bytes:
        steps = self.channels.spread_rows(self.taps.steps)
        if self.steps:
            return self.steps.pack(steps, self.panels, self.tile.vectors)
        steps = steps.view(np.int32)
        shape = (self.panels, self.tile.vectors, self.isa.lanes, -1)
        packed = np.ascontiguousarray(steps.reshape(shape).transpose(0, 3, 1, 2)).view(np.uint8)
        if self.isa.dot == "multiply-add-i16":  # bytes 0 and 2, then 1 and 3, of all vectors, as i16
            halves = packed.view(np.int8).reshape(*packed.shape[:-1], self.isa.lanes, 2, 2)
            packed = np.ascontiguousarray(np.moveaxis(halves, -1, 2).astype(np.int16)).view(np.uint8)
        return packed.reshape(-1)

    def parameters(self) -> Bytes:
        """Per vector of channels: where sums start, zero point (if any), epilogue."""
        start = self.spec.bias.astype(np.int64) + self.epilogue.start
        columns = [as_bytes(self.channels.spread(wrap_int32(start), np.int32))]
        if self.taps.needs_sums:
            columns.append(as_bytes(self.channels.spread(self.taps.zero_points, np.int32)))
        columns.append(self.epilogue.pack(self.spec.rescale, self.channels))
        return np.concatenate(columns, 1).reshape(-1)

    def header(self) -> Bytes:
        return epilogues.header(self.spec.rescale)

    def tables(self) -> Bytes:
        """The header; which bytes of a run's last vector count; per panel where its input and its result
        start in a pixel; per run where it starts, and its steps.
        """
        vector = self.isa.vector_bytes
        mask = np.zeros(MASK_BYTES, np.uint8)
        mask[: (self.taps.run_bytes - 1) % vector + 1] = 0xFF
        group = np.arange(self.panels) // self.group_panels
        targets = self.panel_channels * self.spec.output.element_bytes
        starts = np.stack([group * self.taps.in_channels, targets], 1).astype(np.int64)
        parts: list[Any] = [self.header(), mask]
        if self.spec.residual is not None and self.sum is not None:
            parts.append(residuals.header(self.spec.residual, self.sum))
        parts += [starts, self.taps.runs, self.taps.gather_places]
        return np.concatenate([np.ascontiguousarray(part).view(np.uint8).reshape(-1) for part in parts])
