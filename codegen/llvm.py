"""LLVM dialect -> LLVM IR -> object code or assembly."""

from __future__ import annotations

import logging
import re
import time
from typing import Any

import llvmlite.binding as llvm

from ..dialect.mlir import MLIRError, ir
from ..dialect.mlir import llvm as llvm_dialect
from ..errors import PipelineError
from .float_literals import rewrite_float_literals
from .jit import is_available
from .machine import Machine

LOG = logging.getLogger("zeropoint.codegen")

ENTRY = "zeropoint_main"
"""The one symbol of a compiled network: ``void zeropoint_main(void **buffers)``, one pointer per argument of
``@main``.
"""
_NETWORK = "zeropoint_network"
_DECLARED = re.compile(r'^declare [^@]*@"?([\w.$]+)', re.MULTILINE)


def to_llvm_ir(module: Any) -> str:
    """The LLVM IR of a module in the LLVM dialect whose ``@main`` takes pointers, with the entry
    :data:`ENTRY` added.

    Raises:
        PipelineError: the module holds something else than the LLVM dialect, or has no ``@main``.
    """
    main = _main(module)
    count = len(main.regions[0].blocks[0].arguments)
    with module.context:
        attributes = main.operation.attributes
        saved = {key: attributes[key] for key in ("sym_name", "linkage", "arg_attrs") if key in attributes}
        attributes["sym_name"] = ir.StringAttr.get(_NETWORK)
        attributes["linkage"] = ir.Attribute.parse("#llvm.linkage<internal>")
        if "arg_attrs" in saved:
            attributes["arg_attrs"] = _known_to_llvm(saved["arg_attrs"])
        try:
            text = llvm_dialect.translate_module_to_llvmir(module.operation)
        except (MLIRError, RuntimeError) as error:
            raise PipelineError(f"translation to LLVM IR failed: {error}") from error
        finally:
            for key, value in saved.items():
                attributes[key] = value
    _require_functions(text)
    return rewrite_float_literals(str(text)) + _entry_text(count)


def _require_functions(text: str) -> None:
    """What the code calls must exist: libm's functions do, MLIR's own runtime library does not."""
    for name in _DECLARED.findall(text):
        if not name.startswith("llvm.") and not is_available(name):
            raise PipelineError(f"the generated code calls '{name}', which this process does not have")


def _known_to_llvm(argument_attributes: Any) -> Any:
    """Argument attributes without the names and roles that are ours: the translation would warn of each."""
    kept = []
    for dictionary in argument_attributes:
        names = [named.name for named in ir.DictAttr(dictionary)]
        kept.append(
            ir.DictAttr.get({n: ir.DictAttr(dictionary)[n] for n in names if not n.startswith("qnn.")})
        )
    return ir.ArrayAttr.get(kept)


def _main(module: Any) -> Any:
    """``@main``. Kernels are marked never to be inlined: pulling each into its one caller only costs compile
    time.
    """
    main = None
    for op in module.operation.regions[0].blocks[0].operations:
        name = op.operation.name
        if not name.startswith("llvm."):
            raise PipelineError(
                f"'{name}' is not of the LLVM dialect: run the pipeline up to level llvm first"
            )
        if name != "llvm.func" or not op.operation.regions[0].blocks:
            continue
        if ir.StringAttr(op.operation.attributes["sym_name"]).value == "main":
            main = op
        else:
            op.operation.attributes["no_inline"] = ir.UnitAttr.get(module.context)
    if main is None:
        raise PipelineError("no function @main with a body to generate code for")
    return main


def _entry_text(count: int) -> str:
    """Unpack the table of pointers and call the network."""
    lines = [f"define void @{ENTRY}(ptr readonly %table) {{"]
    for i in range(count):
        lines.append(f"  %slot{i} = getelementptr ptr, ptr %table, i64 {i}")
        lines.append(f"  %buffer{i} = load ptr, ptr %slot{i}")
    arguments = ", ".join(f"ptr %buffer{i}" for i in range(count))
    lines += [f"  call void @{_NETWORK}({arguments})", "  ret void", "}", ""]
    return "\n".join(lines)


def optimize(text: str, machine: Machine) -> tuple[Any, Any]:
    """The LLVM module of ``text`` after LLVM's -O2 with both vectorizers, and the target machine."""
    target_machine = machine.target_machine()
    try:
        module = llvm.parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        raise PipelineError(f"LLVM does not accept the generated IR: {error}") from error
    module.triple = machine.triple
    module.data_layout = str(target_machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = True
    options.slp_vectorization = True
    builder = llvm.create_pass_builder(target_machine, options)
    started = time.perf_counter()
    builder.getModulePassManager().run(module, builder)
    LOG.info("LLVM optimized the network in %.2f s", time.perf_counter() - started)
    return module, target_machine


def to_object(text: str, machine: Machine) -> bytes:
    """An object file (ELF, Mach-O or COFF, as the triple says) of the LLVM IR ``text``."""
    module, target_machine = optimize(text, machine)
    started = time.perf_counter()
    code = bytes(target_machine.emit_object(module))
    LOG.info("LLVM emitted %d bytes of machine code in %.2f s", len(code), time.perf_counter() - started)
    return code


def to_assembly(text: str, machine: Machine) -> str:
    """The assembly of the LLVM IR ``text``."""
    module, target_machine = optimize(text, machine)
    return str(target_machine.emit_assembly(module))
