"""How :mod:`.conv2d` multiplies on AArch64: its steps, their order in a panel, what its code depends on.

A *block* is the 16 bytes of a pixel that are loaded at once; what a run has beyond whole blocks is its
*tail*, one more load. Weights lie in the order they are read: by blocks, then by steps, then by vectors.

``sdot`` (dotprod)
    Steps are quads. A pixel's vector is multiplied by element with vectors of four channels' quads.
``smmla`` (i8mm)
    Steps are eight bytes. Two pixels' bytes lie side by side in a vector, as two channels' weights do; a sum
    holds two pixels times two channels.
``smull-pairs`` (neon)
    Steps are quads. Two bytes of a pixel are in all lanes, those of four channels behind each other, and then
    the quad's other two bytes.
``smull`` (neon)
    Steps are eight bytes; those of a block lie side by side. Every channel of every pixel has a vector of
    partial sums, which are added up at the end: nothing is put into all lanes, but tiles are small. It serves
    long sums.

With both of the last two products are added in i16, where the weights allow it whatever the input is, before
``sadalp`` adds them in i32.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .conv import Conv
from .conv2d_taps import Taps
from .conv2d_work import Products
from .instruction_set import InstructionSet
from .launch import Bytes, Option

BLOCK_BYTES = 16


def has_matrices(isa: InstructionSet) -> bool:
    return "+i8mm" in isa.features


def products_of(isa: InstructionSet) -> tuple[Products, ...]:
    """What an instruction set has; none if it is not of AArch64."""
    if isa.architecture != "aarch64":
        return ()
    if isa.dot == "multiply-add-s8":
        return ("smull-pairs", "smull")
    return ("smmla",) if has_matrices(isa) else ("sdot",)


def step_bytes(products: Products) -> int:
    return 4 if products in ("sdot", "smull-pairs") else 8


@dataclass(frozen=True)
class Steps:
    """The steps of one convolution."""

    taps: Taps
    products: Products

    @classmethod
    def of(cls, spec: Conv, products: Products) -> Steps:
        return cls(Taps(spec, step_bytes(products), gathers=False), products)

    @property
    def per_block(self) -> int:
        return BLOCK_BYTES // self.taps.step_bytes

    @property
    def blocks(self) -> int:
        """Of a run."""
        return self.taps.run_steps // self.per_block

    @property
    def tail(self) -> int:
        """Steps of a run beyond its blocks."""
        return self.taps.run_steps % self.per_block

    @property
    def again(self) -> int:
        """Steps behind the runs that read a part of the input again."""
        return len(self.taps.runs) - self.taps.plain_runs

    @property
    def options(self) -> tuple[tuple[str, Option], ...]:
        return (
            ("products", self.products),
            ("single", self.taps.plain_runs == 1),
            ("blocks", self.blocks > 0),
            ("tail", self.tail),
            ("again", self.again > 0),
            ("chain", self.chain),
        )

    @cached_property
    def chain(self) -> int:
        """``smull``: how many products are added in i16. The first and the second half of a block, or of a
        quad, are multiplied in the same lanes.
        """
        if self.products not in ("smull", "smull-pairs"):
            return 0
        halves = (self._blocks if self.products == "smull" else self.taps.steps).reshape(-1, 2, self._half)
        return 1 if np.logical_and(halves[:, 0] == -128, halves[:, 1] == -128).any() else 2

    @property
    def _half(self) -> int:
        return 8 if self.products == "smull" else 2

    @cached_property
    def _blocks(self) -> npt.NDArray[np.int8]:
        """``[out_channels, runs, blocks, 16]``."""
        steps, plain = self.taps.steps, self.taps.plain_runs * self.taps.run_steps
        runs = steps[:, :plain].reshape(len(steps), self.taps.plain_runs, self.taps.run_steps, -1)
        whole = runs[:, :, : self.blocks * self.per_block]
        return whole.reshape(len(steps), self.taps.plain_runs, self.blocks, BLOCK_BYTES)

    def pack(self, steps: npt.NDArray[np.int8], panels: int, vectors: int) -> Bytes:
        """``steps [panels * vectors * 4 channels, steps, bytes]`` as they are read."""
        size = self.taps.step_bytes
        shaped = steps.reshape(panels, vectors, 4, -1, size)
        if self.products == "smull-pairs":
            halves = shaped.reshape(panels, vectors, 4, -1, 2, 2)
            return np.ascontiguousarray(halves.transpose(0, 3, 1, 4, 2, 5)).view(np.uint8).reshape(-1)
        if self.products != "smull":  # every step on its own
            return np.ascontiguousarray(shaped.transpose(0, 3, 1, 2, 4)).view(np.uint8).reshape(-1)
        parts, first = [], 0
        for _ in range(self.taps.plain_runs):
            for count, width in ((self.blocks, self.per_block), (self.tail, 1)):
                part = shaped[:, :, :, first : first + count * width]
                part = part.reshape(panels, vectors, 4, count, width * size)
                parts.append(part.transpose(0, 3, 1, 2, 4).reshape(panels, -1))
                first += count * width
        parts.append(shaped[:, :, :, first:].transpose(0, 3, 1, 2, 4).reshape(panels, -1))
        return np.ascontiguousarray(np.concatenate(parts, 1)).view(np.uint8).reshape(-1)
