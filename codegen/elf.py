"""Reading relocatable ELF object files: 64 bit, little endian.

Object files may come from a cache or a saved executable, so every offset is checked before it is followed.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ..errors import PipelineError

X86_64 = 62
AARCH64 = 183
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
_RELOCATABLE = 1
_SYMTAB, _RELA, _NOBITS = 2, 4, 8
_WRITE, _ALLOC, _EXECUTE = 1, 2, 4
_MAX_ALIGNMENT = 4096
_UNDEFINED, _ABSOLUTE, _COMMON = 0, 0xFFF1, 0xFFF2
_LOCAL = 0


@dataclass(frozen=True)
class Section:
    """A section that is in memory at run time."""

    name: str
    data: bytes
    alignment: int
    is_code: bool


@dataclass(frozen=True)
class Symbol:
    """A name: ``offset`` bytes into section ``section``, or None if the process must define it."""

    name: str
    section: int | None
    offset: int
    is_local: bool


@dataclass(frozen=True)
class Relocation:
    """The bytes at ``offset`` of ``section`` depend on the address of ``symbol`` plus ``addend``."""

    section: int
    offset: int
    type: int
    symbol: int
    addend: int


@dataclass(frozen=True)
class ObjectFile:
    machine: int
    sections: dict[int, Section]
    symbols: list[Symbol]
    relocations: list[Relocation]


def read_object(code: bytes, name: str) -> ObjectFile:
    """Take an object file apart; ``name`` is for messages.

    Raises:
        PipelineError: it is damaged, or no relocatable object for code that kernels may have: no writable
        data.
    """
    try:
        return _read(code, name)
    except (struct.error, IndexError, ValueError) as error:
        raise PipelineError(f"object file '{name}' is damaged: {error}") from error


def _read(code: bytes, name: str) -> ObjectFile:
    if code[:6] != b"\x7fELF\x02\x01":
        raise PipelineError(f"object file '{name}' is not ELF for a 64-bit little endian machine")
    header = _HEADER.unpack_from(code)
    if header[1] != _RELOCATABLE:
        raise PipelineError(f"object file '{name}' is not relocatable")
    first, count, strings = header[6], header[12], header[13]
    headers = [_SECTION.unpack_from(code, first + i * _SECTION.size) for i in range(count)]
    names = _part(code, headers[strings])
    sections: dict[int, Section] = {}
    symbols: list[Symbol] = []
    for index, section in enumerate(headers):
        type_, flags = section[1], section[2]
        if type_ == _SYMTAB:
            symbols = _symbols(_part(code, section), _part(code, headers[section[6]]), name)
        elif flags & _ALLOC and (title := _string(names, section[0])) != ".eh_frame":  # nobody unwinds
            # Sections of the name .data.rel.ro are read-only once they are relocated.
            if flags & _WRITE and section[5] and not title.startswith(".data.rel.ro"):
                raise PipelineError(f"object file '{name}' has writable data ({title}), which kernels share")
            data = b"" if type_ == _NOBITS else _part(code, section)
            alignment = max(section[8], 1)
            if alignment > _MAX_ALIGNMENT or alignment & (alignment - 1):
                raise ValueError(f"section {title} is aligned to {alignment} bytes")
            sections[index] = Section(title, data, alignment, bool(flags & _EXECUTE))
    relocations = [
        relocation
        for section in headers
        if section[1] == _RELA and section[7] in sections
        for relocation in _relocations(_part(code, section), section[7])
    ]
    return ObjectFile(header[2], sections, symbols, relocations)


def _part(code: bytes, section: tuple[int, ...]) -> bytes:
    offset, size = section[4], section[5]
    if offset + size > len(code):
        raise ValueError(f"a section ends at byte {offset + size} of {len(code)}")
    return code[offset : offset + size]


def _string(table: bytes, offset: int) -> str:
    return table[offset : table.index(b"\0", offset)].decode()


def _symbols(table: bytes, strings: bytes, name: str) -> list[Symbol]:
    symbols = []
    for text, info, _, section, value, _ in _SYMBOL.iter_unpack(table):
        title = _string(strings, text)
        if section == _COMMON:
            raise PipelineError(f"object file '{name}' has writable data ({title}), which kernels share")
        defined = section not in (_UNDEFINED, _ABSOLUTE)
        symbols.append(Symbol(title, section if defined else None, value, info >> 4 == _LOCAL))
    return symbols


def _relocations(table: bytes, section: int) -> list[Relocation]:
    return [
        Relocation(section, offset, info & 0xFFFFFFFF, info >> 32, addend)
        for offset, info, addend in _RELOCATION.iter_unpack(table)
    ]
