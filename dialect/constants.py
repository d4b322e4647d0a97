"""Constant data kept outside the IR text.

A large constant is a ``dense_resource<key>`` attribute: the IR holds its name and type, MLIR keeps a
reference to the numpy buffer, and this module remembers the array, since the bindings cannot read a resource
back. Small constants (up to ``INLINE_ELEMENTS``) are ordinary ``dense<...>`` attributes, readable in a dump.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import PipelineError
from .mlir import ir

INLINE_ELEMENTS = 16


class _Store(dict[str, npt.NDArray[np.generic]]):
    """The arrays of one context by key, and how many keys each name has been given: thousands of constants
    may have one name.
    """

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[str, int] = {}


# One table per MLIR context; it dies with its context.
_STORES: weakref.WeakKeyDictionary[Any, _Store] = weakref.WeakKeyDictionary()
_RESOURCES = re.compile(r"^\s*\{-#", re.MULTILINE)
_RESOURCE = re.compile(r'([\w.$-]+|"[^"\n]*"): "0x')
_KEY = re.compile(r'dense_resource<(?:"([^"]+)"|([^>]+))>')
_ALIGNMENT_BYTES = 4


def _store(context: Any) -> _Store:
    return _STORES.setdefault(context, _Store())


def elements_attribute(array: npt.NDArray[np.generic], name: str = "constant") -> Any:
    """An elements attribute holding ``array`` (shape and dtype kept; unsigned and signed storage both become
    ``iN``).

    Large arrays become a resource whose key starts with ``name``; the array must not be written to
    afterwards.
    """
    array = np.asarray(array)
    type_ = ranked(array.shape, _element_type(array.dtype))
    if array.size <= INLINE_ELEMENTS:
        # dense<...> wants signless integers: reinterpret the bits of unsigned storage.
        signless = array.view(f"int{array.itemsize * 8}") if array.dtype.kind == "u" else array
        return ir.DenseElementsAttr.get(np.ascontiguousarray(signless), type=type_)
    store = _store(ir.Context.current)
    key = _free_key(store, _clean_key(name))
    data = np.ascontiguousarray(array)
    store[key] = data
    flat: Any = data.reshape(-1).view(np.uint8)  # numpy's types know no buffer before Python 3.12
    return ir.DenseResourceElementsAttr.get_from_buffer(memoryview(flat), key, type_)


def ranked(shape: Sequence[int], element: Any) -> Any:
    """The MLIR tensor type; spares callers the location that the bindings want (to report bad elements)."""
    return ir.RankedTensorType.get(list(shape), element, loc=ir.Location.unknown())


def _clean_key(name: str) -> str:
    clean = re.sub(r"[^A-Za-z0-9_.$]", "_", name) or "constant"
    return clean if clean[0].isalpha() or clean[0] == "_" else "_" + clean


def _free_key(store: _Store, base: str) -> str:
    """``base``, or the first of ``base_1``, ``base_2`` ... that the context does not know: MLIR renames in
    the same way.
    """
    count = store.counts.get(base, 0)
    key = f"{base}_{count}" if count else base
    while key in store:
        count += 1
        key = f"{base}_{count}"
    store.counts[base] = count
    return key


def elements_array(attribute: Any) -> npt.NDArray[np.generic]:
    """The array of an elements attribute (integers come back signed, 4-bit ones as int8); do not write to it.

    Raises:
        PipelineError: the resource's data is not there (elided in the text it was parsed from), or has the
        wrong size.
    """
    if isinstance(attribute, ir.DenseElementsAttr):
        return _dense_array(attribute)
    key = _resource_key(attribute)
    data = _store(attribute.context).get(key)
    if data is None:
        raise PipelineError(
            f"constant '{key}': its data is missing (the text was printed with resources elided); "
            "print it again without --mlir-elide-resource-strings-if-larger"
        )
    type_ = attribute.type
    dtype = _dtype(type_.element_type)
    expected = int(np.prod(type_.shape, dtype=np.int64)) * dtype.itemsize
    if data.nbytes != expected:
        raise PipelineError(f"constant '{key}': got {data.nbytes} bytes, expected {expected} for {type_}")
    return data.reshape(-1).view(dtype).reshape(list(type_.shape))


def has_data(attribute: Any) -> bool:
    """Whether :func:`elements_array` would find the data of an elements attribute."""
    return isinstance(attribute, ir.DenseElementsAttr) or _resource_key(attribute) in _store(
        attribute.context
    )


def _dense_array(attribute: Any) -> npt.NDArray[np.generic]:
    element, shape = attribute.type.element_type, list(attribute.type.shape)
    if isinstance(element, ir.IntegerType) and element.width not in (1, 8, 16, 32, 64):
        # The bindings have no buffer of odd widths (i4): read the printed text instead.
        printed = re.findall(r"-?\d+", str(attribute).rpartition(" : ")[0])
        values = np.array([int(v) for v in printed], _dtype(element))
        return np.broadcast_to(values, shape) if attribute.is_splat else values.reshape(shape)
    return np.array(attribute)


def _resource_key(attribute: Any) -> str:
    found = _KEY.match(str(attribute))
    if found is None:
        raise PipelineError(f"not an elements attribute: {str(attribute)[:80]}")
    return found[1] or found[2]


def remember_resources(text: str, context: Any) -> None:
    """Keep the data of every resource in the text of a module, which MLIR parses but the bindings cannot
    read.

    To be called before the text is parsed: a key that the context already knows gets the new name MLIR will
    give it. Raises PipelineError if the text breaks off.
    """
    section = _RESOURCES.search(text)
    if section is None:
        return
    store, position = _store(context), section.start()
    while found := _RESOURCE.search(text, position):
        # str.find and bytes.fromhex are ten times as fast as a pattern of digits over tens of megabytes.
        position = text.find('"', found.end())
        if position < 0 or "\n" in text[found.end() : position]:
            # Not left to MLIR, which crashes on some of these.
            raise PipelineError(f"resource '{found[1]}': the string of its data does not end")
        try:
            blob = np.frombuffer(bytes.fromhex(text[found.end() : position]), np.uint8)
        except ValueError:  # not hexadecimal: MLIR will say so
            return
        store[_free_key(store, found[1].strip('"'))] = blob[_ALIGNMENT_BYTES:].copy()


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
