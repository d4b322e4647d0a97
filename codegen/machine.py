"""The machine that code is generated for."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import llvmlite.binding as llvm

from ..errors import TargetError

_INITIALIZED = threading.Lock()
_done: set[str] = set()


VECTOR_ISAS = {"avx512vnni": frozenset({"+avx512vnni", "+avx512bw", "+avx512vl"})}
"""Instruction set that there are kernels for -> the features they need; the first that fits is used."""


@dataclass(frozen=True)
class Machine:
    """An LLVM target: triple, CPU name, and features as LLVM writes them (``+avx2,-avx512f``)."""

    triple: str
    cpu: str = ""
    features: str = ""

    @property
    def isa(self) -> str:
        """The instruction set of :data:`VECTOR_ISAS` that the machine has; empty if it has none of them."""
        there = set(self.features.split(","))
        return next((isa for isa, needed in VECTOR_ISAS.items() if needed <= there), "")

    def target_machine(self, level: int = 2) -> Any:
        """A fresh LLVM target machine that generates code at optimization ``level`` (0 to 3). Code is
        position independent.

        Raises:
            TargetError: LLVM does not know the triple.
        """
        _initialize()
        try:
            target = llvm.Target.from_triple(self.triple)
        except RuntimeError as error:
            raise TargetError(f"target '{self.triple}': LLVM cannot generate code for it: {error}") from error
        return target.create_target_machine(
            cpu=self.cpu, features=self.features, opt=level, reloc="pic", codemodel="default"
        )


@lru_cache(maxsize=1)
def host() -> Machine:
    """The machine this process runs on, with the features its CPU and operating system have."""
    _initialize()
    return Machine(
        llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    )


def _initialize() -> None:
    with _INITIALIZED:
        if not _done:
            llvm.initialize_all_targets()
            llvm.initialize_all_asmprinters()
            _done.add("all")
