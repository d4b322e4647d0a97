"""Operators on two tensors with numpy broadcasting: ADD, SUB, MUL, DIV, MAXIMUM, comparisons ..."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

from ...dialect.qnn.shapes import broadcast_shape
from ...dialect.types import TensorType
from .operator_import import FLOAT, PLAIN, Q8, Q16, OperatorImport
from .registry import importer

_SMALL = frozenset({"i8", "i16"})
_BOOLEAN = frozenset({"i1"})


@importer("ADD", "SUB", "MUL")
def arithmetic(op: OperatorImport) -> None:
    """Fused activations limit ordinary integers, too."""
    op.demand_counts((2,))
    found = op.demand_same_kind(FLOAT | Q8 | Q16 | PLAIN, (0, 1))
    operands = [op.value(0), op.value(1)]
    if found in Q16:
        _demand_zero_points_of_0(op)
        operands = _shifted(op, operands)
    op.emit(op.name.lower(), operands, _broadcast(op), {"clamp": op.clamp()})


def _broadcast(op: OperatorImport) -> tuple[int, ...]:
    return op.infer(broadcast_shape, op.type(0).shape, op.type(1).shape)


def _demand_zero_points_of_0(op: OperatorImport) -> None:
    zero_points = [t.params.zero_point for t in (op.type(0), op.type(1), op.output().type)]
    if any(zero_points):
        op.fail(f"int16 tensors need zero point 0, got {zero_points}")


def _shifted(op: OperatorImport, operands: list[Any]) -> list[Any]:
    """Operands of an int16 ADD or SUB, which LiteRT computes by shifts where all scales are powers of two and
    the model does not forbid it.

    It rounds one operand to the result's scale (ties away from zero, as quantize does) and adds what then are
    equal scales.
    """
    if op.name == "MUL" or not op.option("pot_scale_int16"):
        return operands
    types, y = [op.type(0), op.type(1)], op.output().type.params
    scales = [t.params.scale for t in types]
    if any(math.frexp(scale)[0] != 0.5 for scale in (*scales, y.scale)):
        return operands
    if max(scales) != y.scale:
        op.fail(
            f"int16 tensors with power-of-two scales: got {scales}, expected {y.scale:g} and at most that"
        )
    for index, type_ in enumerate(types):
        if type_.params.scale != y.scale:
            real, rounded = TensorType(type_.shape, "f32"), TensorType(type_.shape, y)
            value = op.build("dequantize", [operands[index]], real, {})
            operands[index] = op.build("quantize", [value], rounded, {})
    return operands


@importer("ADD_N")
def add_n(op: OperatorImport) -> None:
    """A chain of additions, from the first input to the last."""
    count = len(op.operator.inputs)
    op.demand_counts((max(count, 1),))
    op.demand_same_kind(FLOAT | PLAIN, range(count))
    shape, total = op.type(0).shape, op.value(0)
    for index in range(1, count):
        if op.type(index).shape != shape:
            op.fail(f"input {index} has shape {list(op.type(index).shape)}, expected input 0's {list(shape)}")
        total = op.build("add", [total, op.value(index)], op.result_type(shape), {"clamp": ()})
    op.bind(total, op.result_type(shape))


@importer("MAXIMUM", "MINIMUM")
def extremum(op: OperatorImport) -> None:
    op.demand_counts((2,))
    op.demand_same_kind(FLOAT | Q8 | Q16 | PLAIN | _SMALL, (0, 1))
    op.emit(op.name.lower(), [op.value(0), op.value(1)], _broadcast(op))


_BINARY: dict[str, Collection[str]] = {
    "ATAN2": FLOAT,
    "BITWISE_XOR": PLAIN | _SMALL | _BOOLEAN,
    "DIV": FLOAT | Q8 | Q16 | PLAIN,
    "FLOOR_DIV": FLOAT | PLAIN | _SMALL,
    "FLOOR_MOD": FLOAT | PLAIN | _SMALL,
    "LOGICAL_AND": _BOOLEAN,
    "LOGICAL_OR": _BOOLEAN,
    "POW": FLOAT | PLAIN,
    "SQUARED_DIFFERENCE": FLOAT | Q8 | PLAIN,
}
"""Operator -> the kinds of tensors it takes; the function of ``qnn.binary`` has its name."""


@importer(*_BINARY)
def binary(op: OperatorImport) -> None:
    op.demand_counts((2,))
    found = op.demand_same_kind(_BINARY[op.name], (0, 1))
    shape, operands = _broadcast(op), [op.value(0), op.value(1)]
    attributes = {"function": op.name.lower()}
    clamp = op.clamp() if op.name == "DIV" else ()
    if not clamp:
        op.emit("binary", operands, shape, attributes)
        return
    if found in PLAIN:
        op.unsupported("a fused activation on integers")
    type_ = op.result_type(shape)
    quotient = op.build("binary", operands, type_, attributes)
    op.bind(op.build("clamp", [quotient], type_, {"clamp": clamp}), type_)


_COMPARISONS = ("EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "NOT_EQUAL")


@importer(*_COMPARISONS)
def compare(op: OperatorImport) -> None:
    """A BOOL result."""
    op.demand_counts((2,))
    kinds = FLOAT | Q8 | Q16 | PLAIN | _SMALL | (_BOOLEAN if op.name.endswith("EQUAL") else frozenset())
    found, other = (op.demand_kind(op.type(i), kinds) for i in (0, 1))
    if found != other:
        op.unsupported(f"{found} mixed with {other}")
    op.demand_kind(op.output().type, _BOOLEAN, "result")
    op.emit("compare", [op.value(0), op.value(1)], _broadcast(op), {"predicate": op.name.lower()})


@importer("PRELU")
def prelu(op: OperatorImport) -> None:
    op.demand_counts((2,))
    op.demand_same_kind(FLOAT | Q8 | Q16, (0, 1))
    shape = _broadcast(op)
    if shape != op.type(0).shape:
        op.fail(
            f"alpha has shape {list(op.type(1).shape)}, which does not broadcast to {list(op.type(0).shape)}"
        )
    op.emit("prelu", [op.value(0), op.value(1)], shape)
