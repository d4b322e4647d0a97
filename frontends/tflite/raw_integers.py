"""Arithmetic of operators whose scales meet in no single op: sums of products of stored integers, then steps
that each multiply by one number.

Scales are those of nobody here: integers have the scale 1, and a step from ``i32`` to the next type has a
type of the ratio's scale on one side and of scale 1 on the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...dialect.types import QuantParams, Storage, TensorType
from .operator_import import OperatorImport

Array = npt.NDArray[np.generic]


def float32_product(*scales: float) -> float:
    """Scales multiplied in float32, one after the other, as kernels' preparations do."""
    result = np.float32(1.0)
    for scale in scales:
        result = np.float32(result * np.float32(scale))
    return float(result)


def float32_quotient(product: float, scale: float) -> float:
    """A float32 division."""
    return float(np.float32(product) / np.float32(scale))


def integers(shape: Sequence[int], storage: str, zero_point: int = 0, scale: float = 1.0) -> TensorType:
    """The type of stored integers with scale 1 (or ``scale``)."""
    return TensorType(tuple(shape), QuantParams(Storage.of(storage), (scale,), (zero_point,)))


def as_integers(op: OperatorImport, value: Any, type_: TensorType) -> tuple[Any, TensorType]:
    """A quantized value with scale 1."""
    params = type_.params
    plain = integers(type_.shape, params.storage.name, params.zero_point)
    return op.relabel(value, type_, plain), plain


def rescaled(op: OperatorImport, acc: Any, shape: Sequence[int], ratio: float, target: TensorType) -> Any:
    """``clamp(round(acc * ratio) + z)`` of i32 integers with scale 1, in the type ``target``."""
    scaled = op.relabel(acc, integers(shape, "i32"), integers(shape, "i32", scale=ratio))
    params = target.params
    plain = integers(shape, params.storage.name, params.zero_point)
    result = op.build("requantize", [scaled], plain, {})
    return op.relabel(result, plain, TensorType(tuple(shape), params))


def weights_as_integers(op: OperatorImport, index: int, array: Array, shape: Sequence[int]) -> Any:
    """A constant of stored weights with scale 1; ``array`` is in any layout."""
    tensor = op.tensor(index)
    params = tensor.type.params
    plain = integers(shape, params.storage.name, params.zero_point)
    return op.constant_value(tensor, array.reshape(tuple(shape)), plain, "integers")


def bias_as_integers(op: OperatorImport, index: int) -> list[Any]:
    """The bias as an operand with scale 1, if there is one."""
    if not op.has(index):
        return []
    data = op.constant(index, "biases").reshape(-1)
    if data.dtype != np.int32:
        op.fail(f"biases have type {op.tensor(index).type_name}, expected INT32")
    return [op.constant_value(op.tensor(index), data, integers(data.shape, "i32"), "integers")]
