"""The instruction sets that kernels are written for, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class InstructionSet:
    """What a kernel's text depends on: how wide vectors are, how many there are, how bytes are multiplied."""

    name: str
    features: frozenset[str]
    """LLVM features that code needs, as LLVM writes them (``+avx2``)."""
    vector_bytes: int
    registers: int
    dot: Literal["dot-u8s8", "multiply-add-i16", "dot-s8s8", "multiply-add-s8"]
    """How four bytes are summed into an i32 lane: ``vpdpbusd``; ``vpmaddwd`` on bytes widened to i16, which
    is exact (``vpmaddubsw`` saturates); ``sdot``; or ``smull`` and ``smlal``, whose i16 sums of two products
    ``sadalp`` adds (exact unless all four factors are -128).
    """
    base: str = ""
    """The set that this one extends; its kernels are used where no family needs what this one adds."""
    architecture: Literal["x86_64", "aarch64"] = "x86_64"

    @property
    def unsigned_inputs(self) -> bool:
        """Whether activations are multiplied as u8 (weights are i8); else as i8."""
        return self.architecture == "x86_64"

    @property
    def lanes(self) -> int:
        """i32 lanes of a vector."""
        return self.vector_bytes // 4


_AVX512VNNI = frozenset({"+avx512f", "+avx512bw", "+avx512vl", "+avx512dq", "+avx512vnni"})

_AVX512VBMI = _AVX512VNNI | {"+avx512vbmi"}

_X86 = (
    InstructionSet(
        "amx", _AVX512VBMI | {"+amx-tile", "+amx-int8"}, 64, 32, "dot-u8s8", base="avx512vbmi"
    ),  # code for it needs the operating system's permission: codegen/amx_permission.py
    InstructionSet("avx512vbmi", _AVX512VBMI, 64, 32, "dot-u8s8", base="avx512vnni"),
    InstructionSet("avx512vnni", _AVX512VNNI, 64, 32, "dot-u8s8"),
    InstructionSet("avxvnni", frozenset({"+avx2", "+fma", "+avxvnni"}), 32, 16, "dot-u8s8"),
    InstructionSet("avx2", frozenset({"+avx2", "+fma"}), 32, 16, "multiply-add-i16"),
    InstructionSet("sse4", frozenset({"+sse4.1", "+ssse3"}), 16, 16, "multiply-add-i16"),
)

_NEON = frozenset({"+neon"})

_AARCH64 = (
    InstructionSet(
        "i8mm", _NEON | {"+dotprod", "+i8mm"}, 16, 32, "dot-s8s8", base="dotprod", architecture="aarch64"
    ),
    InstructionSet("dotprod", _NEON | {"+dotprod"}, 16, 32, "dot-s8s8", architecture="aarch64"),
    InstructionSet("neon", _NEON, 16, 32, "multiply-add-s8", architecture="aarch64"),
)

INSTRUCTION_SETS: dict[str, InstructionSet] = {isa.name: isa for isa in (*_X86, *_AARCH64)}
"""By name; of those of one architecture that a machine has, the first is the best."""
