"""What an exported network takes, layer by layer: known before any board is touched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from ..codegen.ahead.interface import Interface
from ..codegen.ahead.object_file import ObjectSummary
from ..codegen.program import CONTROL, COPY, FOR, Pointer, Program, Step

LOOPS = "loops"
"""Instead of a family of kernels: code lowered from loops."""


@dataclass(frozen=True)
class LayerSize:
    """Neighbouring steps that compute one tensor of the model. Sizes in bytes."""

    tensor: str
    kernels: tuple[str, ...]
    """The family of each step and its instruction set; or ``loops``, ``copy``, ``if``, ``while``, ``for``."""
    macs: int
    constants: int
    """Weights, biases and tables that it reads."""
    code: int
    """Of kernels that no layer before has."""
    shares_code: bool
    """Whether layers before have all of its kernels."""
    arena: int
    """The most that is in use in the arena while it runs."""


@dataclass(frozen=True)
class ExportReport:
    """Sizes in bytes. What is measured in the object file is 0 where that is not ELF."""

    layers: tuple[LayerSize, ...]
    constant_bytes: int
    """Of the block of all constants."""
    code_bytes: int
    entry_bytes: int
    """What of the code is no kernel: the functions that the header declares, checks."""
    table_bytes: int
    """Read-only data beside the constants: descriptions of tensors, texts, constants of kernels."""
    writable_bytes: int
    """Of global variables."""
    arena_bytes: int
    """What the caller has to give: variables, buffers, and room that kernels may read beyond them."""
    peak_bytes: int
    """The most that is in use in the arena at one time, without variables."""
    state_bytes: int
    """Of variables."""
    input_bytes: int
    output_bytes: int
    calls: tuple[str, ...]
    """Functions that must be linked: of libc, or of the compiler's own library."""

    @property
    def flash_bytes(self) -> int:
        """Code and read-only data."""
        return self.code_bytes + self.constant_bytes + self.table_bytes

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {**asdict(self), "flash_bytes": self.flash_bytes}


def export_report(
    program: Program,
    constant_bytes: int,
    interface: Interface,
    functions: Mapping[str, Sequence[str]],
    sizes: ObjectSummary | None,
) -> ExportReport:
    """``functions``: kernel -> its symbols in the object file, which ``sizes`` is of."""
    measured = sizes.functions if sizes else {}
    kernels = {kernel: sum(measured.get(s, 0) for s in symbols) for kernel, symbols in functions.items()}
    layers = tuple(_layers(program, kernels))
    return ExportReport(
        layers,
        constant_bytes,
        sizes.code if sizes else 0,
        sizes.code - sum(kernels.values()) if sizes else 0,
        max(sizes.read_only - constant_bytes, 0) if sizes else 0,
        sizes.writable if sizes else 0,
        interface.arena_bytes,
        max((layer.arena for layer in layers), default=0),
        sum(variable.bytes for variable in program.variables),
        sum(tensor.bytes for tensor in interface.inputs),
        sum(tensor.bytes for tensor in interface.outputs),
        sizes.undefined if sizes else (),
    )


def _layers(program: Program, sizes: Mapping[str, int]) -> Iterator[LayerSize]:
    seen: set[str] = set()
    for tensor, group in groupby(program.steps, lambda step: step.source[-1] if step.source else ""):
        steps = list(group)
        own = [kernel for step in steps for kernel in _kernels(step, program) if kernel in sizes]
        fresh = dict.fromkeys(kernel for kernel in own if kernel not in seen)
        seen.update(own)
        yield LayerSize(
            tensor,
            tuple(_family(step, program) for step in steps),
            sum(step.macs for step in steps),
            sum(step.constant_bytes for step in steps),
            sum(sizes[kernel] for kernel in fresh),
            bool(own) and not fresh,
            max(step.alive_bytes for step in steps),
        )


def _kernels(step: Step, program: Program) -> list[str]:
    """What a step runs: its kernel, or those of the steps inside it."""
    if step.kernel not in CONTROL:
        return [step.kernel]
    found = [kernel for inner in inner_steps(step, program) for kernel in _kernels(inner, program)]
    return list(dict.fromkeys(found))


def inner_steps(step: Step, program: Program) -> list[Step]:
    """The steps that a branch or a loop runs, those of each part."""
    ends = [
        argument.index
        for argument in step.arguments
        if isinstance(argument, Pointer) and argument.base == "steps"
    ]
    if step.kernel == FOR:
        return list(program.inner[ends[0] : ends[1]])
    return [*program.inner[ends[0] : ends[1]], *program.inner[ends[2] : ends[3]]]


def _family(step: Step, program: Program) -> str:
    if step.kernel in (COPY, *CONTROL):
        return step.kernel
    code = program.codes.get(step.kernel)
    return f"{code.family} {code.isa}" if code else LOOPS
