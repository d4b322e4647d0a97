"""Convolutions and matrix products as tiles of output pixels times vectors of output channels.

One tile keeps ``rows`` pixels x ``vectors`` vectors of i32 accumulators in registers. In every step four
bytes of each
pixel are broadcast and multiplied with ``vectors`` vectors of the filter. The filter is packed in the order
it is read,

    ``[panels][runs][steps][vectors][16 channels][4 bytes]``

where a *run* is what lies side by side in the input: a row of the kernel, or one tap if the kernel is
dilated. A run whose
length is no multiple of four reads up to three bytes too far, times zeros. Pixels that do not fill a tile
are computed
twice: the last tile of a row starts earlier.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..spec import ConvSpec
from . import epilogue
from .channels import Channels, as_bytes, wrap_int32
from .epilogue import Epilogue
from .instructions import dot_bytes
from .rows import row_offset
from .writer import I32, LANES, Writer

_MOST_VECTORS = 4
_REGISTERS = 31  # one stays free for the broadcast pixel
_MOST_ROWS = 14
_QUADS = "vector<64xi8>"
_FLIP = -0x7F7F7F80
"""0x80808080: flips the sign bit of four bytes."""


def supports(spec: ConvSpec) -> str | None:
    """None if there is a kernel for ``spec``, else the reason why not."""
    if spec.kind == "depthwise_conv2d" and spec.in_channels > 1:
        return f"kind '{spec.kind}' is another family's"
    if spec.result_bits != 8:
        return f"{spec.result_bits}-bit results are not stored by this family"
    if spec.out_channels < LANES // 2:
        return f"{spec.out_channels} output channels would leave most of a vector idle"
    if _Plan(spec).run_bytes % 4 and not spec.input_slack:
        return "the last step would read past the end of a buffer that is not ours"
    return epilogue.why_not(spec.rescale)


@dataclass(frozen=True)
class _Plan:
    """How a convolution is cut up."""

    spec: ConvSpec

    @property
    def is_pointwise(self) -> bool:
        """Whether all pixels form one row: a 1x1 kernel that visits every pixel."""
        s = self.spec
        return (
            s.kernel_height == s.kernel_width == 1
            and s.strides == (1, 1)
            and (s.in_height, s.in_width) == (s.out_height, s.out_width)
        )

    @property
    def batch(self) -> int:
        return 1 if self.is_pointwise else self.spec.batch

    @property
    def out_height(self) -> int:
        return 1 if self.is_pointwise else self.spec.out_height

    @property
    def out_width(self) -> int:
        s = self.spec
        return s.batch * s.out_height * s.out_width if self.is_pointwise else s.out_width

    @property
    def is_row_run(self) -> bool:
        return self.spec.dilations[1] == 1

    @property
    def runs(self) -> int:
        s = self.spec
        return s.kernel_height if self.is_row_run else s.kernel_height * s.kernel_width

    @property
    def run_bytes(self) -> int:
        s = self.spec
        return s.in_channels * (s.kernel_width if self.is_row_run else 1)

    @property
    def steps(self) -> int:
        """Groups of four bytes in a run, the last one perhaps not full."""
        return -(-self.run_bytes // 4)

    @property
    def panels(self) -> int:
        return -(-self._all_vectors // _MOST_VECTORS)

    @property
    def vectors(self) -> int:
        """Vectors per panel."""
        return -(-self._all_vectors // self.panels)

    @property
    def _all_vectors(self) -> int:
        return -(-self.spec.out_channels // LANES)

    @property
    def centred_zero_points(self) -> tuple[int, ...]:
        """The filter's zero points in its signed form."""
        shift = 0 if self.spec.filter_signed else 128
        return tuple(z - shift for z in self.spec.filter_zero_points)

    @property
    def needs_sums(self) -> bool:
        """Whether the sum of each pixel's input is needed, to subtract it times the zero point."""
        return any(self.centred_zero_points)

    @property
    def rows(self) -> int:
        """Pixels per tile: as many as registers allow, unless fewer waste less at a row's end."""
        extra = int(self.needs_sums)
        most = (_REGISTERS - self.vectors - extra) // (self.vectors + extra)
        most = min(most, _MOST_ROWS, self.out_width)

        def cost(rows: int) -> float:
            step = rows * (self.vectors + extra) + self.vectors + 2.0  # dots, loads, and what a loop costs
            return math.ceil(self.out_width / rows) * step

        return min(range(1, most + 1), key=cost)

    @property
    def tiles(self) -> int:
        return math.ceil(self.out_width / self.rows)

    @property
    def step_bytes(self) -> int:
        return self.vectors * LANES * 4

    @property
    def packed_run_bytes(self) -> int:
        return self.steps * self.step_bytes

    @property
    def panel_bytes(self) -> int:
        return self.runs * self.packed_run_bytes

    @property
    def channels(self) -> Channels:
        return Channels(self.spec.out_channels, self.panels * self.vectors)


