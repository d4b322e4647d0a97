"""allocate-launch-results: a call of launches writes into a buffer of @main's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..dialect.mlir import func, ir, memref
from ..kernels.launch import OVERREAD_BYTES
from .entry import entry_function, symbol
from .form_kernels.calls import LAUNCHES
from .plan_memory import ARENA_SLACK
from .registry import ModulePass, register


@register
@dataclass(frozen=True)
class AllocateLaunchResultsPass(ModulePass):
    """Give every call that ``form-kernels`` made the buffer of its result as the last operand.

    To be run on buffers: bufferization leaves these calls returning a buffer, since they have no body to look
    into. Afterwards they look like calls of any other kernel.
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
