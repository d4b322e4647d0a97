"""MLIR tensor types to plain :class:`~zeropoint.dialect.types.TensorType` and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from .mlir import ir, quant
from .types import DYNAMIC, QuantParams, Storage, TensorType

_SIGNED = 1  # quant.QuantizedType.FLAG_SIGNED


def to_tensor_type(type_: Any) -> TensorType:
    """The plain form of a ranked MLIR tensor type; raises TypeError for any other type."""
    if not isinstance(type_, ir.RankedTensorType):
        raise TypeError(f"not a ranked tensor type: {type_}")
    dynamic = ir.ShapedType.get_dynamic_size()
    shape = tuple(DYNAMIC if d == dynamic else d for d in type_.shape)
    return TensorType(shape, to_element(type_.element_type))


def to_element(type_: Any) -> str | QuantParams:
    """The plain form of an element type: ``f32``, ``i8``, ``u8`` ... or :class:`QuantParams`."""
    if isinstance(type_, quant.QuantizedType):
        return _quant_params(type_)
    if isinstance(type_, ir.IntegerType) and type_.is_unsigned:
        return f"u{type_.width}"
    if isinstance(type_, ir.IntegerType):
        return f"i{type_.width}"
    if isinstance(type_, ir.IndexType):
        return "i64"
    return str(type_)


def _quant_params(type_: Any) -> QuantParams:
    storage = Storage(
        type_.storage_type_integral_width, type_.is_signed, type_.storage_type_min, type_.storage_type_max
    )
    if isinstance(type_, quant.UniformQuantizedType):
        return QuantParams(storage, (type_.scale,), (type_.zero_point,))
    if isinstance(type_, quant.UniformQuantizedPerAxisType):
        return QuantParams(storage, tuple(type_.scales), tuple(type_.zero_points), type_.quantized_dimension)
    if isinstance(type_, quant.UniformQuantizedSubChannelType):
        blocks = tuple(zip(type_.quantized_dimensions, type_.block_sizes, strict=True))
        scales = tuple(float(s) for s in np.array(ir.DenseElementsAttr(type_.scales)).reshape(-1))
        zero_points = tuple(int(z) for z in np.array(ir.DenseElementsAttr(type_.zero_points)).reshape(-1))
        return QuantParams(storage, scales, zero_points, block_sizes=blocks)
    raise TypeError(f"not a uniform quantized type: {type_}")


def to_ir_type(type_: TensorType) -> Any:
    """The MLIR tensor type of a plain one, in the current context."""
    dynamic = ir.ShapedType.get_dynamic_size()
    shape = [dynamic if d == DYNAMIC else d for d in type_.shape]
    return ir.RankedTensorType.get(shape, to_ir_element(type_.element))


def to_ir_element(element: str | QuantParams) -> Any:
    """The MLIR element type of a plain one, in the current context."""
    if isinstance(element, QuantParams):
        return _ir_quantized(element)
    if element[0] == "u":
        return ir.IntegerType.get_unsigned(int(element[1:]))
    return ir.Type.parse(element)


def _ir_quantized(params: QuantParams) -> Any:
    storage = params.storage
    flags = _SIGNED if storage.signed else 0
    integer = ir.IntegerType.get_signless(storage.bits)
    float32 = ir.F32Type.get()
    bounds = (storage.minimum, storage.maximum)
    if params.block_sizes:
        raise TypeError("sub-channel types are read and printed; building one from Python is not supported yet")
    if params.axis is None:
        return quant.UniformQuantizedType.get(
            flags, integer, float32, params.scale, params.zero_point, *bounds
        )
    return quant.UniformQuantizedPerAxisType.get(
        flags, integer, float32, list(params.scales), list(params.zero_points), params.axis, *bounds
    )
