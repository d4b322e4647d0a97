"""The kernels of a network as text to read: LLVM IR or assembly. The driver, always the same, is left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..kernels.families import emit
from .llvm import to_assembly
from .lowering import KernelIr, Lowering
from .machine import Machine
from .split import BODY, KernelSource, split


def llvm_ir(module: Any) -> str:
    """The LLVM IR of every kernel of a module at level kernels, one after the other under its name."""
    return "\n".join(f"; kernel {name}\n{kernel.text}" for name, kernel in _kernels(module))


def assembly(module: Any, machine: Machine) -> str:
    """The assembly of every kernel, likewise."""
    return "\n".join(
        f"# kernel {name}\n{to_assembly(kernel.text, machine, optimize=kernel.optimize)}"
        for name, kernel in _kernels(module)
    )


def _kernels(module: Any) -> Iterator[tuple[str, KernelIr]]:
    """In the order of their first use. Functions have the names that they have in the module."""
    program, kernels = split(module)
    lowering = Lowering(module.context)
    for name in program.kernels:
        kernel = kernels.get(name)
        if isinstance(kernel, KernelSource):
            lowered = lowering.kernel(kernel)
            yield name, KernelIr(lowered.text.replace(f"@{BODY}(", f"@{name}("), lowered.optimize)
        elif kernel is not None:
            yield name, lowering.launched(emit(kernel))
