"""Executables as files (``.zpx``): machine code, step table and weights, ready to run without the compiler.

A file is a fixed prefix, a header in JSON, the machine code, and the constants, which start on a page
boundary and stay in the file: they are mapped read-only. It is made for one operating system and one kind of
CPU.

Trust a file as you would trust a program: what it holds is run. The checks here are against accidents: a
file that is cut short, damaged, of another version or for another machine.
"""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
import struct
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..codegen import cpu
from ..codegen.image import Image
from ..codegen.loader import LoadedCode, MappedImage, can_map, load
from ..codegen.program import Pointer, Program
from ..dialect.buffers import OVERREAD_BYTES
from ..dialect.tensor_info import TensorInfo
from ..errors import ImportModelError, InputError, TargetError, ZeropointError
from ..version import __version__
from .executable import Executable
from .typed_json import decode, encode

MAGIC = b"\x93ZEROPOINT\r\n\x1a\n\0\0"
VERSION = 2
"""Of the format; a file of another one is not read."""
_PREFIX = struct.Struct("<16s I I Q Q Q Q 32s")
"""Magic, version, 0, bytes of the header and of the code, offset and bytes of the constants, digest."""
_DIGEST_BYTES = 32
_MAX_ARENA = 1 << 48
PAGE = 1 << 16
"""The largest page of a system that the file is for: what is mapped starts on a multiple."""


@dataclass(frozen=True)
class Header:
    """What a file says of itself."""

    zeropoint: str
    system: str
    """As ``sys.platform`` and ``cpu.architecture`` say it: ``linux x86_64``."""
    instructions: tuple[str, ...]
    """LLVM's names of the CPU features that the code may use."""
    name: str
    threads: int
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    intermediates: tuple[TensorInfo, ...] | None
    program: Program
    image: ImageHeader | None = None
    objects: dict[str, tuple[int, int]] | None = None
    """Where the machine code is no image: object file -> its place and size in the code."""


@dataclass(frozen=True)
class ImageHeader:
    """An :class:`~..codegen.link.Image` without its bytes."""

    machine: int
    code_bytes: int
    symbols: dict[str, int]
    imports: tuple[tuple[int, str], ...]
    absolute: tuple[tuple[int, int], ...]


def system() -> str:
    return f"{sys.platform} {cpu.architecture()}"


def system_of(triple: str) -> str:
    """The same of a machine and system in LLVM's words."""
    architecture, _, rest = triple.partition("-")
    systems = {"linux": "linux", "darwin": "darwin", "macos": "darwin", "windows": "win32"}
    platform = next((name for word, name in systems.items() if word in rest), "none")
    return f"{platform} {cpu.usual_name(architecture)}"


def save_executable(executable: Executable, path: str | os.PathLike[str]) -> None:
    """Write ``executable`` to a file, which replaces one of that name at once and as a whole.

    Raises:
        InputError: the path is no name of a file.
        ZeropointError: the file cannot be written.
    """
    image, objects, code = pack(executable._code.contents)
    header = Header(
        __version__,
        system(),
        tuple(executable.instructions),
        executable.name,
        executable.threads,
        tuple(executable.inputs),
        tuple(executable.outputs),
        None if executable._kept is None else tuple(executable._kept),
        executable._program,
        image,
        objects,
    )
    write_file(path, header, code, executable._constants)


