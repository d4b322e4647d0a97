"""allocate-launch-results: a call of launches writes into a buffer of @main's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..dialect.mlir import func, ir, memref
from ..kernels.launch import OVERREAD_BYTES
from .entry import entry_function, function_type, symbol
from .form_kernels.calls import LAUNCHES
from .nested_modules import CONTROL, LOOP, SCRATCH
from .plan_memory import ARENA_SLACK, roots_of
from .registry import ModulePass, register


@register
@dataclass(frozen=True)
class AllocateLaunchResultsPass(ModulePass):
    """Give every call that ``form-kernels`` made the buffer of its result as the last operand.

    To be run on buffers: bufferization leaves these calls returning a buffer. Afterwards they look like calls
    of any other kernel, and their declarations have no body any more (see ``detach-launch-results``).

    Launches may read past the end of a buffer, which the caller's memory does not allow: what a launch reads
    and ``@main`` returns is copied at the end.
    """

    name: ClassVar[str] = "allocate-launch-results"

    def run(self, module: Any) -> None:
        entry = entry_function(module)
        if entry is None:
            return
        declarations = {
            symbol(op): op
            for op in module.regions[0].blocks[0].operations
            if op.operation.name == "func.func"
            and (LAUNCHES in op.operation.attributes or CONTROL in op.operation.attributes)
        }
        for call in list(entry.regions[0].blocks[0].operations):
            operation = call.operation
            if operation.name != "func.call" or not len(operation.results):
                continue
            callee = ir.FlatSymbolRefAttr(operation.attributes["callee"]).value
            if callee in declarations:
                _write_into_buffers(operation, declarations[callee].operation.attributes)
        launched = {name for name, op in declarations.items() if LAUNCHES in op.operation.attributes}
        for declaration in declarations.values():
            _declare(declaration)
        _copy_results(entry, launched)
        if launched:
            width = ir.IntegerType.get_signless(64)
            module.attributes[ARENA_SLACK] = ir.IntegerAttr.get(width, OVERREAD_BYTES)


def _write_into_buffers(call: Any, declared: Any) -> None:
    """Append a buffer for each result to a call's operands; and scratch memory, for control flow."""
    results = list(call.results)
    types = [result.type for result in results]
    with ir.InsertionPoint(call), call.location:
        buffers = [memref.alloc(type_, [], []) for type_ in (*types, *_scratch(declared))]
        func.CallOp([], ir.FlatSymbolRefAttr(call.attributes["callee"]).value, [*call.operands, *buffers])
    for result, buffer in zip(results, buffers, strict=False):
        result.replace_all_uses_with(buffer)
    call.erase()


def _scratch(declared: Any) -> list[Any]:
    if SCRATCH not in declared:
        return []
    size = ir.IntegerAttr(declared[SCRATCH]).value
    return [ir.MemRefType.get([size], ir.IntegerType.get_signless(8))]


def _declare(old: Any) -> None:
    """A declaration that takes what ``old`` gives, without a body, in its place."""
    type_, attributes = function_type(old), old.operation.attributes
    with ir.InsertionPoint(old), old.location:
        inputs = [*type_.inputs, *type_.results, *_scratch(attributes)]
        new = func.FuncOp(symbol(old), ir.FunctionType.get(inputs, []), visibility="private")
    for name in (LAUNCHES, CONTROL, LOOP):
        if name in attributes:
            new.operation.attributes[name] = attributes[name]
    old.erase()


def _copy_results(entry: Any, launched: set[str]) -> None:
    """Return copies of the buffers that launches read."""
    operations = [op.operation for op in entry.regions[0].blocks[0].operations]
    roots = roots_of(entry)
    read = {
        roots[operand]
        for op in operations
        if op.name == "func.call" and ir.FlatSymbolRefAttr(op.attributes["callee"]).value in launched
        for operand in list(op.operands)[:-1]
        if operand in roots
    }
    return_op = operations[-1]
    copies: dict[Any, Any] = {}
    for index, value in enumerate(return_op.operands):
        if roots.get(value) not in read:
            continue
        if value not in copies:
            with ir.InsertionPoint(return_op), value.owner.location:
                copies[value] = memref.alloc(value.type, [], [])
                memref.copy(value, copies[value])
        return_op.operands[index] = copies[value]
