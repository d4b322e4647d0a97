"""Puts the code of a family in the place of a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...dialect.constants import elements_attribute
from ...dialect.mlir import MLIRError, arith, func, ir, llvm, memref
from ...errors import PipelineError
from ..entry import ALIGNMENT, functions, symbol
from ..kernel_builder import VECTOR_ISA
from .families import Family
from .match import Match

_ARGUMENTS = 4  # input, filter, parameters, result
_PLACEHOLDER = "kernel"
"""What code is emitted as: its name is found when it turns out to be new."""


class Rewriter:
    """Adds vector kernels and their constants to a module; equal ones once."""

    def __init__(self, module: Any, isa: str) -> None:
        self._module = module
        self._isa = isa
        self._names = {symbol(op) for op in module.regions[0].blocks[0].operations if _has_symbol(op)}
        self._kernels: dict[tuple[str, ...], str] = {}
        """(code, types of its arguments) -> name: kernels that differ in what is packed are one function."""

    def replace(self, call: Any, kernel: Any, match: Match, family: Family) -> None:
        """Call the family's code for ``match`` in place of ``kernel``; the old kernel stays."""
        name = symbol(kernel)
        packed = family.pack(match.spec, match.filter, match.bias)
        with ir.InsertionPoint(call), call.location:
            constants = [
                self._constant(array, f"{name}_{what}")
                for array, what in zip(packed, ("filter", "parameters"), strict=True)
            ]
            operands = [match.input, *constants, match.result]
            types = [operand.type for operand in operands]
            text = family.emit(_PLACEHOLDER, match.spec)
            key = (text, *map(str, types))
            if key not in self._kernels:
                self._kernels[key] = self._kernel(f"{name}_{self._isa}", text, types, kernel)
            func.CallOp([], self._kernels[key], operands)
        call.operation.erase()

    def _constant(self, array: npt.NDArray[np.uint8], name: str) -> Any:
        """A global of the bytes of ``array``, and what gets it."""
        assert array.dtype == np.uint8, f"{name}: got {array.dtype}, expected packed bytes"
        name = self._free(name)
        value = elements_attribute(array, name)
        type_ = ir.MemRefType.get(value.type.shape, value.type.element_type)
        memref.GlobalOp(
            name,
            ir.TypeAttr.get(type_),
            sym_visibility=ir.StringAttr.get("private"),
            initial_value=value,
            constant=True,
            alignment=ir.IntegerAttr.get(ir.IntegerType.get_signless(64), ALIGNMENT),
            ip=ir.InsertionPoint.at_block_begin(self._module.regions[0].blocks[0]),
        )
        return memref.get_global(type_, name)

    def _free(self, base: str) -> str:
        name, count = base, 0
        while name in self._names:
            count += 1
            name = f"{base}_{count}"
        self._names.add(name)
        return name

    def _kernel(self, base: str, text: str, types: list[Any], before: Any) -> str:
        """Add a family's function, on memrefs of ``types``, before the op ``before``; returns its name."""
        name = self._free(base)
        parsed = _parsed(text, name)
        point = ir.InsertionPoint(before)
        for op in parsed.operation.regions[0].blocks[0].operations:
            if symbol(op) == _PLACEHOLDER:
                function = op.operation.clone(ip=point)
            elif symbol(op) not in self._names:  # something that it calls
                self._names.add(symbol(op))
                op.operation.clone(ip=point)
        _take_memrefs(function, types)
        function.attributes["sym_name"] = ir.StringAttr.get(name)
        function.attributes[VECTOR_ISA] = ir.StringAttr.get(self._isa)
        return name


def _has_symbol(op: Any) -> bool:
    return "sym_name" in op.operation.attributes


def _parsed(text: str, name: str) -> Any:
    """The module of a family's text, which defines one function, on four pointers."""
    try:
        module = ir.Module.parse(text)
    except MLIRError as error:
        raise PipelineError(f"vectorize-kernels: the code of '{name}' does not parse: {error}") from error
    defined = [function for function in functions(module.operation) if symbol(function) == _PLACEHOLDER]
    pointers = (
        [str(argument.type) for argument in defined[0].regions[0].blocks[0].arguments] if defined else []
    )
    if pointers != ["!llvm.ptr"] * _ARGUMENTS:
        raise PipelineError(f"vectorize-kernels: expected code of '{name}' on {_ARGUMENTS} pointers")
    return module


def _take_memrefs(function: Any, types: list[Any]) -> None:
    """Make memrefs of the pointers that a function takes, as all kernels have: plans of buffers see them."""
    block = function.regions[0].blocks[0]
    with ir.InsertionPoint.at_block_begin(block), function.location:
        for i, type_ in enumerate(types):
            old = block.arguments[i]
            new = block.add_argument(type_, function.location)
            address = memref.extract_aligned_pointer_as_index(new)
            number = arith.index_cast(ir.IntegerType.get_signless(64), address)
            old.replace_all_uses_with(llvm.inttoptr(old.type, number))
    for _ in types:
        block.erase_argument(0)
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, []))
