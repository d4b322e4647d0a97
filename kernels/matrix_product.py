"""Products of two 8-bit matrices that are both computed: the right one is packed at run time
(:mod:`.pack_matrix`) and multiplied as the filter of a :mod:`.conv2d` is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..dialect.fixed_point import INT32_MAX, INT32_MIN
from ..dialect.op_constants import Rescale
from . import conv2d_code, epilogue
from .channels import Channels, as_bytes
from .conv import Conv
from .conv2d import Plan
from .conv2d_results import MASK_BYTES
from .conv2d_tile import costs
from .epilogue import Epilogue
from .image import Image
from .instruction_set import InstructionSet
from .launch import Bytes, Code, Launch
from .pack_matrix import VECTORS, Layout
from .runs import narrowed


@dataclass(frozen=True)
class MatrixProduct:
    """``rescale(sum_k (lhs[b, m, k] - input_zero_point) * (rhs[b, k, n] - filter_zero_point))``.

    ``rhs`` is packed, with the same zero points, by :mod:`.pack_matrix`.
    """

    batch: int
    rows: int
    depth: int
    columns: int
    repeats_lhs: bool
    """Whether one left matrix serves all batches."""
    input_zero_point: int
    """Of u8 numbers."""
    filter_zero_point: int
    """Of i8 numbers."""
    result_signed: bool
    rescale: Rescale

    def epilogue(self, isa: InstructionSet) -> Epilogue:
        """For every number that the matrices may hold."""
        lhs = -self.input_zero_point, 255 - self.input_zero_point
        rhs = -128 - self.filter_zero_point, 127 - self.filter_zero_point
        ends = [self.depth * a * b for a in lhs for b in rhs]
        low, high = min(ends), max(ends)
        if low < INT32_MIN or high > INT32_MAX:
            low, high = INT32_MIN, INT32_MAX
        return Epilogue.of(self.rescale, (np.array([low]), np.array([high])), isa=isa)


def plan(spec: MatrixProduct, isa: InstructionSet) -> Launch | str:
    """Units are those of :func:`.conv2d.plan`, with a panel per batch and columns."""
    layout = Layout.of(spec.columns, isa)
    if isinstance(layout, str):
        return layout
    if reason := epilogue.why_not(spec.rescale):
        return reason
    own = narrowed(isa, layout.width)
    shape = (spec.columns, 1, 1, spec.depth)
    conv = Conv(
        kind="conv2d",
        input=Image(1, 1, spec.rows, spec.depth),
        output=Image(1, 1, spec.rows, spec.columns),
        kernel=(1, 1),
        strides=(1, 1),
        dilations=(1, 1),
        padding=(0, 0),
        groups=1,
        input_signed=False,
        filter_signed=True,
        filter_zero_points=(0,),
        result_signed=spec.result_signed,
        rescale=spec.rescale,
        filter=np.zeros(shape, np.int8),
        bias=np.zeros(spec.columns, np.int32),
    )
    found = _Plan(conv, own, product=spec)
    usual = costs(found.work, own)
    tiles = [tile for tile in usual if tile.vectors == VECTORS and not tile.halved]
    tile = min(tiles, key=lambda tile: (usual[tile], -tile.sums))
    return replace(found, chosen=tile).launch()


def emit(code: Code, isa: InstructionSet) -> str:
    return _Kernel(code, isa).text()


@dataclass(frozen=True)
class _Plan(Plan):
    product: MatrixProduct | None = None

    @property
    def of(self) -> MatrixProduct:
        assert self.product is not None
        return self.product

    def launch(self) -> Launch:
        options = (
            ("rows", self.tile.rows),
            ("vectors", VECTORS),
            ("halved", False),
            ("bytes", self.isa.vector_bytes),
            ("width", self.isa.vector_bytes),
            ("dense", False),
            ("gathered", 0),
            ("sums", self.of.filter_zero_point != 0),
            *self.epilogue.options,
            ("signed", self.of.result_signed),
            *self._residual_options(),
        )
        code = Code("matrix_product", self.isa.name, options)
        macs = self.of.batch * self.of.rows * self.of.columns * self.of.depth
        units = self.panel_groups * self.chunks
        return Launch(code, units, (self.parameters(), self.tables()), self.scalars(), macs)

    @cached_property
    def epilogue(self) -> Epilogue:
        return self.of.epilogue(self.isa)

    @property
    def panels(self) -> int:
        return self.of.batch * self.group_panels

    @property
    def group_panels(self) -> int:
        return -(-self.of.columns // self.isa.vector_bytes)

    @property
    def panel_bytes(self) -> int:
        return VECTORS * self.isa.vector_bytes * (1 + len(self.taps.steps[0]))

    def parameters(self) -> Bytes:
        """As of a panel of :mod:`.conv2d`; sums start so much higher than the packed matrix says."""
        channels = Channels(VECTORS * self.isa.lanes, VECTORS, self.isa.lanes)
        columns = [as_bytes(channels.spread(self.epilogue.start, np.int32))]
        if self.of.filter_zero_point:
            columns.append(as_bytes(channels.spread(self.of.filter_zero_point, np.int32)))
        columns.append(self.epilogue.pack(self.of.rescale, channels))
        return np.concatenate(columns, 1).reshape(-1)

    def tables(self) -> Bytes:
        width, product = self.isa.vector_bytes, self.of
        mask = np.zeros(MASK_BYTES, np.uint8)
        mask[: (product.depth - 1) % width + 1] = 0xFF
        batch, panel = np.divmod(np.arange(self.panels), self.group_panels)
        sources = (0 if product.repeats_lhs else batch) * product.rows * product.depth
        first = np.minimum(panel * width, product.columns - width)
        targets = batch * product.rows * product.columns + first
        starts = np.stack([np.broadcast_to(sources, targets.shape), targets], 1).astype(np.int64)
        parts: list[Any] = [self.header(), mask, starts, self.taps.runs]
        return np.concatenate([np.ascontiguousarray(part).view(np.uint8).reshape(-1) for part in parts])


class _Kernel(conv2d_code.Kernel):
    """Every panel of the packed matrix begins with where its sums start; other parameters are shared."""

    start_at = ""

    def _parameters_of(self, panel: str) -> str:
        return self.parameters

    def _tile(self, first: Mapping[str, str], filter: str, parameters: str) -> None:
        self.start_at = filter
        super()._tile(first, self.w.at(filter, self.vectors * self.w.isa.vector_bytes), parameters)

    def _start(self, vector: int, place: str) -> str:
        w = self.w
        packed = super()._start(vector, w.at(self.start_at, vector * w.isa.vector_bytes))
        return w.binary("addi", super()._start(vector, place), packed, w.i32)
