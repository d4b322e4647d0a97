"""Machine code into this process. Memory is never writable and executable at once."""

from __future__ import annotations

import ctypes
import mmap
import struct
import sys
from collections.abc import Mapping
from typing import Protocol

from ..errors import PipelineError
from .image import Image
from .symbols import function_address

# A saved executable is linked already: what reads object files is imported when there are some.

_ELF = b"\x7fELF"
_X86_64 = 62  # ELF's number, as in elf.py


class LoadedCode(Protocol):
    """Code in memory, which stays as long as this object does."""

    @property
    def contents(self) -> Image | Mapping[str, bytes]:
        """What was loaded: an image, or object files by name."""

    def address(self, name: str, symbol: str) -> int:
        """Where ``symbol`` of the object ``name`` is; raises PipelineError if it is not there."""


def load(objects: Mapping[str, bytes]) -> LoadedCode:
    """Load object files of this machine: ELF for x86-64 and aarch64 by ourselves, others through LLVM.

    Raises:
        PipelineError: an object is damaged, or calls a function that this process does not have.
    """
    image = linked(objects) if can_map() else None
    if image is not None:
        return MappedImage(image)
    from .jit import JitCode

    return JitCode(objects)


def linked(objects: Mapping[str, bytes]) -> Image | None:
    """One image of object files for a machine that our linker knows, this one or another; else None.

    Raises:
        PipelineError: an object is damaged.
    """
    if not all(code.startswith(_ELF) for code in objects.values()):
        return None
    from .link import is_known, link

    return link(objects) if all(is_known(code) for code in objects.values()) else None


def can_map() -> bool:
    """Whether this system lets us change the protection of memory as an image needs."""
    return sys.platform not in ("win32", "darwin") and hasattr(mmap, "PROT_EXEC")


class MappedImage:
    """An image in memory of its own.

    Raises:
        PipelineError: the image calls a function that this process does not have, or the system refuses
        executable memory.
    """

    def __init__(self, image: Image) -> None:
        self.contents = image
        size = max(len(image.data), 1)
        private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        self._memory = mmap.mmap(-1, size, flags=private, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        self._start = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._memory[: len(image.data)] = image.data
        for offset, name in image.imports:
            address = function_address(name)
            if address is None:
                raise PipelineError(f"the machine code calls '{name}', which this process does not have")
            struct.pack_into("<Q", self._memory, offset, address)
        for offset, value in image.absolute:
            struct.pack_into("<Q", self._memory, offset, self._start + value)
        _protect(self._start, image.code_bytes, mmap.PROT_READ | mmap.PROT_EXEC)
        if image.machine != _X86_64:
            _clear_instruction_cache(self._start, image.code_bytes)
        _protect(self._start + image.code_bytes, size - image.code_bytes, mmap.PROT_READ)

    def address(self, name: str, symbol: str) -> int:
        offset = self.contents.symbols.get(f"{name}:{symbol}")
        if offset is None:
            raise PipelineError(f"machine code could not be loaded: '{name}' does not define '{symbol}'")
        return self._start + offset


def _protect(address: int, size: int, protection: int) -> None:
    if size <= 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), protection):
        raise PipelineError(
            f"machine code could not be loaded: the system refuses it (error {ctypes.get_errno()})"
        )


def _clear_instruction_cache(address: int, size: int) -> None:
    """Make instructions that were written as data visible to who runs them: on x86 they are, on AArch64 the
    program has to see to it. The compiler's library does it; where there is none we rely on Linux, which
    cleans a page's caches when the page first becomes executable.
    """
    try:
        clear = ctypes.CDLL("libgcc_s.so.1")["__clear_cache"]
    except (OSError, AttributeError):
        return
    clear(ctypes.c_void_p(address), ctypes.c_void_p(address + size))
