"""Who writes which kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Protocol, runtime_checkable

from ..errors import PipelineError
from .choices import Options, Problem, Way, current
from .instruction_set import INSTRUCTION_SETS, InstructionSet
from .launch import Code, Launch


class Family(Protocol):
    """A module of this package: kernels of one kind."""

    def plan(self, spec: Any, isa: InstructionSet, /) -> Launch | str:
        """How ``spec`` (a class of the family or of :mod:`.conv`) is computed, or the reason why this family
        does not.
        """

    def emit(self, code: Code, isa: InstructionSet, /) -> str:
        """The MLIR text of a code that :meth:`plan` gave: ``func.func @kernel(%row: !llvm.ptr, %begin: i64,
        %end: i64)`` and declarations.
        """


@runtime_checkable
class Tunable(Protocol):
    """A family that leaves something open, such as the shape of a tile."""

    def candidates(self, spec: Any, isa: InstructionSet, /) -> Sequence[Options]:
        """What may be as fast as what :meth:`~Family.plan` takes, which is the first; none if it refuses."""

    def plan_as(self, spec: Any, isa: InstructionSet, options: Options, /) -> Launch | str:
        """As ``plan``, with one of the candidates."""


def plan(spec: Any, isa: InstructionSet) -> Launch | str:
    """The launch of the first family that takes ``spec``, or all the reasons why none does.

    A launch may be of code for the set that ``isa`` extends. Where a chooser is in place
    (:mod:`.choices`), it may take another way.
    """
    usual = _usual(spec, isa)
    chooser = current()
    if chooser is None or isinstance(usual, str):
        return usual
    known = partial(ways, spec, isa)
    way = chooser(Problem.of(usual), known)
    if way is None or way == known()[0]:
        return usual
    launch = _plan_as(spec, isa, way)
    return usual if isinstance(launch, str) else launch


def ways(spec: Any, isa: InstructionSet) -> list[Way]:
    """All ways to compute ``spec`` that are worth a try, that of :func:`plan` first."""
    found = []
    for family, its_isa in _asked(spec, isa):
        if isinstance(family, Tunable):
            options = family.candidates(spec, its_isa)
        else:
            options = [] if isinstance(family.plan(spec, its_isa), str) else [()]
        found += [Way(_name(family), its_isa.name, each) for each in options]
    return found


def _usual(spec: Any, isa: InstructionSet) -> Launch | str:
    reasons = []
    for family, its_isa in _asked(spec, isa):
        launch = family.plan(spec, its_isa)
        if isinstance(launch, Launch):
            return launch
        reasons.append(launch)
    return "; ".join(dict.fromkeys(reasons)) or f"no kernel family computes '{type(spec).__name__}'"


def _plan_as(spec: Any, isa: InstructionSet, way: Way) -> Launch | str:
    for family, its_isa in _asked(spec, isa):
        if (_name(family), its_isa.name) == (way.family, way.isa):
            return (
                family.plan_as(spec, its_isa, way.options)
                if isinstance(family, Tunable)
                else family.plan(spec, its_isa)
            )
    return f"no family '{way.family}' for instruction set '{way.isa}'"


def emit(code: Code) -> str:
    """The MLIR text of ``code``.

    Raises:
        PipelineError: it is of no family or instruction set here.
    """
    from .registry import EXTENSIONS, FAMILIES  # the families import this package's data

    for table in (FAMILIES, *EXTENSIONS.values()):
        for families in table.values():
            for family in families:
                if _name(family) == code.family and code.isa in INSTRUCTION_SETS:
                    return family.emit(code, INSTRUCTION_SETS[code.isa])
    raise PipelineError(f"no kernel family '{code.family}' for instruction set '{code.isa}'")


def _asked(spec: Any, isa: InstructionSet) -> Iterator[tuple[Family, InstructionSet]]:
    """The families that know the kind of ``spec``, each with the set that its code is for."""
    from .registry import EXTENSIONS, FAMILIES  # the families import this package's data

    while isa.base:
        for family in EXTENSIONS.get(isa.name, {}).get(type(spec), ()):
            yield family, isa
        isa = INSTRUCTION_SETS[isa.base]
    for family in FAMILIES.get(type(spec), ()):
        yield family, isa


def _name(family: Any) -> str:
    return str(family.__name__).rpartition(".")[2]
