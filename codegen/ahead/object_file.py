"""What an ELF object file holds: sizes of functions and sections, and what it calls. 32 and 64 bit."""

from __future__ import annotations

import struct
from dataclasses import dataclass

_ALLOC, _WRITE, _EXECUTE = 2, 1, 4
_SYMTAB = 2
_FUNCTION = 2
_UNDEFINED = 0
_GLOBAL_OFFSET_TABLE = "_GLOBAL_OFFSET_TABLE_"


@dataclass(frozen=True)
class ObjectSummary:
    """In bytes."""

    code: int
    read_only: int
    """Constants and tables."""
    writable: int
    functions: dict[str, int]
    defined: tuple[str, ...]
    """Symbols for others."""
    undefined: tuple[str, ...]
    """Functions that must come from elsewhere."""


def summary(data: bytes) -> ObjectSummary | None:
    """Of a little endian ELF object file; None of any other format."""
    if data[:4] != b"\x7fELF" or data[5] != 1:
        return None
    wide = data[4] == 2
    header = struct.Struct("<16sHHIQQQIHHHHHH" if wide else "<16sHHIIIIIHHHHHH").unpack_from(data)
    section_format = struct.Struct("<IIQQQQIIQQ" if wide else "<IIIIIIIIII")
    first, count = header[6], header[12]
    sections = [section_format.unpack_from(data, first + i * section_format.size) for i in range(count)]
    sizes = {"code": 0, "read_only": 0, "writable": 0}
    for section in sections:
        flags, size = section[2], section[5]
        if flags & _ALLOC:
            kind = "code" if flags & _EXECUTE else "writable" if flags & _WRITE else "read_only"
            sizes[kind] += size
    functions: dict[str, int] = {}
    defined, undefined = [], []
    for section in sections:
        if section[1] != _SYMTAB:
            continue
        strings = sections[section[6]]
        for name, info, place, size in _symbols(data, section, strings, wide):
            if info & 15 == _FUNCTION and place != _UNDEFINED:
                functions[name] = size
            if info >> 4 and place != _UNDEFINED:
                defined.append(name)
            elif info >> 4 and name != _GLOBAL_OFFSET_TABLE:
                undefined.append(name)
    return ObjectSummary(
        **sizes, functions=functions, defined=tuple(defined), undefined=tuple(sorted(undefined))
    )


def _symbols(
    data: bytes, section: tuple[int, ...], strings: tuple[int, ...], wide: bool
) -> list[tuple[str, int, int, int]]:
    """Name, info, section, size of each symbol."""
    found = []
    table = data[section[4] : section[4] + section[5]]
    for entry in struct.Struct("<IBBHQQ" if wide else "<IIIBBH").iter_unpack(table):
        if wide:
            name, info, _, place, _, size = entry
        else:
            name, _, size, info, _, place = entry
        start = strings[4] + name
        found.append((data[start : data.index(b"\0", start)].decode(), info, place, size))
    return found