def write_file(
    path: str | os.PathLike[str], header: Header, code: bytes, constants: npt.NDArray[np.uint8]
) -> None:
    """Write a file, which replaces one of that name at once and as a whole.

    Raises:
        InputError: the path is no name of a file.
        ZeropointError: it cannot be written.
    """
    text = encode(header)
    start = -(-(_PREFIX.size + len(text) + len(code)) // PAGE) * PAGE
    head = (MAGIC, VERSION, 0, len(text), len(code), start, constants.nbytes)
    padding = bytes(start - _PREFIX.size - len(text) - len(code))
    parts: list[Any] = [text, code, padding, constants, bytes(OVERREAD_BYTES)]
    digest = hashlib.sha256(_PREFIX.pack(*head, b""))
    for part in parts:
        digest.update(part)
    _write(path, [_PREFIX.pack(*head, digest.digest()), *parts])


def pack(
    contents: Image | Mapping[str, bytes],
) -> tuple[ImageHeader | None, dict[str, tuple[int, int]] | None, bytes]:
    """Machine code as bytes, and what the header says of them."""
    if isinstance(contents, Image):
        image = ImageHeader(
            contents.machine,
            contents.code_bytes,
            dict(contents.symbols),
            contents.imports,
            contents.absolute,
        )
        return image, None, contents.data
    places, end = {}, 0
    for name, data in contents.items():
        places[name] = (end, len(data))
        end += len(data)
    return None, places, b"".join(contents.values())


def _write(place: str | os.PathLike[str], parts: list[Any]) -> None:
    from pathlib import Path  # takes a tenth of the time that loading does, which needs none

    path = Path(place)
    if not path.name or "\0" in path.name:
        raise InputError(f"path: got {os.fspath(place)!r}, expected the path of a file")
    temporary = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    try:
        with temporary.open("xb") as file:
            for part in parts:
                file.write(part)
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise ZeropointError(f"{path}: cannot be written: {error.strerror or error}") from error


def load_executable(path: str | os.PathLike[str], *, threads: int | None = None) -> Executable:
    """The executable that ``Executable.save`` wrote. Needs neither the compiler nor LLVM.

    What the file holds is run: trust it as you would trust a program.

    Args:
        path: the file. Weights are not read but mapped: it must stay as it is while the executable lives.
        threads: how many threads one run may use; what it was compiled with if left out.

    Raises:
        TargetError: it is for another system, or this CPU lacks instructions that it uses.
        ImportModelError: no such file, or it is damaged or of another version.
        InputError: an argument is wrong.
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"path: got {type(path).__name__}, expected the path of a file")
    if "\0" in os.fspath(path):
        raise InputError(f"path: got {os.fspath(path)!r}, expected the path of a file")
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
        raise InputError(f"threads: got {threads!r}, expected a positive whole number")
    place = os.fspath(path)
    saved = _open(place)
    header = saved.header
    _require_machine(header, place)
    try:
        code = saved.code()
        return Executable(
            header.program,
            code,
            saved.constants,
            header.inputs,
            header.outputs,
            header.intermediates,
            header.name,
            header.threads if threads is None else threads,
            header.instructions,
        )
    except (struct.error, ArithmeticError, ValueError, LookupError) as error:
        raise ImportModelError(
            f"{place}: error: the header does not fit the machine code: {error}"
        ) from error


@dataclass(frozen=True)
class _File:
    header: Header
    data: Any
    """The machine code."""
    constants: Any

    def code(self) -> LoadedCode:
        image = self.header.image
        if image is not None and can_map():
            return MappedImage(
                Image(
                    image.machine,
                    bytes(self.data),
                    image.code_bytes,
                    image.symbols,
                    image.imports,
                    image.absolute,
                )
            )
        objects: Mapping[str, tuple[int, int]] = self.header.objects or {}
        return load({name: bytes(self.data[a : a + size]) for name, (a, size) in objects.items()})


def _open(place: str) -> _File:
    """Read a file and check it: everything but whether it is for this machine."""
    try:
        file = os.open(place, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        try:
            size = os.fstat(file).st_size
            prefix = os.read(file, _PREFIX.size)
            head = _head(prefix, size, place)
            whole = mmap.mmap(file, 0, access=mmap.ACCESS_READ)
        finally:
            os.close(file)
    except OSError as error:
        raise ImportModelError(f"{place}: error: cannot be read: {error.strerror or error}") from error
    header_bytes, code_bytes, start, constant_bytes, expected = head
    digest = hashlib.sha256(prefix[:-_DIGEST_BYTES] + bytes(_DIGEST_BYTES))
    view = memoryview(whole)
    digest.update(view[_PREFIX.size :])
    if digest.digest() != expected:
        raise ImportModelError(f"{place}: error: the file is damaged: its checksum is wrong")
    code_start = _PREFIX.size + header_bytes
    try:
        header = decode(bytes(view[_PREFIX.size : code_start]), Header)
    except (ValueError, RecursionError) as error:
        raise ImportModelError(f"{place}: error: the header is damaged: {error}") from error
    _check(header, code_bytes, constant_bytes, place)
    constants = np.frombuffer(whole, np.uint8, constant_bytes, start)
    return _File(header, view[code_start : code_start + code_bytes], constants)


def _head(prefix: bytes, size: int, place: str) -> tuple[int, int, int, int, bytes]:
    if len(prefix) < _PREFIX.size or not prefix.startswith(MAGIC):
        raise ImportModelError(f"{place}: error: is no executable that Executable.save wrote")
    _, version, _, header, code, start, constants, digest = _PREFIX.unpack(prefix)
    if version != VERSION:
        raise ImportModelError(
            f"{place}: error: format version {version}, expected {VERSION}; compile the model again"
        )
    if start % PAGE or start < _PREFIX.size + header + code or size != start + constants + OVERREAD_BYTES:
        raise ImportModelError(
            f"{place}: error: the file has {size} bytes, which are not those it was saved with"
        )
    return header, code, start, constants, digest


def _check(header: Header, code_bytes: int, constant_bytes: int, place: str) -> None:
    """Whether every number in the header is one that a table can be made of."""
    image, program = header.image, header.program
    results = len(header.outputs) + len(header.intermediates or ())
    counts = {
        "input": len(header.inputs),
        "output": results,
        "constants": 1,
        "arena": 1,
        "state": len(program.variables),
        "steps": len(program.inner) + 1,
    }
    pointers = [
        a for step in (*program.steps, *program.inner) for a in step.arguments if isinstance(a, Pointer)
    ]
    slots = [*image.imports, *image.absolute] if image is not None else []
    fine = (
        (program.inputs, program.outputs) == (counts["input"], results)
        and all(0 <= pointer.index < counts[pointer.base] for pointer in pointers)
        and all(0 <= offset <= code_bytes - 8 for offset, _ in slots)
        and (image is None or 0 <= image.code_bytes <= code_bytes)
        and 0 <= program.arena_bytes < _MAX_ARENA
        and all(
            0 <= v.initial <= constant_bytes - v.bytes and min(v.shape, default=0) >= 0
            for v in program.variables
        )
        and header.threads >= 1
    )
    if not fine:
        raise ImportModelError(f"{place}: error: the header is damaged: a number in it is out of range")


def _require_machine(header: Header, place: str) -> None:
    if header.system != system():
        raise TargetError(f"{place}: is for {header.system}, this is {system()}; compile the model here")
    missing = sorted(set(header.instructions) - cpu.here())
    if missing:
        raise TargetError(
            f"{place}: uses instructions that this CPU lacks ({', '.join(missing)}); compile the model here"
        )
