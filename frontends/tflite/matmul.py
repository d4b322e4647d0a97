"""BATCH_MATMUL: of two tensors of one kind, or of floats with int8 weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...dialect.qnn.shapes import batch_matmul_shape
from ...dialect.types import TensorType
from .operator_import import OperatorImport, kind
from .raw_integers import integers
from .registry import importer
from .weights import Constant

_KINDS = {
    ("f32", "f32"): "f32",
    ("quantized i8", "quantized i8"): "quantized i8",
    ("quantized i16", "quantized i8"): "quantized i16",
    ("quantized i16", "quantized i16"): "quantized i16",
}
"""Kinds of both inputs -> the result's."""
_INTEGERS = {("i8", "i8"), ("quantized i8", "quantized i8")}
"""Kinds whose sums of products may be the result themselves."""
_MOST_BATCHES = 256
"""Products are written one by one where each batch has its own weights."""


@importer("BATCH_MATMUL")
def batch_matmul(op: OperatorImport) -> None:
    """batch_matmul; of floats with integers dynamic_fully_connected."""
    op.demand_counts((2,))
    lhs, rhs = op.type(0), op.type(1)
    adj_x, adj_y = op.option("adj_x"), op.option("adj_y")
    if min(len(lhs.shape), len(rhs.shape)) < 2:
        op.fail(f"inputs of shapes {list(lhs.shape)} and {list(rhs.shape)}, expected rank 2 and more")
    shape = op.infer(batch_matmul_shape, lhs.shape, rhs.shape, adj_x, adj_y)
    kinds = kind(lhs), kind(rhs)
    if kinds == ("f32", "quantized i8") and kind(op.output().type) == "f32":
        _hybrid(op, lhs, rhs, shape)
        return
    if kinds in _INTEGERS and kind(op.output().type) in ("i32", "quantized i32"):
        _accumulators(op, shape)
        return
    if _KINDS.get(kinds) != kind(op.output().type):
        op.unsupported(f"{kinds[0]} times {kinds[1]} with {kind(op.output().type)} result")
    if rhs.is_quantized and not rhs.params.is_per_tensor:
        op.unsupported("per-channel parameters on a factor")
    attributes = {"transpose_lhs": adj_x, "transpose_rhs": adj_y}
    op.emit("batch_matmul", [op.value(0), op.value(1)], shape, attributes)


def _accumulators(op: OperatorImport, shape: tuple[int, ...]) -> None:
    """Integers as they are; a scale that the file gives them means nothing."""
    operands = []
    for index in (0, 1):
        type_ = op.type(index)
        if type_.is_quantized and any(type_.params.zero_points):
            op.unsupported("an i32 result of factors with zero points, which LiteRT's kernel ignores")
        operands.append(op.relabel(op.value(index), type_, integers(type_.shape, "i8")))
    sums = integers(shape, "i32")
    attributes = {"transpose_lhs": op.option("adj_x"), "transpose_rhs": op.option("adj_y")}
    value = op.build("batch_matmul", operands, sums, attributes)
    result = op.result_type(shape)
    op.bind(op.relabel(value, sums, result), result)


# -- floats times integers ------------------------------------------------------------------------


@dataclass(frozen=True)
class _Filters:
    """Matrices [N, K] of int8, one or one per batch."""

    value: Callable[[int], Any]
    batches: tuple[int, ...]


