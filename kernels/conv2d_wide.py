"""Convolutions and matrix products whose results are four bytes each: the i32 sums, or float32 of inputs that
were quantized at run time. They are cut and packed as those of :mod:`.conv2d`.

A filter in blocks has the parameters of a block before its weights; its sums are multiplied by their scales
and added up in float32, block by block. The code is in :mod:`.conv2d_wide_code`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from . import aarch64_conv2d
from .channels import Indices, as_bytes, wrap_int32
from .conv import Reals, WideConv
from .conv2d import Plan, isa_for
from .conv2d_code import scalars_of
from .conv2d_taps import Taps
from .conv2d_wide_code import After, kernel, part_bytes
from .conv2d_work import Work
from .epilogue import HEADER_BYTES
from .instruction_set import InstructionSet
from .launch import Bytes, Code, Launch, Option
from .quantize_rows import PARAMETER_BYTES

_FEW_PIXELS = 2
_MOST_NIBBLES = 1 << 15
"""Taps of a block whose 16-fold sums fit into 32 bits."""


def plan(spec: WideConv, isa: InstructionSet) -> Launch | str:
    """Units are those of :func:`.conv2d.plan`."""
    if spec.kind == "depthwise_conv2d":
        return "depthwise, with results of four bytes"
    if spec.input_signed == isa.unsigned_inputs:
        return "an input of the other sign than bytes are multiplied in"
    if aarch64_conv2d.has_matrices(isa) and spec.output.batch * spec.output.height * spec.output.width == 1:
        return "a single pixel, where there are products of matrices"
    if (spec.input.element_bytes, spec.output.element_bytes) != (1, 4):
        return "elements of other sizes than one and four bytes"
    found = _Plan(spec, isa_for(spec, isa))
    if isinstance(spec.ending, Reals) and any(spec.filter_zero_points):
        return "weights with a zero point, in float32"
    if found.after.blocked and (len(found.taps.runs) > 1 or found.block_taps % part_bytes(isa, False)):
        return "blocks that are no whole steps of one run"
    return found.launch()


def emit(code: Code, isa: InstructionSet) -> str:
    return kernel(code, isa).text()


@dataclass(frozen=True)
class _Plan(Plan):
    spec: WideConv

    def launch(self) -> Launch:
        tile = self.tile
        options: tuple[tuple[str, Option], ...] = (
            ("rows", tile.rows),
            ("vectors", tile.vectors),
            ("halved", False),
            ("bytes", self.isa.vector_bytes),
            ("width", min(self.group_channels, self.panel_width)),
            ("dense", False),
            ("gathered", self.taps.gathered),
            ("sums", self.taps.needs_sums),
            ("residual", ""),
            *(self.steps.options if self.steps else ()),
            *self.after.options,
        )
        constants = (self.packed_filter(), self.parameters(), self.tables())
        code = Code("conv2d_wide", self.isa.name, options)
        macs = self.spec.output.elements * self.taps.count
        return Launch(code, self.panel_groups * self.chunks, constants, self.scalars(), macs)

    @property
    def reals(self) -> Reals | None:
        ending = self.spec.ending
        return ending if isinstance(ending, Reals) else None

    @property
    def after(self) -> After:
        reals = self.reals
        if reals is None:
            return After()
        return After(
            True, reals.asymmetric, reals.scales_first, reals.bias is not None, reals.clamp is not None,
            reals.is_blocked, self.has_nibbles,
        )  # fmt: skip

    @property
    def block_count(self) -> int:
        """Of a filter in blocks; else one."""
        return self.reals.scales.shape[0] if self.reals and self.reals.is_blocked else 1

    @cached_property
    def has_nibbles(self) -> bool:
        """Whether weights of four bits stay so: where they are read once or twice, memory takes the time."""
        if self.reals is None or self.isa.dot != "dot-u8s8":
            return False  # before the taps, whose choice asks on AArch64
        output, weights = self.spec.output, self.taps.filter
        return (
            output.batch * output.height * output.width <= _FEW_PIXELS
            and len(self.taps.runs) == 1
            and self.block_taps % 8 == 0
            and self.block_taps <= _MOST_NIBBLES
            and -8 <= int(weights.min()) <= int(weights.max()) < 8
        )

    @property
    def block_taps(self) -> int:
        return self.taps.count // self.block_count

    # How it is cut.

    def _work(self, taps: Taps, steps: aarch64_conv2d.Steps | None) -> Work:
        kind = "reals" if self.reals else "sums"
        return Work(
            self.lines,
            self.width,
            self.group_channels,
            self.spec.groups,
            len(taps.steps[0]),
            kind,
            halves=False,
            registers_per_sum=2 if self.reals and self.reals.is_blocked else 1,
            products=steps.products if steps else "",
        )

    @property
    def lane_order(self) -> Indices:
        return np.arange(self.panel_width)

    @cached_property
    def is_flat(self) -> bool:
        """Pixels of one line have one row's parameters, or one each."""
        one_each = self.reals is None or self.reals.per_pixel or self.spec.output.batch == 1
        return one_each and self._is_flat()

    @property
    def is_dense(self) -> bool:
        return False

    @property
    def panel_bytes(self) -> int:
        blocks = self.block_count * self.after.block_bytes(self.isa.lanes) * self.tile.vectors
        return super().panel_bytes // (2 if self.has_nibbles else 1) + blocks

    # What is packed.

    def scalars(self) -> tuple[int, ...]:
        values = self.numbers()
        if (reals := self.reals) is None:
            return scalars_of(False).pack(values)
        output = self.spec.output
        pixel = PARAMETER_BYTES if reals.per_pixel else 0
        line = 0 if self.is_flat else pixel * output.width
        image = line * output.height if pixel else PARAMETER_BYTES
        values |= {
            "rows_start": reals.rows_start,
            "rows_image": image,
            "rows_line": line,
            "rows_pixel": pixel,
            "parts": self.block_count,
            "part_steps": self.block_taps // part_bytes(self.isa, self.has_nibbles),
        }
        return self.after.scalars.pack(values)

    def packed_filter(self) -> Bytes:
        packed = super().packed_filter()
        if self.has_nibbles:
            steps = packed.reshape(self.panels, len(self.taps.steps[0]) // 2, 2, -1)
            packed = ((steps[:, :, 0] & 15) | (steps[:, :, 1] << 4)).astype(np.uint8).reshape(-1)
        if not self.after.blocked:
            return packed
        blocks = packed.reshape(self.panels, self.block_count, -1)
        parameters = np.stack([self._block_parameters(block) for block in range(self.block_count)], 1)
        return np.concatenate([parameters, blocks], 2).reshape(-1)

    def _block_parameters(self, block: int) -> npt.NDArray[np.uint8]:
        """``[panels, bytes]``: per vector the start of sums, or the filter's sum; the scale."""
        assert self.reals is not None
        taps = self.taps.filter.reshape(self.spec.output.channels, self.block_count, -1)[:, block]
        start = self._factor * taps.sum(1, dtype=np.int64)
        if not self.reals.asymmetric:
            start = -start * self._zero
        columns = [
            self.channels.spread(wrap_int32(start), np.int32),
            self.channels.spread(self.reals.scales[block], np.float32).view(np.int32),
        ]
        return np.stack(columns, 1).reshape(self.panels, -1).view(np.uint8)

    @property
    def _factor(self) -> int:
        """Of sums, before they are divided by it."""
        return 16 if self.has_nibbles else 1

    @property
    def _zero(self) -> int:
        """The stored number of zero."""
        return 0 if self.spec.input_signed else 128

    def parameters(self) -> Bytes:
        """Per vector of channels: where sums start, zero point (if any); with float32 results the filter's
        sum (if needed), the scale, the bias (if any).
        """
        reals, spread = self.reals, self.channels.spread
        columns: list[npt.NDArray[Any]] = [spread(self._factor * self.spec.bias, np.int32)]
        if self.taps.needs_sums:
            columns.append(spread(self.taps.zero_points, np.int32))
        if reals is not None and not reals.is_blocked:
            if reals.asymmetric:
                columns.append(spread(wrap_int32(self.taps.filter.sum(1, dtype=np.int64)), np.int32))
            columns.append(spread(reals.scales[0], np.float32))
        if reals is not None and reals.bias is not None:
            columns.append(spread(reals.bias, np.float32))
        return np.concatenate([as_bytes(column) for column in columns], 1).reshape(-1)

    def header(self) -> Bytes:
        """Lines of low and high in float32."""
        numbers = np.zeros(HEADER_BYTES // 4, np.float32)
        if self.reals is not None and self.reals.clamp is not None:
            numbers[:16], numbers[16:32] = self.reals.clamp
        return numbers.view(np.uint8)
