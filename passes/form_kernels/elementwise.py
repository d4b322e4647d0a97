"""Ops on one or two 8-bit tensors, element by element."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...dialect import rescale
from ...dialect.meaning import evaluate
from ...dialect.types import TensorType
from ...kernels.sums import Add
from ...kernels.table import Table
from .. import graph
from .convolutions import shifted_sum
from .groups import Around, Group, Part, Parts, Stored, Want, as_stored, byte_range, is_8bit

_ANY = Want(any_sign=True)


def unary(op: Any, attributes: Mapping[str, Any], around: Around) -> Group | str:
    """Any function of one 8-bit number: all 256 results are computed by its meaning."""
    x, result = op.operands[0], op.results[0]
    types = graph.type_of(x), graph.type_of(result)
    if not is_8bit(types[0]) or not is_8bit(types[1]):
        return "input and result are not both 8-bit"
    name = graph.name_of(op)

    def make(inputs: Sequence[Stored], output: Stored) -> Parts:
        line, results = (TensorType((256,), type_.element) for type_ in types)
        (values,) = evaluate(name, [byte_range(inputs[0])], [line], [results], attributes, around.mode)
        return [Part(Table(inputs[0].image, output.image, as_stored(values, output)))]

    return Group(op, (x,), (_ANY,), make)


def add(op: Any, attributes: Mapping[str, Any], around: Around) -> Group | str:
    """``add`` and ``sub`` of two tensors of one shape."""
    lhs, rhs = op.operands[0], op.operands[1]
    types = graph.type_of(lhs), graph.type_of(rhs), graph.type_of(op.results[0])
    if not all(is_8bit(type_) for type_ in types):
        return "operands and result are not all 8-bit"
    if len({type_.shape for type_ in types}) != 1:
        return "it broadcasts"

    def make(inputs: Sequence[Stored], result: Stored) -> Parts:
        numbers = rescale.add(*types, attributes["clamp"], around.mode)
        spec = Add(
            inputs[0].image,
            inputs[1].image,
            result.image,
            inputs[0].signed,
            inputs[1].signed,
            result.signed,
            shifted_sum(numbers, inputs[0].shift, inputs[1].shift, result.shift),
            graph.name_of(op) == "sub",
        )
        return [Part(spec, (0, 1))]

    return Group(op, (lhs, rhs), (_ANY, _ANY), make)


def copy_table(source: Stored, target: Stored) -> Table:
    """The same tensor in another form."""
    return Table(source.image, target.image, as_stored(byte_range(source), target))
