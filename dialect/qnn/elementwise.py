"""Ops on two tensors, element by element, with numpy broadcasting."""

from collections.abc import Iterator
from typing import Any

from ..mlir import ext
from .constraints import clamp_bounds, compute_types, element_names, inferred_shape
from .core import QnnOp
from .shapes import broadcast_shape


class _BinaryOp(QnnOp):
    result: ext.Result[Any]
    lhs: ext.Operand[Any]
    rhs: ext.Operand[Any]
    clamp: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) operands and result are all f32, or all quantized per-tensor in i8, u8 or i16 storage.
        (C2) storage types are equally wide.
        (C3) the result has the shape that the operands broadcast to.
        (C4) clamp is empty or low <= high.
        """
        (lhs, rhs), result = self.input_types, self.result_type
        types = {"lhs": lhs, "rhs": rhs, "result": result}
        yield from compute_types("C1", types)
        if lhs.is_quantized and len({t.params.storage.bits for t in types.values()}) > 1:
            yield f"(C2) storage types must be equally wide, got {element_names(types)}"
        yield from inferred_shape("C3", result.shape, lambda: broadcast_shape(lhs.shape, rhs.shape))
        yield from clamp_bounds("C4", self.plain("clamp"))


class AddOp(_BinaryOp, name="add", traits=[ext.Pure]):
    """Sum of two tensors.

    ``result = clamp(lhs + rhs)``

    Example: ``"qnn.add"(%a, %b) {clamp = array<f32>} : (tensor<2x4x!q>, tensor<4x!r>) -> tensor<2x4x!q>``
    """


class SubOp(_BinaryOp, name="sub", traits=[ext.Pure]):
    """Difference of two tensors.

    ``result = clamp(lhs - rhs)``

    Example: ``"qnn.sub"(%a, %b) {clamp = array<f32>} : (tensor<2x4x!q>, tensor<4x!r>) -> tensor<2x4x!q>``
    """


class MulOp(_BinaryOp, name="mul", traits=[ext.Pure]):
    """Product of two tensors.

    ``result = clamp(lhs * rhs)``

    Example: ``"qnn.mul"(%a, %b) {clamp = array<f32>} : (tensor<2x4x!q>, tensor<4x!r>) -> tensor<2x4x!q>``
    """
