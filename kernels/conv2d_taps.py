"""What a convolution sums up: its filter as steps of bytes, in the order in which a kernel reads the input.

What lies side by side in the input is a *run*: a row of the kernel, or one tap if the kernel is dilated or
the input a slice. A step is a quad of bytes, or two. Where a byte or two are left of every run, quads are
*gathered* from several runs; else a run's last step may read some bytes too far, times zeros.

Weights are i8 less their zero point where that fits. What a few of them lack is in steps of their own at the
end, which read the same input again: quantized networks whose filters have zero points have one or two such
weights in a layer, at the end of the range. Otherwise the sum of each pixel's input is needed, to subtract it
times the zero point.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..dialect.fixed_point import Ints
from . import epilogue
from .conv import Conv

_CHEAP_CHANNELS = 16
"""To multiply a quad with so many is as cheap as to gather one."""
_FEW = 2
"""More quads than before are few if they are so many and a quarter."""


@dataclass(frozen=True)
class Taps:
    """The taps of one convolution."""

    spec: Conv
    step_bytes: int = 4
    """Bytes of a step."""
    gathers: bool = True
    """Whether what is left of runs may be gathered, into steps of four bytes."""

    @cached_property
    def filter(self) -> npt.NDArray[np.int8]:
        """``[out_channels, taps]``, with 128 less where it is stored unsigned."""
        stored = np.ascontiguousarray(self.spec.filter).reshape(self.spec.output.channels, -1)
        if not self.spec.filter_signed:
            stored = stored.view(np.uint8) ^ np.uint8(128)
        signed: npt.NDArray[np.int8] = stored.view(np.int8)
        return signed

    @cached_property
    def zero_points(self) -> npt.NDArray[np.int16]:
        """Of :attr:`filter`, one per channel."""
        shift = 0 if self.spec.filter_signed else 128
        points = np.asarray(self.spec.filter_zero_points, np.int16) - np.int16(shift)
        return np.broadcast_to(points, (self.spec.output.channels,))

    def reach(self) -> tuple[Ints, Ints]:
        """The accumulators that can occur."""
        inputs = (-128, 127) if self.spec.input_signed else (0, 255)
        return epilogue.reach(self.filter, self.zero_points, self.spec.bias, inputs)

    @property
    def count(self) -> int:
        return int(self.filter.shape[1])

    @property
    def in_channels(self) -> int:
        """Of a group."""
        return self.spec.input.channels // self.spec.groups

    @property
    def is_row_run(self) -> bool:
        """Whether a row of the kernel lies side by side in the input."""
        return self.spec.dilations[1] == 1 and self.in_channels == self.spec.input.pixel_pitch

    @property
    def run_bytes(self) -> int:
        return self.in_channels * (self.spec.kernel[1] if self.is_row_run else 1)

    @cached_property
    def _starts(self) -> Ints:
        """Where the runs start in the input, from a pixel's first tap."""
        spec, across = self.spec, 1 if self.is_row_run else self.spec.kernel[1]
        down = np.arange(spec.kernel[0]) * spec.dilations[0] * spec.input.row_pitch
        right = np.arange(across) * spec.dilations[1] * spec.input.pixel_pitch
        starts: Ints = (down[:, None] + right).reshape(-1)
        return starts

    @property
    def gathered(self) -> int:
        """The runs that a gathered quad is of; 0 if there are none."""
        channels = self.spec.output.channels // self.spec.groups
        pays = channels > _CHEAP_CHANNELS and self.run_bytes > 4 and len(self._starts) > 1
        return {1: 4, 2: 2}.get(self.run_bytes % 4, 0) if pays and self.gathers else 0

    @property
    def run_steps(self) -> int:
        """Steps of a run, the last one perhaps not full."""
        return self.run_bytes // 4 if self.gathered else -(-self.run_bytes // self.step_bytes)

    @cached_property
    def _split(self) -> tuple[npt.NDArray[np.int8], Ints, npt.NDArray[np.int8]] | None:
        """The filter less its zero points, saturated; the steps where that lacks something, and what.

        None if those are not few.
        """
        if not self.zero_points.any():
            return self.filter, np.zeros(0, np.int64), self._steps(self.filter)[:, :0]
        centred = self.filter - self.zero_points[:, None]
        fitting = np.clip(centred, -128, 127)
        rest = centred - fitting
        if np.abs(rest).max() > 127:
            return None
        steps = self._steps(rest.astype(np.int8))
        where = np.flatnonzero(steps.any((0, 2)))
        if len(where) > _FEW + steps.shape[1] // 4:
            return None
        return fitting.astype(np.int8), where, steps[:, where]

    def _steps(self, weights: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
        """``[out_channels, steps, bytes]``."""
        count, size = len(weights), self.step_bytes
        runs = weights.reshape(count, -1, self.run_bytes)
        if not self.gathered:
            return np.pad(runs, ((0, 0), (0, 0), (0, -self.run_bytes % size))).reshape(count, -1, size)
        whole = self.run_bytes // size * size
        left = np.pad(runs[:, :, whole:], ((0, 0), (0, -runs.shape[1] % self.gathered), (0, 0)))
        parts = (runs[:, :, :whole], left)
        return np.concatenate([part.reshape(count, -1, size) for part in parts], 1)

    @property
    def needs_sums(self) -> bool:
        """Whether :attr:`zero_points` are still to be subtracted from :attr:`steps`."""
        return self._split is None

    @cached_property
    def steps(self) -> npt.NDArray[np.int8]:
        """``[out_channels, steps, bytes]`` in the order of :attr:`runs`, then of :attr:`gather_places`."""
        if self._split is None:
            return self._steps(self.filter)
        fitting, again, rest = self._split
        steps, plain = self._steps(fitting), len(self._starts) * self.run_steps
        if not len(again):
            return steps
        from_runs = again < plain
        return np.concatenate(
            [steps[:, :plain], rest[:, from_runs], steps[:, plain:], rest[:, ~from_runs]], 1
        )

    @property
    def _again(self) -> Ints:
        """The steps that are read twice."""
        return np.zeros(0, np.int64) if self._split is None else self._split[1]

    @property
    def plain_runs(self) -> int:
        """The :attr:`runs` that are no step which is read twice; all of :attr:`run_steps`."""
        return len(self._starts)

    @cached_property
    def runs(self) -> Ints:
        """``[runs, 2]``: where a run starts in the input, from a pixel's first tap, and its steps."""
        runs = np.stack([self._starts, np.full_like(self._starts, self.run_steps)], 1)
        again = self._again[self._again < len(self._starts) * self.run_steps]
        run, step = np.divmod(again, self.run_steps)
        starts = self._starts[run] + self.step_bytes * step
        return np.concatenate([runs, np.stack([starts, np.ones_like(run)], 1)])

    @cached_property
    def gather_places(self) -> Ints:
        """``[steps, gathered]``: where the parts of each gathered step are in the input."""
        if not self.gathered:
            return np.zeros((0, 0), np.int64)
        count = -(-len(self._starts) // self.gathered)
        run = np.minimum(np.arange(count * self.gathered), len(self._starts) - 1)
        places = (self._starts[run] + self.run_bytes // 4 * 4).reshape(count, self.gathered)
        plain = len(self._starts) * self.run_steps
        return np.concatenate([places, places[self._again[self._again >= plain] - plain]])
