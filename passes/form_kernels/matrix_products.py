"""batch_matmul of two matrices that are both computed: the right one is packed into a temporary buffer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...dialect import rescale
from ...dialect.types import TensorType
from ...kernels.matrix_product import MatrixProduct
from ...kernels.pack_matrix import PackMatrix
from .groups import Around, Group, Part, Parts, Stored, Want


def computed(op: Any, types: Sequence[TensorType], transposed: bool, around: Around) -> Group | str:
    """Where every batch has a right matrix of its own, and a left one of its own or one for all."""
    lhs, rhs, result = types
    rows, columns = result.shape[-2:]
    depth = lhs.shape[-1]
    batch = math.prod(result.shape[:-2])
    lhs_batch = math.prod(lhs.shape[:-2])
    if math.prod(rhs.shape[:-2]) != batch or lhs_batch not in (1, batch):
        return "its batches are repeated"
    if around.signed_inputs:
        return "its right factor is computed"
    numbers = rescale.batch_matmul(lhs, rhs, result, around.mode)

    def make(inputs: Sequence[Stored], output: Stored) -> Parts:
        if not all(one.image.is_dense for one in (*inputs, output)):
            return "a factor or the result has a border"
        left, right = inputs[0].zero_point, inputs[1].zero_point
        shift = output.shift
        moved = replace(
            numbers.rescale,
            zero_point=numbers.rescale.zero_point + shift,
            low=numbers.rescale.low + shift,
            high=numbers.rescale.high + shift,
        )
        product = MatrixProduct(
            batch, rows, depth, columns, lhs_batch < batch, left, right, output.signed, moved
        )
        pack = PackMatrix(batch, depth, columns, transposed, left, depth * left * right)
        return [Part(pack, (1,), pack.most_bytes), Part(product, (0, 2))]

    wants = Want(around.signed_inputs), Want(not around.signed_inputs)
    return Group(op, tuple(op.operands)[:2], wants, make, result_has_border=False)
