"""Names that C and C++ accept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ...errors import InputError

# Of C99 and C++20, and the types that the header itself names.
_KEYWORDS = frozenset(
    [
        "alignas",
        "alignof",
        "and",
        "and_eq",
        "asm",
        "auto",
        "bitand",
        "bitor",
        "bool",
        "break",
        "case",
        "catch",
        "char",
        "char8_t",
        "char16_t",
        "char32_t",
        "class",
        "compl",
        "concept",
        "const",
        "const_cast",
        "consteval",
        "constexpr",
        "constinit",
        "continue",
        "co_await",
        "co_return",
        "co_yield",
        "decltype",
        "default",
        "delete",
        "do",
        "double",
        "dynamic_cast",
        "else",
        "enum",
        "explicit",
        "export",
        "extern",
        "false",
        "float",
        "for",
        "friend",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "mutable",
        "namespace",
        "new",
        "noexcept",
        "not",
        "not_eq",
        "nullptr",
        "operator",
        "or",
        "or_eq",
        "private",
        "protected",
        "public",
        "register",
        "reinterpret_cast",
        "requires",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "static_assert",
        "static_cast",
        "struct",
        "switch",
        "template",
        "this",
        "thread_local",
        "throw",
        "true",
        "try",
        "typedef",
        "typeid",
        "typename",
        "typeof",
        "union",
        "unsigned",
        "using",
        "virtual",
        "void",
        "volatile",
        "wchar_t",
        "while",
        "xor",
        "xor_eq",
        "int8_t",
        "int16_t",
        "int32_t",
        "int64_t",
        "uint8_t",
        "uint16_t",
        "uint32_t",
        "uint64_t",
        "size_t",
    ]
)
# Lower case macros: of C's headers (stdin of newlib, errno of all), and of compilers and systems.
_MACROS = frozenset(
    [
        "complex",
        "errno",
        "far",
        "i386",
        "imaginary",
        "interface",
        "linux",
        "near",
        "noreturn",
        "small",
        "stderr",
        "stdin",
        "stdout",
        "unix",
    ]
)
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def is_keyword(name: str) -> bool:
    return name in _KEYWORDS


def field_name(text: str, otherwise: str) -> str:
    """An identifier like ``text`` that is no macro, and looks like none: those have upper case names.

    >>> field_name("IMAGE", "input"), field_name("linux", "input"), field_name("Q", "input")
    ('image', 'linux_', 'q')
    """
    name = c_name(text, otherwise)
    if name.isupper():
        name = c_name(name.lower(), otherwise)
    return f"{name}_" if name in _MACROS else name


def c_name(text: str, otherwise: str) -> str:
    """An identifier like ``text``: what C does not allow becomes ``_``; ``otherwise`` if nothing is left.

    >>> c_name("serving_default_x:0", "input")
    'serving_default_x_0'
    """
    name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_") or otherwise
    if not name[0].isalpha():
        name = f"{otherwise}_{name}"
    return f"{name}_" if is_keyword(name) else name


def distinct(names: Iterable[str], endings: Sequence[str] = ()) -> list[str]:
    """``names``, those that are there already (in whatever case: macros are upper case) with a number.

    ``endings``: what else is named like a name with one of these behind it.
    """
    taken: set[str] = set()
    result = []
    for name in names:
        unique, number = name, 1
        while not taken.isdisjoint(claimed := {(unique + ending).upper() for ending in ("", *endings)}):
            number += 1
            unique = f"{name}_{number}"
        taken |= claimed
        result.append(unique)
    return result


def require_c_name(name: str) -> str:
    """``name``, which a user chose for a network.

    Raises:
        InputError: C does not allow it.
    """
    if not isinstance(name, str):
        raise InputError(f"name: got {type(name).__name__}, expected a name that C allows, as text")
    if not _IDENTIFIER.fullmatch(name) or is_keyword(name):
        raise InputError(
            f"name: got {name!r}, expected a name that C allows: letters, digits and '_', a letter first, "
            f"no keyword; for example '{c_name(name, 'network')}'"
        )
    return name
