"""Constants, and ops that only change how a value is represented."""

from collections.abc import Iterator
from typing import Any

from ..attributes import KINDS, Kind
from ..constants import elements_array, has_data
from ..ir_types import to_element
from ..mlir import ext
from ..types import Storage, TensorType
from .constraints import element_name, element_type, equal_shape, per_tensor
from .core import QnnOp


class ConstantOp(QnnOp, name="constant", traits=[ext.Pure]):
    """A tensor known at compile time, given by its stored values.

    ``result = value``

    Values of 4-bit storage are held one per byte; large values are resources outside the text.

    Example: ``"qnn.constant"() {value = dense<[1, -2]> : tensor<2xi8>} : () -> tensor<2x!w>``
    """

    kinds = {**KINDS, "value": Kind.ELEMENTS}  # noqa: RUF012 - an annotation would define a field of the op

    result: ext.Result[Any]
    value: Any = ext.attribute(kw_only=True)

    def check(self) -> Iterator[str]:
        """(C1) the value has the result's static shape.
        (C2) the value's element type is the result's, or the signless integer that holds one stored value.
        (C3) stored values lie inside the storage range.
        """
        result, attribute = self.result_type, self.operation.attributes["value"]
        if not result.is_static:
            yield f"(C1) result shape: got {list(result.shape)}, expected a static one"
        yield from equal_shape("C1", "value", attribute.type.shape, result.shape)
        got, expected = to_element(attribute.type.element_type), _held_in(result)
        if got != expected:
            yield f"(C2) value's element type: got {got}, expected {expected} for {element_name(result)}"
        yield from _out_of_storage(attribute, result)


def _held_in(type_: TensorType) -> str:
    """The element type of a constant's value; unsigned integers are held in signless ones."""
    if not type_.is_quantized and type_.dtype.kind != "u":
        return str(type_.element)
    return f"i{type_.dtype.itemsize * 8}"


def _out_of_storage(attribute: Any, type_: TensorType) -> Iterator[str]:
    if not type_.is_quantized or not has_data(attribute) or not type_.elements:
        return
    storage = type_.params.storage
    if storage == Storage.of(storage.name) and storage.bits >= 8:
        return  # every stored bit pattern is inside
    values = elements_array(attribute).view(type_.dtype)
    low, high = int(values.min()), int(values.max())
    if low < storage.minimum or high > storage.maximum:
        bounds = [storage.minimum, storage.maximum]
        yield f"(C3) values from {low} to {high} lie outside the storage range {bounds}"


class QuantizeOp(QnnOp, name="quantize", traits=[ext.Pure]):
    """Real values to stored integers; per-tensor or per-axis.

    ``result = clamp(round_half_away(input / scale) + zero_point)``

    Example: ``"qnn.quantize"(%x) : (tensor<4xf32>) -> tensor<4x!q>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]

    def check(self) -> Iterator[str]:
        """(C1) the input is f32.
        (C2) the result is quantized, not sub-channel.
        (C3) equal shapes.
        """
        (source,), result = self.input_types, self.result_type
        fits = result.is_quantized and not result.params.block_sizes
        yield from element_type("C1", "input", source, source.element == "f32", "f32")
        yield from element_type("C2", "result", result, fits, "per-tensor or per-axis quantized")
        yield from equal_shape("C3", "result", result.shape, source.shape)


class DequantizeOp(QnnOp, name="dequantize", traits=[ext.Pure]):
    """Stored integers to real values; per-tensor, per-axis or sub-channel.

    ``result = (input - zero_point) * scale``

    Example: ``"qnn.dequantize"(%x) : (tensor<4x!q>) -> tensor<4xf32>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]

    def check(self) -> Iterator[str]:
        """(C1) the input is quantized.
        (C2) the result is f32.
        (C3) equal shapes.
        """
        (source,), result = self.input_types, self.result_type
        yield from element_type("C1", "input", source, source.is_quantized, "a quantized one")
        yield from element_type("C2", "result", result, result.element == "f32", "f32")
        yield from equal_shape("C3", "result", result.shape, source.shape)


class RequantizeOp(QnnOp, name="requantize", traits=[ext.Pure]):
    """Change the scale, zero point or storage type of a quantized tensor.

    ``result = clamp(round((input - input.zero_point) * input.scale / result.scale) + result.zero_point)``

    Example: ``"qnn.requantize"(%x) : (tensor<4x!q>) -> tensor<4x!r>``
    """

    result: ext.Result[Any]
    input: ext.Operand[Any]

    def check(self) -> Iterator[str]:
        """(C1) input and result are quantized per-tensor.
        (C2) equal shapes.
        """
        (source,), result = self.input_types, self.result_type
        for label, type_ in (("input", source), ("result", result)):
            yield from element_type("C1", label, type_, type_.is_quantized, "a quantized one")
            yield from per_tensor("C1", label, type_)
        yield from equal_shape("C2", "result", result.shape, source.shape)
