"""Which of several ways to compute something is taken: the cost model's, unless somebody chooses.

A *problem* is one thing to compute, without its weights. Who wants to choose puts a chooser in place::

    with choosing(lambda problem, ways: ...):
        run_pipeline(module, passes)

Nobody is asked otherwise, so passes on their own give the same result on every machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeAlias

from .launch import Code, Launch, Option

Options: TypeAlias = tuple[tuple[str, Option], ...]


@dataclass(frozen=True)
class Way:
    """A way to compute a spec: a family, the instruction set it is asked for, and what the family leaves open
    (the shape of a tile).
    """

    family: str
    isa: str
    options: Options = ()

    def __str__(self) -> str:
        set_ = [
            name if value is True else f"{name}={value}" for name, value in self.options if value is not False
        ]
        return " ".join([self.family, self.isa, *set_])


@dataclass(frozen=True)
class Problem:
    """What is computed, by the numbers of the cost model's launch: they hold sizes, strides, the kind of the
    epilogue, the instruction set. Layers that differ in their weights alone are one problem.
    """

    code: Code
    units: int
    scalars: tuple[int, ...]
    macs: int

    @classmethod
    def of(cls, launch: Launch) -> Problem:
        return cls(launch.code, launch.units, launch.scalars, launch.macs)

    @property
    def key(self) -> str:
        """The same in every process."""
        return hashlib.sha256(repr(self).encode()).hexdigest()


Ways: TypeAlias = Callable[[], Sequence[Way]]
"""All ways to solve a problem, the cost model's first. A function, since most choosers need not know."""
Chooser: TypeAlias = Callable[[Problem, Ways], Way | None]
"""None: as the cost model says."""

_CHOOSER: ContextVar[Chooser | None] = ContextVar("chooser", default=None)


@contextmanager
def choosing(chooser: Chooser | None) -> Iterator[None]:
    """Inside the ``with`` block ``chooser`` is asked about every launch that is planned."""
    token = _CHOOSER.set(chooser)
    try:
        yield
    finally:
        _CHOOSER.reset(token)


def current() -> Chooser | None:
    return _CHOOSER.get()
