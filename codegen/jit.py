"""Object code into this process, and out again."""

from __future__ import annotations

import ctypes
import itertools
import sys
from typing import Any

import llvmlite.binding as llvm

from ..errors import PipelineError

_NUMBERS = itertools.count()


class LoadedCode:
    """Machine code in memory that can be called; it stays as long as this object does.

    ``call(pointer)`` runs ``void symbol(void *)`` with the interpreter lock released.
    """

    def __init__(self, code: bytes, symbol: str) -> None:
        """Load the object file ``code`` and look ``symbol`` up.

        Raises:
            PipelineError: the code calls a function that this process does not have, or does not define
            ``symbol``.
        """
        _load_maths()
        self._jit = llvm.create_lljit_compiler()
        builder = llvm.JITLibraryBuilder()
        builder.add_object_img(code).add_current_process().export_symbol(symbol)
        try:
            # The tracker owns the code: it must outlive every call.
            self._tracker = builder.link(self._jit, f"network{next(_NUMBERS)}")
        except RuntimeError as error:
            raise PipelineError(f"machine code could not be loaded: {error}") from error
        self.address: int = self._tracker[symbol]
        if not self.address:
            raise PipelineError(f"machine code could not be loaded: symbol '{symbol}' is not defined")
        self.call: Any = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.address)


def is_available(symbol: str) -> bool:
    """Whether loaded code could call the C function ``symbol``."""
    _load_maths()
    return llvm.address_of_symbol(symbol) is not None


def _load_maths() -> None:
    """Make libm's functions visible, which a Python that links libm statically does not do."""
    if sys.platform.startswith("linux"):
        llvm.load_library_permanently("libm.so.6")
