"""Attributes of qnn ops as plain Python values, and back."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np

from .constants import elements_array, elements_attribute
from .mlir import ir


class Kind(Enum):
    """What an attribute holds; the value is how it looks in IR text."""

    INTEGERS = "array<i64: ...>"
    REALS = "array<f32: ...>"
    INTEGER = "i64"
    REAL = "f32"
    BOOLEAN = "true or false"
    STRING = "a string"
    ELEMENTS = "dense<...> or dense_resource<...>"


KINDS: dict[str, Kind] = {
    **dict.fromkeys(("strides", "dilations", "padding", "window", "axes", "permutation"), Kind.INTEGERS),
    **dict.fromkeys(("low", "high", "offsets", "sizes"), Kind.INTEGERS),
    **dict.fromkeys(("clamp", "scales"), Kind.REALS),
    **dict.fromkeys(("groups", "radius", "axis", "batch_axis", "batch_dims"), Kind.INTEGER),
    **dict.fromkeys(("alpha", "beta", "bias", "value"), Kind.REAL),
    **dict.fromkeys(("iou_threshold", "score_threshold"), Kind.REAL),
    **dict.fromkeys(("function", "predicate"), Kind.STRING),
    **dict.fromkeys(("keep_dims", "align_corners", "half_pixel_centers"), Kind.BOOLEAN),
    **dict.fromkeys(("exclusive", "reverse"), Kind.BOOLEAN),
    **dict.fromkeys(("transpose_lhs", "transpose_rhs", "asymmetric", "scales_first"), Kind.BOOLEAN),
}
"""Attribute name -> kind, the same for every op; only ``qnn.constant`` has elements in its ``value``."""


def has_kind(attribute: Any, kind: Kind) -> bool:
    """Whether an MLIR attribute is of ``kind``."""
    if kind is Kind.INTEGERS:
        return isinstance(attribute, ir.DenseI64ArrayAttr)
    if kind is Kind.REALS:
        return isinstance(attribute, ir.DenseF32ArrayAttr)
    if kind is Kind.INTEGER:
        return isinstance(attribute, ir.IntegerAttr) and str(attribute.type) == "i64"
    if kind is Kind.REAL:
        return isinstance(attribute, ir.FloatAttr) and isinstance(attribute.type, ir.F32Type)
    if kind in (Kind.BOOLEAN, Kind.STRING):
        return isinstance(attribute, ir.BoolAttr if kind is Kind.BOOLEAN else ir.StringAttr)
    # A dense_resource that was parsed has no Python class of its own.
    return isinstance(attribute, ir.DenseElementsAttr) or str(attribute).startswith("dense_resource<")


def to_attribute(name: str, value: Any, key: str = "constant") -> Any:
    """The MLIR attribute ``name`` of a plain value: bool, int (i64), float (f32), str, sequence (dense array)
    or numpy array.

    An array given as ``value`` becomes elements (a large one a resource called ``key``); arrays given for
    other names are sequences. An MLIR attribute stays as it is.

    Raises:
        TypeError: the value has no MLIR form, or not that of the attribute's kind.
    """
    if isinstance(value, ir.Attribute):
        return value
    if isinstance(value, np.ndarray) and name == "value":
        return elements_attribute(value, key)
    plain = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    kind = KINDS.get(name) or _kind_of(name, plain)
    try:
        return _build(kind, plain)
    except (TypeError, ValueError) as error:
        raise TypeError(f"attribute '{name}': got {value!r}, expected {kind.value}") from error


def _kind_of(name: str, value: Any) -> Kind:
    for type_, kind in _INFERRED:
        if isinstance(value, type_):
            return kind
    raise TypeError(f"attribute '{name}': no MLIR form for {type(value).__name__}")


# bool before int: a bool is an int to Python.
_INFERRED: tuple[tuple[type[Any], Kind], ...] = (
    (bool, Kind.BOOLEAN),
    (int, Kind.INTEGER),
    (float, Kind.REAL),
    (str, Kind.STRING),
    (Sequence, Kind.INTEGERS),
)


def _build(kind: Kind, value: Any) -> Any:
    if kind is Kind.INTEGERS:
        return ir.DenseI64ArrayAttr.get([_integer(v) for v in value])
    if kind is Kind.REALS:
        return ir.DenseF32ArrayAttr.get([float(v) for v in value])
    if kind is Kind.INTEGER:
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), _integer(value))
    if kind is Kind.REAL:
        return ir.FloatAttr.get(ir.F32Type.get(), float(value), loc=ir.Location.unknown())
    if kind is Kind.STRING:
        return ir.StringAttr.get(value)
    if not isinstance(value, bool):
        raise TypeError("not a bool")
    return ir.BoolAttr.get(value)


def _integer(value: Any) -> int:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError("not an integer")
    return value


def from_attribute(attribute: Any) -> Any:
    """The plain value of an attribute; see :func:`to_attribute`."""
    if isinstance(attribute, ir.BoolAttr | ir.IntegerAttr | ir.FloatAttr | ir.StringAttr):
        return attribute.value
    if isinstance(
        attribute, ir.DenseI64ArrayAttr | ir.DenseI32ArrayAttr | ir.DenseF32ArrayAttr | ir.DenseF64ArrayAttr
    ):
        return tuple(attribute)
    if isinstance(attribute, ir.TypeAttr):
        return str(attribute.value)
    return elements_array(attribute)
