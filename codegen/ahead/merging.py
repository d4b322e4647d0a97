"""A program as one LLVM module: its kernels, and the functions that call them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm

from ...errors import PipelineError
from ..llvm import parsed
from ..lowering import KernelIr
from ..machine import Machine
from ..program import KERNEL, Program
from . import rounding
from .cpu_check import CpuCheck, cpu_check
from .entry import entry_ir
from .interface import Interface
from .names import c_name, distinct

_DEFINITION = re.compile(r"^(define .*) \{$", re.MULTILINE)
_LEVEL = 2
"""Of the code generator."""
_RISCV_ARCH = re.compile(r'(?P<start>\.attribute\s+5, "rv\d+)(?P<extensions>[^"]*)"')
_VERSION = re.compile(r"\d+p\d+$")
_IMPLIED = frozenset(["zaamo", "zalrsc", "zca", "zcd", "zcf", "zicsr", "zmmul"])
"""RISC-V's names for parts of the extensions a, c, f and m."""


@dataclass
class MergedModule:
    """One module with all of a network."""

    machine: Machine
    check: CpuCheck
    functions: dict[str, tuple[str, ...]]
    """Kernel -> the symbols of its functions."""
    _text: str

    def object_file(self) -> bytes:
        return bytes(self._target_machine().emit_object(self._module()))

    def assembly(self) -> str:
        return _RISCV_ARCH.sub(_plain_arch, str(self._target_machine().emit_assembly(self._module())))

    def llvm_ir(self) -> str:
        return self._text

    def _target_machine(self) -> Any:
        return self.machine.target_machine(_LEVEL)

    def _module(self) -> Any:
        """A fresh one: the code generator changes what it is given."""
        return llvm.parse_assembly(self._text, llvm.create_context())


def merge(
    interface: Interface,
    program: Program,
    constants: bytes,
    kernels: Mapping[str, KernelIr],
    machine: Machine,
) -> MergedModule:
    """Everything that a network's header declares, and what it needs; nothing else is visible outside.

    Raises:
        TargetError: LLVM does not know the machine, or no check is known for a feature of it.
        PipelineError: LLVM does not accept what was generated (a bug of ours).
    """
    check = cpu_check(interface.name, machine)
    prefixes = distinct(c_name(name, KERNEL) for name in kernels)
    symbols = {name: f"{interface.name}_{prefix}" for name, prefix in zip(kernels, prefixes, strict=True)}
    entry = entry_ir(interface, program, constants, symbols, machine, check)
    own_rounding = rounding.needs_own(machine)
    context = llvm.create_context()
    module, _ = parsed(entry, machine, optimize=False, context=context)
    public = {value.name for value in _defined(module) if value.linkage == llvm.Linkage.external}
    functions: dict[str, tuple[str, ...]] = {}
    for name, kernel in kernels.items():
        text = rounding.with_own(kernel.text, interface.name) if own_rounding else kernel.text
        text = _DEFINITION.sub(rf"\1 {check.checked} {{", text)
        part, _ = parsed(text, machine, optimize=kernel.optimize, context=context)
        functions[name] = _renamed(part, symbols[name])
        _link(module, part, f"kernel '{name}'")
    helpers = [check.ir]
    if own_rounding:
        text = rounding.rounding_ir(interface.name, [kernel.text for kernel in kernels.values()])
        helpers.append(_DEFINITION.sub(rf"\1 {check.checked} {{", text))
    for text in helpers:
        part, _ = parsed(text, machine, optimize=False, context=context)
        for value in _defined(part):
            value.linkage = "external"  # to be found by those that call it
        _link(module, part, "a function of the header")
    for value in _defined(module):
        if value.name not in public:
            value.linkage = "internal"
    for function in module.functions:
        if not function.is_declaration:
            function.add_function_attribute("nounwind")  # no tables for unwinding
    module.verify()
    return MergedModule(machine, check, functions, str(module))


def _plain_arch(found: re.Match[str]) -> str:
    """The attribute that names a RISC-V machine's extensions, as assemblers older than LLVM read it: without
    versions, and without extensions that are parts of others.
    """
    extensions = [_VERSION.sub("", part) for part in found["extensions"].split("_")]
    letters = "".join(each for each in extensions if len(each) == 1)
    named = [each for each in extensions if len(each) > 1 and each not in _IMPLIED]
    return f'{found["start"]}{"_".join([letters, *named])}"'


def _defined(module: Any) -> list[Any]:
    return [v for v in (*module.functions, *module.global_variables) if not v.is_declaration]


def _link(module: Any, part: Any, what: str) -> None:
    try:
        module.link_in(part)
    except RuntimeError as error:
        raise PipelineError(f"{what} cannot be linked: {error}") from error


def _renamed(module: Any, symbol: str) -> tuple[str, ...]:
    """Give what a kernel's module defines names that begin with ``symbol``, and make it visible to others."""
    for value in _defined(module):
        value.name = symbol if value.name == KERNEL else f"{symbol}_{value.name.lstrip('_')}"
        value.linkage = "external"
    return tuple(function.name for function in module.functions if not function.is_declaration)
