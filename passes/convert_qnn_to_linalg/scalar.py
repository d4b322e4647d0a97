"""Scalar arithmetic inside the body of a linalg op, written as Python expressions.

``(x.extend("i64") * 5 + (1 << 30)) >> 31`` on a :class:`Scalar` creates the ``arith`` ops and constants it
says. A Python number on either side becomes a constant of the scalar's type. Nothing here rounds or wraps
beyond what the ``arith`` ops do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ...dialect.mlir import ir

_INTEGER_PREDICATES = {"eq": 0, "ne": 1, "lt": 2, "le": 3, "gt": 4, "ge": 5, "ult": 6}
_FLOAT_PREDICATES = {
    "eq": 1,
    "gt": 2,
    "ge": 3,
    "lt": 4,
    "le": 5,
    "ordered": 7,
    "ugt": 9,
    "ne": 13,
    "unordered": 14,
}

Step: TypeAlias = Callable[["Body", "Scalar", list[Any]], Sequence[Any]]
"""One step of a loop: from its body, index and values to the values of the next step."""

Number: TypeAlias = "Scalar | int | float"


class Body:
    """The block of a linalg op under construction: creates scalar ops at its end, each constant once."""

    def __init__(self, block: Any, location: Any) -> None:
        self._point = ir.InsertionPoint(block)
        self._location = location
        self._constants: dict[tuple[str, str], Scalar] = {}
        self.arguments = [Scalar(self, argument, str(argument.type)) for argument in block.arguments]

    def constant(self, kind: str, value: float) -> Scalar:
        """A constant of type ``kind`` (``i1 i8 ... f32 f64 index``); integers are given as their signed
        value.
        """
        key = (kind, repr(value))  # repr tells 0.0 from -0.0
        known = self._constants.get(key)
        if known is None:
            type_ = scalar_type(kind)
            attribute = (
                ir.FloatAttr.get(type_, float(value))
                if kind[0] == "f"
                else ir.IntegerAttr.get(type_, int(value))
            )
            known = self._constants[key] = self.create("arith.constant", kind, [], {"value": attribute})
        return known

    def create(
        self, name: str, kind: str, operands: Sequence[Scalar], attributes: dict[str, Any] | None = None
    ) -> Scalar:
        """Any op with one result of type ``kind``."""
        return self.create_from_values(name, kind, [operand.value for operand in operands], attributes)

    def create_from_values(
        self, name: str, kind: str, operands: Sequence[Any], attributes: dict[str, Any] | None = None
    ) -> Scalar:
        operation = ir.Operation.create(
            name,
            results=[scalar_type(kind)],
            operands=operands,
            attributes=attributes,
            loc=self._location,
            ip=self._point,
        )
        return Scalar(self, operation.results[0], kind)

    def index(self, dimension: int) -> Scalar:
        """The iteration index of loop ``dimension`` of the enclosing linalg op."""
        attribute = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), dimension)
        return self.create("linalg.index", "index", [], {"dim": attribute})

    def extract(self, source: Any, indices: Sequence[Scalar]) -> Scalar:
        """One element of the tensor value ``source``."""
        kind = str(source.type.element_type)
        return self.create_from_values("tensor.extract", kind, [source, *(index.value for index in indices)])

    def insert(self, value: Scalar, target: Any, indices: Sequence[Scalar]) -> Any:
        """The tensor value ``target`` with one element replaced."""
        operands = [value.value, target, *(index.value for index in indices)]
        return self._operation("tensor.insert", [target.type], operands).results[0]

    def loop(self, stop: Scalar, state: Sequence[Any], step: Step) -> list[Any]:
        """An ``scf.for`` from 0 to ``stop`` over values that every step replaces; what the last step leaves.

        ``step`` gets the loop's body, the index and the values (tensors or scalars), all of the new body;
        scalars of this one are brought there by :meth:`adopt`.
        """
        first, by = self.constant("index", 0), self.constant("index", 1)
        types = [value.type for value in state]
        operation = self._operation("scf.for", types, [first.value, stop.value, by.value, *state], regions=1)
        block = operation.regions[0].blocks.append(
            ir.IndexType.get(), *types, arg_locs=[self._location] * (1 + len(types))
        )
        body = Body(block, self._location)
        results = step(body, body.arguments[0], [argument.value for argument in body.arguments[1:]])
        body._operation("scf.yield", [], results)
        return list(operation.results)

    def adopt(self, value: Any) -> Scalar:
        """A scalar value that is visible here, to compute with in this body."""
        return Scalar(self, value, str(value.type))

    def _operation(self, name: str, types: Sequence[Any], operands: Sequence[Any], regions: int = 0) -> Any:
        return ir.Operation.create(
            name, results=types, operands=operands, regions=regions, loc=self._location, ip=self._point
        )

    def yield_values(self, values: Sequence[Scalar], name: str = "linalg.yield") -> None:
        ir.Operation.create(name, operands=[v.value for v in values], loc=self._location, ip=self._point)


def scalar_type(kind: str) -> Any:
    """The MLIR type of ``i8``, ``f32``, ``index`` ... in the current context."""
    if kind == "index":
        return ir.IndexType.get()
    if kind[0] == "i":
        return ir.IntegerType.get_signless(int(kind[1:]))
    return ir.F32Type.get() if kind == "f32" else ir.Type.parse(kind)


@dataclass(frozen=True)
class Scalar:
    """A scalar SSA value and the text of its type.

    Integer operations are signed unless they say otherwise.
    """

    body: Body
    value: Any
    kind: str

    @property
    def is_float(self) -> bool:
        return self.kind[0] == "f"

    def _like(self, other: Number) -> Scalar:
        return other if isinstance(other, Scalar) else self.body.constant(self.kind, other)

    def _binary(self, integer: str, floating: str, other: Number) -> Scalar:
        name = floating if self.is_float else integer
        return self.body.create(f"arith.{name}", self.kind, [self, self._like(other)])

    def __add__(self, other: Number) -> Scalar:
        return self if _is_plain(other, 0) and not self.is_float else self._binary("addi", "addf", other)

    def __sub__(self, other: Number) -> Scalar:
        return self if _is_plain(other, 0) and not self.is_float else self._binary("subi", "subf", other)

    def __rsub__(self, other: float) -> Scalar:
        return self._like(other) - self

    def __mul__(self, other: Number) -> Scalar:
        return self._binary("muli", "mulf", other)

    def __truediv__(self, other: Number) -> Scalar:
        """Integers: truncating towards zero."""
        return self._binary("divsi", "divf", other)

    def __lshift__(self, other: Number) -> Scalar:
        return self if _is_plain(other, 0) else self._binary("shli", "", other)

    def __rshift__(self, other: Number) -> Scalar:
        """Arithmetic: rounds towards minus infinity."""
        return self if _is_plain(other, 0) else self._binary("shrsi", "", other)

    def __and__(self, other: Number) -> Scalar:
        return self._binary("andi", "", other)

    def __or__(self, other: Number) -> Scalar:
        return self._binary("ori", "", other)

    def __xor__(self, other: Number) -> Scalar:
        return self._binary("xori", "", other)

    def compare(self, predicate: str, other: Number) -> Scalar:
        """An ``i1``; predicates ``eq ne lt le gt ge`` (floats: false for NaN, but ``ne``), and the ones in
        the tables above.
        """
        table = _FLOAT_PREDICATES if self.is_float else _INTEGER_PREDICATES
        attribute = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), table[predicate])
        name = "arith.cmpf" if self.is_float else "arith.cmpi"
        return self.body.create(name, "i1", [self, self._like(other)], {"predicate": attribute})

    def __lt__(self, other: Number) -> Scalar:
        return self.compare("lt", other)

    def __gt__(self, other: Number) -> Scalar:
        return self.compare("gt", other)

    def __ge__(self, other: Number) -> Scalar:
        return self.compare("ge", other)

    def select(self, then: Scalar, otherwise: Number) -> Scalar:
        """``then`` where this ``i1`` holds, else ``otherwise``."""
        return self.body.create("arith.select", then.kind, [self, then, then._like(otherwise)])

    def maximum(self, other: Number, *, signed: bool = True) -> Scalar:
        """The larger one; of floats NaN, if either is."""
        return self._binary("maxsi" if signed else "maxui", "maximumf", other)

    def minimum(self, other: Number) -> Scalar:
        return self._binary("minsi", "", other)

    def clip(self, low: float, high: float) -> Scalar:
        """Limited to ``[low, high]``; a float NaN becomes ``low``. (Compare and select: one instruction on
        x86.)
        """
        if not self.is_float:
            return self.maximum(low).minimum(high)
        raised = (self > low).select(self, low)
        return (raised < high).select(raised, high)

    def clip_keeping_nan(self, low: float, high: float) -> Scalar:
        """A float limited to ``[low, high]``; NaN stays."""
        raised = self if math.isinf(low) else (self < low).select(self._like(low), self)
        return raised if math.isinf(high) else (raised > high).select(self._like(high), raised)

    def call(self, name: str) -> Scalar:
        """A function of the ``math`` dialect: ``exp``, ``tanh``, ``round`` (half away), ``roundeven``,
        ``ctlz`` ...
        """
        return self.body.create(f"math.{name}", self.kind, [self])

    def extend(self, kind: str, *, signed: bool = True) -> Scalar:
        """To a wider integer or float type (no-op if already ``kind``)."""
        if kind == self.kind:
            return self
        name = "extf" if self.is_float else "extsi" if signed else "extui"
        return self.body.create(f"arith.{name}", kind, [self])

    def truncate(self, kind: str) -> Scalar:
        """To a narrower type: integers modulo 2^bits, floats rounded half to even."""
        if kind == self.kind:
            return self
        return self.body.create("arith.truncf" if self.is_float else "arith.trunci", kind, [self])

    def to_float(self, kind: str) -> Scalar:
        """From a signed integer, rounded half to even."""
        return self.body.create("arith.sitofp", kind, [self])

    def to_integer(self, kind: str) -> Scalar:
        """From a float that holds an integer in range (anything else is poison: clip first)."""
        return self.body.create("arith.fptosi", kind, [self])

    def to_index(self, *, signed: bool = True) -> Scalar:
        return self.body.create("arith.index_cast" if signed else "arith.index_castui", "index", [self])

    def index_to(self, kind: str) -> Scalar:
        return self.body.create("arith.index_cast", kind, [self])


def _is_plain(value: Number, number: int) -> bool:
    return not isinstance(value, Scalar) and value == number
