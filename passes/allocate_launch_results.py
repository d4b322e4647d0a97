"""allocate-launch-results: a call of launches writes into a buffer of @main's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..dialect.mlir import func, ir, memref
from ..kernels.launch import OVERREAD_BYTES
from .entry import entry_function, symbol
from .form_kernels.calls import LAUNCHES
from .plan_memory import ARENA_SLACK, roots_of
from .registry import ModulePass, register


@register
@dataclass(frozen=True)
class AllocateLaunchResultsPass(ModulePass):
    """Give every call that ``form-kernels`` made the buffer of its result as the last operand.

    To be run on buffers: bufferization leaves these calls returning a buffer, since they have no body to look
    into. Afterwards they look like calls of any other kernel.

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
            if op.operation.name == "func.func" and LAUNCHES in op.operation.attributes
        }
        for call in list(entry.regions[0].blocks[0].operations):
            operation = call.operation
            if operation.name != "func.call" or not len(operation.results):
                continue
            declaration = declarations.get(ir.FlatSymbolRefAttr(operation.attributes["callee"]).value)
            if declaration is not None:
                _write_into_buffer(operation, declaration)
        _copy_results(entry, set(declarations))
        if declarations:
            width = ir.IntegerType.get_signless(64)
            module.attributes[ARENA_SLACK] = ir.IntegerAttr.get(width, OVERREAD_BYTES)


def _write_into_buffer(call: Any, declaration: Any) -> None:
    result = call.results[0]
    with ir.InsertionPoint(call), call.location:
        buffer = memref.alloc(result.type, [], [])
        operands = [*call.operands, buffer]
        func.CallOp([], symbol(declaration), operands)
    result.replace_all_uses_with(buffer)
    call.erase()
    types = [operand.type for operand in operands]
    declaration.operation.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, []))
    if "arg_attrs" in declaration.operation.attributes:  # who reads what: bufferization's matter
        del declaration.operation.attributes["arg_attrs"]


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
