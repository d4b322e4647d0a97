"""Softmax of 8-bit rows, bit by bit as the fixed-point reference computes it.

The exponential of a difference to the row's maximum is a table (see
:class:`...activation_tables.Softmax8`), so that a row is its maximum, a sum of table entries, one reciprocal,
and one result per difference: for long rows those are tabulated as well. A unit is a row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..dialect import fixed_point_functions as functions
from ..dialect.activation_tables import Softmax8
from ..dialect.fixed_point import INT32_MAX, rounding_divide_by_pot
from .image import Image
from .instruction_set import InstructionSet
from .launch import Code, Launch
from .scalars import Scalars
from .writer import Writer

_MOST_CLASSES = 4095
"""So that a sum of Q12.19 exponentials stays below 2^31."""
_TABULATED = 512
"""Classes from which on a table of the 256 possible results pays."""
_VECTOR = 16
"""Bytes whose maximum is taken at once."""
_SUM_BITS = 12
_SCALARS = Scalars(
    3,
    (
        "classes",
        "source_start",
        "source_image",
        "source_row",
        "source_pixel",
        "target_start",
        "target_image",
        "target_row",
        "target_pixel",
        "height",
        "width",
    ),
)


@dataclass(frozen=True)
class Softmax:
    """Softmax over the channels of every pixel; results are the kernel's natural ones (scale 1/256, lowest
    value first).
    """

    input: Image
    output: Image
    input_signed: bool
    """How stored bytes compare; their zero point plays no part."""
    result_signed: bool
    """Whether the result 0 is stored as -128."""
    constants: Softmax8


def plan(spec: Softmax, isa: InstructionSet) -> Launch | str:
    source, target = spec.input, spec.output
    if source.element_bytes != 1 or target.element_bytes != 1:
        return "elements of more than one byte"
    if source.channels > _MOST_CLASSES:
        return f"more than {_MOST_CLASSES} classes"
    exps = np.asarray(spec.constants.exps, np.int64)
    terms = rounding_divide_by_pot(exps, _SUM_BITS)
    table = np.concatenate([exps, terms]).astype(np.int32).view(np.uint8)
    numbers = {
        "classes": source.channels,
        "source_start": source.start,
        "source_image": source.image_pitch,
        "source_row": source.row_pitch,
        "source_pixel": source.pixel_pitch,
        "target_start": target.start,
        "target_image": target.image_pitch,
        "target_row": target.row_pitch,
        "target_pixel": target.pixel_pitch,
        "height": source.height,
        "width": source.width,
    }
    options = (
        ("vector", source.channels >= _VECTOR),
        ("tabulated", source.channels >= _TABULATED),
        ("input_signed", spec.input_signed),
        ("result_signed", spec.result_signed),
    )
    code = Code("softmax", isa.name, options)
    return Launch(code, source.batch * source.height * source.width, (table,), _SCALARS.pack(numbers))


def emit(code: Code, isa: InstructionSet) -> str:
    w = Writer(isa)
    w.units(_Row(w, code).unit)
    return w.text()


class _Row:
    """The code of a unit. Integers are i64, which no product here overflows."""

    def __init__(self, w: Writer, code: Code) -> None:
        self.w = w
        self.vector, self.tabulated = bool(code["vector"]), bool(code["tabulated"])
        self.input_signed, self.result_signed = bool(code["input_signed"]), bool(code["result_signed"])
        self.source, self.exps, self.target = (w.pointer(slot) for slot in range(3))
        self.terms = w.at(self.exps, 4 * 256)
        if self.tabulated:
            self.results = w.op(
                f"llvm.alloca {w.index(256)} x i8 {{alignment = 64 : i64}} : (i64) -> !llvm.ptr"
            )

    def unit(self, unit: str) -> None:
        w = self.w

        def number(name: str) -> str:
            return _SCALARS.load(w, name)

        rest, column = w.split(unit, number("width"))
        image, row = w.split(rest, number("height"))
        source, target = (
            w.at(
                w.at(pointer, number(f"{name}_start")),
                w.plus(
                    w.times(image, number(f"{name}_image")),
                    w.plus(w.times(row, number(f"{name}_row")), w.times(column, number(f"{name}_pixel"))),
                ),
            )
            for name, pointer in (("source", self.source), ("target", self.target))
        )
        classes = number("classes")
        largest = self._largest(source, classes)
        inverse, half, shift = self._reciprocal(self._sum(source, classes, largest))
        if self.tabulated:
            w.loop(256, lambda d: self._store(self._result(d, inverse, half, shift), w.at(self.results, d)))

        def store(i: str) -> list[str]:
            difference = w.minus(largest, self._byte(w.at(source, i)))
            if self.tabulated:
                w.store(w.load(w.at(self.results, difference), "i8"), w.at(target, i), "i8")
                return []
            return self._store(self._result(difference, inverse, half, shift), w.at(target, i))

        w.loop(classes, store)

    def _byte(self, pointer: str) -> str:
        return self._wide(self.w.load(pointer, "i8"))

    def _wide(self, byte: str) -> str:
        return self.w.op(f"arith.{'extsi' if self.input_signed else 'extui'} {byte} : i8 to i64")

    def _largest(self, source: str, classes: str) -> str:
        w = self.w
        kind = "si" if self.input_signed else "ui"
        if not self.vector:

            def later(i: str, largest: str) -> list[str]:
                return [w.binary("maxsi", largest, self._byte(w.at(source, i)), "i64")]

            return w.loop(classes, later, [self._byte(source)], "i64")[0]
        type_ = f"vector<{_VECTOR}xi8>"
        last = w.minus(classes, _VECTOR)

        def step(i: str, largest: str) -> list[str]:
            return [w.binary(f"max{kind}", largest, w.load(w.at(source, i), type_), type_)]

        start = w.load(w.at(source, last), type_)
        largest = w.loop_from(w.index(0), last, step, [start], type_, _VECTOR)[0]
        return self._wide(w.op(f"vector.reduction <max{kind}>, {largest} : {type_} into i8"))

    def _sum(self, source: str, classes: str, largest: str) -> str:
        w = self.w

        def step(i: str, total: str) -> list[str]:
            difference = w.minus(largest, self._byte(w.at(source, i)))
            return [w.binary("addi", total, self._entry(self.terms, difference), "i64")]

        return w.loop(classes, step, [w.index(0)], "i64")[0]

    def _entry(self, table: str, difference: str) -> str:
        value = self.w.load(self.w.at(table, self.w.times(difference, 4)), "i32", 4)
        return self.w.op(f"arith.extui {value} : i32 to i64")

    def _reciprocal(self, total: str) -> tuple[str, str, str]:
        """Of a sum of at least one: the Q0.31 number ``r`` of :func:`...fixed_point_functions.reciprocal`;
        then the half that rounds a result and its shift.
        """
        w = self.w
        zeros = w.minus(w.op(f"math.ctlz {total} : i64"), 32)
        denominator = w.binary("shrui", w.binary("shli", total, zeros, "i64"), w.index(1), "i64")
        scaled = self._high(denominator, w.index(functions.MINUS_THIRTY_TWO_SEVENTEENTHS))
        estimate = w.plus(scaled, functions.FORTY_EIGHT_SEVENTEENTHS)
        for _ in range(3):
            error = w.minus(w.index(1 << 29), self._high(denominator, estimate))
            better = w.binary("shli", self._high(estimate, error), w.index(2), "i64")
            estimate = w.plus(estimate, better)
        inverse = w.at_most(w.binary("shli", estimate, w.index(1), "i64"), INT32_MAX)
        shift = w.minus(w.index(_SUM_BITS + 31 - 8), zeros)
        return inverse, w.binary("shli", w.index(1), w.minus(shift, 1), "i64"), shift

    def _high(self, lhs: str, rhs: str) -> str:
        """:func:`...fixed_point.srdhm`, of operands that do not saturate."""
        w = self.w
        return w.binary("shrsi", w.plus(w.binary("muli", lhs, rhs, "i64"), 1 << 30), w.index(31), "i64")

    def _result(self, difference: str, inverse: str, half: str, shift: str) -> str:
        w = self.w
        value = self._high(self._entry(self.exps, difference), inverse)
        return w.at_most(w.binary("shrsi", w.plus(value, half), shift, "i64"), 255)

    def _store(self, result: str, pointer: str) -> list[str]:
        w = self.w
        if self.result_signed:
            result = w.binary("xori", result, w.index(128), "i64")
        w.store(w.op(f"arith.trunci {result} : i64 to i8"), pointer, "i8")
        return []
