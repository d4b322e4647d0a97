"""A compiled network as plain data: a list of steps, each one call of a kernel on places in memory.

A kernel is ``void kernel(i64 *row, i64 begin, i64 end)``: it does the units of work ``begin <= u < end`` of a
step. Its row holds 8-byte slots, first the addresses of buffers, then whole numbers. Different units write
different bytes, or the same bytes with the same values, so they may run in any order and on any thread.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from ..kernels.launch import Code

Base: TypeAlias = Literal["input", "output", "constants", "arena", "state", "steps"]

KERNEL = "kernel"
"""The symbol that a kernel's object file defines."""
COPY = "copy"
"""The kernel that every program has at hand (``step_kernels.py``); its row is source, destination, bytes."""
IF, WHILE, FOR = "if", "while", "for"
"""Kernels that run steps (``step_kernels.py``). Rows of the first two are the place of a condition (a byte
that is not 0), then where each part's steps begin and end. ``if`` runs the first part, or else the second;
``while`` runs the first, which sets the condition, and as long as that holds the second, again and again.

``for`` runs its part a number of times. A row is where its steps begin and end, how often they run, how many
slots move, and for each a step, a slot of its row, and by how many bytes that moves from time to time.
"""
CONTROL = (IF, WHILE, FOR)
COPY_UNIT = 1 << 14
"""Bytes of one of its units."""


@dataclass(frozen=True)
class Pointer:
    """A place: ``offset`` bytes into the ``index``-th input, output or variable (``state``), the constant
    block or the arena; or the ``index``-th of the steps that others run.
    """

    base: Base
    index: int = 0
    offset: int = 0


@dataclass(frozen=True)
class Step:
    """One call. ``arguments`` are the slots of its row: places, and whole numbers as they are."""

    kernel: str
    units: int
    arguments: tuple[Pointer | int, ...]
    name: str = ""
    """For reports; the kernel's if it is empty."""
    macs: int = 0
    """Multiply-accumulates of all units; 0 if it is not a contraction, or not known."""
    bytes: int = 0
    """Of all buffers that it reads or writes, each counted once per argument."""
    cost: int = 0
    """Roughly how long all units take on one core, in ns; 0 if unknown."""
    source: tuple[str, ...] = ()
    """Names of the model's tensors that are computed."""
    constant_bytes: int = 0
    """How many of ``bytes`` are constants."""
    reason: str = ""
    """Why no kernel family took it, if none did and that is known."""
    overlaps_next: bool = False
    """Whether the next step may run at the same time."""
    alive_bytes: int = 0
    """What of the arena holds values that this step or a later one needs while it runs."""


@dataclass(frozen=True)
class Variable:
    """Memory that keeps its contents from one run to the next; at first the ``bytes`` at ``initial`` of the
    constant block.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    """numpy's name for an element as it is stored; of a quantized one signed, whatever it is read as."""
    initial: int

    @property
    def bytes(self) -> int:
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


@dataclass(frozen=True)
class Program:
    """``steps`` in the order they run. Buffers that no step needs at the same time share bytes of the arena,
    so a step may start only when the one before it has ended.
    """

    steps: tuple[Step, ...]
    arena_bytes: int
    inputs: int = 0
    outputs: int = 0
    least_arena_bytes: int = 0
    """The largest sum of what is alive at one step: no plan needs less of an arena. 0 if unknown."""
    codes: Mapping[str, Code] = field(default_factory=dict)
    """What the kernels are that a family has written; the others are lowered from loops, or copy."""
    variables: tuple[Variable, ...] = ()
    inner: tuple[Step, ...] = ()
    """Steps that ``if``, ``while`` and ``for`` run."""

    @property
    def kernels(self) -> tuple[str, ...]:
        """The kernels that the steps need, each once, in the order of their first use."""
        return tuple(dict.fromkeys(step.kernel for step in (*self.steps, *self.inner)))
