"""What Linux lets a process on AArch64 use: bits of the auxiliary vector, by Linux's names.

The vector is the honest source: ``/proc/cpuinfo`` is the host's under an emulator, and a container need not
show it.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable

_AT_HWCAP, _AT_HWCAP2 = 16, 26

# The names of the bits, from the lowest one on.
_HWCAP = """
    fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm jscvt fcma lrcpc
    dcpop sha3 sm3 sm4 asimddp sha512 sve asimdfhm dit uscat ilrcpc flagm ssbs sb paca pacg
"""
_HWCAP2 = """
    dcpodp sve2 sveaes svepmull svebitperm svesha3 svesm4 flagm2 frint svei8mm svef32mm svef64mm svebf16
    i8mm bf16 dgh rng bti
"""
# Those of them that stand for instructions which a code generator may use.
_INSTRUCTIONS = """
    fp asimd aes sha2 crc32 atomics asimdhp asimdrdm jscvt fcma lrcpc sha3 sm4 asimddp sve asimdfhm ilrcpc
    sve2 sveaes svebitperm svesha3 svesm4 frint svef32mm svef64mm i8mm bf16
"""

LLVM_NAMES = {
    "asimd": "neon",
    "asimddp": "dotprod",
    "asimdfhm": "fp16fml",
    "asimdhp": "fullfp16",
    "asimdrdm": "rdm",
    "atomics": "lse",
    "crc32": "crc",
    "fcma": "complxnum",
    "fp": "fp-armv8",
    "frint": "fptoint",
    "ilrcpc": "rcpc-immo",
    "jscvt": "jsconv",
    "lrcpc": "rcpc",
    "sveaes": "sve-aes",
    "svebitperm": "sve-bitperm",
    "svef32mm": "f32mm",
    "svef64mm": "f64mm",
    "svesha3": "sve-sha3",
    "svesm4": "sve-sm4",
}
"""Linux's name of an instruction set -> LLVM's, where they differ."""


def words() -> tuple[str, ...]:
    """Linux's names of what this process may use; empty elsewhere than on Linux on AArch64."""
    if not sys.platform.startswith("linux") or os.uname().machine != "aarch64":
        return ()
    ask = ctypes.CDLL(None).getauxval
    ask.restype, ask.argtypes = ctypes.c_ulong, [ctypes.c_ulong]
    return names(ask(_AT_HWCAP), ask(_AT_HWCAP2))


def names(first: int, second: int) -> tuple[str, ...]:
    """Linux's names of the bits of AT_HWCAP and AT_HWCAP2."""
    bits = ((_HWCAP, first), (_HWCAP2, second))
    return tuple(name for known, word in bits for i, name in enumerate(known.split()) if word >> i & 1)


def llvm_features(there: Iterable[str]) -> dict[str, bool]:
    """LLVM's features that Linux's names tell of, and whether each is there.

    What is missing must be said too: a code generator takes for granted what a CPU of that name has, whatever
    the system withholds.
    """
    present = set(there)
    return {LLVM_NAMES.get(name, name): name in present for name in _INSTRUCTIONS.split()}
