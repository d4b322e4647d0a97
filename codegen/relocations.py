"""The relocations of x86-64 and aarch64 that code of our code generator has, and how each is written.

``S + A`` is the place that a relocation points at, ``P`` where it stands: offsets in the image, whose address
is a multiple of a page.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .elf import AARCH64, X86_64


@dataclass(frozen=True)
class Kind:
    """How one type of relocation is written. ``write(image, place, target)`` raises OverflowError if the
    target is too far away.
    """

    write: Callable[[bytearray, int, int], None]
    bytes: int = 4
    is_call: bool = False
    """A jump: a function of the process is reached through a stub."""
    is_slot: bool = False
    """It wants the slot with the address."""
    is_absolute: bool = False
    """It is the address itself, so the loader writes it."""


@dataclass(frozen=True)
class Target:
    name: str
    page_bytes: int
    """The largest page that a system for this machine may use."""
    kinds: Mapping[int, Kind]
    stub_bytes: int
    write_stub: Callable[[bytearray, int, int], None]
    """``write_stub(image, place, slot)``: code that jumps to the address in a slot."""


def _signed(value: int, bits: int) -> int:
    if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        raise OverflowError(f"{value} does not fit into {bits} bits")
    return value & ((1 << bits) - 1)


def _relative32(image: bytearray, place: int, target: int) -> None:
    """S + A - P"""
    struct.pack_into("<I", image, place, _signed(target - place, 32))


def _relative64(image: bytearray, place: int, target: int) -> None:
    struct.pack_into("<q", image, place, target - place)


def _by_the_loader(image: bytearray, place: int, target: int) -> None:
    raise AssertionError("absolute addresses are known at load time")


def _x86_stub(image: bytearray, place: int, slot: int) -> None:
    image[place : place + 2] = b"\xff\x25"  # jmp *slot(%rip)
    struct.pack_into("<i", image, place + 2, slot - (place + 6))


def _instruction(image: bytearray, place: int, bits: int) -> None:
    (word,) = struct.unpack_from("<I", image, place)
    struct.pack_into("<I", image, place, word | bits)


def _branch(bits: int, shift: int) -> Callable[[bytearray, int, int], None]:
    """A pc-relative jump or load of words: ``bits`` of the distance / 4 at bit ``shift``."""

    def write(image: bytearray, place: int, target: int) -> None:
        if (target - place) % 4:
            raise OverflowError(f"{target - place} is no multiple of 4")
        _instruction(image, place, _signed((target - place) >> 2, bits) << shift)

    return write


def _page_bits(pages: int) -> int:
    """The immediate of ``adrp``: two low bits at 29, 19 high bits at 5."""
    value = _signed(pages, 21)
    return (value & 3) << 29 | (value >> 2) << 5


def _adrp(image: bytearray, place: int, target: int) -> None:
    """Page(S + A) - Page(P)"""
    _instruction(image, place, _page_bits((target >> 12) - (place >> 12)))


def _adr(image: bytearray, place: int, target: int) -> None:
    _instruction(image, place, _page_bits(target - place))


def _low12(scale: int) -> Callable[[bytearray, int, int], None]:
    """The offset in the page, counted in units of ``2^scale`` bytes, at bit 10."""

    def write(image: bytearray, place: int, target: int) -> None:
        offset = target & 0xFFF
        if offset & ((1 << scale) - 1):
            raise OverflowError(f"offset {offset} is no multiple of {1 << scale}")
        _instruction(image, place, (offset >> scale) << 10)

    return write


def _aarch64_stub(image: bytearray, place: int, slot: int) -> None:
    struct.pack_into("<III", image, place, 0x90000010, 0xF9400210, 0xD61F0200)  # adrp, ldr x16, br x16
    _adrp(image, place, slot)
    _low12(3)(image, place + 4, slot)


MACHINES: dict[int, Target] = {
    X86_64: Target(
        "x86-64",
        1 << 12,
        {
            1: Kind(_by_the_loader, 8, is_absolute=True),  # R_X86_64_64
            2: Kind(_relative32),  # PC32
            4: Kind(_relative32, is_call=True),  # PLT32
            9: Kind(_relative32, is_slot=True),  # GOTPCREL
            24: Kind(_relative64, 8),  # PC64
            41: Kind(_relative32, is_slot=True),  # GOTPCRELX
            42: Kind(_relative32, is_slot=True),  # REX_GOTPCRELX
        },
        6,
        _x86_stub,
    ),
    AARCH64: Target(
        "aarch64",
        1 << 16,
        {
            257: Kind(_by_the_loader, 8, is_absolute=True),  # R_AARCH64_ABS64
            260: Kind(_relative64, 8),  # PREL64
            261: Kind(_relative32),  # PREL32
            273: Kind(_branch(19, 5)),  # LD_PREL_LO19
            274: Kind(_adr),  # ADR_PREL_LO21
            275: Kind(_adrp),  # ADR_PREL_PG_HI21
            277: Kind(_low12(0)),  # ADD_ABS_LO12_NC
            278: Kind(_low12(0)),  # LDST8_ABS_LO12_NC
            279: Kind(_branch(14, 5)),  # TSTBR14
            280: Kind(_branch(19, 5)),  # CONDBR19
            282: Kind(_branch(26, 0), is_call=True),  # JUMP26
            283: Kind(_branch(26, 0), is_call=True),  # CALL26
            284: Kind(_low12(1)),  # LDST16_ABS_LO12_NC
            285: Kind(_low12(2)),  # LDST32_ABS_LO12_NC
            286: Kind(_low12(3)),  # LDST64_ABS_LO12_NC
            299: Kind(_low12(4)),  # LDST128_ABS_LO12_NC
            311: Kind(_adrp, is_slot=True),  # ADR_GOT_PAGE
            312: Kind(_low12(3), is_slot=True),  # LD64_GOT_LO12_NC
        },
        12,
        _aarch64_stub,
    ),
}
"""ELF machine number -> its relocations.

32-bit absolute addresses (x86-64's 32 and 32S) are missing on purpose: code is position independent, and the
image may lie anywhere.
"""
