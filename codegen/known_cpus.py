"""Which CPUs and features LLVM knows. It warns about others on stderr and generates code for a plain CPU."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ..errors import TargetError
from ..targets.faults import hint
from ..targets.loading import DATA, load_target
from ..targets.target import Target

# LLVM has this list as text that it prints, so a process of its own prints it.
_ASK = """
import sys
import llvmlite.binding as llvm
llvm.initialize_all_targets()
llvm.Target.from_triple(sys.argv[1]).create_target_machine(cpu="help")
"""
_SECONDS = 60


@dataclass(frozen=True)
class Known:
    cpus: tuple[str, ...]
    features: tuple[str, ...]


def require_known(target: Target) -> None:
    """Check the CPU and the features of a target's machine. Those of shipped targets are known.

    Raises:
        TargetError: LLVM does not know one of them; says what there is.
    """
    machine = target.machine
    if machine is None or _is_shipped(target):
        return
    known = _known(machine.triple)
    if known is None:
        return
    where = f"{target.files[0]}: error: machine"
    if machine.cpu and machine.cpu not in known.cpus:
        raise TargetError(
            f"{where}.cpu: LLVM knows no CPU '{machine.cpu}' for {machine.architecture}"
            + hint(machine.cpu, known.cpus)
        )
    for feature in machine.features:
        if feature[1:] not in known.features:
            raise TargetError(
                f"{where}.features: LLVM knows no feature '{feature}' for {machine.architecture}"
                + hint(feature[1:], known.features)
            )


def _is_shipped(target: Target) -> bool:
    """Whether a target generates code as the shipped one does that it is, or extends."""
    shipped = [Path(file).stem for file in target.files if Path(file).parent == DATA]
    if not shipped:
        return False
    theirs, own = load_target(shipped[0]).machine, target.machine
    if theirs is None or own is None:
        return False
    return (theirs.triple, theirs.cpu, theirs.features) == (own.triple, own.cpu, own.features)


@lru_cache
def _known(triple: str) -> Known | None:
    """None if LLVM could not be asked."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", _ASK, triple],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):  # the triple is unknown, or no process can be started
        return None
    cpus, _, features = done.stderr.partition("Available features")
    names = [tuple(re.findall(r"^  (\S+) +- ", part, re.MULTILINE)) for part in (cpus, features)]
    return Known(*names) if all(names) else None
