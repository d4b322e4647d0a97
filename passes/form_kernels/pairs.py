"""Functions of two 8-bit tensors beside sums and products."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ...dialect.meaning import evaluate
from ...dialect.types import TensorType
from ...kernels.extrema import Extremum
from ...kernels.image import Image
from ...kernels.pair_table import PairTable
from ...kernels.table import Table
from .. import graph
from .groups import (
    Around,
    Builder,
    Group,
    Part,
    Parts,
    Stored,
    Want,
    as_stored,
    byte_range,
    constant_array,
    is_8bit,
    of_four,
)

_ANY = Want(any_sign=True)
_FEWEST = 2048
"""Elements of a result for which a table of 64 KiB is read and kept."""


def extremum(op: Any, attributes: Mapping[str, Any], around: Around) -> Group | str:
    """``maximum`` and ``minimum`` of bytes, where all parameters are one."""
    types = _types(op)
    if refused := why_not(types):
        return refused
    if not all(type_.params.same_values(types[2].params) for type_ in types[:2]):
        return "its operands have other parameters than its result"
    largest = graph.name_of(op) == "maximum"

    def make(inputs: Sequence[Stored], result: Stored) -> Parts:
        if any(source.shift != result.shift for source in inputs):
            return "its operands and result are kept in different forms"
        return [Part(Extremum(*images_of(inputs, result), result.signed, largest), (0, 1))]

    return Group(op, tuple(op.operands), (Want(like_result=True),) * 2, make)


def any_function(op: Any, attributes: Mapping[str, Any], around: Around) -> Group | str:
    """Any function of two 8-bit numbers to bytes: all 65536 results are computed by its meaning."""
    types = _types(op)
    if refused := why_not(types):
        return refused
    if math.prod(types[2].shape) < _FEWEST:
        return "it has too few elements for a table of all pairs"
    name = graph.name_of(op)

    def make(inputs: Sequence[Stored], result: Stored) -> Parts:
        arrays = [byte_range(inputs[0])[:, None], byte_range(inputs[1])[None, :]]
        kinds = [TensorType(array.shape, type_.element) for array, type_ in zip(arrays, types, strict=False)]
        target = TensorType((256, 256), types[2].element)
        (values,) = evaluate(name, arrays, kinds, [target], attributes, around.mode)
        return [Part(PairTable(*images_of(inputs, result), as_stored(values, result)), (0, 1))]

    return Group(op, tuple(op.operands), (_ANY, _ANY), make)


def slopes(op: Any, attributes: Mapping[str, Any], around: Around) -> Group | str:
    """``prelu`` whose slopes are a tensor: loops of vectors are twice as fast as a table of all pairs."""
    return "its slopes are several numbers"


def or_with_number(build: Builder) -> Builder:
    """``build``, but where one operand is a constant of one element a table of the other's 256 results."""

    def either(op: Any, attributes: Mapping[str, Any], around: Around) -> Group | str:
        found = _with_number(op, attributes, around)
        return build(op, attributes, around) if found is None else found

    return either


def _with_number(op: Any, attributes: Mapping[str, Any], around: Around) -> Group | None:
    types = _types(op)
    if not all(is_8bit(type_) for type_ in types[:2]) or not _has_bytes(types[2]):
        return None
    for index in (1, 0):
        number, other = op.operands[index], 1 - index
        array = constant_array(number) if math.prod(types[index].shape) == 1 else None
        if array is not None and math.prod(types[other].shape) == math.prod(types[2].shape):
            return _table_of(op, attributes, around, index, array)
    return None


def _table_of(op: Any, attributes: Mapping[str, Any], around: Around, index: int, number: Any) -> Group:
    types, name = _types(op), graph.name_of(op)

    def make(inputs: Sequence[Stored], result: Stored) -> Parts:
        arrays = [byte_range(inputs[0]), number.reshape(1)]
        if index == 0:
            arrays.reverse()
        kinds = [TensorType(array.shape, type_.element) for array, type_ in zip(arrays, types, strict=False)]
        target = TensorType((256,), types[2].element)
        (values,) = evaluate(name, arrays, kinds, [target], attributes, around.mode)
        image = inputs[0].image  # of as many elements, perhaps of another rank
        if (image.height, image.width) != (result.image.height, result.image.width):
            image = of_four(inputs[0])
        return [Part(Table(image, result.image, as_stored(values, result)))]

    return Group(op, (op.operands[1 - index],), (_ANY,), make)


def why_not(types: Sequence[TensorType]) -> str | None:
    """None if kernels of two operands may take tensors of these types (both operands, the result)."""
    if not all(is_8bit(type_) for type_ in types[:2]) or not _has_bytes(types[2]):
        return "operands and result are not all 8-bit"
    if all(type_.shape == types[2].shape for type_ in types):
        return None
    if len(types[2].shape) > 4:
        return "an operand of more than four dimensions is repeated"
    if any(type_.shape[-1:] != types[2].shape[-1:] for type_ in types):
        return "an operand is repeated along channels"
    return None


def images_of(inputs: Sequence[Stored], result: Stored) -> tuple[Image, Image, Image]:
    """Both operands' and the result's, of one shape or with ones where an operand is repeated."""
    all_ = (*inputs, result)
    if any(one.type.shape != result.type.shape for one in all_):
        return of_four(inputs[0]), of_four(inputs[1]), of_four(result)
    return inputs[0].image, inputs[1].image, result.image


def _has_bytes(type_: TensorType) -> bool:
    return is_8bit(type_) or (type_.element == "i1" and type_.is_static)


def _types(op: Any) -> list[TensorType]:
    return [graph.type_of(value) for value in (*op.operands, op.results[0])]
