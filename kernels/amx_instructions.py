"""AMX: eight tile registers of up to 16 rows of 64 bytes, and products of tiles of bytes.

Tiles have fixed numbers: LLVM neither allocates nor saves them, and they survive nothing that configures
tiles itself. Every kernel configures them when it starts, since other libraries and other threads do as well.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .launch import Bytes
from .writer import Writer

TILES = 8
TILE_ROWS = 16
TILE_ROW_BYTES = 64
TILE_BYTES = TILE_ROWS * TILE_ROW_BYTES
CONFIGURATION_BYTES = 64
_ROW_BYTES_AT, _ROWS_AT = 16, 48
_DOTS = {(True, True): "ss", (True, False): "su", (False, True): "us", (False, False): "uu"}


def configuration(rows: Sequence[int]) -> Bytes:
    """What :func:`configure` reads: ``rows[tile]`` rows of 64 bytes in each tile."""
    packed = np.zeros(CONFIGURATION_BYTES, np.uint8)
    packed[0] = 1  # the palette
    packed[_ROW_BYTES_AT : _ROW_BYTES_AT + 2 * len(rows)].view(np.uint16)[:] = TILE_ROW_BYTES
    packed[_ROWS_AT : _ROWS_AT + len(rows)] = rows
    return packed


def configure(w: Writer, pointer: str) -> None:
    """Give the tiles their shapes; they become zero."""
    _call(w, "ldtilecfg", [pointer], ["!llvm.ptr"])


def release(w: Writer) -> None:
    """Back to the state in which nothing has to be saved when threads are switched."""
    _call(w, "tilerelease", [], [])


def zero(w: Writer, tile: int) -> None:
    _call(w, "tilezero", [_number(w, tile)], ["i8"])


def load(w: Writer, tile: int, pointer: str, pitch: str) -> None:
    """Rows ``pitch`` bytes apart; zero loads one row many times."""
    _call(w, "tileloadd64", [_number(w, tile), pointer, pitch], ["i8", "!llvm.ptr", "i64"])


def store(w: Writer, tile: int, pointer: str, pitch: str) -> None:
    _call(w, "tilestored64", [_number(w, tile), pointer, pitch], ["i8", "!llvm.ptr", "i64"])


def dot(w: Writer, sums: int, lhs: int, rhs: int, lhs_signed: bool, rhs_signed: bool) -> None:
    """``sums[m, n] += sum over k, b of lhs[m, 4 * k + b] * rhs[k, 4 * n + b]``: i32 that wrap, bytes."""
    name = f"tdpb{_DOTS[lhs_signed, rhs_signed]}d"
    _call(w, name, [_number(w, tile) for tile in (sums, lhs, rhs)], ["i8"] * 3)


def _number(w: Writer, tile: int) -> str:
    """Part of the instruction, not an operand; LLVM IR prints the constant in place."""
    return w.constant(f"{tile} : i8")


def _call(w: Writer, name: str, arguments: Sequence[str], types: Sequence[str]) -> None:
    w.line(f'llvm.call_intrinsic "llvm.x86.{name}"({", ".join(arguments)}) : ({", ".join(types)}) -> ()')
