"""A compiled network before it is loaded: it may be for another machine than this one."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..codegen.loader import linked, load
from ..codegen.program import Program
from ..dialect.tensor_info import TensorInfo
from ..version import __version__
from .executable import Executable
from .saved import Header, pack, system_of, write_file
from .variables import Variables


@dataclass(frozen=True)
class Compiled:
    """The program, object file per kernel and constants of one network."""

    program: Program
    objects: Mapping[str, bytes]
    """Object files by the name of their kernel, as the triple's system has them."""
    constants: npt.NDArray[np.uint8]
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    intermediates: tuple[TensorInfo, ...] | None
    """All values of the network, if they are kept."""
    name: str
    threads: int
    instructions: Collection[str]
    """LLVM's names of the CPU features that the code may use."""
    triple: str
    """Of the machine and system that the code is for."""

    def load(self, variables: Variables | None = None) -> Executable:
        """The network, ready to run in this process; the code must be for this machine."""
        return Executable(
            self.program,
            load(self.objects),
            self.constants,
            self.inputs,
            self.outputs,
            self.intermediates,
            self.name,
            self.threads,
            self.instructions,
            variables,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file (``.zpx``) that :func:`zeropoint.load_executable` runs on a machine that the code is
        for.

        Raises:
            ZeropointError: the file cannot be written.
        """
        contents = linked(self.objects) or self.objects
        image, objects, code = pack(contents)
        header = Header(
            __version__,
            system_of(self.triple),
            tuple(sorted(self.instructions)),
            self.name,
            self.threads,
            self.inputs,
            self.outputs,
            self.intermediates,
            self.program,
            image,
            objects,
        )
        write_file(path, header, code, self.constants)
