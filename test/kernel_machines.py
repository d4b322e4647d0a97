"""Instruction sets that kernels of whole networks are tested for here."""

from __future__ import annotations

from zeropoint.codegen.machine import Machine, host, machine_of
from zeropoint.targets import load_target


def _machines() -> dict[str, Machine]:
    """Instruction set -> a machine that has it and that this one can stand for."""
    there = set(host().features.split(","))
    found = {host().isa: host()} if host().isa else {}
    for target in ("x86-64-vnni", "x86-64-v3", "x86-64"):
        machine = machine_of(load_target(target))
        if machine.triple == host().triple and set(machine.features.split(",")) <= there:
            found.setdefault(machine.isa, machine)
    return found


MACHINES = _machines()
