"""Well-formed quantization parameters of one tensor: constraint C0 of every op."""

import math
from collections.abc import Iterator

from ..types import DYNAMIC, QuantParams, TensorType

STORAGES = ("i4", "u4", "i8", "u8", "i16", "u16", "i32")
"""Integer types that quantized values may be stored in."""


def parameter_violations(label: str, type_: TensorType) -> Iterator[str]:
    """Storage, scales, zero points and axis of a quantized tensor type; nothing for other tensors."""
    params = type_.element
    if not isinstance(params, QuantParams):
        return
    storage = params.storage
    if storage.name not in STORAGES:
        yield f"(C0) {label}: got storage type {storage.name}, expected one of {', '.join(STORAGES)}"
    for scale in params.scales:
        if not 0.0 < scale < math.inf:
            yield f"(C0) {label}: scale must be finite and positive, got {scale}"
    for zero_point in params.zero_points:
        if not storage.minimum <= zero_point <= storage.maximum:
            yield (
                f"(C0) {label}: zero point {zero_point} lies outside the storage range "
                f"[{storage.minimum}, {storage.maximum}]"
            )
    if params.axis is not None:
        yield from _axis_violations(label, type_.shape, params, params.axis)
    if params.block_sizes:
        yield from _block_violations(label, type_.shape, params)


def _axis_violations(label: str, shape: tuple[int, ...], params: QuantParams, axis: int) -> Iterator[str]:
    if not 0 <= axis < len(shape):
        yield f"(C0) {label}: per-axis dimension {axis} does not exist in a tensor of rank {len(shape)}"
    elif shape[axis] not in (DYNAMIC, len(params.scales)):
        yield (
            f"(C0) {label}: per-axis scales: got {len(params.scales)}, "
            f"expected {shape[axis]} (the extent of dimension {axis})"
        )


def _block_violations(label: str, shape: tuple[int, ...], params: QuantParams) -> Iterator[str]:
    blocks, rank = 1, len(shape)
    for axis, size in params.block_sizes:
        if not 0 <= axis < len(shape):
            yield f"(C0) {label}: sub-channel dimension {axis} does not exist in a tensor of rank {rank}"
        if shape[axis] == DYNAMIC:
            return
        if shape[axis] % size:
            extent = shape[axis]
            yield f"(C0) {label}: extent {extent} of dimension {axis} does not divide into blocks of {size}"
        blocks *= shape[axis] // size
    if blocks != len(params.scales):
        yield f"(C0) {label}: sub-channel scales: got {len(params.scales)}, expected {blocks} (one per block)"
