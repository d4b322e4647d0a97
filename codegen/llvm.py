"""LLVM IR -> object code or assembly."""

from __future__ import annotations

import logging
import time
from typing import Any

import llvmlite.binding as llvm

from ..errors import PipelineError
from .machine import Machine

LOG = logging.getLogger("zeropoint.codegen")


def to_object(text: str, machine: Machine, *, optimize: bool = True) -> bytes:
    """An object file (ELF, Mach-O or COFF, as the triple says) of the LLVM IR ``text``.

    ``optimize``: run LLVM's -O2 with both vectorizers first. Vector code by hand needs none of it, and the
    passes would take longer than everything else.

    Raises:
        PipelineError: LLVM does not accept the text.
        TargetError: LLVM does not know the machine.
    """
    started = time.perf_counter()
    module, target_machine = parsed(text, machine, optimize=optimize)
    code = bytes(target_machine.emit_object(module))
    LOG.debug("LLVM made %d bytes of machine code in %.3f s", len(code), time.perf_counter() - started)
    return code


def to_assembly(text: str, machine: Machine, *, optimize: bool = True) -> str:
    """The assembly of the LLVM IR ``text``; as :func:`to_object`."""
    module, target_machine = parsed(text, machine, optimize=optimize)
    return str(target_machine.emit_assembly(module))


def parsed(text: str, machine: Machine, *, optimize: bool, context: Any = None) -> tuple[Any, Any]:
    """The LLVM module of ``text``, after LLVM's passes if it is to be optimized; and the target machine.

    ``context``: an LLVM context for modules that will be linked, used by one thread; one of its own if left
    out.

    Raises:
        PipelineError: LLVM does not accept the text.
        TargetError: LLVM does not know the machine.
    """
    target_machine = machine.target_machine(2 if optimize else 1)
    try:
        # A context of its own: several threads compile at once.
        module = llvm.parse_assembly(text, context or llvm.create_context())
        module.verify()
    except RuntimeError as error:
        raise PipelineError(f"LLVM does not accept the generated IR: {error}") from error
    module.triple = machine.triple
    module.data_layout = str(target_machine.target_data)
    if optimize:
        options = llvm.create_pipeline_tuning_options(speed_level=2)
        options.loop_vectorization = True
        options.slp_vectorization = True
        builder = llvm.create_pass_builder(target_machine, options)
        builder.getModulePassManager().run(module, builder)
    return module, target_machine
