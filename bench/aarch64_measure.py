"""Networks on emulated processors: the instructions of one inference by Zeropoint and by LiteRT."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt

import zeropoint as zp
from zeropoint.codegen.program import Program, Step
from zeropoint.kernels.launch import Code as KernelCode
from zeropoint.runtime.compiler import compile_ahead

from .aarch64_counts import Counts, Executed
from .aarch64_decode import Instruction, disassemble
from .aarch64_emulator import Emulator, Processor, Run
from .aarch64_guest import AGAIN, FIRST_STEP, NO_STEP, ONCE
from .aarch64_loops import Loop, innermost_loops
from .network import Network

_INTERPRETER = re.compile(r"python3?(\.\d+)?$|libpython|_ctypes|libffi|_multiarray|numpy")
"""Files whose instructions are Python's way to the call, not the network's."""
_LOOPS, _LOOPS_OF_STEP = 5, 1


@dataclass(frozen=True)
class Code:
    """Instructions executed for something: how many, of which kinds, and its hottest innermost loops."""

    instructions: int
    dot: int
    """Dot products (``sdot``, ``smmla`` and their kin)."""
    product: int
    """Vector multiplications of any kind, dot products among them."""
    mnemonics: Mapping[str, int]
    loops: Sequence[LoopShare]


@dataclass(frozen=True)
class LoopShare:
    """A loop among the code it is part of."""

    share: float
    """Of the instructions of that code."""
    loop: Loop
    assembly: Sequence[str]
    dot_share: float
    product_share: float
    macs: int
    """Products of elements of one iteration."""


@dataclass(frozen=True)
class StepCode:
    """One step of ours by itself."""

    index: int
    kernel: str
    """The kernel family and form, for people; of a loop without a family, the kernel's name."""
    source: str
    macs: int
    code: Code


@dataclass(frozen=True)
class Measured:
    """One inference of one network by one system on one emulated processor."""

    system: str
    version: str
    code: Code
    interpreter: int
    """Instructions of Python's way to the call, which are left out of ``code``."""
    varies: int
    """By how many instructions a second inference differed."""
    threads: int
    """That the process had; counts are exact if it is one."""
    outputs: Sequence[npt.NDArray[Any]]
    steps: Sequence[StepCode] = ()


def measure_ours(network: Network, numerics: str, processor: Processor, emulator: Emulator) -> Measured:
    """Compiled on this machine, run on the emulated one. Raises ZeropointError, ToolError, CountsError."""
    compiled = compile_ahead(zp.load(network.path, numerics=numerics), processor.target, threads=1)
    with tempfile.TemporaryDirectory(prefix="zeropoint-aarch64-") as folder:
        saved = Path(folder, "network.zpx")
        compiled.save(saved)
        run = emulator.run("zeropoint", saved, network.inputs, processor)
    decoded = disassemble(run.counts.words())
    call = {(i.address, i.word): i.count for i in _own(run.counts, NO_STEP)}
    steps = []
    for index, step in enumerate(compiled.program.steps):
        executed = (
            Executed(i.address, i.word, i.count - call.get((i.address, i.word), 0))
            for i in _own(run.counts, FIRST_STEP + index)
        )
        code = code_of(
            [instruction for instruction in executed if instruction.count > 0], decoded, _LOOPS_OF_STEP
        )
        steps.append(_step(index, step, compiled.program, code))
    return _measured("zeropoint", run, decoded, steps)


def measure_litert(network: Network, processor: Processor, emulator: Emulator) -> Measured:
    """LiteRT with its default kernels. Raises ToolError, CountsError."""
    run = emulator.run("litert", network.path, network.inputs, processor)
    return _measured("litert", run, disassemble(run.counts.words()))


def _step(index: int, step: Step, program: Program, code: Code) -> StepCode:
    found = program.codes.get(step.kernel)
    return StepCode(
        index, step.kernel if found is None else short_name(found), ";".join(step.source), step.macs, code
    )


def short_name(code: KernelCode) -> str:
    """The family of a kernel, and what tells its forms apart: ``conv2d 4x4``, ``table flip``."""
    options = dict(code.options)
    words = [code.family]
    for one, other in (("height", "width"), ("rows", "vectors")):
        if options.get(one) and options.get(other):
            words.append(f"{options[one]}x{options[other]}")
            break
    words += [str(options[name]) for name in ("kind", "form") if options.get(name)]
    return " ".join(words)


def _measured(
    system: str, run: Run, decoded: Mapping[int, Instruction], steps: Sequence[StepCode] = ()
) -> Measured:
    code = code_of(_own(run.counts, ONCE), decoded)
    again = sum(instruction.count for instruction in _own(run.counts, AGAIN))
    interpreter = run.counts.total(ONCE) - code.instructions
    varies = abs(again - code.instructions)
    return Measured(system, run.version, code, interpreter, varies, run.counts.threads, run.outputs, steps)


def _own(counts: Counts, label: int) -> list[Executed]:
    """What was executed under ``label`` outside of Python."""
    names: dict[str, bool] = {}

    def is_own(address: int) -> bool:
        path = counts.path_at(address)
        if path not in names:
            names[path] = _INTERPRETER.search(path) is None
        return names[path]

    return [instruction for instruction in counts.instructions(label) if is_own(instruction.address)]


def code_of(executed: Sequence[Executed], decoded: Mapping[int, Instruction], loops: int = _LOOPS) -> Code:
    """Kinds of executed instructions, and the ``loops`` hottest loops."""
    mnemonics: Counter[str] = Counter()
    dot = product = 0
    for instruction in executed:
        kind = decoded[instruction.word]
        mnemonics[kind.mnemonic] += instruction.count
        dot += instruction.count if kind.is_dot else 0
        product += instruction.count if kind.is_product else 0
    total = sum(mnemonics.values())
    hottest = [_loop_share(loop, total, decoded) for loop in innermost_loops(executed)[:loops]]
    return Code(total, dot, product, mnemonics, hottest)


def _loop_share(loop: Loop, total: int, decoded: Mapping[int, Instruction]) -> LoopShare:
    body = [decoded[word] for word in loop.words]
    return LoopShare(
        loop.executed / total,
        loop,
        [f"{instruction.mnemonic}\t{instruction.operands}".strip() for instruction in body],
        sum(instruction.is_dot for instruction in body) / len(body),
        sum(instruction.is_product for instruction in body) / len(body),
        sum(instruction.macs for instruction in body),
    )
