"""Ops on one or two 8-bit tensors, element by element."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...dialect import rescale
from ...dialect.meaning import evaluate
from ...dialect.numerics import rule
from ...dialect.types import TensorType
from ...kernels.conversion import Dequantize, Quantize
from ...kernels.products import Multiply
from ...kernels.sums import Add
from ...kernels.table import Table
from .. import graph
from .convolutions import shifted_rescale, shifted_sum
from .groups import Around, Group, Part, Parts, Stored, Want, as_stored, byte_range, is_8bit
from .pairs import images_of, why_not

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
    """``add`` and ``sub``, also of an operand that is repeated along batch, height or width."""
    lhs, rhs = op.operands[0], op.operands[1]
    types = graph.type_of(lhs), graph.type_of(rhs), graph.type_of(op.results[0])
    if refused := why_not(types):
        return refused

    def make(inputs: Sequence[Stored], result: Stored) -> Parts:
        numbers = rescale.add(*types, attributes["clamp"], around.mode)
        spec = Add(
            *images_of(inputs, result),
            inputs[0].signed,
            inputs[1].signed,
            result.signed,
            shifted_sum(numbers, inputs[0].shift, inputs[1].shift, result.shift),
            graph.name_of(op) == "sub",
        )
        return [Part(spec, (0, 1))]

    return Group(op, (lhs, rhs), (_ANY, _ANY), make)


def mul(op: Any, attributes: Mapping[str, Any], around: Around) -> Group | str:
    """``mul``, also of an operand that is repeated along batch, height or width."""
    lhs, rhs = op.operands[0], op.operands[1]
    types = graph.type_of(lhs), graph.type_of(rhs), graph.type_of(op.results[0])
    if refused := why_not(types):
        return refused

    def make(inputs: Sequence[Stored], result: Stored) -> Parts:
        numbers = rescale.mul(*types, attributes["clamp"], around.mode)
        shifted = replace(
            numbers,
            lhs_zero_point=numbers.lhs_zero_point + inputs[0].shift,
            rhs_zero_point=numbers.rhs_zero_point + inputs[1].shift,
            output=shifted_rescale(numbers.output, result.shift),
        )
        signs = inputs[0].signed, inputs[1].signed, result.signed
        return [Part(Multiply(*images_of(inputs, result), *signs, shifted), (0, 1))]

    return Group(op, (lhs, rhs), (_ANY, _ANY), make)


def quantize(op: Any, attributes: Mapping[str, Any], around: Around) -> Group | str:
    """``quantize`` to 8 bits with one scale."""
    x, result = op.operands[0], op.results[0]
    if graph.type_of(x).element != "f32" or not is_8bit(graph.type_of(result)):
        return "it is not from float32 to 8 bits with one scale"
    params = graph.type_of(result).params

    def make(inputs: Sequence[Stored], output: Stored) -> Parts:
        spec = Quantize(
            inputs[0].image,
            output.image,
            output.signed,
            params.scale,
            params.zero_point + output.shift,
            params.storage.minimum + output.shift,
            params.storage.maximum + output.shift,
            rule(around.mode, "quantize", 8),
        )
        return [Part(spec)]

    return Group(op, (x,), (Want(),), make)


def dequantize(op: Any, attributes: Mapping[str, Any], around: Around) -> Group | str:
    """``dequantize`` of 8 bits with one scale."""
    x, result = op.operands[0], op.results[0]
    if not is_8bit(graph.type_of(x)) or graph.type_of(result).element != "f32":
        return "it is not from 8 bits with one scale to float32"

    def make(inputs: Sequence[Stored], output: Stored) -> Parts:
        source = inputs[0]
        spec = Dequantize(
            source.image, output.image, source.signed, source.type.params.scale, source.zero_point
        )
        return [Part(spec)]

    return Group(op, (x,), (_ANY,), make)


def copy_table(source: Stored, target: Stored) -> Table:
    """The same tensor in another form."""
    return Table(source.image, target.image, as_stored(byte_range(source), target))
