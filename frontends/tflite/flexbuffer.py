"""Reading the map of a flexbuffer, in which custom operators keep their options, without trusting it.

Every access is checked against the length of the buffer. Only numbers, booleans and text are read; what
else a map holds is named, not followed, so that neither depth nor size of it matters.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TypeAlias

_NULL, _INT, _UINT, _FLOAT, _KEY, _STRING, _INDIRECT_INT, _INDIRECT_UINT, _INDIRECT_FLOAT, _MAP = range(10)
_BOOL = 26
_INTEGERS = {1: "b", 2: "h", 4: "i", 8: "q"}
_FLOATS = {2: "e", 4: "f", 8: "d"}
_TEXT_LIMIT = 200


@dataclass(frozen=True, repr=False)
class Other:
    """A value that is not read: a vector, a map, a blob ..., by the number of its type."""

    type: int

    def __repr__(self) -> str:
        return f"a value of flexbuffer type {self.type}"


Value: TypeAlias = int | float | str | Other | None


def read_map(data: bytes) -> dict[str, Value]:
    """The entries of the map at the root of a flexbuffer.

    Raises:
        ValueError: the buffer is damaged or cut short, or its root is no map.
    """
    if len(data) < 3:
        raise ValueError(f"a flexbuffer of {len(data)} bytes, expected 3 or more")
    packed, width = data[-2], data[-1]
    if width not in _INTEGERS:
        raise ValueError(f"a flexbuffer whose root has {width} bytes, expected 1, 2, 4 or 8")
    if packed >> 2 != _MAP:
        raise ValueError(f"a flexbuffer whose root is of type {packed >> 2}, expected a map ({_MAP})")
    return _Buffer(data).map(len(data) - 2 - width, width, 1 << (packed & 3))


class _Buffer:
    def __init__(self, data: bytes) -> None:
        self.data = data

    def map(self, place: int, offset_width: int, width: int) -> dict[str, Value]:
        """The map that the offset at ``place`` refers to; its own numbers have ``width`` bytes."""
        start = self._target(place, offset_width)
        count = self._unsigned(start - width, width)
        self._demand(start, count * (width + 1))
        keys = self._target(start - 3 * width, width)
        key_width = self._unsigned(start - 2 * width, width)
        if key_width not in _INTEGERS:
            raise ValueError(f"a map whose keys have {key_width} bytes each, expected 1, 2, 4 or 8")
        self._demand(keys, count * key_width)
        types = start + count * width
        return {
            self._key(keys + i * key_width, key_width): self._value(
                start + i * width, width, self.data[types + i]
            )
            for i in range(count)
        }

    def _value(self, place: int, width: int, packed: int) -> Value:
        type_, own_width = packed >> 2, 1 << (packed & 3)
        if type_ in (_INDIRECT_INT, _INDIRECT_UINT, _INDIRECT_FLOAT):
            place, width, type_ = self._target(place, width), own_width, type_ - _INDIRECT_INT + _INT
        if type_ == _NULL:
            return None
        if type_ == _BOOL:
            return bool(self._unsigned(place, width))
        if type_ == _UINT:
            return self._unsigned(place, width)
        if type_ == _INT:
            return int(self._number(place, width, _INTEGERS[width]))
        if type_ == _FLOAT:
            if width not in _FLOATS:
                raise ValueError(f"a float of {width} byte, expected 2, 4 or 8")
            return self._number(place, width, _FLOATS[width])
        if type_ == _STRING:
            start = self._target(place, width)
            length = self._unsigned(start - own_width, own_width)
            self._demand(start, length)
            return self.data[start : start + min(length, _TEXT_LIMIT)].decode("utf-8", errors="replace")
        return Other(type_)

    def _key(self, place: int, width: int) -> str:
        """Text up to the next zero byte; the beginning of a long one, which is no option's name."""
        start = self._target(place, width)
        end = self.data.find(b"\0", start, start + _TEXT_LIMIT)
        return self.data[start : end if end >= 0 else start + _TEXT_LIMIT].decode("utf-8", errors="replace")

    def _target(self, place: int, width: int) -> int:
        """Offsets count backwards from where they stand."""
        target = place - self._unsigned(place, width)
        self._demand(target, 1)
        return target

    def _unsigned(self, place: int, width: int) -> int:
        return int(self._number(place, width, _INTEGERS[width].upper()))

    def _number(self, place: int, width: int, layout: str) -> float:
        self._demand(place, width)
        number: float = struct.unpack_from(f"<{layout}", self.data, place)[0]
        return number

    def _demand(self, place: int, count: int) -> None:
        if place < 0 or place + count > len(self.data):
            raise ValueError(
                f"a broken flexbuffer: {count} bytes at byte {place}, the buffer has {len(self.data)}"
            )
