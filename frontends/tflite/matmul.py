"""BATCH_MATMUL: of two computed tensors, or of floats with constant integers."""

from __future__ import annotations

from dataclasses import replace

from ...dialect.qnn.shapes import batch_matmul_shape
from ...dialect.types import TensorType
from .operator_import import OperatorImport, kind
from .registry import importer
from .weights import Constant

_KINDS = {
    ("f32", "f32"): "f32",
    ("quantized i8", "quantized i8"): "quantized i8",
    ("quantized i16", "quantized i8"): "quantized i16",
    ("quantized i16", "quantized i16"): "quantized i16",
}
"""Kinds of both inputs -> the result's."""


@importer("BATCH_MATMUL")
def batch_matmul(op: OperatorImport) -> None:
    """batch_matmul; of floats with constant integers dynamic_fully_connected."""
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
    if _KINDS.get(kinds) != kind(op.output().type):
        op.unsupported(f"{kinds[0]} times {kinds[1]} with {kind(op.output().type)} result")
    if rhs.is_quantized and not rhs.params.is_per_tensor:
        op.unsupported("per-channel parameters on a factor")
    attributes = {"transpose_lhs": adj_x, "transpose_rhs": adj_y}
    op.emit("batch_matmul", [op.value(0), op.value(1)], shape, attributes)


def _hybrid(op: OperatorImport, lhs: TensorType, rhs: TensorType, shape: tuple[int, ...]) -> None:
    """Rows of floats times one matrix of int8 constants, which becomes the filter [N, K]."""
    matrix = op.constant(1, "weights")
    if matrix.size != rhs.shape[-1] * rhs.shape[-2]:
        op.unsupported(f"float activations with {rhs.shape[:-2]} batches of weights")
    params, channels = rhs.params, len(rhs.shape) - (2 if op.option("adj_y") else 1)
    if params.axis not in (None, channels):
        op.fail(f"weights have scales along axis {params.axis}, expected {channels}")
    if any(params.zero_points):
        op.fail(f"int8 weights need zero point 0, got {next(filter(None, params.zero_points))}")
    flat = matrix.reshape(rhs.shape[-2:])
    flat = flat if op.option("adj_y") else flat.T
    element = replace(params, axis=None if params.axis is None else 0)
    filter_ = Constant(op.tensor(1), flat, TensorType(flat.shape, element), "matrix")
    value, rows = op.value(0), lhs
    if op.option("adj_x"):
        order = (*range(len(lhs.shape) - 2), len(lhs.shape) - 1, len(lhs.shape) - 2)
        rows = replace(lhs, shape=tuple(lhs.shape[axis] for axis in order))
        value = op.build("transpose", [value], rows, {"permutation": order})
    attributes = {"clamp": (), "asymmetric": op.option("asymmetric_inputs")}
    product = (*rows.shape[:-1], shape[-1])
    operands = [value, filter_.value(op)]
    if product == shape:
        op.emit("dynamic_fully_connected", operands, shape, attributes)
        return
    value = op.build("dynamic_fully_connected", operands, replace(rows, shape=product), attributes)
    op.emit("reshape", [value], shape)  # batches of extent 1 that only the weights have
