"""FULLY_CONNECTED with shuffled weights: a matrix product of bytes, with 16-bit results."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...dialect.types import TensorType
from .operator_import import Q16, OperatorImport, kind
from .weights import Constant, bias_of

_ROWS, _COLUMNS = 4, 16
_MIDDLE = 128


def shuffled_fully_connected(op: OperatorImport) -> None:
    """conv2d on images of one pixel: kernels of this format round as convolutions do.

    The weights [N, K] lie in blocks of 4 rows and 16 columns, and their highest bit is flipped: they are int8
    there, uint8 with the zero point 128 by their type. The second result is room that LiteRT works in.
    """
    op.demand_counts((2, 3), 2)
    x, w, y = op.type(0), op.type(1), op.output().type
    if kind(x) != "quantized u8" or kind(w) != "quantized u8" or kind(y) not in Q16:
        op.unsupported(f"shuffled weights with {kind(x)} input, {kind(w)} weights and {kind(y)} result")
    op.demand_rank(w, 2, "weights")
    outputs, features = w.shape
    if outputs % _ROWS or features % _COLUMNS or not outputs or not features:
        op.fail(f"weights of shape {list(w.shape)} do not divide into blocks of {_ROWS} x {_COLUMNS}")
    if x.elements % features:
        op.fail(f"an input of shape {list(x.shape)} does not divide into rows of {features}")
    if {x.params.zero_points, w.params.zero_points} != {(_MIDDLE,)} or y.params.zero_point:
        op.fail(f"shuffled weights need zero points of {_MIDDLE} for input and weights, and 0 for the result")
    stored = op.constant(1, "weights").reshape(outputs // _ROWS, features // _COLUMNS, _ROWS, _COLUMNS)
    matrix = stored.transpose(0, 2, 1, 3).reshape(outputs, 1, 1, features) ^ np.uint8(0x80)
    rows = x.elements // features
    filter_ = Constant(op.tensor(1), matrix, TensorType(matrix.shape, w.element), "in order")
    bias = bias_of(op, w)
    image = op.build("reshape", [op.value(0)], replace(x, shape=(rows, 1, 1, features)), {})
    attributes = {
        "strides": (1, 1),
        "dilations": (1, 1),
        "padding": (0, 0, 0, 0),
        "groups": 1,
        "clamp": op.clamp(),
    }
    operands = [image, filter_.value(op), *([bias.value(op)] if bias else [])]
    product = op.build("conv2d", operands, replace(y, shape=(rows, 1, 1, outputs)), attributes)
    op.emit("reshape", [product], (rows, outputs))
