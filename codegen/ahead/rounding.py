"""Rounding of floats for machines without an instruction for it.

LLVM would call libm, and small libraries for firmware lack some of it. The machine's own float operations, or
those of the compiler's library, are enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..machine import Machine

# Suffix of LLVM's intrinsics -> type, integers that hold its whole numbers, least size without a fraction.
_TYPES = {"f32": ("float", "i32", "0x4160000000000000"), "f64": ("double", "i64", "0x4330000000000000")}
_CALL = re.compile(r"@llvm\.(round|roundeven)\.(f32|f64)\b")


def needs_own(machine: Machine) -> bool:
    """Whether LLVM would call libm to round on a machine."""
    return machine.architecture.startswith(("thumb", "arm"))


def with_own(text: str, name: str) -> str:
    """LLVM IR with calls of functions of :func:`rounding_ir` in place of LLVM's intrinsics."""
    return _CALL.sub(rf"@{name}_\1_\2", text)


def rounding_ir(name: str, texts: Iterable[str]) -> str:
    """The functions that ``texts``, as they were before :func:`with_own`, call: ``NAME_round_f32`` (halves
    away from zero), ``NAME_roundeven_f32`` (halves to even), and of f64.
    """
    used = dict.fromkeys(call for text in texts for call in _CALL.findall(text))
    types = dict.fromkeys(suffix for _, suffix in used)
    declared = "\n".join(
        f"declare {type_} @llvm.fabs.{suffix}({type_})\n"
        f"declare {type_} @llvm.copysign.{suffix}({type_}, {type_})"
        for suffix, (type_, _, _) in _TYPES.items()
        if suffix in types
    )
    return "\n".join([declared, *(_function(name, kind, suffix) for kind, suffix in used)])


def _function(name: str, kind: str, suffix: str) -> str:
    type_, integer, whole = _TYPES[suffix]
    if kind == "round":
        up = f"  %up = fcmp oge {type_} %rest, 5.0e-01"
    else:
        up = f"""  %more = fcmp ogt {type_} %rest, 5.0e-01
  %tie = fcmp oeq {type_} %rest, 5.0e-01
  %odd = trunc {integer} %below to i1
  %tie.up = and i1 %tie, %odd
  %up = or i1 %more, %tie.up"""
    return f"""
define {type_} @{name}_{kind}_{suffix}({type_} %x) {{
  %size = call {type_} @llvm.fabs.{suffix}({type_} %x)
  %has.fraction = fcmp olt {type_} %size, {whole}
  br i1 %has.fraction, label %look, label %keep
look:
  %below = fptosi {type_} %size to {integer}
  %floor = sitofp {integer} %below to {type_}
  %rest = fsub {type_} %size, %floor
{up}
  %above = fadd {type_} %floor, 1.0
  %chosen = select i1 %up, {type_} %above, {type_} %floor
  %signed = call {type_} @llvm.copysign.{suffix}({type_} %chosen, {type_} %x)
  ret {type_} %signed
keep: ; a whole number, infinite, or none
  ret {type_} %x
}}"""
