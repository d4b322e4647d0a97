"""Whether the CPU has what code was compiled for, asked before the first such instruction: LLVM IR.

x86-64: ``cpuid`` says what the CPU has, ``xgetbv`` which registers the operating system keeps; for AMX Linux
is asked for permission (``arch_prctl``), as it demands. AArch64: the identification registers, which exist at
every privilege level that matters: an operating system that hides them from programs emulates the reading
(Linux since 4.11, which is older than any CPU with these features). Neither needs a function of libc, so the
same code serves firmware. Systems that do not emulate it (macOS, Windows) get no check, nor do other
architectures, whose targets have no optional features.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...errors import TargetError
from ..cpu import instructions
from ..machine import Machine

CHECK_CPU = "check_cpu"
"""``i1 NAME_check_cpu()``: whether this CPU has all that the code needs."""
BASELINE = "#0"
"""The attributes of functions that run before the CPU is known."""
X86_FEATURES = {
    "sse3": (1, 0, "c", 0),
    "pclmul": (1, 0, "c", 1),
    "ssse3": (1, 0, "c", 9),
    "fma": (1, 0, "c", 12),
    "cx16": (1, 0, "c", 13),
    "sse4.1": (1, 0, "c", 19),
    "sse4.2": (1, 0, "c", 20),
    "crc32": (1, 0, "c", 20),
    "movbe": (1, 0, "c", 22),
    "popcnt": (1, 0, "c", 23),
    "aes": (1, 0, "c", 25),
    "avx": (1, 0, "c", 28),
    "f16c": (1, 0, "c", 29),
    "sse": (1, 0, "d", 25),
    "sse2": (1, 0, "d", 26),
    "bmi": (7, 0, "b", 3),
    "avx2": (7, 0, "b", 5),
    "bmi2": (7, 0, "b", 8),
    "avx512f": (7, 0, "b", 16),
    "avx512dq": (7, 0, "b", 17),
    "adx": (7, 0, "b", 19),
    "avx512ifma": (7, 0, "b", 21),
    "avx512cd": (7, 0, "b", 28),
    "sha": (7, 0, "b", 29),
    "avx512bw": (7, 0, "b", 30),
    "avx512vl": (7, 0, "b", 31),
    "avx512vbmi": (7, 0, "c", 1),
    "avx512vbmi2": (7, 0, "c", 6),
    "gfni": (7, 0, "c", 8),
    "vaes": (7, 0, "c", 9),
    "vpclmulqdq": (7, 0, "c", 10),
    "avx512vnni": (7, 0, "c", 11),
    "avx512bitalg": (7, 0, "c", 12),
    "avx512vpopcntdq": (7, 0, "c", 14),
    "avx512vp2intersect": (7, 0, "d", 8),
    "amx-bf16": (7, 0, "d", 22),
    "avx512fp16": (7, 0, "d", 23),
    "amx-tile": (7, 0, "d", 24),
    "amx-int8": (7, 0, "d", 25),
    "sha512": (7, 1, "a", 0),
    "avxvnni": (7, 1, "a", 4),
    "avx512bf16": (7, 1, "a", 5),
    "amx-fp16": (7, 1, "a", 21),
    "avxifma": (7, 1, "a", 23),
    "avxvnniint8": (7, 1, "d", 4),
    "avxneconvert": (7, 1, "d", 5),
    "amx-complex": (7, 1, "d", 8),
    "avxvnniint16": (7, 1, "d", 10),
    "sahf": (0x80000001, 0, "c", 0),
    "lzcnt": (0x80000001, 0, "c", 5),
    "sse4a": (0x80000001, 0, "c", 6),
    "xop": (0x80000001, 0, "c", 11),
    "fma4": (0x80000001, 0, "c", 16),
    "tbm": (0x80000001, 0, "c", 21),
}
"""LLVM's feature -> leaf and subleaf of cpuid, register, bit."""
_REGISTERS = "abcd"
_OSXSAVE = (1, 0, "c", 27)
# What of XCR0 must be set for registers that the operating system has to keep.
_YMM, _ZMM, _TILES = 0x6, 0xE6, 0x60000
_IN_YMM = ("avx", "f16c", "fma", "xop", "vaes", "vpclmul")

