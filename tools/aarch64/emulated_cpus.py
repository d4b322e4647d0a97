"""What programs on an emulated CPU find out about it.

qemu answers the architecture's own questions: the auxiliary vector and system registers. Programs that read
``/proc/cpuinfo`` would see this machine's, and go wrong (LiteRT crashes), so the folder that qemu looks into
first has one that Linux would show on such a CPU.
"""

from __future__ import annotations

import os

from ... import hwcap
from .environment import Environment, call, qemu

_MIDR = {
    "a64fx": 0x461F0010,
    "cortex-a35": 0x411FD040,
    "cortex-a53": 0x410FD034,
    "cortex-a55": 0x412FD050,
    "cortex-a57": 0x411FD070,
    "cortex-a72": 0x410FD083,
    "cortex-a76": 0x414FD0B1,
    "max": 0x000F0510,
    "neoverse-n1": 0x414FD0C1,
    "neoverse-v1": 0x411FD402,
}
"""The main id register of CPUs that qemu has: implementer:8, variant:4, architecture:4, part:12, revision:4.
Others are shown as ``max``.
"""
_ASK = "import ctypes; f = ctypes.CDLL(None).getauxval; f.restype = ctypes.c_ulong; print(f(16), f(26))"


def prepare(environment: Environment, cpu: str) -> None:
    """Make ``environment.prefix(cpu)``, if it is not there.

    Raises:
        ZeropointError: qemu knows no such CPU.
    """
    prefix = environment.prefix(cpu)
    if (prefix / "proc" / "cpuinfo").exists():
        return
    python = [qemu(), "-cpu", cpu, "-L", str(environment.root), "-0", str(environment.launcher)]
    answer = call(
        f"asking the emulated CPU '{cpu}' what it can do",
        [*python, str(environment.launcher.with_name("python3")), "-c", _ASK],
    )
    first, second = map(int, answer.split())
    (prefix / "proc").mkdir(parents=True, exist_ok=True)
    for part in environment.root.iterdir():
        if not (prefix / part.name).exists():
            (prefix / part.name).symlink_to(part)
    midr = _MIDR.get(cpu.split(",")[0], _MIDR["max"])
    text = _cpuinfo(hwcap.names(first, second), midr)
    partial = prefix / "proc" / f"cpuinfo.{os.getpid()}"
    partial.write_text(text)
    partial.rename(prefix / "proc" / "cpuinfo")


def _cpuinfo(features: tuple[str, ...], midr: int) -> str:
    """Linux's text, with as many CPUs as this machine has."""
    one = (
        "BogoMIPS\t: 50.00\n"
        f"Features\t: {' '.join(features)}\n"
        f"CPU implementer\t: {midr >> 24:#04x}\n"
        "CPU architecture: 8\n"
        f"CPU variant\t: {midr >> 20 & 0xF:#x}\n"
        f"CPU part\t: {midr >> 4 & 0xFFF:#05x}\n"
        f"CPU revision\t: {midr & 0xF}\n\n"
    )
    return "".join(f"processor\t: {i}\n{one}" for i in range(os.cpu_count() or 1))
