"""Matrix products of two tensors that are both computed: batch_matmul."""

from collections.abc import Iterator
from typing import Any

from ..mlir import ext
from ..types import TensorType
from . import shapes
from .constraints import ACTIVATIONS, inferred_shape, per_tensor, same_family, stored_in
from .core import QnnOp


class BatchMatmulOp(QnnOp, name="batch_matmul", traits=[ext.Pure]):
    """Products of matrices, the last two dimensions; the leading ones are batches, which broadcast.

    ``result[..., m, n] = sum_k(lhs[..., m, k] * rhs[..., k, n])``

    ``transpose_lhs``: lhs is given as [..., K, M]; ``transpose_rhs``: rhs as [..., N, K]. Accumulators are
    i32, or i64 if lhs is stored in i16.

    Example: ``"qnn.batch_matmul"(%a, %b) {transpose_lhs = false, transpose_rhs = true} :
    (tensor<3x2x8x!q>, tensor<1x4x8x!r>) -> tensor<3x2x4x!q>``
    """

    result: ext.Result[Any]
    lhs: ext.Operand[Any]
    rhs: ext.Operand[Any]
    transpose_lhs: Any = ext.attribute(kw_only=True)
    transpose_rhs: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) lhs and rhs have rank 2 at least.
        (C2) K is one extent, batches broadcast, and the result's shape follows.
        (C3) all are f32, or all are quantized per-tensor: lhs and rhs in i8, u8 or i16 storage, rhs not wider
          than lhs, the result in i8, u8, i16 or i32.
        """
        lhs, rhs = self.input_types
        result = self.result_type
        for label, type_ in (("lhs", lhs), ("rhs", rhs)):
            if len(type_.shape) < 2:
                yield f"(C1) {label} rank: got {len(type_.shape)}, expected at least 2"
        yield from inferred_shape(
            "C2",
            result.shape,
            lambda: shapes.batch_matmul_shape(
                lhs.shape, rhs.shape, self.plain("transpose_lhs"), self.plain("transpose_rhs")
            ),
        )
        types = {"lhs": lhs, "rhs": rhs, "result": result}
        yield from same_family("C3", types)
        for label, type_ in types.items():
            yield from per_tensor("C3", label, type_)
            storages = (*ACTIVATIONS, "i32") if label == "result" else ACTIVATIONS
            yield from stored_in("C3", label, type_, storages)
        yield from _widths("C3", lhs, rhs)


def _widths(number: str, lhs: TensorType, rhs: TensorType) -> Iterator[str]:
    if lhs.is_quantized and rhs.params.storage.bits > lhs.params.storage.bits:
        yield (
            f"({number}) rhs is stored in {rhs.params.storage.name}, expected no more bits than lhs has, "
            f"{lhs.params.storage.name}"
        )
