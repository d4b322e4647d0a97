"""Functions of two 8-bit tensors without an arithmetic of their own here: a table of all 65536 pairs.

It fits into a core's second cache. An element takes three loads and a store, with no dependence on the last
one. That is less than arithmetic which takes 64-bit numbers or divisions (quotients, comparisons at a common
scale), but more than an arithmetic of 32-bit vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .image import Image
from .instruction_set import InstructionSet
from .launch import Code, Launch
from .runs import each_run, each_step, runs_of
from .writer import Writer

_TABLE, _RESULT = 2, 3
_FIRST_SCALAR = 4
_LARGEST_STEP = 4
"""Elements at a time: what is written out needs no counting."""


@dataclass(frozen=True, eq=False)
class PairTable:
    """``table[lhs, rhs]`` of stored bytes.

    An operand with a batch, height or width of one is repeated.
    """

    lhs: Image
    rhs: Image
    output: Image
    table: npt.NDArray[np.uint8]
    """``[256, 256]``, by the stored bytes as unsigned numbers; results as bytes."""


def plan(spec: PairTable, isa: InstructionSet) -> Launch | str:
    images = (spec.lhs, spec.rhs, spec.output)
    if any(image.element_bytes != 1 for image in images):
        return "elements of more than one byte"
    runs = runs_of(images)
    if isinstance(runs, str):
        return runs
    code = Code("pair_table", isa.name, (("step", runs.step(_LARGEST_STEP)),))
    return Launch(code, runs.units, (spec.table.reshape(-1),), runs.scalars)


def emit(code: Code, isa: InstructionSet) -> str:
    step = int(code["step"])
    w = Writer(isa)
    table = w.pointer(_TABLE)

    def byte(pointer: str, position: str, offset: int) -> str:
        value = w.load(w.at(w.at(pointer, position), offset), "i8")
        return w.op(f"arith.extui {value} : i8 to i64")

    def run(pointers: Sequence[str], length: str) -> None:
        lhs, rhs, target = pointers

        def some(position: str) -> None:
            for offset in range(step):
                row = w.times(byte(lhs, position, offset), 256)
                place = w.plus(row, byte(rhs, position, offset))
                w.store(w.load(w.at(table, place), "i8"), w.at(w.at(target, position), offset), "i8")

        each_step(w, length, step, some)

    each_run(w, _FIRST_SCALAR, [w.pointer(i) for i in (0, 1, _RESULT)], run)
    return w.text()