_ZFR0 = "S3_0_C0_C4_4"  # ID_AA64ZFR0_EL1, by its number: assemblers know the name with SVE only
# LLVM's feature -> (register, first bit of the field, least value); fields have four bits.
_AARCH64 = {
    "fp-armv8": ("ID_AA64PFR0_EL1", 16, 0),
    "fullfp16": ("ID_AA64PFR0_EL1", 16, 1),
    "neon": ("ID_AA64PFR0_EL1", 20, 0),
    "sve": ("ID_AA64PFR0_EL1", 32, 1),
    "f32mm": (_ZFR0, 52, 1),
    "f64mm": (_ZFR0, 56, 1),
    "sve2": (_ZFR0, 0, 1),
    "sve2-aes": (_ZFR0, 4, 1),
    "sve2-bitperm": (_ZFR0, 16, 1),
    "sve2-sha3": (_ZFR0, 32, 1),
    "sve2-sm4": (_ZFR0, 40, 1),
    "aes": ("ID_AA64ISAR0_EL1", 4, 1),
    "sha2": ("ID_AA64ISAR0_EL1", 12, 1),
    "crc": ("ID_AA64ISAR0_EL1", 16, 1),
    "lse": ("ID_AA64ISAR0_EL1", 20, 2),
    "rdm": ("ID_AA64ISAR0_EL1", 28, 1),
    "sha3": ("ID_AA64ISAR0_EL1", 32, 1),
    "sm4": ("ID_AA64ISAR0_EL1", 40, 1),
    "dotprod": ("ID_AA64ISAR0_EL1", 44, 1),
    "fp16fml": ("ID_AA64ISAR0_EL1", 48, 1),
    "jsconv": ("ID_AA64ISAR1_EL1", 12, 1),
    "complxnum": ("ID_AA64ISAR1_EL1", 16, 1),
    "rcpc": ("ID_AA64ISAR1_EL1", 20, 1),
    "rcpc-immo": ("ID_AA64ISAR1_EL1", 20, 2),
    "fptoint": ("ID_AA64ISAR1_EL1", 32, 1),
    "bf16": ("ID_AA64ISAR1_EL1", 44, 1),
    "i8mm": ("ID_AA64ISAR1_EL1", 52, 1),
}
_ABSENT = 15
"""In the fields of the floating point unit and of vectors: there is none."""

# The plainest CPU of an architecture, and its features.
_BASELINES = {"x86_64": ("x86-64", ""), "aarch64": ("generic", "+neon")}


@dataclass(frozen=True)
class CpuCheck:
    """``ir`` defines ``NAME_check_cpu`` and what it needs; ``features`` is what it looks at."""

    ir: str
    features: tuple[str, ...]
    baseline: str
    """Attributes of functions that run before the check."""
    checked: str
    """Those of functions that run behind it: they may use what it looks at, and no more. What LLVM knows of
    the machine's CPU besides only serves to order instructions."""


def cpu_check(name: str, machine: Machine) -> CpuCheck:
    """The check of a machine's code.

    Raises:
        TargetError: the machine has a feature that no check is known for.
    """
    architecture = machine.architecture
    plain = _BASELINES.get(architecture)
    wanted = sorted(instructions(machine.features.split(",")))
    if architecture == "x86_64":
        _require_known(wanted, X86_FEATURES)
        lines = _x86_lines(name, wanted, "linux" in machine.triple)
    elif architecture == "aarch64" and ("linux" in machine.triple or not machine.has_system):
        _require_known(wanted, _AARCH64)
        lines = _aarch64_lines(wanted)
    else:
        wanted, lines = [], ["  ret i1 true"]
    baseline = "" if plain is None else _for_cpu(*plain)
    head = f"define internal i1 @{name}_{CHECK_CPU}() {BASELINE} {{"
    attributes = f"attributes {BASELINE} = {{ nounwind {baseline} }}"
    helpers = _helpers(name, architecture, "\n".join(lines))
    text = "\n".join([head, *lines, "}", *helpers, attributes, ""])
    return CpuCheck(text, tuple(wanted), baseline, _attributes(machine, plain))


