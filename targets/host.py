"""The machine we run on, as a target."""

from __future__ import annotations

from pathlib import Path

import msgspec

from .. import hwcap
from .loading import DATA, HOST, load_target
from .target import Cache, Machine, Target

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


def detect_host() -> Target:
    """The strongest shipped CPU target whose features this machine has, with the machine's own details.

    Its name is ``host``; ``extends`` names the shipped target. A machine that fits none is ``reference``'s.
    """
    import llvmlite.binding as llvm

    triple, cpu = llvm.get_process_triple(), llvm.get_host_cpu_name()
    return host_target(triple, cpu, host_features(), host_cache())


def host_features() -> dict[str, bool]:
    """LLVM's features of this machine: what LLVM finds, and on AArch64 what Linux says, which knows more."""
    import llvmlite.binding as llvm

    try:
        found = dict(llvm.get_host_cpu_features())
    except RuntimeError:  # LLVM cannot tell on this system
        found = {}
    words = hwcap.words()
    return {**found, **hwcap.llvm_features(words)} if words else found


def host_target(triple: str, cpu: str, features: dict[str, bool], cache: Cache) -> Target:
    """The host target of a machine described in LLVM's words."""
    base = strongest(triple, features)
    known = base.machine or Machine(vector_bits=64, vector_registers=16)  # nothing known: plain registers
    machine = msgspec.structs.replace(
        known,
        triple=triple,
        cpu=cpu,
        features=tuple(f"{'+' if there else '-'}{name}" for name, there in sorted(features.items())),
        cache=_with_defaults(cache, known.cache),
    )
    description = f"this machine: {cpu}, as {base.name}"
    names = {"name": HOST, "description": description, "extends": base.name}
    return msgspec.structs.replace(base, machine=machine, **names)


def strongest(triple: str, features: dict[str, bool]) -> Target:
    """The shipped target for the architecture with the most features, all of them among ``features``."""
    architecture = Machine(triple=triple).architecture
    there = {name for name, present in features.items() if present}
    fitting = [
        (len(target.machine.features), target)
        for target in map(load_target, sorted(file.stem for file in DATA.glob("*.toml")))
        if target.machine and target.machine.architecture == architecture and _needs(target.machine) <= there
    ]
    return max(fitting, key=lambda pair: pair[0])[1] if fitting else load_target("reference")


def _needs(machine: Machine) -> set[str]:
    return {feature[1:] for feature in machine.features if feature.startswith("+")}


def why_not_here(target: Target) -> str | None:
    """Why this machine cannot run the code of a target's machine; None if it can, or if the target is a
    profile.
    """
    needed, here = target.machine, detect_host().machine
    if needed is None or here is None:
        return None
    if needed.architecture != here.architecture:
        return (
            f"its code is for {needed.architecture}, this machine is {here.architecture} "
            "(`zeropoint compile` makes files for others)"
        )
    missing = sorted(_needs(needed) - _needs(here))
    return f"this machine has no {', '.join(missing)}" if missing else None


def host_cache() -> Cache:
    """Data caches of the first core as Linux reports them; elsewhere all unknown."""
    sizes = {}
    line = 64
    for index in sorted(_CACHES.glob("index*")):
        try:
            level, kind, size = ((index / name).read_text().strip() for name in ("level", "type", "size"))
            line = int((index / "coherency_line_size").read_text())
        except (OSError, ValueError):  # containers show parts of /sys only
            continue
        if kind in ("Data", "Unified") and size.endswith("K") and size[:-1].isdigit():
            sizes[f"l{level}_kib"] = int(size[:-1])
    return Cache(line_bytes=line, **{name: sizes.get(name, 0) for name in ("l1_kib", "l2_kib", "l3_kib")})


def _with_defaults(measured: Cache, usual: Cache) -> Cache:
    """What the system does not report is taken from the target."""
    return Cache(
        measured.l1_kib or usual.l1_kib,
        measured.l2_kib or usual.l2_kib,
        measured.l3_kib or usual.l3_kib,
        measured.line_bytes,
    )
