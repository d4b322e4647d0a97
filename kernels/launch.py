"""A kernel's code and one use of it, as plain data."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Option: TypeAlias = bool | int | str
Bytes: TypeAlias = npt.NDArray[np.uint8]

OVERREAD_BYTES = 128
"""How far past the end of an input a kernel may read; the bytes are arbitrary."""


@dataclass(frozen=True)
class Code:
    """Which code a kernel is: everything that its text depends on. Equal codes are one function, for all
    layers and networks.
    """

    family: str
    """Name of the module of this package that writes it."""
    isa: str
    options: tuple[tuple[str, Option], ...] = ()

    @property
    def symbol(self) -> str:
        """A C identifier of its own for every code, which a person can read."""
        parts = [self.family, self.isa]
        for name, value in self.options:
            if isinstance(value, bool):
                parts += [name] if value else []
            else:
                parts.append(f"{name}{value}".replace("-", "_"))
        # Readable parts leave out what is false: the digest tells such codes apart.
        digest = hashlib.sha256(repr(self.options).encode()).hexdigest()[:6]
        return "_".join([*parts, digest])

    def __getitem__(self, option: str) -> Option:
        return dict(self.options)[option]


@dataclass(frozen=True)
class Launch:
    """One use of a kernel: ``units`` independent pieces of work on buffers in the order inputs, constants,
    results.

    The kernel's row of 8-byte slots holds the addresses of those, then ``scalars``.
    """

    code: Code
    units: int
    constants: tuple[Bytes, ...] = ()
    """One-dimensional, not empty; each starts on a 64-byte boundary at run time."""
    scalars: tuple[int, ...] = ()
    macs: int = 0
    """Multiply-accumulates of all units, for reports and for cutting the work up."""
