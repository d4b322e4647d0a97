"""resize_nearest and resize_bilinear: gathers with index and weight tables made at compile time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ...dialect import resampling
from ...dialect.resampling import Weights
from ...dialect.types import TensorType
from .arith import round_half_away_ratio, to_result, widen
from .builder import Builder, Value
from .core import Array, Call, storage_kind
from .scalar import Scalar


def resize_nearest(builder: Builder, call: Call) -> Value:
    """Each result element copies one input element."""
    source = call.types[0]
    kind = storage_kind(source)
    indices = [_nearest(call, axis) for axis in (1, 2)]
    value = _gather(builder, call, kind, indices, lambda read, rows, columns: read(rows[0], columns[0]))
    return to_result(builder, call, value, TensorType(call.result.shape, source.element))


def resize_bilinear(builder: Builder, call: Call) -> Value:
    """Each result element mixes four input elements; ``resampling.Weights`` says by which weights."""
    source = call.types[0]
    weights = resampling.bilinear_weights(source, call.mode)
    integral = weights is not Weights.FLOAT32
    wide = "f32" if not integral else "i32" if source.params.storage.bits == 8 else "i64"
    kind = storage_kind(source)

    def mix(read: _Read, rows: tuple[Scalar, ...], columns: tuple[Scalar, ...]) -> Scalar:
        total = _mix(lambda y, x: _element(read(y, x), wide, source), rows, columns, wide, weights.one)
        if weights is Weights.FRACTION_10:
            return round_half_away_ratio(total, 1 << 20).truncate(kind)
        if weights is Weights.FRACTION_11:
            return ((total + (1 << 21)) >> 22).truncate(kind)
        # Of stored uint8 values and weights that sum to one: in range, and not negative.
        return (total + 0.5).to_integer("i32").truncate(kind) if source.is_quantized else total

    tables = [_bilinear(call, axis, weights) for axis in (1, 2)]
    value = _gather(builder, call, kind, tables, mix)
    return to_result(builder, call, value, TensorType(call.result.shape, source.element))


_Read: TypeAlias = Callable[[Scalar, Scalar], Scalar]
"""The input element at a row and a column, batch and channel being those of the result element."""


def _element(stored: Scalar, wide: str, source: TensorType) -> Scalar:
    if stored.is_float:
        return stored
    if wide == "f32":
        return widen(stored, source.params).to_float("f32")
    return stored.extend(wide, signed=source.params.storage.signed)


def _mix(
    element: _Read, rows: tuple[Scalar, ...], columns: tuple[Scalar, ...], wide: str, one: int
) -> Scalar:
    """The weighted sum, in the reference kernel's order of operations (float32 results depend on it)."""
    y0, y1, down = rows
    x0, x1, right = columns
    down, right = down.extend(wide), right.extend(wide)
    whole = down.body.constant(wide, one)
    up, left = whole - down, whole - right
    total = element(y0, x0) * up * left + element(y1, x0) * down * left
    total = total + element(y0, x1) * up * right
    return total + element(y1, x1) * down * right


@dataclass(frozen=True)
class _Table:
    """Per result index of one axis: source indices, and perhaps a weight."""

    indices: list[Array]
    weight: Array | None


def _nearest(call: Call, axis: int) -> _Table:
    size, result = call.types[0].shape[axis], call.result.shape[axis]
    return _Table([resampling.nearest(size, result, call["align_corners"], call["half_pixel_centers"])], None)


def _bilinear(call: Call, axis: int, weights: Weights) -> _Table:
    size, result = call.types[0].shape[axis], call.result.shape[axis]
    options = bool(call["align_corners"]), bool(call["half_pixel_centers"])
    table = resampling.bilinear(weights, size, result, *options)
    dtype = np.float32 if weights is Weights.FLOAT32 else np.int32
    return _Table([table.lower, table.upper], table.fraction.astype(dtype))


def _gather(
    builder: Builder,
    call: Call,
    kind: str,
    tables: list[_Table],
    combine: Callable[[_Read, tuple[Scalar, ...], tuple[Scalar, ...]], Scalar],
) -> Value:
    """An elementwise op over the result; the tables of rows and columns are operands read along ``y`` and
    ``x``.
    """
    source = call.operand(0)
    operands = []
    for table, loop in zip(tables, "yx", strict=True):
        operands += [
            (builder.constant(array.astype(np.int32), f"{call.name}_index"), loop) for array in table.indices
        ]
        if table.weight is not None:
            operands.append((builder.constant(table.weight, f"{call.name}_weight"), loop))
    half = len(operands) // 2
    indices = len(tables[0].indices)

    def formula(*scalars: Scalar) -> Scalar:
        body = scalars[0].body
        batch, channel = body.index(0), body.index(3)

        def read(y: Scalar, x: Scalar) -> Scalar:
            return body.extract(source, [batch, y, x, channel])

        rows, columns = (
            tuple(value.to_index() if i < indices else value for i, value in enumerate(part))
            for part in (scalars[:half], scalars[half : 2 * half])
        )
        return combine(read, rows, columns)

    output = (builder.empty(call.result.shape, kind), "n, y, x, c")
    return builder.generic("n y x c", operands, [output], formula)[0]
