"""The larger or the smaller one of two 8-bit numbers, which mean the same in both operands and the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .image import Image
from .instruction_set import InstructionSet
from .launch import Code, Launch
from .runs import each_run, each_step, load_bytes, narrowed, runs_of, store_bytes
from .writer import Writer

_BUFFERS = 3
_VECTORS = 4
"""At a time, where runs are long enough."""


@dataclass(frozen=True)
class Extremum:
    """``max(lhs, rhs)`` or ``min(lhs, rhs)`` of stored bytes.

    An operand with a batch, height or width of one is repeated.
    """

    lhs: Image
    rhs: Image
    output: Image
    signed: bool
    """Whether all bytes are int8."""
    largest: bool


def plan(spec: Extremum, isa: InstructionSet) -> Launch | str:
    images = (spec.lhs, spec.rhs, spec.output)
    if any(image.element_bytes != 1 for image in images):
        return "elements of more than one byte"
    runs = runs_of(images)
    if isinstance(runs, str):
        return runs
    options = (
        ("step", runs.step(_VECTORS * isa.vector_bytes)),
        ("signed", spec.signed),
        ("largest", spec.largest),
    )
    return Launch(Code("extrema", isa.name, options), runs.units, (), runs.scalars)


def emit(code: Code, isa: InstructionSet) -> str:
    step = int(code["step"])
    isa = narrowed(isa, step)
    w = Writer(isa)
    name = ("max" if code["largest"] else "min") + ("si" if code["signed"] else "ui")

    def run(pointers: Sequence[str], length: str) -> None:
        def one(position: str) -> None:
            lhs, rhs, target = (w.at(pointer, position) for pointer in pointers)
            count, better = min(step, isa.vector_bytes), {}
            for first in range(0, step, count):
                left, right = (
                    load_bytes(w, w.at(side, first), count, isa.vector_bytes) for side in (lhs, rhs)
                )
                better[first] = w.binary(name, left, right, w.i8)
            for first, value in better.items():
                store_bytes(w, value, w.at(target, first), count, isa.vector_bytes)

        each_step(w, length, step, one)

    each_run(w, _BUFFERS, [w.pointer(i) for i in range(_BUFFERS)], run)
    return w.text()
