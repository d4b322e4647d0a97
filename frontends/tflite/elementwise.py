"""Operators on two tensors with numpy broadcasting: ADD, SUB, MUL, DIV, MAXIMUM, comparisons ..."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from ...dialect.qnn.shapes import broadcast_shape
from ...dialect.types import TensorType
from .operator_import import FLOAT, PLAIN, Q8, Q16, OperatorImport, kind
from .registry import importer

_SMALL = frozenset({"i8", "i16"})
_UNSIGNED = frozenset({"u8", "u16", "u32"})
_BOOLEAN = frozenset({"i1"})


@importer("ADD", "SUB", "MUL")
def arithmetic(op: OperatorImport) -> None:
    """Fused activations limit ordinary integers, too."""
    op.demand_counts((2,))
    if op.name == "MUL" and kind(op.type(0)) in Q16 and kind(op.output().type) in Q8:
        _fractions(op)
        return
    found = op.demand_same_kind(FLOAT | Q8 | Q16 | PLAIN, (0, 1))
    operands = [op.value(0), op.value(1)]
    if found in Q16:
        _demand_zero_points_of_0(op)
        operands = _shifted(op, operands)
    op.emit(op.name.lower(), operands, _broadcast(op), {"clamp": op.clamp()})


def _fractions(op: OperatorImport) -> None:
    """A MUL of fractions in 16 bits, a result in 8: rounded to 16 bits, then to 8, ties away from zero."""
    types = [op.type(0), op.type(1), op.output().type]
    op.demand_kind(types[1], Q16, "factor")
    scales = [type_.params.scale for type_ in types]
    if scales != [2.0**-15, 2.0**-15, 2.0**-7]:
        op.unsupported(
            f"int16 factors and an 8-bit result with scales {scales}, "
            "expected 2^-15, 2^-15 and 2^-7, which LiteRT's kernel goes by"
        )
    shape = _broadcast(op)
    result, wide = op.result_type(shape), TensorType(shape, "i32")
    factors = []
    for index, type_ in enumerate(types[:2]):
        stored = op.relabel(op.value(index), type_, TensorType(type_.shape, "i16"))
        factors.append(op.build("cast", [stored], TensorType(type_.shape, "i32"), {}))

    def constant(number: int) -> Any:
        return op.constant_value(op.output(), np.asarray(number, np.int32), TensorType((), "i32"), number)

    def combined(name: str, value: Any, number: int, **attributes: Any) -> Any:
        return op.build(name, [value, constant(number)], wide, attributes)

    def divided(value: Any, bits: int) -> Any:
        """By ``2^bits``: half of that is added with the value's sign, then division truncates."""
        half = 1 << (bits - 1)
        signs = op.build("compare", [value, constant(0)], TensorType(shape, "i1"), {"predicate": "less"})
        nudge = op.build("select", [constant(-half), constant(half), signs], wide, {})
        return combined(
            "binary", op.build("add", [value, nudge], wide, {"clamp": ()}), 1 << bits, function="div"
        )

    product = op.build("mul", factors, wide, {"clamp": ()})
    value = divided(combined("minimum", divided(product, 15), 32767), 8)
    storage = result.params.storage
    value = combined("add", value, result.params.zero_point, clamp=())
    value = combined("minimum", combined("maximum", value, storage.minimum), storage.maximum)
    value = op.build("cast", [value], result, {})
    if op.clamp():
        value = op.build("clamp", [value], result, {"clamp": op.clamp()})
    op.bind(value, result)


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
    "BITWISE_XOR": PLAIN | _SMALL | _UNSIGNED | _BOOLEAN,
    "DIV": FLOAT | Q8 | Q16 | PLAIN,
    "FLOOR_DIV": FLOAT | PLAIN | _SMALL,
    "FLOOR_MOD": FLOAT | PLAIN | _SMALL,
    "LOGICAL_AND": _BOOLEAN,
    "LOGICAL_OR": _BOOLEAN,
    "POW": FLOAT | PLAIN,
    "RIGHT_SHIFT": frozenset({"i32"}) | _SMALL | _UNSIGNED,
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
    type_ = op.result_type(shape)
    value = op.build("binary", operands, type_, attributes)
    if found not in PLAIN:
        op.bind(op.build("clamp", [value], type_, {"clamp": clamp}), type_)
        return
    for function, bound in zip(("maximum", "minimum"), clamp, strict=True):
        if math.isfinite(bound):
            scalar = TensorType((), type_.element)
            limit = op.constant_value(op.output(), np.asarray(bound, scalar.dtype), scalar, function)
            value = op.build(function, [value, limit], type_, {})
    op.bind(value, type_)


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
