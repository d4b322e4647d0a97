"""What the kernels of two 8-bit tensors have in common: loops, loads and stores around an arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from . import elements
from .image import Image
from .instruction_set import InstructionSet
from .launch import Code, Launch, Option
from .runs import each_run, narrowed, runs_of, scalar_count
from .scalars import Scalars
from .writer import Writer

_BUFFERS = 3
FIRST_SCALAR = _BUFFERS + scalar_count(_BUFFERS)
"""The slot of an arithmetic's first scalar."""
Load = Callable[[Writer, str, str, bool, int], Sequence[str]]
"""From a buffer's address, a position, whether bytes are signed, and the step, to vectors of numbers."""
Combine = Callable[[str, str], Sequence[str]]
"""From vectors of stored numbers to i32 vectors of results, as many in all as bytes have quarters."""


@dataclass(frozen=True)
class Arithmetic:
    """What is computed of each pair of numbers: by which code, with which scalars."""

    form: str
    scalars: tuple[int, ...]
    options: tuple[tuple[str, Option], ...] = ()


def step_of(images: Sequence[Image], isa: InstructionSet) -> int | str:
    """How many elements are done at a time, or the reason why there is no kernel for ``images``."""
    if any(image.element_bytes != 1 for image in images):
        return "elements of more than one byte"
    runs = runs_of(images)
    return runs if isinstance(runs, str) else runs.step(isa.vector_bytes)


def launch(
    family: str,
    images: Sequence[Image],
    signed: tuple[bool, bool, bool],
    arithmetic: Arithmetic,
    isa: InstructionSet,
) -> Launch:
    """Of images that :func:`step_of` has a step for. ``signed``: both operands, result."""
    runs = runs_of(images)
    assert not isinstance(runs, str)
    options: tuple[tuple[str, Option], ...] = (
        ("form", arithmetic.form),
        ("step", runs.step(isa.vector_bytes)),
        *arithmetic.options,
        *zip(("lhs_signed", "rhs_signed", "signed"), signed, strict=True),
    )
    return Launch(Code(family, isa.name, options), runs.units, (), runs.scalars + arithmetic.scalars)


def emit(
    code: Code,
    isa: InstructionSet,
    scalars: Scalars,
    arithmetic: Callable[[Writer, Code], Combine],
    *,
    zero_point: bool = False,
    from_zero: bool = False,
    load: Load = elements.load_all_numbers,
    fits_words: bool = False,
) -> str:
    """The kernel; ``scalars`` has ``low`` and ``high``, and ``zero_point`` if it is to be added.

    ``load``: the numbers that the arithmetic is of. ``from_zero``: results are counted from the least stored
    number, the bounds as well. ``fits_words``: they are known to fit i16.
    """
    step, signed = int(code["step"]), bool(code["signed"])
    w = Writer(narrowed(isa, step))
    buffers = [w.pointer(i) for i in range(_BUFFERS)]
    storage = elements.Storage.load(
        w,
        signed and not from_zero,
        scalars.load(w, "low"),
        scalars.load(w, "high"),
        scalars.load(w, "zero_point") if zero_point else "",
        flips=signed and from_zero,
        fits_words=fits_words,
    )
    combine = arithmetic(w, code)
    kinds = bool(code["lhs_signed"]), bool(code["rhs_signed"])

    def run(pointers: list[str], length: str) -> None:
        def compute(position: str) -> list[str]:
            lhs, rhs = (load(w, pointers[i], position, kinds[i], step) for i in range(2))
            return [result for both in zip(lhs, rhs, strict=True) for result in combine(*both)]

        elements.each_vector(w, pointers[2], length, step, storage, compute)

    each_run(w, _BUFFERS, buffers, run)
    return w.text()
