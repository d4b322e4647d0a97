"""batch_matmul: one contraction tagged ``batch_matmul``, then one elementwise rescale."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialect import rescale
from .arith import require_per_tensor, rescaled, widen
from .builder import Builder, Value
from .core import Call
from .scalar import Scalar


def batch_matmul(builder: Builder, call: Call) -> Value:
    """``rescale(sum_k (a - z_a) * (b - z_b))``; the zero points are subtracted in the loop.

    The innermost loop runs over contiguous elements of rhs: ``n``, or (``transpose_rhs``) ``k``. A sum of
    floats may not be reordered: there rhs is transposed first.
    """
    lhs, rhs = call.operands()
    transposed = bool(call["transpose_rhs"])
    quantized = call.types[0].is_quantized
    if transposed and not quantized:
        rank = len(call.types[1].shape)
        rhs = builder.transpose(rhs, [*range(rank - 2), rank - 1, rank - 2])
        transposed = False
    kind, zero_points, constants = "f32", (0, 0), None
    if quantized:
        require_per_tensor(call.result, "the result")
        constants = rescale.batch_matmul(call.types[0], call.types[1], call.result, call.mode)
        zero_points = constants.input_zero_point, constants.filter_zero_points[0]
        kind = "i64" if call.types[0].params.storage.bits == 16 else "i32"

    def product(a: Scalar, b: Scalar, acc: Scalar) -> Scalar:
        if not quantized:
            return acc + a * b
        left = widen(a, call.types[0].params) - zero_points[0]
        right = widen(b, call.types[1].params) - zero_points[1]
        return acc + left.extend(kind) * right.extend(kind)

    shape = call.result.shape
    batches = [f"b{axis}" for axis in range(len(shape) - 2)]
    a_matrix = ["k", "m"] if call["transpose_lhs"] else ["m", "k"]
    b_matrix = ["n", "k"] if transposed else ["k", "n"]
    inputs = [
        (lhs, ", ".join([*_batch_reads(lhs.type.shape, shape), *a_matrix])),
        (rhs, ", ".join([*_batch_reads(rhs.type.shape, shape), *b_matrix])),
    ]
    start = builder.filled(shape, kind, 0)
    loops = " ".join([*batches, "m", *(["n", "+k"] if transposed else ["+k", "n"])])
    outputs = [(start, ", ".join([*batches, "m", "n"]))]
    (acc,) = builder.generic(loops, inputs, outputs, product, tag="batch_matmul")
    if constants is None:
        return acc
    return rescaled(builder, call, [acc], constants.rescale, lambda x: x)


def _batch_reads(shape: Sequence[int], result: Sequence[int]) -> list[str]:
    """Where an operand of ``shape`` reads its batches; those of extent 1 stay at 0."""
    count = len(shape) - 2
    first = len(result) - 2 - count
    return [
        f"b{first + axis}" if extent == result[first + axis] else "0"
        for axis, extent in enumerate(shape[:-2])
    ]
