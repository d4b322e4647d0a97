"""Object code into this process through LLVM, where our own loader does not read the object format."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Mapping
from typing import Any

import llvmlite.binding as llvm

from ..errors import PipelineError

_NUMBERS = itertools.count()


class JitCode:
    """Object files in memory; they stay as long as this object does.

    Raises:
        PipelineError: LLVM cannot read an object.
    """

    def __init__(self, objects: Mapping[str, bytes]) -> None:
        if sys.platform.startswith(
            "linux"
        ):  # a Python that links libm statically does not show its functions
            llvm.load_library_permanently("libm.so.6")
        self.contents = objects
        self._jit = llvm.create_lljit_compiler()
        self._names = {name: f"{name}.{next(_NUMBERS)}" for name in objects}
        # Trackers own the code: they must outlive every call.
        self._trackers: list[Any] = []
        for name, code in objects.items():
            builder = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
            self._keep(lambda b=builder, n=name: b.link(self._jit, self._names[n]))

    def address(self, name: str, symbol: str) -> int:
        """Where ``symbol`` of the object ``name`` is.

        Raises:
            PipelineError: it is not there, or calls a function that this process does not have.
        """
        tracker = self._keep(lambda: self._jit.lookup(self._names[name], symbol))
        return int(tracker[symbol])

    def _keep(self, make: Any) -> Any:
        try:
            tracker = make()
        except RuntimeError as error:
            raise PipelineError(f"machine code could not be loaded: {error}") from error
        self._trackers.append(tracker)
        return tracker
