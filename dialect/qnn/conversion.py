"""Constants, and ops that only change how a value is represented."""

from typing import Any

from ..mlir import ext
from .core import QnnOp


class ConstantOp(QnnOp, name="constant", traits=[ext.Pure]):
    """A tensor known at compile time, given by its stored values."""

    result: ext.Result[Any]
    value: Any = ext.attribute(kw_only=True)


class QuantizeOp(QnnOp, name="quantize", traits=[ext.Pure]):
    """Real values to stored integers."""

    result: ext.Result[Any]
    input: ext.Operand[Any]


class DequantizeOp(QnnOp, name="dequantize", traits=[ext.Pure]):
    """Stored integers to real values."""

    result: ext.Result[Any]
    input: ext.Operand[Any]


class RequantizeOp(QnnOp, name="requantize", traits=[ext.Pure]):
    """Change the scale, zero point or storage type of a quantized tensor."""

    result: ext.Result[Any]
    input: ext.Operand[Any]
