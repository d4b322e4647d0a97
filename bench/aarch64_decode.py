"""AArch64 instructions as text, through LLVM's tools, and what kind of work each does."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

DOT = frozenset({"sdot", "udot", "usdot", "sudot", "smmla", "ummla", "usmmla"})
"""Sums of four or eight products of bytes per lane of i32."""
MULTIPLY = frozenset(
    word + half for word in ("smull", "umull", "smlal", "umlal", "smlsl", "umlsl") for half in ("", "2")
) | {"mul", "mla", "mls"}
"""Products of vector lanes, for processors without dot products. ``mul`` and ``smull`` on general registers
are something else: the first operand tells."""
_MAJOR = (22, 21, 20, 19, 18, 17, 16, 15)
_ARRANGEMENT = re.compile(r"v\d+\.(\d+)([bhsd])\b")
_LINE = re.compile(r"^\s*[0-9a-f]+:\s+(\S.*)$")
_FEATURES = "+v8.6a,+aes,+sha2,+fp16fml,+sve2"
"""Whatever may turn up; ``+all`` is not known to older versions."""


class ToolError(Exception):
    """A program that this needs is not there, or failed; the message says which and what to do."""


@dataclass(frozen=True)
class Instruction:
    mnemonic: str
    operands: str

    @property
    def is_dot(self) -> bool:
        return self.mnemonic in DOT

    @property
    def is_product(self) -> bool:
        """Whether it multiplies vectors of integers: a dot product, or one product per lane."""
        return self.is_dot or (self.mnemonic in MULTIPLY and self.operands.startswith("v"))

    @property
    def macs(self) -> int:
        """Products of elements. Those with results of 64 bits do not count: they rescale."""
        arrangement = _ARRANGEMENT.match(self.operands)
        if not self.is_product or arrangement is None or arrangement[2] == "d":
            return 0
        lanes = int(arrangement[1])
        return lanes * (8 if self.mnemonic.endswith("mmla") else 4 if self.is_dot else 1)


def llvm_tool(name: str) -> str:
    """The newest of LLVM's ``name`` that is on the path: Debian's have their version in the name.

    Raises:
        ToolError: there is none.
    """
    for candidate in (*(f"{name}-{major}" for major in _MAJOR), name):
        if found := shutil.which(candidate):
            return found
    raise ToolError(f"{name} is not on the path; LLVM's tools are needed (Debian: apt install llvm-19)")


def run_tool(command: list[str], text: str | None = None) -> str:
    """What it prints on stdout. Raises ToolError with the first line of its complaint."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        complaint = (done.stderr.strip() or f"exit {done.returncode}").splitlines()[0]
        raise ToolError(f"{Path(command[0]).name}: {complaint}")
    return done.stdout


def disassemble(words: Collection[int]) -> Mapping[int, Instruction]:
    """Every instruction word as text, with LLVM's names; a word that LLVM does not know is ``<unknown>``.

    Branches are decoded as if each stood alone: see :func:`branch_offset` for where they go.
    """
    distinct = sorted(set(words))
    if not distinct:
        return {}
    with tempfile.TemporaryDirectory(prefix="zeropoint-aarch64-") as folder:
        object_file = str(Path(folder, "words.o"))
        source = "".join(f".inst {word:#010x}\n" for word in distinct)
        run_tool([llvm_tool("llvm-mc"), "-triple=aarch64", "-filetype=obj", "-o", object_file, "-"], source)
        options = ["-d", "--no-show-raw-insn", f"--mattr={_FEATURES}"]
        listing = run_tool([llvm_tool("llvm-objdump"), *options, object_file])
    lines = [found[1] for line in listing.splitlines() if (found := _LINE.match(line))]
    if len(lines) != len(distinct):
        raise ToolError(
            f"llvm-objdump: got {len(lines)} lines, expected {len(distinct)}, one per instruction"
        )
    return {word: _instruction(line) for word, line in zip(distinct, lines, strict=True)}


def _instruction(line: str) -> Instruction:
    mnemonic, _, operands = line.partition("\t")
    operands = re.sub(r"0x[0-9a-f]+ <.*>", "#0", operands)  # where it is taken to stand says nothing
    return Instruction(mnemonic.strip(), re.sub(r"\s*//.*", "", operands).strip())


def branch_offset(word: int) -> int | None:
    """Bytes from a branch to its target; None for what is no direct branch, or a call (``bl``)."""
    if word >> 26 == 0b000101:  # b
        return _signed(word & 0x3FFFFFF, 26) * 4
    if word >> 24 == 0b01010100 or (word >> 25) & 0x3F == 0b011010:  # b.cond; cbz, cbnz
        return _signed(word >> 5 & 0x7FFFF, 19) * 4
    if (word >> 25) & 0x3F == 0b011011:  # tbz, tbnz
        return _signed(word >> 5 & 0x3FFF, 14) * 4
    return None


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value