def pack(
    spec: ConvSpec, filter: npt.NDArray[Any], bias: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """The filter in the kernel's order; and per vector of channels bias, zero point (if any) and epilogue."""
    plan, count = _Plan(spec), spec.out_channels
    rows = np.asarray(filter)
    if spec.kind == "depthwise_conv2d":  # of one channel: an ordinary convolution whose outputs come last
        rows = rows.reshape(-1, count).T
    raw = np.ascontiguousarray(rows).reshape(count, plan.runs, plan.run_bytes)
    stored = raw.view(np.int8 if spec.filter_signed else np.uint8).astype(np.int64)
    signed = stored - (0 if spec.filter_signed else 128)
    zero_points = np.broadcast_to(np.asarray(plan.centred_zero_points, np.int64), (count,))
    start = np.broadcast_to(np.asarray(bias, np.int64), (count,))
    if spec.input_signed:  # the kernel reads x + 128
        taps = plan.runs * plan.run_bytes
        start = start - 128 * (signed.sum((1, 2)) - taps * zero_points)
    channels = plan.channels
    full = np.zeros((count, plan.runs, plan.steps * 4), np.int8)
    full[:, :, : plan.run_bytes] = signed
    shape = (plan.panels, plan.vectors, LANES, plan.runs, plan.steps, 4)
    packed = channels.spread_rows(full).reshape(shape).transpose(0, 3, 4, 1, 2, 5)
    columns = [as_bytes(channels.spread(wrap_int32(start), np.int32))]
    if plan.needs_sums:
        columns.append(as_bytes(channels.spread(zero_points, np.int32)))
    columns.append(Epilogue(spec.rescale).pack(channels))
    return as_bytes(packed.reshape(1, -1)).reshape(-1), np.concatenate(columns, 1).reshape(-1)


def emit(name: str, spec: ConvSpec) -> str:
    """The kernel's text: panels of channels, then rows of the result, then tiles, then the sum."""
    return _Kernel(spec).write(name)


class _Kernel:
    def __init__(self, spec: ConvSpec) -> None:
        self.spec = spec
        self.plan = _Plan(spec)
        self.epilogue = Epilogue(spec.rescale)
        self.w = Writer()
        self.pixel_bytes = spec.strides[1] * spec.in_channels
        self.pitch_bytes = spec.in_width * spec.in_channels
        columns = 2 if self.plan.needs_sums else 1  # bias, zero point
        self.vector_parameters = columns * LANES * 4 + self.epilogue.parameter_bytes

    def write(self, name: str) -> str:
        self.w.loop(self.plan.panels, self._panel)
        return self.w.text(name)

    def _panel(self, panel: str) -> Sequence[str]:
        w, plan = self.w, self.plan
        filter = w.at("%w", w.times(panel, plan.panel_bytes))
        parameters = w.at("%p", w.times(panel, plan.vectors * self.vector_parameters))
        starts = [plan.channels.start(w, panel, plan.vectors, j) for j in range(plan.vectors)]

        def row(index: str) -> Sequence[str]:
            source = w.at("%x", row_offset(w, self.spec, index, plan.batch, plan.out_height))
            target = w.at("%out", w.times(index, plan.out_width * self.spec.out_channels))

            def tile(number: str) -> Sequence[str]:
                pixel = w.at_most(w.times(number, plan.rows), plan.out_width - plan.rows)
                self._tile(
                    w.at(source, w.times(pixel, self.pixel_bytes)),
                    w.at(target, w.times(pixel, self.spec.out_channels)),
                    filter,
                    parameters,
                    starts,
                )
                return []

            w.loop(plan.tiles, tile)
            return []

        w.loop(plan.batch * plan.out_height, row)
        return []

    def _tile(self, source: str, target: str, filter: str, parameters: str, starts: Sequence[str]) -> None:
        w, plan = self.w, self.plan
        biases = [
            # Volatile: else LLVM loads them once, before all tiles, and keeps them on the stack.
            w.load(w.at(parameters, j * self.vector_parameters), I32, volatile=True)
            for j in range(plan.vectors)
        ]
        sums = [w.splat(0, I32)] * plan.rows if plan.needs_sums else []
        total = w.loop(
            plan.runs,
            lambda run, *carried: self._run(run, source, filter, carried),
            [*(biases * plan.rows), *sums],
        )
        # By columns, so that the parameters of one vector of channels are loaded once for all pixels.
        for j, start in enumerate(starts):
            at = w.at(parameters, j * self.vector_parameters + LANES * 4)
            zero_point = ""
            if plan.needs_sums:
                zero_point = w.load(at, I32)
                at = w.at(at, LANES * 4)
            loaded = self.epilogue.load(w, at)
            column = w.at(target, start)
            for i in range(plan.rows):
                value = total[i * plan.vectors + j]
                if plan.needs_sums:
                    offset = w.binary("muli", total[plan.rows * plan.vectors + i], zero_point, I32)
                    value = w.binary("subi", value, offset, I32)
                stored = self.epilogue.apply(w, value, loaded)
                w.store_bytes(stored, w.at(column, i * self.spec.out_channels), self.spec.out_channels)

    def _run(self, run: str, source: str, filter: str, carried: Sequence[str]) -> Sequence[str]:
        w, plan = self.w, self.plan
        pixels = w.at(source, self._run_offset(run))
        weights = w.at(filter, w.times(run, plan.packed_run_bytes))
        full, rest = divmod(plan.run_bytes, 4)

        def step(index: str, *accumulators: str) -> Sequence[str]:
            at, weights_at = w.at(pixels, w.times(index, 4)), w.at(weights, w.times(index, plan.step_bytes))
            return self._step(at, weights_at, accumulators, 4)

        if full:
            carried = w.loop(full, step, carried)
        if rest:
            carried = self._step(w.at(pixels, full * 4), w.at(weights, full * plan.step_bytes), carried, rest)
        return carried

    def _run_offset(self, run: str) -> str:
        w, spec = self.w, self.spec
        down = spec.dilations[0] * self.pitch_bytes
        if self.plan.is_row_run:
            return w.times(run, down)
        width = w.index(spec.kernel_width)
        i, j = w.binary("divsi", run, width, "i64"), w.binary("remsi", run, width, "i64")
        return w.plus(w.times(i, down), w.times(j, spec.dilations[1] * spec.in_channels))

    def _step(self, pixels: str, weights: str, carried: Sequence[str], valid: int) -> list[str]:
        """Four bytes of every pixel, of which ``valid`` count, times all vectors of the panel."""
        w, plan = self.w, self.plan
        result = list(carried)
        vectors = [w.load(w.at(weights, j * LANES * 4), _QUADS, 64) for j in range(plan.vectors)]
        for i in range(plan.rows):
            quad = w.load(w.at(pixels, i * self.pixel_bytes), "i32")
            if self.spec.input_signed:
                quad = w.binary("xori", quad, w.constant(f"{_FLIP} : i32"), "i32")
            spread = w.bitcast(w.op(f"vector.broadcast {quad} : i32 to {I32}"), I32, _QUADS)
            for j, vector in enumerate(vectors):
                result[i * plan.vectors + j] = dot_bytes(w, result[i * plan.vectors + j], spread, vector)
            if plan.needs_sums:
                ones = ", ".join(str(int(byte % 4 < valid)) for byte in range(LANES * 4))
                at = plan.rows * plan.vectors + i
                result[at] = dot_bytes(w, result[at], spread, w.constant(f"dense<[{ones}]> : {_QUADS}"))
        return result
