"""allocate-launch-results: a call of launches writes into a buffer of @main's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..dialect.mlir import func, ir, memref
from ..kernels.launch import OVERREAD_BYTES
from .entry import entry_function, function_type, symbol
from .form_kernels.calls import LAUNCHES
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
            if op.operation.name == "func.func" and LAUNCHES in op.operation.attributes
        }
        for call in list(entry.regions[0].blocks[0].operations):
            operation = call.operation
            if operation.name != "func.call" or not len(operation.results):
                continue
            if ir.FlatSymbolRefAttr(operation.attributes["callee"]).value in declarations:
                _write_into_buffer(operation)
        for declaration in declarations.values():
            _declare(declaration)
        _copy_results(entry, set(declarations))
        if declarations:
            width = ir.IntegerType.get_signless(64)
            module.attributes[ARENA_SLACK] = ir.IntegerAttr.get(width, OVERREAD_BYTES)


def _write_into_buffer(call: Any) -> None:
    result = call.results[0]
    with ir.InsertionPoint(call), call.location:
        buffer = memref.alloc(result.type, [], [])
        func.CallOp([], ir.FlatSymbolRefAttr(call.attributes["callee"]).value, [*call.operands, buffer])
    result.replace_all_uses_with(buffer)
    call.erase()


def _declare(old: Any) -> None:
    """A declaration that takes what ``old`` gives, without a body, in its place."""
    type_ = function_type(old)
    with ir.InsertionPoint(old), old.location:
        taken = ir.FunctionType.get([*type_.inputs, *type_.results], [])
        new = func.FuncOp(symbol(old), taken, visibility="private")
    new.operation.attributes[LAUNCHES] = old.operation.attributes[LAUNCHES]
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