def _hybrid(op: OperatorImport, lhs: TensorType, rhs: TensorType, shape: tuple[int, ...]) -> None:
    """dynamic_fully_connected by one matrix, or batch by batch."""
    filters = _filters(op, rhs)
    value, rows = op.value(0), lhs
    if op.option("adj_x"):
        value, rows = _transposed(op, value, lhs)
    attributes = {"clamp": (), "asymmetric": op.option("asymmetric_inputs")}
    if math.prod(filters.batches) == 1:
        product, operands = replace(rows, shape=(*rows.shape[:-1], shape[-1])), [value, filters.value(0)]
        if product.shape == shape:
            op.emit("dynamic_fully_connected", operands, shape, attributes)
            return
        value = op.build("dynamic_fully_connected", operands, product, attributes)
        op.emit("reshape", [value], shape)  # batches of extent 1 that only the weights have
        return
    count = math.prod(shape[:-2])
    if count > _MOST_BATCHES:
        op.unsupported(f"float activations with {count} batches of weights, more than {_MOST_BATCHES}")
    batches, (height, depth) = rows.shape[:-2], rows.shape[-2:]
    pages = (math.prod(batches), height, depth)
    value = op.build("reshape", [value], TensorType(pages, "f32"), {})
    of_lhs, of_rhs = (
        np.broadcast_to(np.arange(math.prod(own)).reshape(own), shape[:-2]).reshape(-1)
        for own in (batches, filters.batches)
    )
    page, parts = (1, height, shape[-1]), []
    for left, right in zip(of_lhs.tolist(), of_rhs.tolist(), strict=True):
        part = _page(op, value, TensorType(pages, "f32"), left)
        operands = [part, filters.value(right)]
        parts.append(op.build("dynamic_fully_connected", operands, TensorType(page, "f32"), attributes))
    value = op.build("concat", parts, TensorType((count, *page[1:]), "f32"), {"axis": 0})
    op.emit("reshape", [value], shape)


def _filters(op: OperatorImport, rhs: TensorType) -> _Filters:
    params, channels = rhs.params, len(rhs.shape) - (2 if op.option("adj_y") else 1)
    if params.axis not in (None, channels):
        op.fail(f"weights have scales along axis {params.axis}, expected {channels}")
    if any(params.zero_points):
        op.fail(f"int8 weights need zero point 0, got {next(filter(None, params.zero_points))}")
    if op.is_constant(1):
        return _constant_filters(op, rhs)
    if not params.is_per_tensor:
        op.unsupported("weights that are computed at run time with per-channel parameters")
    value, type_ = op.value(1), rhs
    if not op.option("adj_y"):
        value, type_ = _transposed(op, value, rhs)
    pages = TensorType((math.prod(rhs.shape[:-2]), *type_.shape[-2:]), rhs.element)
    value = op.build("reshape", [value], pages, {})
    matrix = TensorType(pages.shape[1:], rhs.element)
    return _Filters(
        lambda batch: op.build("reshape", [_page(op, value, pages, batch)], matrix, {}), rhs.shape[:-2]
    )


def _constant_filters(op: OperatorImport, rhs: TensorType) -> _Filters:
    params, matrices = rhs.params, op.constant(1, "weights").reshape(-1, *rhs.shape[-2:])
    element = replace(params, axis=None if params.axis is None else 0)

    def value(batch: int) -> Any:
        flat = matrices[batch] if op.option("adj_y") else matrices[batch].T
        return Constant(op.tensor(1), flat, TensorType(flat.shape, element), ("matrix", batch)).value(op)

    return _Filters(value, rhs.shape[:-2])


def _page(op: OperatorImport, value: Any, pages: TensorType, number: int) -> Any:
    """[1, M, K] of [B, M, K]."""
    sizes = (1, *pages.shape[1:])
    if sizes == pages.shape:
        return value
    attributes = {"offsets": (number, 0, 0), "sizes": sizes, "strides": (1, 1, 1)}
    return op.build("slice", [value], TensorType(sizes, pages.element), attributes)


def _transposed(op: OperatorImport, value: Any, type_: TensorType) -> tuple[Any, TensorType]:
    """The last two dimensions exchanged."""
    rank = len(type_.shape)
    order = (*range(rank - 2), rank - 1, rank - 2)
    turned = replace(type_, shape=tuple(type_.shape[axis] for axis in order))
    return op.build("transpose", [value], turned, {"permutation": order}), turned
