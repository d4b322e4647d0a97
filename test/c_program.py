"""Exported networks as programs: a C main around them, built for their machine and run, under an emulator
where that is another one.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import zeropoint as zp

Array = npt.NDArray[Any]
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-pedantic")
HERE = platform.machine()
CORTEX_M = ("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-nostdlib", "-ffreestanding", "-static")


@dataclass(frozen=True)
class Toolchain:
    """How to build for a target, and how to run what was built."""

    compiler: tuple[str, ...]
    runner: tuple[str, ...] = ()
    cpu_option: str = "-cpu"

    def on(self, cpu: str) -> tuple[str, ...]:
        """The runner, as a CPU that the emulator knows."""
        return (*self.runner, self.cpu_option, cpu)

    @property
    def missing(self) -> str:
        """The first tool that is not installed."""
        tools = (self.compiler[0], *self.runner[:1])
        return next((tool for tool in tools if shutil.which(tool) is None), "")


def toolchain(target: str) -> Toolchain:
    if target == "host":
        return Toolchain(("cc",))
    if target.startswith("x86-64"):
        compiler = ("cc",) if HERE == "x86_64" else ("x86_64-linux-gnu-gcc", "-static")
        return Toolchain(compiler, ("qemu-x86_64",))
    if target.startswith("aarch64"):
        return Toolchain(("aarch64-linux-gnu-gcc", "-static"), ("qemu-aarch64",))
    if target == "riscv64":
        return Toolchain(("riscv64-linux-gnu-gcc", "-static"), ("qemu-riscv64",))
    floats = "-mfloat-abi=hard" if target.endswith("-hf") else "-mfloat-abi=soft"
    fpu = ("-mfpu=fpv4-sp-d16",) if target.endswith("-hf") else ()
    # The emulator of programs has no Cortex-M, but other CPUs run the same instructions.
    return Toolchain((*CORTEX_M, floats, *fpu), ("qemu-arm", "-cpu", "cortex-a15"))


def require(tools: Toolchain) -> None:
    """Skip the test if a tool is missing."""
    if tools.missing:
        pytest.skip(f"{tools.missing} is not installed")


# Reads runs of all inputs from the standard input until it ends, and writes all outputs.
_MAIN = """
#include "{name}.h"
{system}
static unsigned char arena[{macro}_ARENA_BYTES] __attribute__((aligned({macro}_ARENA_ALIGNMENT)));
{buffers}
int main(void)
{{
    {name}_model model;
    {name}_inputs inputs;
    {name}_outputs outputs;
    int error = {name}_init(&model, arena, sizeof arena);
    if (error)
        return 100 + error;
    for (;;) {{
{reads}
{pointers}
        error = {name}_run(&model, &inputs, &outputs);
        if (error)
            return 100 + error;
{writes}
    }}
    return 0;
}}
"""
_STDIO = """
#include <stdio.h>
static int get(void *to, size_t size) { return fread(to, 1, size, stdin) == size; }
static void put(const void *from, size_t size) { fwrite(from, 1, size, stdout); }
"""
# Without a C library: Linux' system calls, which the emulator serves, and the functions that the compiler's
# library leaves to others.
_BARE = """
static long call(long number, long a, long b, long c)
{
    register long r7 __asm__("r7") = number;
    register long r0 __asm__("r0") = a;
    register long r1 __asm__("r1") = b;
    register long r2 __asm__("r2") = c;
    __asm__ volatile("svc #0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2) : "memory");
    return r0;
}
static int get(void *to, size_t size)
{
    size_t done = 0;
    while (done < size) {
        long more = call(3, 0, (long)((char *)to + done), (long)(size - done));
        if (more <= 0)
            return 0;
        done += (size_t)more;
    }
    return 1;
}
static void put(const void *from, size_t size)
{
    size_t done = 0;
    while (done < size)
        done += (size_t)call(4, 1, (long)((const char *)from + done), (long)(size - done));
}
void *memcpy(void *to, const void *from, size_t size)
{
    volatile char *t = to;
    const char *f = from;
    while (size--)
        *t++ = *f++;
    return to;
}
void *memset(void *to, int value, size_t size)
{
    volatile char *t = to;
    while (size--)
        *t++ = (char)value;
    return to;
}
void __aeabi_memcpy(void *to, const void *from, size_t size) { memcpy(to, from, size); }
void __aeabi_memcpy4(void *to, const void *from, size_t size) { memcpy(to, from, size); }
void __aeabi_memcpy8(void *to, const void *from, size_t size) { memcpy(to, from, size); }
void __aeabi_memset(void *to, size_t size, int value) { memset(to, value, size); }
void __aeabi_memset4(void *to, size_t size, int value) { memset(to, value, size); }
void __aeabi_memset8(void *to, size_t size, int value) { memset(to, value, size); }
void __aeabi_memclr(void *to, size_t size) { memset(to, 0, size); }
void __aeabi_memclr4(void *to, size_t size) { memset(to, 0, size); }
void __aeabi_memclr8(void *to, size_t size) { memset(to, 0, size); }
int main(void);
void _start(void) { call(1, main(), 0, 0); }
"""


class Program:
    """An exported network as a program for its target."""

    def __init__(self, exported: Any, model: zp.Model, folder: Path) -> None:
        self.model = model
        self.tools = toolchain(exported.target)
        require(self.tools)
        name = exported.name
        self.path = folder / f"{name}.{exported.target}"
        exported.write(folder / f"{name}.o")
        bare = "-nostdlib" in self.tools.compiler
        source = folder / "main.c"
        source.write_text(main_text(exported, _BARE if bare else _STDIO))
        libraries = ["-lgcc"] if bare else ["-lm"]
        command = [*self.tools.compiler, *WARNINGS, "-std=c99", "-O1", f"-I{folder}", "-o", str(self.path)]
        build([*command, str(source), str(folder / f"{name}.o"), *libraries])

    def run(self, *runs: Sequence[Array], cpu: str = "") -> list[list[Array]]:
        """The outputs of runs one after the other."""
        done = self.process(*runs, cpu=cpu)
        assert done.returncode == 0, (done.returncode, done.stderr)
        sizes = [(info.shape, info.dtype) for info in self.model.outputs]
        results, place = [], 0
        for _ in runs:
            results.append([])
            for shape, dtype in sizes:
                count = int(np.prod(shape, dtype=np.int64))
                array = np.frombuffer(done.stdout, dtype, count, place)
                results[-1].append(array.reshape(shape))
                place += array.nbytes
        assert place == len(done.stdout)
        return results

    def process(self, *runs: Sequence[Array], cpu: str = "") -> subprocess.CompletedProcess[bytes]:
        runner = self.tools.on(cpu) if cpu else self.tools.runner
        if not cpu and runner[:1] == ("qemu-x86_64",):
            runner = ()  # this machine
        data = b"".join(np.ascontiguousarray(array).tobytes() for run in runs for array in run)
        command = [*runner, str(self.path)]
        return subprocess.run(command, input=data, capture_output=True, timeout=120, check=False)


def build(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def main_text(exported: Any, system: str) -> str:
    """The source of a program."""
    name, macro = exported.name, exported.name.upper()
    buffers, reads, pointers, writes = [], [], [], []
    for kind, lines in (("input", reads), ("output", writes)):
        for number, (c_type, field) in enumerate(fields(exported.header, f"{name}_{kind}s")):
            size = f"{macro}_{kind.upper()}_{field.upper()}_ELEMENTS"
            buffers.append(f"static {c_type} {kind}{number}[{size}];")
            pointers.append(f"        {kind}s.{field} = {kind}{number};")
            if kind == "input":
                lines += [
                    f"        if (!get({kind}{number}, sizeof {kind}{number}))",
                    "            break;",
                ]
            else:
                lines.append(f"        put({kind}{number}, sizeof {kind}{number});")
    return _MAIN.format(
        name=name,
        macro=macro,
        system=system,
        buffers="\n".join(buffers),
        reads="\n".join(reads),
        pointers="\n".join(pointers),
        writes="\n".join(writes),
    )


def fields(header: str, struct: str) -> list[tuple[str, str]]:
    """C type (without const) and name of each pointer in a struct of a header."""
    body = header.split(f"typedef struct {struct} {{")[1].split("}")[0]
    found = []
    for line in body.strip().splitlines():
        declaration = line.split(";")[0].strip().removeprefix("const ")
        if "*" in declaration:
            c_type, _, field = declaration.partition(" *")
            found.append((c_type, field))
    return found
