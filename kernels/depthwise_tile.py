"""Tiles of outputs of a depthwise convolution, which share what they read.

A tile is ``rows`` rows times ``pixels`` pixels. Its pixels are so far apart that their windows share columns:
output ``i`` of a tile reads columns ``i * shift`` and up; rows alike. With stride 1 neighbours in a tile are
``dilation`` apart, and ``shift`` is one; with stride 2 and no dilation they are neighbours, and ``shift`` is
two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .depthwise_vectors import rows_per_group
from .instruction_set import InstructionSet
from .launch import Code, Option


@dataclass(frozen=True)
class Sharing:
    """How outputs along one axis share what they read, for a stride and a dilation."""

    apart: int
    """Outputs that share are so many steps apart: there are so many phases."""
    shift: int
    """Taps from one to the next."""

    @classmethod
    def of(cls, stride: int, dilation: int) -> Sharing:
        common = math.gcd(stride, dilation)
        return cls(dilation // common, stride // common)


@dataclass(frozen=True)
class Tile:
    """The shape of the code."""

    window: tuple[int, int]
    row_shift: int
    shift: int
    rows: int
    pixels: int
    columns_in: str
    """Where the interleaved columns of a tile are. ``registers`` or ``stack``: all are there before the first
    sum, so that a weight is loaded once for all pixels, and columns are kept for the next tile.
    ``passing``: one after the other is in registers, together with all sums.
    """
    phases: bool
    """Whether outputs of a tile are not neighbours."""

    @property
    def options(self) -> tuple[tuple[str, Option], ...]:
        return (
            ("height", self.window[0]),
            ("width", self.window[1]),
            ("row_shift", self.row_shift),
            ("shift", self.shift),
            ("rows", self.rows),
            ("pixels", self.pixels),
            ("columns", self.columns_in),
            ("phases", self.phases),
        )

    @classmethod
    def of_code(cls, code: Code) -> Tile:
        number = {
            name: int(code[name]) for name in ("height", "width", "row_shift", "shift", "rows", "pixels")
        }
        return cls(
            (number["height"], number["width"]),
            number["row_shift"],
            number["shift"],
            number["rows"],
            number["pixels"],
            str(code["columns"]),
            bool(code["phases"]),
        )

    @property
    def input_rows(self) -> int:
        return (self.rows - 1) * self.row_shift + self.window[0]

    @property
    def columns(self) -> int:
        return (self.pixels - 1) * self.shift + self.window[1]

    @property
    def used(self) -> frozenset[int]:
        """Columns that some pixel reads."""
        return frozenset(p * self.shift + tap for p in range(self.pixels) for tap in range(self.window[1]))

    @property
    def ring(self) -> int:
        """A power of two of columns."""
        return 1 << (self.columns - 1).bit_length()

    @property
    def kept(self) -> int:
        """Columns that the next tile has, too."""
        return 0 if self.columns_in == "passing" else max(0, self.window[1] - self.shift)

    def groups(self, isa: InstructionSet) -> int:
        """Groups of input rows."""
        return -(-self.input_rows // rows_per_group(isa))

    def uses(self, isa: InstructionSet) -> list[list[tuple[int, int]]]:
        """Which groups of input rows each of a column's weights is multiplied with, and for which row of
        outputs. Taps lie in a group in another way for every row of outputs, unless it has a single row.
        """
        size = rows_per_group(isa)
        if size == 1:
            return [
                [(row * self.row_shift + tap, row) for row in range(self.rows)]
                for tap in range(self.window[0])
            ]
        return [
            [(group, row)]
            for group in range(self.groups(isa))
            for row in range(self.rows)
            if group * size < row * self.row_shift + self.window[0]
            and (group + 1) * size > row * self.row_shift
        ]

    def weights_by_vector(self, isa: InstructionSet) -> bool:
        """Whether all weights of an i32 vector of a block follow each other, as they are used: AArch64 loads
        neighbours in pairs. Else the vectors of each tap do.
        """
        return isa.architecture == "aarch64" and self.columns_in != "passing"

    def dots(self, isa: InstructionSet) -> int:
        """Groups of input rows that are multiplied, of one column and for all rows of outputs."""
        return sum(map(len, self.uses(isa)))

    def weights(self, filter: npt.NDArray[np.int64], isa: InstructionSet) -> npt.NDArray[np.int64]:
        """``[channels, height, width]`` as ``[channels, width, uses, rows of a group]``."""
        size, (height, _) = rows_per_group(isa), self.window
        padded = np.pad(filter, ((0, 0), (0, 1), (0, 0)))
        tap = np.array(
            [np.arange(size) + group * size - row * self.row_shift for (group, row), *_ in self.uses(isa)]
        )
        tap = np.where((tap >= 0) & (tap < height), tap, height)
        taps: npt.NDArray[np.int64] = padded[:, tap].transpose(0, 3, 1, 2)
        return taps
