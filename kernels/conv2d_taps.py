"""What a convolution sums up: its filter as quads of bytes, in the order in which a kernel reads the input.

What lies side by side in the input is a *run*: a row of the kernel, or one tap if the kernel is dilated or
the input a slice. Where a byte or two are left of every run, quads are *gathered* from several runs; else a
run's last quad may read up to three bytes too far, times zeros.

Weights are i8 less their zero point where that fits. What a few of them lack is in quads of their own at the
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
        return epilogue.reach(self.filter, self.zero_points, self.spec.bias)

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
        return {1: 4, 2: 2}.get(self.run_bytes % 4, 0) if pays else 0

    @property
    def run_steps(self) -> int:
        """Quads of a run, the last one perhaps not full."""
        return self.run_bytes // 4 if self.gathered else -(-self.run_bytes // 4)

    @cached_property
    def _split(self) -> tuple[npt.NDArray[np.int8], Ints, npt.NDArray[np.int32]] | None:
        """The filter less its zero points, saturated; the quads where that lacks something, and what.

        None if those are not few.
        """
        if not self.zero_points.any():
            return self.filter, np.zeros(0, np.int64), np.zeros((len(self.filter), 0), np.int32)
        centred = self.filter - self.zero_points[:, None]
        fitting = np.clip(centred, -128, 127)
        rest = centred - fitting
        if np.abs(rest).max() > 127:
            return None
        quads = self._quads(rest.astype(np.int8))
        where = np.flatnonzero(quads.any(0))
        if len(where) > _FEW + quads.shape[1] // 4:
            return None
        return fitting.astype(np.int8), where, quads[:, where]

    def _quads(self, weights: npt.NDArray[np.int8]) -> npt.NDArray[np.int32]:
        """``[out_channels, quads]``."""
        count = len(weights)
        runs = weights.reshape(count, -1, self.run_bytes)
        if not self.gathered:
            return _as_quads(np.pad(runs, ((0, 0), (0, 0), (0, -self.run_bytes % 4))))
        whole = self.run_bytes // 4 * 4
        left = np.pad(runs[:, :, whole:], ((0, 0), (0, -runs.shape[1] % self.gathered), (0, 0)))
        return np.concatenate([_as_quads(runs[:, :, :whole]), _as_quads(left)], 1)

    @property
    def needs_sums(self) -> bool:
        """Whether :attr:`zero_points` are still to be subtracted from :attr:`quads`."""
        return self._split is None

    @cached_property
    def quads(self) -> npt.NDArray[np.int32]:
        """``[out_channels, quads]`` in the order of :attr:`runs` and, after them, :attr:`gathers`."""
        if self._split is None:
            return self._quads(self.filter)
        fitting, again, rest = self._split
        quads, plain = self._quads(fitting), len(self._starts) * self.run_steps
        if not len(again):
            return quads
        from_runs = again < plain
        return np.concatenate(
            [quads[:, :plain], rest[:, from_runs], quads[:, plain:], rest[:, ~from_runs]], 1
        )

    @property
    def _again(self) -> Ints:
        """The quads that are read twice."""
        return np.zeros(0, np.int64) if self._split is None else self._split[1]

    @cached_property
    def runs(self) -> Ints:
        """``[runs, 2]``: where a run starts in the input, from a pixel's first tap, and its quads."""
        runs = np.stack([self._starts, np.full_like(self._starts, self.run_steps)], 1)
        again = self._again[self._again < len(self._starts) * self.run_steps]
        run, step = np.divmod(again, self.run_steps)
        return np.concatenate([runs, np.stack([self._starts[run] + 4 * step, np.ones_like(run)], 1)])

    @cached_property
    def gathers(self) -> Ints:
        """``[quads, gathered]``: where the parts of each gathered quad are in the input."""
        if not self.gathered:
            return np.zeros((0, 0), np.int64)
        count = -(-len(self._starts) // self.gathered)
        run = np.minimum(np.arange(count * self.gathered), len(self._starts) - 1)
        places = (self._starts[run] + self.run_bytes // 4 * 4).reshape(count, self.gathered)
        plain = len(self._starts) * self.run_steps
        return np.concatenate([places, places[self._again[self._again >= plain] - plain]])


def _as_quads(weights: npt.NDArray[np.int8]) -> npt.NDArray[np.int32]:
    """``[n, ...]`` of any shape as ``[n, quads]``."""
    return np.ascontiguousarray(weights).reshape(len(weights), -1).view(np.int32)
