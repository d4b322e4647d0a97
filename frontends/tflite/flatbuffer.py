"""Reading flatbuffers without trusting them.

Every access is checked against the length of the file, so that a broken or hostile file is an
:class:`~zeropoint.errors.ImportModelError`, never a crash. The work a file can cause is bounded too: tables
and vectors may be shared in a flatbuffer, so a small file can describe a huge tree; elements read are
counted against the file's length.
"""

from __future__ import annotations

import struct
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from ...errors import ImportModelError

_READS_PER_BYTE = 16
"""How often a file may refer to the same bytes, on average. Real files stay below 2."""

_FREE_READS = 1 << 16

_TABLE_BYTES = 128
"""What reading a table counts for: it takes longer than its bytes. Unshared ones never use up the budget."""

_SCALARS = {
    "bool": struct.Struct("<?"),
    "i8": struct.Struct("<b"),
    "u8": struct.Struct("<B"),
    "i32": struct.Struct("<i"),
    "u32": struct.Struct("<I"),
    "u64": struct.Struct("<Q"),
    "f32": struct.Struct("<f"),
}
_SOFFSET = struct.Struct("<i")
_UOFFSET = struct.Struct("<I")
_U16 = struct.Struct("<H")


class FlatBuffer:
    """The bytes of a file, read with bounds checks. ``name`` opens every message."""

    def __init__(self, data: bytes, name: str) -> None:
        self.data = data
        self.name = name
        self._budget = _FREE_READS + _READS_PER_BYTE * len(data)

    def fail(self, what: str) -> NoReturn:
        raise ImportModelError(f"{self.name}: error: {what}")

    def broken(self, what: str) -> NoReturn:
        """The flatbuffer itself (not what it says) is wrong."""
        self.fail(f"broken flatbuffer: {what}; the file is damaged or cut short")

    def root(self, identifier: str) -> Table:
        """The root table of a file with this four-character identifier."""
        if len(self.data) < 8:
            self.fail(f"not a {identifier} flatbuffer: {len(self.data)} bytes are shorter than its header")
        found = self.data[4:8]
        if found != identifier.encode():
            self.fail(f"not a {identifier} flatbuffer: its identifier is {found!r}")
        return Table(self, self.unpack(_UOFFSET, 0, "root offset"), "model")

    def unpack(self, layout: struct.Struct, position: int, label: str) -> int:
        """One integer at ``position``."""
        self.demand(position, layout.size, label)
        value: int = layout.unpack_from(self.data, position)[0]
        return value

    def demand(self, position: int, count: int, label: str) -> None:
        """``count`` bytes from ``position`` lie inside the file."""
        if position < 0 or count < 0 or position + count > len(self.data):
            self.broken(f"{label} at byte {position} with {count} bytes, the file has {len(self.data)}")

    def charge(self, count: int) -> None:
        """Count ``count`` bytes as read."""
        self._budget -= count
        if self._budget < 0:
            self.fail(
                "the file refers to the same bytes over and over; "
                "refused since reading it would take too long"
            )

    def vector(self, position: int, itemsize: int, label: str) -> tuple[int, int]:
        """(first byte, count) of the vector at ``position``."""
        count = self.unpack(_UOFFSET, position, label)
        self.demand(position + 4, count * itemsize, label)
        return position + 4, count


class Table:
    """One table: its fields by slot number. ``label`` says in messages which one it is."""

    __slots__ = ("_fields", "_file", "_position", "_size", "label")

    def __init__(self, file: FlatBuffer, position: int, label: str) -> None:
        self._file = file
        self._position = position
        self.label = label
        vtable = position - file.unpack(_SOFFSET, position, f"{label}: table")
        size = file.unpack(_U16, vtable, f"{label}: vtable")
        self._size = file.unpack(_U16, vtable + 2, f"{label}: vtable")
        if size < 4 or size % 2 or self._size < 4:
            file.broken(f"{label}: vtable of {size} bytes for a table of {self._size} bytes")
        file.demand(vtable, size, f"{label}: vtable")
        file.demand(position, self._size, f"{label}: table")
        self._fields = struct.unpack_from(f"<{size // 2 - 2}H", file.data, vtable + 4)

    def _field(self, slot: int, size: int) -> int | None:
        """Where a field's value is stored; None if it is absent."""
        offset: int = self._fields[slot] if slot < len(self._fields) else 0
        if offset == 0:
            return None
        if offset < 4 or offset + size > self._size:
            self._file.broken(
                f"{self.label}: field {slot} at offset {offset} of a table of {self._size} bytes"
            )
        return self._position + offset

    def _target(self, slot: int) -> int | None:
        """Where the object that an offset field refers to starts."""
        position = self._field(slot, 4)
        if position is None:
            return None
        offset = self._file.unpack(_UOFFSET, position, self.label)
        if offset == 0:
            self._file.broken(f"{self.label}: field {slot} refers to itself")
        return position + offset

    def has(self, slot: int) -> bool:
        """Whether the field is present."""
        return self._field(slot, 0) is not None

    def scalar(self, slot: int, kind: str, default: float = 0) -> float:
        """A number of ``kind`` (``bool i8 u8 i32 u32 u64 f32``), or its default if absent."""
        layout = _SCALARS[kind]
        position = self._field(slot, layout.size)
        if position is None:
            return default
        value: float = layout.unpack_from(self._file.data, position)[0]
        return value

    def integer(self, slot: int, kind: str = "i32", default: int = 0) -> int:
        """:meth:`scalar` of an integer kind."""
        return int(self.scalar(slot, kind, default))

    def array(self, slot: int, dtype: str) -> npt.NDArray[np.generic] | None:
        """A vector of numbers as an array that is aligned and its own copy; None if absent."""
        position = self._target(slot)
        if position is None:
            return None
        itemsize = np.dtype(dtype).itemsize
        start, count = self._file.vector(position, itemsize, f"{self.label}: field {slot}")
        self._file.charge(count * itemsize)
        return np.frombuffer(self._file.data, np.dtype(dtype).newbyteorder("<"), count, start).astype(dtype)

    def integers(self, slot: int) -> tuple[int, ...]:
        """A vector of 32-bit integers; empty if absent."""
        array = self.array(slot, "int32")
        return () if array is None else tuple(array.tolist())

    def blob(self, slot: int) -> memoryview | None:
        """A vector of bytes, not copied; None if absent."""
        position = self._target(slot)
        if position is None:
            return None
        start, count = self._file.vector(position, 1, f"{self.label}: field {slot}")
        return memoryview(self._file.data)[start : start + count]

    def text(self, slot: int) -> str:
        """A string; empty if absent. Bytes that are not UTF-8 become replacement characters."""
        raw = self.blob(slot)
        if raw is None:
            return ""
        self._file.charge(len(raw))
        return bytes(raw).decode("utf-8", errors="replace")

    def table(self, slot: int, label: str) -> Table | None:
        """A table; None if absent."""
        position = self._target(slot)
        if position is None:
            return None
        self._file.charge(_TABLE_BYTES)
        return Table(self._file, position, label)

    def tables(self, slot: int, label: str) -> list[Table]:
        """A vector of tables, labelled ``label 0``, ``label 1`` ...; empty if absent."""
        position = self._target(slot)
        if position is None:
            return []
        start, count = self._file.vector(position, 4, f"{self.label}: {label}s")
        self._file.charge(_TABLE_BYTES * count)
        offsets = struct.unpack_from(f"<{count}I", self._file.data, start)
        return [Table(self._file, start + 4 * i + offset, f"{label} {i}") for i, offset in enumerate(offsets)]
