"""fuse-elementwise: upstream's elementwise fusion, on what is not a kernel yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..dialect.mlir import PassManager
from .entry import entry_function
from .registry import ModulePass, register


@register
@dataclass(frozen=True)
class FuseElementwisePass(ModulePass):
    """Run ``linalg-fuse-elementwise-ops`` on ``@main`` alone.

    On the kernels outlined before it would undo their destinations: it replaces an ``outs`` operand that
    is only written with a ``tensor.empty``, and so the kernel would allocate its result.
    """

    name: ClassVar[str] = "fuse-elementwise"

    def run(self, module: Any) -> None:
        entry = entry_function(module)
        if entry is not None:
            PassManager.parse("func.func(linalg-fuse-elementwise-ops)").run(entry.operation)