def _for_cpu(cpu: str, features: str) -> str:
    return f'"target-cpu"="{cpu}" "target-features"="{features}"'


def _attributes(machine: Machine, plain: tuple[str, str] | None) -> str:
    if plain is None:
        return _for_cpu(machine.cpu, machine.features)
    features = ",".join(feature for feature in machine.features.split(",") if feature.startswith("+"))
    return f'{_for_cpu(plain[0], features)} "tune-cpu"="{machine.cpu or plain[0]}"'


def _helpers(name: str, architecture: str, used: str) -> list[str]:
    """The functions that a check calls."""
    if architecture == "aarch64":
        return ["declare i64 @llvm.read_volatile_register.i64(metadata)"] if "llvm." in used else []
    helpers = [
        (f"@{name}_has(", _X86_HELPERS),
        ("_kept_registers(", _X86_XGETBV),
        ("_system_call(", _X86_SYSCALL),
    ]
    return [text.replace("NAME", name) for call, text in helpers if call in used]


def _require_known(wanted: Iterable[str], known: Iterable[str]) -> None:
    unknown = sorted(set(wanted) - set(known))
    if unknown:
        raise TargetError(
            f"features {', '.join('+' + feature for feature in unknown)}: exported code could not tell "
            f"whether a CPU has them; expected some of {', '.join(sorted(known))}"
        )


_X86_HELPERS = r"""
; cpuid: leaf, part, where to store eax, ebx, ecx, edx. The machine code stands before the body, which is
; never reached: LLVM has no intrinsic for it, and inline assembly needs a parser, which only the host's
; target has.
;   push rbx; mov r8, rdx; mov eax, edi; mov ecx, esi; cpuid
;   mov [r8], eax; mov [r8 + 4], ebx; mov [r8 + 8], ecx; mov [r8 + 12], edx; pop rbx; ret
define internal x86_64_sysvcc void @NAME_cpuid(i32 %leaf, i32 %part, ptr %out) noinline optnone #0
    prologue [27 x i8] c"\53\49\89\D0\89\F8\89\F1\0F\A2\41\89\00\41\89\58\04\41\89\48\08\41\89\50\0C\5B\C3" {
  store volatile i32 0, ptr %out
  ret void
}
define internal i1 @NAME_has(i32 %leaf, i32 %part, i32 %register, i32 %mask) #0 {
  %out = alloca [4 x i32], align 16
  %extended = and i32 %leaf, -2147483648
  call x86_64_sysvcc void @NAME_cpuid(i32 %extended, i32 0, ptr %out)
  %most = load volatile i32, ptr %out
  %known = icmp uge i32 %most, %leaf
  br i1 %known, label %parts, label %no
parts:
  %several = icmp ne i32 %part, 0
  br i1 %several, label %count, label %ask
count:
  call x86_64_sysvcc void @NAME_cpuid(i32 %leaf, i32 0, ptr %out)
  %last = load volatile i32, ptr %out
  %there = icmp uge i32 %last, %part
  br i1 %there, label %ask, label %no
ask:
  call x86_64_sysvcc void @NAME_cpuid(i32 %leaf, i32 %part, ptr %out)
  %value.p = getelementptr i32, ptr %out, i32 %register
  %value = load volatile i32, ptr %value.p
  %bits = and i32 %value, %mask
  %has = icmp eq i32 %bits, %mask
  ret i1 %has
no:
  ret i1 false
}
"""
_X86_XGETBV = """
declare i64 @llvm.x86.xgetbv(i32)
define internal i32 @NAME_kept_registers() nounwind "target-cpu"="x86-64" "target-features"="+xsave" {
  %kept = call i64 @llvm.x86.xgetbv(i32 0)
  %low = trunc i64 %kept to i32
  ret i32 %low
}
"""
_X86_SYSCALL = r"""
; A system call of two arguments: mov rax, rdi; mov rdi, rsi; mov rsi, rdx; syscall; ret
define internal x86_64_sysvcc i64 @NAME_system_call(i64 %number, i64 %first, i64 %second) noinline optnone #0
    prologue [12 x i8] c"\48\89\F8\48\89\F7\48\89\D6\0F\05\C3" {
  ret i64 -1
}
"""


