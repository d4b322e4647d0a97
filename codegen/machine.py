"""The machine that code is generated for."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import llvmlite.binding as llvm

from ..errors import TargetError
from ..kernels.instruction_set import INSTRUCTION_SETS
from ..targets.host import host_features
from ..targets.loading import HOST
from ..targets.target import Target
from . import amx_permission
from .known_cpus import require_known

_INITIALIZED = threading.Lock()
_done: set[str] = set()
_SYSTEMS = ("linux", "windows", "darwin", "macos", "bsd", "android")
_ABIS = {"riscv64": "lp64d"}
"""How functions are called where LLVM's choice is not what Linux takes."""


@dataclass(frozen=True)
class Machine:
    """An LLVM target: triple, CPU name, and features as LLVM writes them (``+avx2,-avx512f``)."""

    triple: str
    cpu: str = ""
    features: str = ""

    @property
    def isa(self) -> str:
        """The best instruction set that there are kernels for and the machine has; empty if it has none."""
        there = set(self.features.split(","))
        return next((isa.name for isa in INSTRUCTION_SETS.values() if isa.features <= there), "")

    @property
    def architecture(self) -> str:
        """The first word of the triple: ``x86_64``, ``aarch64``, ``riscv64``, ``thumbv7em`` ..."""
        name = self.triple.split("-")[0]
        return {"amd64": "x86_64", "arm64": "aarch64"}.get(name, name)

    @property
    def has_system(self) -> bool:
        """Whether the triple names an operating system; without one there are no shared libraries."""
        return any(name in self.triple for name in _SYSTEMS)

    @property
    def pointer_bits(self) -> int:
        """Of an address."""
        return 64 if self.architecture.endswith("64") else 32

    def target_machine(self, level: int = 2) -> Any:
        """A fresh LLVM target machine that generates code at optimization ``level`` (0 to 3). Code is
        position independent where there is an operating system.

        Raises:
            TargetError: LLVM does not know the triple.
        """
        _initialize()
        try:
            target = llvm.Target.from_triple(self.triple)
        except RuntimeError as error:
            raise TargetError(f"target '{self.triple}': LLVM cannot generate code for it: {error}") from error
        return target.create_target_machine(
            cpu=self.cpu,
            features=self.features,
            opt=level,
            reloc="pic" if self.has_system else "static",
            codemodel="default",
            abiname=_ABIS.get(self.architecture, ""),
        )


@lru_cache(maxsize=1)
def host() -> Machine:
    """The machine this process runs on, with the features its CPU has and the operating system grants."""
    _initialize()
    features = [f"{'+' if there else '-'}{name}" for name, there in sorted(host_features().items())]
    if "+amx-tile" in features and amx_permission.why_not():
        features = [feature for feature in features if not feature.startswith("+amx")]
    return Machine(llvm.get_process_triple(), llvm.get_host_cpu_name(), ",".join(features))


def machine_of(target: Target) -> Machine:
    """What code for a target is generated for: a CPU with the target's features and no others; the host, if
    the target is a profile of rules.

    Raises:
        TargetError: LLVM does not know its CPU, or one of its features.
    """
    described = target.machine
    if described is None or target.name == HOST:
        return host()
    require_known(target)
    return Machine(described.triple or host().triple, described.cpu, ",".join(described.features))


def _initialize() -> None:
    with _INITIALIZED:
        if not _done:
            llvm.initialize_all_targets()
            llvm.initialize_all_asmprinters()
            _done.add("all")
