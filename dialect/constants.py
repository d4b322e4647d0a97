"""Constant data kept outside the IR text.

A large constant is a ``dense_resource<key>`` attribute: the IR holds its name and type, MLIR keeps a reference to
the numpy buffer, and this module remembers the array, since the bindings cannot read a resource back. Small
constants (up to ``INLINE_ELEMENTS``) are ordinary ``dense<...>`` attributes, readable in a dump.
"""

from __future__ import annotations

import re
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import PipelineError
from .mlir import ir

INLINE_ELEMENTS = 16

# One table per MLIR context; it dies with its context.
_STORES: weakref.WeakKeyDictionary[Any, dict[str, npt.NDArray[np.generic]]] = weakref.WeakKeyDictionary()
_RESOURCE = re.compile(r'^\s*"?([^\s":]+)"?: "0x([0-9A-Fa-f]*)"', re.MULTILINE)
_ELIDED = re.compile(r'dense_resource<__elided__>')
_ALIGNMENT_BYTES = 4


def _store() -> dict[str, npt.NDArray[np.generic]]:
    return _STORES.setdefault(ir.Context.current, {})


def elements_attribute(array: npt.NDArray[np.generic], name: str = "constant") -> Any:
    """An elements attribute holding ``array`` (shape and dtype kept; unsigned and signed storage both become ``iN``).

    Large arrays become a resource whose key starts with ``name``; the array must not be written to afterwards.
    """
    array = np.asarray(array)
    # dense<...> wants signless integers: reinterpret the bits of unsigned storage.
    signless = array.view(f"int{array.itemsize * 8}") if array.dtype.kind == "u" else array
    type_ = ir.RankedTensorType.get(list(array.shape), _element_type(array.dtype))
    if array.size <= INLINE_ELEMENTS:
        return ir.DenseElementsAttr.get(np.ascontiguousarray(signless), type=type_)
    store = _store()
    base = re.sub(r"[^A-Za-z0-9_.$]", "_", name) or "constant"
    if not (base[0].isalpha() or base[0] == "_"):
        base = "_" + base
    key, count = base, 0
    while key in store:
        count += 1
        key = f"{base}_{count}"
    data = np.ascontiguousarray(array)
    store[key] = data
    return ir.DenseResourceElementsAttr.get_from_buffer(memoryview(data).cast("B"), key, type_)


def elements_array(attribute: Any) -> npt.NDArray[np.generic]:
    """The array of an elements attribute (integers come back signed); do not write to it.

    Raises:
        PipelineError: the resource's data is not there (elided in the text it was parsed from).
    """
    if isinstance(attribute, ir.DenseElementsAttr):
        return np.array(attribute)
    key = _resource_key(attribute)
    data = _store().get(key)
    if data is None:
        raise PipelineError(
            f"constant '{key}': its data is missing (the text was printed with resources elided); "
            "print it again without --mlir-elide-resource-strings-if-larger"
        )
    type_ = attribute.type
    dtype = _dtype(type_.element_type)
    return data.reshape(-1).view(dtype).reshape(list(type_.shape))


def _resource_key(attribute: Any) -> str:
    found = re.match(r'dense_resource<"?([^">]+)"?>', str(attribute))
    if found is None:
        raise PipelineError(f"not an elements attribute: {str(attribute)[:80]}")
    return found[1]


def remember_resources(text: str) -> None:
    """Keep the data of every resource in the text of a module (which MLIR parses but the bindings cannot read)."""
    start = text.rfind("{-#")
    if start < 0:
        return
    store = _store()
    for key, digits in _RESOURCE.findall(text[start:]):
        blob = bytes.fromhex(digits)
        store[key] = np.frombuffer(blob[_ALIGNMENT_BYTES:], np.uint8)


def _element_type(dtype: np.dtype[Any]) -> Any:
    if dtype == np.float32:
        return ir.F32Type.get()
    if dtype == np.float16:
        return ir.F16Type.get()
    if dtype == np.float64:
        return ir.F64Type.get()
    if dtype == np.bool_:
        return ir.IntegerType.get_signless(1)
    return ir.IntegerType.get_signless(dtype.itemsize * 8)


def _dtype(element: Any) -> np.dtype[Any]:
    if isinstance(element, ir.IntegerType):
        return np.dtype(bool) if element.width == 1 else np.dtype(f"int{max(8, element.width)}")
    return np.dtype({"f16": "float16", "f32": "float32", "f64": "float64"}[str(element)])
