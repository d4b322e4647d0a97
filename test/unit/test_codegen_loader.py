"""Our own linker and loader of ELF objects: what code may contain, and what is refused."""

from __future__ import annotations

import contextlib
import ctypes
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

from zeropoint.codegen import elf, jit, relocations
from zeropoint.codegen.image import Image
from zeropoint.codegen.link import link
from zeropoint.codegen.llvm import to_object
from zeropoint.codegen.loader import LoadedCode, MappedImage, can_map, load
from zeropoint.codegen.machine import Machine, host
from zeropoint.codegen.symbols import function_address
from zeropoint.errors import PipelineError

X86 = "x86_64-unknown-linux-gnu"
ARM = "aarch64-unknown-linux-gnu"
# Constants, a jump table, calls of functions in the object, in libm, and through pointers.
EVERYTHING = """
@table = internal constant [4 x double] [double 1.5, double 2.5, double 3.5, double 4.5]
@functions = internal constant [2 x ptr] [ptr @twice, ptr @exp]
declare double @exp(double)
declare double @pow(double, double)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define internal double @twice(double %x) noinline {
  %y = fadd double %x, %x
  ret double %y
}
define void @kernel(ptr %row, i64 %begin, i64 %end) {
entry:
  %out = load ptr, ptr %row
  call void @llvm.memset.p0.i64(ptr %out, i8 1, i64 1000, i1 false)
  switch i64 %begin, label %done [ i64 0, label %a  i64 1, label %b  i64 2, label %c  i64 3, label %d
                                   i64 4, label %e  i64 5, label %f ]
a:
  %t = call double @twice(double 21.0)
  br label %store
b:
  %p = getelementptr [4 x double], ptr @table, i64 0, i64 %end
  %q = load double, ptr %p
  br label %store
c:
  %r = call double @pow(double 2.0, double 10.0)
  br label %store
d:
  %which = getelementptr [2 x ptr], ptr @functions, i64 0, i64 %end
  %function = load ptr, ptr %which
  %s = call double %function(double 0.0)
  br label %store
e:
  %address = ptrtoint ptr @pow to i64
  %there = icmp ne i64 %address, 0
  %u = uitofp i1 %there to double
  br label %store
f:
  br label %store
store:
  %value = phi double [ %t, %a ], [ %q, %b ], [ %r, %c ], [ %s, %d ], [ %u, %e ], [ 0.1, %f ]
  store double %value, ptr %out
  br label %done
done:
  ret void
}
"""
CALLS = {
    (0, 0): 42.0,
    (1, 0): 1.5,
    (1, 3): 4.5,
    (2, 0): 1024.0,
    (3, 1): 1.0,
    (3, 0): 0.0,
    (4, 0): 1.0,
    (5, 0): 0.1,
}
needs_mapping = pytest.mark.skipif(
    not can_map() or host().triple.split("-")[0] not in ("x86_64", "aarch64"),
    reason="our loader is not used on this system",
)


def result(code: LoadedCode, begin: int, end: int) -> float:
    kernel = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    out = np.zeros(125)
    row = np.array([out.ctypes.data], np.int64)
    kernel(code.address("it", "kernel"))(row.ctypes.data, begin, end)
    assert out.view(np.uint8)[8:].min() == out.view(np.uint8)[8:].max() == 1
    return float(out[0])


@needs_mapping
@pytest.mark.parametrize("optimize", [False, True])
def test_everything_that_code_has_is_relocated(optimize: bool) -> None:
    code = load({"it": to_object(EVERYTHING, host(), optimize=optimize)})
    assert isinstance(code, MappedImage)
    assert {call: result(code, *call) for call in CALLS} == CALLS


@pytest.mark.skipif(
    host().triple.startswith("aarch64-unknown-linux"),
    reason="LLVM puts sections too far apart for this machine's relocations, and gives up the process",
)
def test_llvms_own_loader_does_the_same() -> None:
    """Which other systems use."""
    code = jit.JitCode({"it": to_object(EVERYTHING, host())})
    assert {call: result(code, *call) for call in CALLS} == CALLS
    with pytest.raises(PipelineError, match="could not be loaded"):
        code.address("it", "nothing")


