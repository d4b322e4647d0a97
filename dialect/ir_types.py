"""MLIR tensor types to plain :class:`~zeropoint.dialect.types.TensorType` and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .constants import elements_array, ranked
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
    """The plain form of an element type: ``f32``, ``i8``, ``u8`` ... or :class:`QuantParams`.

    Raises TypeError for anything else (complex, vectors, quantized types without a scale or not of f32).
    """
    if isinstance(type_, quant.QuantizedType):
        return _quant_params(type_)
    if isinstance(type_, ir.IntegerType):
        return f"{'u' if type_.is_unsigned else 'i'}{type_.width}"
    if isinstance(type_, ir.IndexType):
        return "i64"
    if str(type_) not in ("f16", "f32", "f64"):
        raise TypeError(f"element type {type_} is not supported")
    return str(type_)


def _quant_params(type_: Any) -> QuantParams:
    if str(type_.expressed_type) != "f32":
        raise TypeError(f"expressed type: got {type_.expressed_type}, expected f32")
    storage = Storage(
        type_.storage_type_integral_width, type_.is_signed, type_.storage_type_min, type_.storage_type_max
    )
    if isinstance(type_, quant.UniformQuantizedType):
        return QuantParams(storage, (type_.scale,), (type_.zero_point,))
    if isinstance(type_, quant.UniformQuantizedPerAxisType):
        return QuantParams(storage, tuple(type_.scales), tuple(type_.zero_points), type_.quantized_dimension)
    if isinstance(type_, quant.UniformQuantizedSubChannelType):
        blocks = tuple(zip(type_.quantized_dimensions, type_.block_sizes, strict=True))
        scales = tuple(float(s) for s in elements_array(type_.scales).reshape(-1))
        zero_points = elements_array(type_.zero_points).reshape(-1).astype(np.int64)
        # The bindings hand out the bits of unsigned zero points as signed integers.
        wrap = 0 if storage.signed else (1 << storage.bits) - 1
        return QuantParams(
            storage, scales, tuple(int(z) & wrap if wrap else int(z) for z in zero_points), block_sizes=blocks
        )
    raise TypeError(f"{type_} is not a uniform quantized type")


def to_ir_type(type_: TensorType) -> Any:
    """The MLIR tensor type of a plain one, in the current context."""
    dynamic = ir.ShapedType.get_dynamic_size()
    shape = [dynamic if d == DYNAMIC else d for d in type_.shape]
    return ranked(shape, to_ir_element(type_.element, type_.shape))


def to_ir_element(element: str | QuantParams, shape: Sequence[int] = ()) -> Any:
    """The MLIR element type of a plain one, in the current context; a sub-channel type needs the tensor's
    ``shape``.
    """
    if isinstance(element, QuantParams):
        return _ir_quantized(element, shape)
    if element[0] == "u":
        return ir.IntegerType.get_unsigned(int(element[1:]))
    return ir.Type.parse(element)


def _ir_quantized(params: QuantParams, shape: Sequence[int]) -> Any:
    storage = params.storage
    flags = _SIGNED if storage.signed else 0
    integer = ir.IntegerType.get_signless(storage.bits)
    float32 = ir.F32Type.get()
    bounds = (storage.minimum, storage.maximum)
    if params.block_sizes:
        return _ir_sub_channel(params, shape, flags)
    if params.axis is None:
        return quant.UniformQuantizedType.get(
            flags, integer, float32, params.scale, params.zero_point, *bounds
        )
    return quant.UniformQuantizedPerAxisType.get(
        flags, integer, float32, list(params.scales), list(params.zero_points), params.axis, *bounds
    )


def _ir_sub_channel(params: QuantParams, shape: Sequence[int], flags: int) -> Any:
    """The scales of a sub-channel type form a tensor: one per block along each blocked dimension, 1 along the
    others.
    """
    storage, blocks = params.storage, dict(params.block_sizes)
    grid = [shape[d] // blocks[d] if d in blocks else 1 for d in range(len(shape))]
    if DYNAMIC in shape or int(np.prod(grid)) != len(params.scales):
        raise TypeError(f"sub-channel type of shape {list(shape)}: {len(params.scales)} scales do not fit")
    integer, float32 = ir.IntegerType.get_signless(storage.bits), ir.F32Type.get()
    scales = ir.DenseElementsAttr.get(
        np.array(params.scales, np.float32).reshape(grid), type=ranked(grid, float32)
    )
    # The bindings take no array of 4-bit integers, but a list of attributes; unsigned values by their bits.
    sign = 1 << (storage.bits - 1)
    values = [(z + sign) % (2 * sign) - sign for z in params.zero_points]
    zero_points = ir.DenseElementsAttr.get(
        [ir.IntegerAttr.get(integer, z) for z in values], ranked(grid, integer)
    )
    built = quant.UniformQuantizedSubChannelType.get(
        flags,
        integer,
        float32,
        scales,
        zero_points,
        list(blocks),
        list(blocks.values()),
        storage.minimum,
        storage.maximum,
    )
    # A negative 4-bit zero point has other bits if parsed than if built, and equal types would differ.
    return ir.Type.parse(str(built))
