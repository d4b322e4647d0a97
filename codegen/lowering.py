"""Kernels to LLVM IR: those of the module, through loops; launched ones, which are vector code already."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..dialect.context import diagnostics_text
from ..dialect.mlir import MLIRError, ir
from ..dialect.mlir import llvm as llvm_dialect
from ..errors import PipelineError
from ..passes.pass_manager import build_pass_manager
from ..passes.pipeline_text import parse_pass_list
from ..passes.pipelines import passes_to
from .float_literals import rewrite_float_literals
from .program import KERNEL
from .split import BODY, KernelSource
from .symbols import function_address

LAUNCHED_LOWERING = (
    "convert-vector-to-scf",
    "convert-scf-to-cf",
    "convert-math-to-llvm",
    "convert-math-to-libm",
    "convert-to-llvm",
    "reconcile-unrealized-casts",
)
"""From arith, scf, vector, math and llvm ops to the LLVM dialect."""
_DECLARED = re.compile(r'^declare [^@]*@"?([\w.$]+)', re.MULTILINE)
_FLOATS = {"f16": "half", "bf16": "bfloat", "f32": "float", "f64": "double"}


@dataclass(frozen=True)
class KernelIr:
    """LLVM IR that defines the kernel as :data:`~.program.KERNEL`."""

    text: str
    optimize: bool
    """Whether LLVM's passes have something to do."""


class Lowering:
    """Lowers kernels in one MLIR context. Not for several threads at once.

    ``index_bits``: of an index in loops, as many as an address has.
    """

    def __init__(self, context: Any, index_bits: int = 64) -> None:
        self._context = context
        self._index_bits = index_bits
        passes = loop_passes(index_bits)
        self._loops = build_pass_manager(parse_pass_list(",".join(passes)), context, verify_each=False)
        vectors = parse_pass_list(",".join(LAUNCHED_LOWERING))
        self._vectors = build_pass_manager(vectors, context, verify_each=False)

    def kernel(self, source: KernelSource) -> KernelIr:
        """A kernel of the module, with the function around it that takes its arguments out of a row.

        Raises:
            PipelineError: it cannot be lowered, or calls a function that this process does not have.
        """
        text = self._lowered(source.text, self._loops)
        return KernelIr(text + _adapter(source.parameters, self._index_bits), optimize=True)

    def launched(self, text: str) -> KernelIr:
        """A launched kernel: ``func.func @kernel(%row: !llvm.ptr, %begin: i64, %end: i64)``.

        Raises:
            PipelineError: as above.
        """
        return KernelIr(self._lowered(text, self._vectors), optimize=False)

    def _lowered(self, text: str, passes: Any) -> str:
        try:
            with self._context, ir.Location.unknown():
                module = ir.Module.parse(text)
                passes.run(module.operation)
        except MLIRError as error:
            raise PipelineError(diagnostics_text(error, "<kernel>")) from error
        return translate(module)


def loop_passes(index_bits: int) -> tuple[str, ...]:
    """The passes that bring loops to the LLVM dialect. ``convert-to-llvm`` knows indices of 64 bits only: for
    others its parts are named one by one.
    """
    passes = passes_to("llvm", start="kernels")
    if index_bits == 64:
        return passes
    width = f"index-bitwidth={index_bits}"
    parts = tuple(
        f"{name}{{{width}}}"
        for name in ("finalize-memref-to-llvm", "convert-cf-to-llvm", "convert-arith-to-llvm")
    )
    narrow: list[str] = []
    for name in passes:
        if name == "convert-to-llvm":
            narrow += parts
        elif name.startswith("convert-func-to-llvm{"):
            narrow.append(f"{name[:-1]} {width}}}")
        else:
            narrow.append(name)
    return tuple(narrow)


def translate(module: Any) -> str:
    """The LLVM IR of a module in the LLVM dialect, as the code generator's older LLVM reads it.

    Raises:
        PipelineError: the module holds something else, or calls a function that this process does not have.
    """
    for op in module.operation.regions[0].blocks[0].operations:
        name = op.operation.name
        if not name.startswith("llvm."):
            raise PipelineError(f"'{name}' is not of the LLVM dialect: the pipeline did not lower it")
        if name == "llvm.func" and ir.StringAttr(op.operation.attributes["sym_name"]).value == BODY:
            # Pulling it into the adapter only costs compile time.
            op.operation.attributes["no_inline"] = ir.UnitAttr.get(module.context)
    try:
        text = str(llvm_dialect.translate_module_to_llvmir(module.operation))
    except (MLIRError, RuntimeError) as error:
        raise PipelineError(f"translation to LLVM IR failed: {error}") from error
    for function in _DECLARED.findall(text):
        # libm's functions exist, MLIR's own runtime library does not.
        if not function.startswith("llvm.") and function_address(function) is None:
            raise PipelineError(f"the generated code calls '{function}', which this process does not have")
    return rewrite_float_literals(text)


def _adapter(parameters: Sequence[str], index_bits: int) -> str:
    """The kernel as a program calls it: take the arguments out of the row; there is one unit of work."""
    lines = [f"define void @{KERNEL}(ptr readonly %row, i64 %begin, i64 %end) {{"]
    arguments = []
    for i, parameter in enumerate(parameters):
        lines.append(f"  %slot{i} = getelementptr i64, ptr %row, i64 {i}")
        type_, loads = _load(parameter, i, index_bits)
        lines += loads
        arguments.append(f"{type_} %argument{i}")
    return "\n".join([*lines, f"  call void @{BODY}({', '.join(arguments)})", "  ret void", "}", ""])


def _load(parameter: str, i: int, index_bits: int) -> tuple[str, list[str]]:
    """The LLVM type of a parameter, and the lines that make ``%argument<i>`` of its slot.

    An address is the first bytes of its slot, whatever its size: machines are little endian.
    """
    if parameter.startswith("memref<"):
        return "ptr", [f"  %argument{i} = load ptr, ptr %slot{i}"]
    lines = [f"  %word{i} = load i64, ptr %slot{i}"]
    if parameter in _FLOATS:
        bits = int(parameter.removeprefix("b")[1:])
        type_ = _FLOATS[parameter]
        source = f"%word{i}"
        if bits < 64:
            lines.append(f"  %bits{i} = trunc i64 %word{i} to i{bits}")
            source = f"%bits{i}"
        return type_, [*lines, f"  %argument{i} = bitcast i{bits} {source} to {type_}"]
    bits = index_bits if parameter == "index" else int(parameter[1:])
    if bits == 64:
        return "i64", [f"  %argument{i} = load i64, ptr %slot{i}"]
    return f"i{bits}", [*lines, f"  %argument{i} = trunc i64 %word{i} to i{bits}"]
