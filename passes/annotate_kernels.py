"""annotate-kernels: tell LLVM what is known about the kernels."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, ClassVar

from ..dialect.mlir import ir
from .entry import entry_function, functions, symbol
from .registry import ModulePass, register


@register
@dataclass(frozen=True)
class AnnotateKernelsPass(ModulePass):
    """Make kernels internal, and arguments that no other argument overlaps ``llvm.noalias``.

    Without ``noalias`` LLVM has to write an accumulator to memory in every step of a reduction, since the
    input might lie there. Buffers alive at the same time never overlap (``plan-memory``), so arguments
    overlap only if a call passes the same buffer twice.
    """

    name: ClassVar[str] = "annotate-kernels"

    def run(self, module: Any) -> None:
        entry = entry_function(module)
        if entry is None:
            return
        shared = _shared_arguments(entry)
        with module.context:
            linkage = ir.Attribute.parse("#llvm.linkage<internal>")
            noalias = ir.DictAttr.get({"llvm.noalias": ir.UnitAttr.get()})
            plain = ir.DictAttr.get({})
            for kernel in functions(module):
                if kernel.operation == entry.operation:
                    continue
                arguments = kernel.regions[0].blocks[0].arguments
                attributes = kernel.operation.attributes
                attributes["llvm.linkage"] = linkage
                attributes["arg_attrs"] = ir.ArrayAttr.get(
                    [
                        noalias if _is_buffer(argument) and i not in shared[symbol(kernel)] else plain
                        for i, argument in enumerate(arguments)
                    ]
                )


def _is_buffer(argument: Any) -> bool:
    return isinstance(argument.type, ir.MemRefType)


def _shared_arguments(entry: Any) -> defaultdict[str, set[int]]:
    """Kernel name -> positions of arguments that some call passes the same buffer for as another argument."""
    shared: defaultdict[str, set[int]] = defaultdict(set)
    for op in entry.regions[0].blocks[0].operations:
        if op.operation.name != "func.call":
            continue
        positions: defaultdict[Any, list[int]] = defaultdict(list)
        for i, operand in enumerate(op.operation.operands):
            if _is_buffer(operand):
                positions[_buffer(operand)].append(i)
        name = ir.FlatSymbolRefAttr(op.operation.attributes["callee"]).value
        for same in positions.values():
            if len(same) > 1:
                shared[name].update(same)
    return shared


def _buffer(value: Any) -> Any:
    """What identifies the memory behind ``value``: views of one buffer at one place are the same."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return value
    if owner.operation.name == "memref.view":
        start = owner.operation.operands[1].owner
        return (_buffer(owner.operation.operands[0]), ir.IntegerAttr(start.attributes["value"]).value)
    return _buffer(owner.operation.operands[0]) if len(owner.operation.operands) else value
