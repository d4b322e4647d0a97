"""WHERE and UNIQUE: how long their results are depends on values.

Of constants they are constants. Otherwise the result has room for the worst case, zeros behind what is there,
and a length beside it: see ``OperatorImport.bind_counted``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dialect.types import TensorType
from .operator_import import FLOAT, MOVABLE, ORDINARY, OperatorImport
from .registry import importer

_MOST_COMPARED = 4096
"""UNIQUE compares each value with each."""


@importer("WHERE")
def where(op: OperatorImport) -> None:
    """Places of what is not zero, a row of coordinates each."""
    op.demand_counts((1,))
    op.demand_kind(op.output().type, {"i64"}, "result")
    if op.is_constant(0):
        op.emit_constant(np.argwhere(op.constant(0, "conditions")).astype(np.int64))
        return
    x = op.type(0)
    op.demand_kind(x, MOVABLE)
    if not x.shape:
        op.unsupported("places in a scalar")
    total, rank = x.elements, len(x.shape)
    op.demand_memory((total, rank), TensorType((), "i64"))
    flat = op.build("reshape", [op.value(0)], TensorType((total,), x.element), {})
    holds = flat if x.element == "i1" else op.build("cast", [flat], TensorType((total,), "i1"), {})
    places = op.build("nonzero", [holds], TensorType((total,), "i64"), {})
    found = _found(op, places, total)
    places = _or_zero(op, places, found, "i64", total)
    columns, step = [], total
    for extent in x.shape:
        step //= extent
        column = _binary(op, "floor_mod", _binary(op, "floor_div", places, step, total), extent, total)
        columns.append(op.build("reshape", [column], TensorType((total, 1), "i64"), {}))
    result = TensorType((total, rank), "i64")
    value = op.build("concat", columns, result, {"axis": 1}) if rank > 1 else columns[0]
    op.bind_counted(value, result, _count(op, found, total))


@importer("UNIQUE")
def unique(op: OperatorImport) -> None:
    """Different values in the order of their first places, and which of them each value is."""
    op.demand_counts((1,), 2)
    op.demand_kind(op.type(0), FLOAT | ORDINARY)
    if op.is_constant(0):
        _unique_constants(op)
        return
    x, total = op.type(0), op.type(0).elements
    if total > _MOST_COMPARED:
        op.unsupported(f"the different ones of {total} values, more than {_MOST_COMPARED}")
    values = op.build("reshape", [op.value(0)], TensorType((total,), x.element), {})
    first = _first_equal(op, values, x, total)
    numbers = op.constant_value(
        op.output(), np.arange(total, dtype=np.int32), TensorType((total,), "i32"), "numbers"
    )
    is_first = op.build("compare", [first, numbers], TensorType((total,), "i1"), {"predicate": "equal"})
    places = op.build("nonzero", [is_first], TensorType((total,), "i32"), {})
    found = _found(op, places, total, "i32")
    different = _gathered(op, values, places, total, x.element)
    different = _or_zero(op, different, found, str(x.element), total)
    op.bind_counted(different, TensorType((total,), x.element), _count(op, found, total))
    ones = op.build("cast", [is_first], TensorType((total,), "i32"), {})
    attributes = {"axis": 0, "exclusive": True, "reverse": False}
    ranks = op.build("cumsum", [ones], TensorType((total,), "i32"), attributes)
    which = _gathered(op, ranks, first, total, "i32")
    op.demand_kind(op.output(1).type, {"i32", "i64"}, "indices")
    result = TensorType((total,), op.output(1).element)
    op.bind(op.build("cast", [which], result, {}) if result.element != "i32" else which, result, 1)


def _first_equal(op: OperatorImport, values: Any, x: TensorType, total: int) -> Any:
    """i32 [N]: the first place of each value."""
    element = x.element
    if element in ("i1", "u8", "u16", "u32"):
        element = "i64"
        values = op.build("cast", [values], TensorType((total,), element), {})
    sides = [
        op.build("reshape", [values], TensorType(shape, element), {}) for shape in ((total, 1), (1, total))
    ]
    table = (total, total)
    equal = op.build("compare", sides, TensorType(table, "i1"), {"predicate": "equal"})
    ones = op.build("cast", [equal], TensorType(table, "i32"), {})
    return op.build("arg_max", [ones], TensorType((total,), "i32"), {"axis": 1})


def _unique_constants(op: OperatorImport) -> None:
    values, first, inverse = np.unique(
        op.constant(0, "values").reshape(-1), return_index=True, return_inverse=True
    )
    order = np.argsort(first)
    rank_of = np.empty_like(order)
    rank_of[order] = np.arange(order.size)
    op.emit_constant(values[order])
    op.emit_constant(rank_of[inverse.reshape(-1)].astype(op.output(1).type.dtype), 1)


def _found(op: OperatorImport, places: Any, total: int, element: str = "i64") -> Any:
    zero = _scalar(op, 0, element)
    return op.build("compare", [places, zero], TensorType((total,), "i1"), {"predicate": "greater_equal"})


def _or_zero(op: OperatorImport, value: Any, found: Any, element: str, total: int) -> Any:
    return op.build("select", [value, _scalar(op, 0, element), found], TensorType((total,), element), {})


def _count(op: OperatorImport, found: Any, total: int) -> Any:
    ones = op.build("cast", [found], TensorType((total,), "i64"), {})
    attributes = {"function": "sum", "axes": (0,), "keep_dims": False}
    return op.build("reduce", [ones], TensorType((), "i64"), attributes)


def _binary(op: OperatorImport, function: str, value: Any, number: int, total: int) -> Any:
    return op.build(
        "binary", [value, _scalar(op, number, "i64")], TensorType((total,), "i64"), {"function": function}
    )


def _gathered(op: OperatorImport, values: Any, places: Any, total: int, element: Any) -> Any:
    column = op.build("reshape", [places], TensorType((total, 1), "i32"), {})
    attributes = {"axis": 0, "batch_dims": 0}
    return op.build("gather", [values, column], TensorType((total,), element), attributes)


def _scalar(op: OperatorImport, number: int, element: str) -> Any:
    type_ = TensorType((), element)
    return op.constant_value(op.output(), np.asarray(number, type_.dtype), type_, number)
