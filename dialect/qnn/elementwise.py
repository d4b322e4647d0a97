"""Ops on two tensors, element by element, with numpy broadcasting."""

from collections.abc import Iterator, Mapping
from typing import Any

from ..mlir import ext
from ..types import TensorType
from .constraints import clamp_bounds, compute_types, element_names, inferred_shape, per_tensor, plain_types
from .core import QnnOp
from .shapes import broadcast_shape


class _BinaryOp(QnnOp):
    result: ext.Result[Any]
    lhs: ext.Operand[Any]
    rhs: ext.Operand[Any]
    clamp: Any = ext.attribute(kw_only=True)

    adds = True
    """Whether accumulators can be operands: those of one scale can be added, but not multiplied."""

    def check(self) -> Iterator[str]:
        """(C1) operands and result are all f32, all of one ordinary integer type (i32 or i64), or all
          quantized per-tensor in i8, u8 or i16 storage; add and sub also all accumulators (i32 storage, one
          scale, zero point 0).
        (C2) storage types are equally wide.
        (C3) the result has the shape that the operands broadcast to.
        (C4) clamp is empty or low <= high.
        """
        (lhs, rhs), result = self.input_types, self.result_type
        types = {"lhs": lhs, "rhs": rhs, "result": result}
        if self.adds and all(t.is_quantized and t.params.storage.name == "i32" for t in types.values()):
            yield from _accumulators("C1", types)
        elif lhs.element in ("i32", "i64"):
            yield from plain_types("C1", types, ("i32", "i64"))
        else:
            yield from compute_types("C1", types)
        if lhs.is_quantized and len({t.params.storage.bits for t in types.values()}) > 1:
            yield f"(C2) storage types must be equally wide, got {element_names(types)}"
        yield from inferred_shape("C3", result.shape, lambda: broadcast_shape(lhs.shape, rhs.shape))
        yield from clamp_bounds("C4", self.plain("clamp"))


def _accumulators(number: str, types: Mapping[str, TensorType]) -> Iterator[str]:
    """i32 values that are added as they are: in one scale, around 0."""
    first = next(iter(types.values()))
    for label, type_ in types.items():
        yield from per_tensor(number, label, type_)
        if type_.params.zero_points != (0,) or type_.params.scales != first.params.scales:
            got = f"scale {type_.params.scale} and zero point {type_.params.zero_point}"
            yield f"({number}) {label} in i32: got {got}, expected lhs's scale and zero point 0"


class AddOp(_BinaryOp, name="add", traits=[ext.Pure]):
    """Sum of two tensors.

    ``result = clamp(lhs + rhs)``

    Accumulators and ordinary integers are added without rounding and wrap around.

    Example: ``"qnn.add"(%a, %b) {clamp = array<f32>} : (tensor<2x4x!q>, tensor<4x!r>) -> tensor<2x4x!q>``
    """


class SubOp(_BinaryOp, name="sub", traits=[ext.Pure]):
    """Difference of two tensors.

    ``result = clamp(lhs - rhs)``

    Accumulators and ordinary integers are subtracted without rounding and wrap around.

    Example: ``"qnn.sub"(%a, %b) {clamp = array<f32>} : (tensor<2x4x!q>, tensor<4x!r>) -> tensor<2x4x!q>``
    """


class MulOp(_BinaryOp, name="mul", traits=[ext.Pure]):
    """Product of two tensors.

    ``result = clamp(lhs * rhs)``

    Ordinary integers wrap around.

    Example: ``"qnn.mul"(%a, %b) {clamp = array<f32>} : (tensor<2x4x!q>, tensor<4x!r>) -> tensor<2x4x!q>``
    """

    adds = False
