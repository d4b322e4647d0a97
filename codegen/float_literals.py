"""LLVM IR text of a newer LLVM, as an older one reads it.

The bindings print LLVM 24's text, llvmlite parses LLVM 22's. They differ in floating point literals: the
newer one writes ``float 1.000000e-01`` (the older one demands a decimal that a double holds exactly),
``f0x7F7FFFFF``, ``+inf`` and ``-qnan``.
"""

from __future__ import annotations

import re
import struct

import numpy as np

_TOKEN = re.compile(
    r"(?<![\w.@%$-])(?:(?P<type>half|bfloat|float|double)(?![\w.$-])"
    r"|(?P<bits>f0x[0-9A-Fa-f]+)"
    r"|(?P<decimal>[+-]?\d+\.\d*e[+-]?\d+)"
    r"|(?P<sign>[+-])(?P<special>inf|qnan|snan|nan)(?:\(0x(?P<payload>[0-9A-Fa-f]+)\))?)"
)
# type -> (bits, mantissa bits)
_LAYOUTS = {"half": (16, 10), "bfloat": (16, 7), "float": (32, 23), "double": (64, 52)}


def rewrite_float_literals(text: str) -> str:
    """``text`` with every floating point literal in the hexadecimal form that all versions of LLVM read.

    A literal's type is the last one named before it: ``fmul float %1, 1.0e-01``.
    """
    type_ = "double"

    def rewrite(found: re.Match[str]) -> str:
        nonlocal type_
        if found["type"]:
            type_ = found["type"]
            return found[0]
        return _hexadecimal(_bits(found, type_), type_)

    return _TOKEN.sub(rewrite, text)


def _bits(literal: re.Match[str], type_: str) -> int:
    """The bit pattern of a literal in its type."""
    width, mantissa = _LAYOUTS[type_]
    if literal["bits"]:
        return int(literal["bits"][3:], 16)
    if literal["decimal"]:
        return _bits_of(float(literal["decimal"]), type_)
    infinity = ((1 << (width - 1 - mantissa)) - 1) << mantissa
    payload = int(literal["payload"] or "0", 16)
    if literal["special"] in ("qnan", "nan"):
        payload |= 1 << (mantissa - 1)
    elif literal["special"] == "snan" and not payload:
        payload = 1
    sign = 1 << (width - 1) if literal["sign"] == "-" else 0
    return sign | infinity | payload


def _bits_of(value: float, type_: str) -> int:
    """The bits of ``value`` rounded to a type; the printer chose a decimal that rounds to the number it
    means.
    """
    if type_ == "double":
        return int(struct.unpack("<Q", struct.pack("<d", value))[0])
    if type_ == "half":
        return int(np.float16(value).view(np.uint16))
    bits = int(np.float32(value).view(np.uint32))
    if type_ == "float":
        return bits
    # bfloat: the upper half of a float, rounded to nearest, ties to even
    return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16


def _hexadecimal(bits: int, type_: str) -> str:
    if type_ == "half":
        return f"0xH{bits:04X}"
    if type_ == "bfloat":
        return f"0xR{bits:04X}"
    return f"0x{_widened(bits) if type_ == 'float' else bits:016X}"


def _widened(bits: int) -> int:
    """The bits of a double with the value of the float ``bits``; a NaN keeps its payload (a cast could
    quieten it).
    """
    exponent, mantissa = (bits >> 23) & 0xFF, bits & 0x7FFFFF
    if exponent == 0xFF:
        return ((bits >> 31) << 63) | (0x7FF << 52) | (mantissa << 29)
    return _bits_of(struct.unpack("<f", struct.pack("<I", bits))[0], "double")