def _x86_lines(name: str, wanted: list[str], on_linux: bool) -> list[str]:
    kept = 0
    for feature in wanted:
        if feature.startswith("amx"):
            kept |= _TILES
        elif feature.startswith("avx512"):
            kept |= _ZMM
        elif feature.startswith(_IN_YMM):
            kept |= _YMM
    places = [X86_FEATURES[feature] for feature in wanted] + ([_OSXSAVE] if kept else [])
    masks: dict[tuple[int, int, str], int] = {}
    for leaf, part, register, bit in places:
        masks[leaf, part, register] = masks.get((leaf, part, register), 0) | 1 << bit
    lines: list[str] = []
    for i, ((leaf, part, register), mask) in enumerate(sorted(masks.items())):
        arguments = f"i32 {_signed(leaf)}, i32 {part}, i32 {_REGISTERS.index(register)}, i32 {_signed(mask)}"
        lines += [f"  %has{i} = call i1 @{name}_has({arguments})", *_unless(f"%has{i}", f"{i}")]
    if kept:
        lines += [
            f"  %kept = call i32 @{name}_kept_registers()",
            f"  %needed = and i32 %kept, {kept}",
            f"  %all.kept = icmp eq i32 %needed, {kept}",
            *_unless("%all.kept", "x"),
        ]
    if kept & _TILES and on_linux:
        # arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)
        lines += [
            f"  %asked = call x86_64_sysvcc i64 @{name}_system_call(i64 158, i64 4131, i64 18)",
            "  %granted = icmp eq i64 %asked, 0",
            *_unless("%granted", "p"),
        ]
    return [*lines, "  ret i1 true", *(["no:", "  ret i1 false"] if lines else [])]


def _unless(condition: str, label: str) -> list[str]:
    return [f"  br i1 {condition}, label %yes{label}, label %no", f"yes{label}:"]


def _signed(value: int) -> int:
    return value if value < 1 << 31 else value - (1 << 32)


def _aarch64_lines(wanted: list[str]) -> list[str]:
    places = [_AARCH64[feature] for feature in wanted]
    lines: list[str] = []
    for register in dict.fromkeys(place[0] for place in places):
        what = f'metadata !{{!"{register}"}}'
        lines.append(f"  %{register} = call i64 @llvm.read_volatile_register.i64({what})")
    for i, (register, shift, least) in enumerate(places):
        lines += [
            f"  %s{i} = lshr i64 %{register}, {shift}",
            f"  %f{i} = and i64 %s{i}, 15",
            f"  %enough{i} = icmp uge i64 %f{i}, {least}",
        ]
        if register == "ID_AA64PFR0_EL1" and shift < 32:
            lines.append(f"  %there{i} = icmp ne i64 %f{i}, {_ABSENT}")
        else:
            lines.append(f"  %there{i} = icmp eq i64 0, 0")
        lines += [f"  %fine{i} = and i1 %enough{i}, %there{i}", *_unless(f"%fine{i}", f"{i}")]
    return [*lines, "  ret i1 true", *(["no:", "  ret i1 false"] if lines else [])]
