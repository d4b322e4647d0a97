"""What this machine's CPU can do, told in LLVM's words but without LLVM where the system says it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from functools import lru_cache

from .. import hwcap

_CPUINFO = "/proc/cpuinfo"
_FIRST_CPU_BYTES = 1 << 13
# What code may consist of. Other features are about caches, virtualization, system calls ...
_INSTRUCTIONS = re.compile(
    r"adx|aes|amx|avx|bmi|crc|cx16|f16c|fma|gfni|lzcnt|movbe|pclmul|popcnt|sahf|sha|s?sse|tbm|vaes|vpclmul|xop"
    r"|bf16|complxnum|dotprod|f32mm|f64mm|fp16|fp-armv8|fptoint|fullfp16|i8mm|jsconv|lse|neon|rcpc|rdm|sm4|sve"
)
_LLVM_NAMES = {
    "abm": "lzcnt",
    "amx_tile": "amx-tile",
    "amx_int8": "amx-int8",
    "amx_bf16": "amx-bf16",
    "amx_fp16": "amx-fp16",
    "bmi1": "bmi",
    "lahf_lm": "sahf",
    "pclmulqdq": "pclmul",
    "pni": "sse3",
    "sha_ni": "sha",
    "sse4_1": "sse4.1",
    "sse4_2": "sse4.2",
    **hwcap.LLVM_NAMES,
}
"""Linux's name of a feature -> LLVM's, where they differ by more than underscores."""


def architecture() -> str:
    """``x86_64``, ``aarch64`` ..."""
    known = os.uname().machine if hasattr(os, "uname") else os.environ.get("PROCESSOR_ARCHITECTURE", "")
    return usual_name(known)


def usual_name(architecture: str) -> str:
    """One name for what systems and triples name differently."""
    name = architecture.lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(name, name)


def instructions(features: Iterable[str]) -> frozenset[str]:
    """Those of LLVM's features (``+avx2``, ``-amx-tile`` ...) that are there and decide what code may consist
    of, without the sign.
    """
    return frozenset(f[1:] for f in features if f.startswith("+") and _INSTRUCTIONS.match(f[1:]))


@lru_cache(maxsize=1)
def here() -> frozenset[str]:
    """The same of this machine."""
    if words := hwcap.words():
        return instructions(f"+{name}" for name, there in hwcap.llvm_features(words).items() if there)
    if text := _cpuinfo():
        return features_in(text)
    from .machine import host  # takes time: llvmlite

    return instructions(host().features.split(","))


def _cpuinfo() -> str:
    """What Linux says about its first CPU; empty where there is no such file."""
    if not sys.platform.startswith("linux"):
        return ""
    try:
        file = os.open(_CPUINFO, os.O_RDONLY)
    except OSError:
        return ""
    try:
        return os.read(file, _FIRST_CPU_BYTES).decode(errors="replace")
    finally:
        os.close(file)


def features_in(cpuinfo: str) -> frozenset[str]:
    """The features that Linux's text about its CPUs names for the first of them."""
    found = re.search(r"^(?:flags|Features)\s*:(.*)$", cpuinfo, re.MULTILINE)
    words = found[1].split() if found else []
    names = {_LLVM_NAMES.get(word, word.replace("_", "")) for word in words}
    if "sse4.2" in names:
        names.add("crc32")
    return instructions(f"+{name}" for name in names)