@needs_mapping
def test_objects_do_not_see_each_other() -> None:
    text = """define void @kernel(ptr %row, i64 %b, i64 %e) {{
      %p = load ptr, ptr %row
      store i64 {}, ptr %p
      ret void
    }}"""
    code = load({name: to_object(text.format(value), host()) for name, value in (("a", 1), ("b", 2))})
    kernel = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    out = np.zeros(1, np.int64)
    row = np.array([out.ctypes.data], np.int64)
    for name, value in (("a", 1), ("b", 2)):
        kernel(code.address(name, "kernel"))(row.ctypes.data, 0, 1)
        assert out[0] == value


@needs_mapping
def test_no_memory_is_writable_and_executable() -> None:
    code = load({"it": to_object(EVERYTHING, host())})
    address = code.address("it", "kernel")
    maps = Path("/proc/self/maps").read_text().splitlines()
    (line,) = [m for m in maps if int(m.split("-")[0], 16) <= address < int(m.split("-")[1].split()[0], 16)]
    assert line.split()[1] == "r-xp"


def test_missing_function_and_missing_symbol_are_named() -> None:
    text = (
        "declare void @no_such_function()\ndefine void @f() {\n  call void @no_such_function()\n  ret void\n}"
    )
    with pytest.raises(PipelineError, match=r"calls 'no_such_function', which this process does not have"):
        MappedImage(link({"it": to_object(text, Machine(X86))}))
    with pytest.raises(PipelineError, match=r"'it' does not define 'nothing'"):
        load({"it": to_object(EVERYTHING, host())}).address("it", "nothing")


@pytest.mark.parametrize("name", ["expf", "tanhf", "roundevenf", "memcpy", "memset"])
def test_library_functions_are_found(name: str) -> None:
    assert function_address(name)


def test_unknown_relocation_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    target = relocations.MACHINES[elf.X86_64]
    kinds = {type_: kind for type_, kind in target.kinds.items() if type_ != 4}
    known = relocations.Target(target.name, target.page_bytes, kinds, target.stub_bytes, target.write_stub)
    monkeypatch.setitem(relocations.MACHINES, elf.X86_64, known)
    with pytest.raises(PipelineError, match=r"'it': relocation 4 against '\w+' is not known for x86-64"):
        link({"it": to_object(EVERYTHING, Machine(X86))})


def test_writable_data_is_refused() -> None:
    text = "@state = internal global i64 1\ndefine ptr @kernel() {\n  ret ptr @state\n}"
    with pytest.raises(PipelineError, match=r"'it' has writable data \(\.data\)"):
        link({"it": to_object(text, Machine(X86), optimize=False)})


def test_objects_for_other_machines_are_refused() -> None:
    code = to_object(EVERYTHING, Machine("riscv64-unknown-linux-gnu"))
    with pytest.raises(PipelineError, match=r"machines \[243\], expected one of 62 \(x86-64\) and 183"):
        link({"it": code})
    with pytest.raises(PipelineError, match="'it' is not ELF for a 64-bit little endian machine"):
        link({"it": b"MZ" + bytes(100)})


def test_damaged_objects_are_errors() -> None:
    """Cut short anywhere, or with any word of the section headers overwritten."""
    code = to_object(EVERYTHING, Machine(X86))
    for size in range(0, len(code), 7):
        with pytest.raises(PipelineError):
            link({"it": code[:size]})
    start = struct.unpack_from("<Q", code, 0x28)[0]
    for place in range(start, len(code) - 8, 8):
        damaged = bytearray(code)
        damaged[place : place + 8] = b"\xff" * 8
        with contextlib.suppress(PipelineError):
            link({"it": bytes(damaged)})


# Instructions that point somewhere, decoded here by the architecture's manual.


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def word(image: Image, place: int) -> int:
    return int(struct.unpack_from("<I", image.data, place)[0])


def adrp_target(image: Image, place: int) -> int:
    bits = word(image, place)
    assert bits & 0x9F000000 == 0x90000000
    return (place & ~0xFFF) + (signed((bits >> 5 & 0x7FFFF) << 2 | bits >> 29 & 3, 21) << 12)


