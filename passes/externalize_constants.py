"""externalize-constants: weights leave the code and become one block of bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..dialect.buffers import aligned_bytes
from ..dialect.constants import elements_array
from ..dialect.mlir import arith, ir, memref
from ..kernels.launch import OVERREAD_BYTES
from .entry import (
    INITIAL,
    INITIAL_OFFSET,
    ROLE,
    aligned,
    append_arguments,
    argument_attributes,
    entry_function,
    symbol,
)
from .nested_modules import all_inner_modules
from .registry import ModulePass, register

CONSTANTS = "qnn.constants"
OFFSETS = "qnn.constant_offsets"


@register
@dataclass(frozen=True)
class ExternalizeConstantsPass(ModulePass):
    """Replace every global of the entry function by a view of one more argument, the constant block.

    The module keeps the data as attributes, ``qnn.constants`` (elements) at ``qnn.constant_offsets`` (bytes,
    multiples of 64); :func:`constant_block` packs them. The machine code is then the same for every set of
    weights, and small.
    """

    name: ClassVar[str] = "externalize-constants"

    def run(self, module: Any) -> None:
        function = entry_function(module)
        if function is None:
            return
        block = function.regions[0].blocks[0]
        uses = [op for op in block.operations if op.operation.name == "memref.get_global"]
        globals_ = {
            ir.StringAttr(op.attributes["sym_name"]).value: op
            for op in module.regions[0].blocks[0].operations
            if op.operation.name == "memref.global"
        }
        offsets: dict[str, int] = {}
        data, size = [], 0
        for use in uses:
            name = ir.FlatSymbolRefAttr(use.operation.attributes["name"]).value
            if name not in offsets:
                value = globals_[name].attributes["initial_value"]
                offsets[name] = size
                data.append(value)
                size += aligned(elements_array(value).nbytes)
        places = list(offsets.values())
        with module.context, module.location:
            for value, place in _place_initial_values(function, size):
                data.append(value)
                places.append(place)
                size = place + aligned(elements_array(value).nbytes)
            bytes_type = ir.MemRefType.get([size], ir.IntegerType.get_signless(8))
            (argument,) = append_arguments(function, [(bytes_type, {ROLE: "constants"})])
            for use in uses:
                name = ir.FlatSymbolRefAttr(use.operation.attributes["name"]).value
                with ir.InsertionPoint(use), use.location:
                    offset = arith.ConstantOp(ir.IndexType.get(), offsets[name]).result
                    view = memref.ViewOp(use.operation.results[0].type, argument, offset, []).result
                use.operation.results[0].replace_all_uses_with(view)
                use.operation.erase()
            module.attributes[CONSTANTS] = ir.ArrayAttr.get(data)
            module.attributes[OFFSETS] = ir.DenseI64ArrayAttr.get(places)
        for name in offsets:
            globals_[name].operation.erase()


def _place_initial_values(function: Any, start: int) -> list[tuple[Any, int]]:
    """Variables' first values as attributes, each with its place in the constant block from ``start`` on,
    which their arguments get to know.
    """
    placed, attributes, end = [], [], start
    for dictionary in argument_attributes(function):
        if INITIAL in dictionary:
            value, named = dictionary[INITIAL], {entry.name: entry.attr for entry in dictionary}
            placed.append((value, end))
            del named[INITIAL]
            named[INITIAL_OFFSET] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), end)
            dictionary = ir.DictAttr.get(named)
            end += aligned(elements_array(value).nbytes)
        attributes.append(dictionary)
    if placed:
        function.operation.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)
    return placed


def constant_block(module: Any) -> npt.NDArray[np.uint8]:
    """The bytes that the entry function's constants argument points at, then those of the modules inside.
    They start on a 64-byte boundary and end with some that kernels may read and nobody uses.

    Works on the module that :class:`ExternalizeConstantsPass` left, also after later passes.
    """
    with module.context:
        modules = (module.operation, *all_inner_modules(module.operation))
        joined = np.concatenate([_own_block(one) for one in modules])
    block = aligned_bytes(joined.size + OVERREAD_BYTES)
    block[: joined.size] = joined
    return block


def constant_places(module: Any) -> dict[Any, int]:
    """Where the constants of each module inside start, in bytes of the outer one's block, by name."""
    places, end = {}, _own_size(module)
    for inner in all_inner_modules(module):
        places[symbol(inner)] = end
        end += _own_size(inner)
    return places


def _own_block(module: Any) -> npt.NDArray[np.uint8]:
    block = np.zeros(_own_size(module), np.uint8)
    for array, offset in _arrays(module):
        block[offset : offset + array.nbytes] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return block


def _own_size(module: Any) -> int:
    arrays = _arrays(module)
    return arrays[-1][1] + aligned(arrays[-1][0].nbytes) if arrays else 0


def _arrays(module: Any) -> list[tuple[Any, int]]:
    attributes = module.attributes
    if CONSTANTS not in attributes:
        return []
    arrays = [elements_array(value) for value in ir.ArrayAttr(attributes[CONSTANTS])]
    return list(zip(arrays, ir.DenseI64ArrayAttr(attributes[OFFSETS]), strict=True))
