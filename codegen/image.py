"""Linked machine code, as it lies in memory and in a saved executable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Image:
    """Code, then read-only data, both from a page on, which run at any address: inside everything is
    relative. Addresses of the process (functions of libm and libc) and absolute ones stand in slots that the
    loader fills.

    ``data[:code_bytes]`` is executable, the rest is read-only data.

    ``symbols``: ``object:symbol`` -> offset. ``imports``: (offset, name) of an 8-byte slot for a function's
    address. ``absolute``: (offset, value) of a slot for the image's own address plus ``value``.
    """

    machine: int
    data: bytes
    code_bytes: int
    symbols: Mapping[str, int]
    imports: tuple[tuple[int, str], ...] = ()
    absolute: tuple[tuple[int, int], ...] = ()