def branch_target(image: Image, place: int) -> int:
    return place + 4 * signed(word(image, place) & 0x3FFFFFF, 26)


def places_of(obj: elf.ObjectFile, type_: int) -> list[elf.Relocation]:
    return [r for r in obj.relocations if r.type == type_]


@pytest.fixture(scope="module")
def arm() -> tuple[elf.ObjectFile, Image]:
    code = to_object(EVERYTHING, Machine(ARM), optimize=False)
    return elf.read_object(code, "it"), link({"it": code})


def test_aarch64_calls_reach_their_functions(arm: tuple[elf.ObjectFile, Image]) -> None:
    obj, image = arm
    slots = {name: offset for offset, name in image.imports}
    found = set()
    for relocation in places_of(obj, 283) + places_of(obj, 282):
        symbol = obj.symbols[relocation.symbol]
        target = branch_target(image, image.symbols["it:kernel"] - kernel_offset(obj) + relocation.offset)
        if symbol.section is None:  # a stub: adrp x16, slot; ldr x16, [x16, slot]; br x16
            load_ = word(image, target + 4)
            assert load_ & 0xFFC003FF == 0xF9400210
            assert adrp_target(image, target) + 8 * (load_ >> 10 & 0xFFF) == slots[symbol.name]
            assert word(image, target + 8) == 0xD61F0200
            found.add(symbol.name)
    assert found == {"pow", "memset"}


def kernel_offset(obj: elf.ObjectFile) -> int:
    return next(s.offset for s in obj.symbols if s.name == "kernel")


def test_aarch64_addresses_of_constants(arm: tuple[elf.ObjectFile, Image]) -> None:
    """A page by adrp, and the rest by the instruction after it, together point at the constant."""
    obj, image = arm
    start = image.symbols["it:kernel"] - kernel_offset(obj)
    table = struct.pack("<4d", 1.5, 2.5, 3.5, 4.5)
    found = 0
    for page in places_of(obj, 275):
        for low in places_of(obj, 277):
            if (low.symbol, low.addend) == (page.symbol, page.addend):
                offset = word(image, start + low.offset) >> 10 & 0xFFF
                address = adrp_target(image, start + page.offset) + offset
                found += image.data[address : address + 32] == table
    assert found


def test_aarch64_pointers_in_data_are_left_to_the_loader(arm: tuple[elf.ObjectFile, Image]) -> None:
    _, image = arm
    assert {name for _, name in image.imports} == {"exp", "pow", "memset"}
    assert all(
        offset >= image.code_bytes and offset % 8 == 0 for offset, _ in (*image.imports, *image.absolute)
    )
    assert image.absolute, "@twice in the table of functions"
    assert image.code_bytes % (1 << 16) == 0


@pytest.mark.parametrize(
    ("type_", "place", "target", "error"),
    [
        (283, 0, 1 << 28, "does not fit into 26 bits"),
        (283, 0, 6, "no multiple of 4"),
        (275, 0, 1 << 34, "does not fit into 21 bits"),
        (286, 0, 4, "offset 4 is no multiple of 8"),
    ],
)
def test_targets_out_of_reach(type_: int, place: int, target: int, error: str) -> None:
    kind = relocations.MACHINES[elf.AARCH64].kinds[type_]
    with pytest.raises(OverflowError, match=error):
        kind.write(bytearray(16), place, target)
    with pytest.raises(OverflowError, match="does not fit into 32 bits"):
        relocations.MACHINES[elf.X86_64].kinds[2].write(bytearray(16), 0, 1 << 40)


@pytest.mark.skipif(sys.platform == "win32", reason="no such system call")
def test_code_is_freed_with_its_owner() -> None:
    code = load({"it": to_object(EVERYTHING, host())})
    start = f"{code.address('it', 'kernel') & ~0xFFF:x}-"
    if not Path("/proc/self/maps").exists():
        pytest.skip("no /proc/self/maps to look into")
    assert start in Path("/proc/self/maps").read_text()
    del code
    assert start not in Path("/proc/self/maps").read_text()
