"""Attributes of qnn ops as plain Python values, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .constants import elements_array, elements_attribute
from .mlir import ir

_FLOAT_ARRAYS = frozenset({"clamp"})
"""Attributes that are arrays of reals; every other array holds integers."""


def to_attribute(name: str, value: Any) -> Any:
    """bool, int (i64), float (f32), str, sequence (dense array) or numpy array (elements) to an MLIR attribute."""
    if isinstance(value, ir.Attribute):
        return value
    if isinstance(value, (bool, np.bool_)):
        return ir.BoolAttr.get(bool(value))
    if isinstance(value, (int, np.integer)):
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), int(value))
    if isinstance(value, (float, np.floating)):
        return ir.FloatAttr.get(ir.F32Type.get(), float(value))
    if isinstance(value, str):
        return ir.StringAttr.get(value)
    if isinstance(value, np.ndarray):
        return elements_attribute(value)
    if isinstance(value, Sequence):
        if name in _FLOAT_ARRAYS:
            return ir.DenseF32ArrayAttr.get([float(v) for v in value])
        return ir.DenseI64ArrayAttr.get([int(v) for v in value])
    raise TypeError(f"attribute '{name}': no MLIR form for {type(value).__name__}")


def from_attribute(attribute: Any) -> Any:
    """The plain value of an attribute; see :func:`to_attribute`."""
    if isinstance(attribute, ir.BoolAttr | ir.IntegerAttr | ir.FloatAttr | ir.StringAttr):
        return attribute.value
    if isinstance(attribute, ir.DenseI64ArrayAttr | ir.DenseI32ArrayAttr | ir.DenseF32ArrayAttr | ir.DenseF64ArrayAttr):
        return tuple(attribute)
    if isinstance(attribute, ir.TypeAttr):
        return str(attribute.value)
    return elements_array(attribute)
