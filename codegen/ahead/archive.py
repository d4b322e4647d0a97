"""Static libraries: ``ar`` archives of one object file, with an index and without dates or owners."""

from __future__ import annotations

import struct
from collections.abc import Sequence

_MAGIC = b"!<arch>\n"


def archive(member: str, data: bytes, symbols: Sequence[str]) -> bytes:
    """An archive in GNU's format; ``symbols`` are those that the object file defines for others."""
    names = b"".join(symbol.encode() + b"\0" for symbol in symbols)
    index_size = 4 + 4 * len(symbols) + len(names)
    offset = len(_MAGIC) + _HEADER_BYTES + index_size + index_size % 2
    long_names = b""
    title = f"{member}/"
    if len(title) > 16:
        long_names = f"{title}\n".encode()
        title = "/0"
        offset += _HEADER_BYTES + len(long_names) + len(long_names) % 2
    index = struct.pack(">I", len(symbols)) + struct.pack(">I", offset) * len(symbols) + names
    parts = [_MAGIC, *_part("/", index)]
    if long_names:
        parts += _part("//", long_names)
    return b"".join([*parts, *_part(title, data)])


_HEADER_BYTES = 60


def _part(title: str, data: bytes) -> list[bytes]:
    head = f"{title:<16}{0:<12}{0:<6}{0:<6}{'644':<8}{len(data):<10}`\n"
    return [head.encode("ascii"), data, b"\n" * (len(data) % 2)]
