"""``python -m bench.aarch64``: what it computes from counted instructions, and the counting itself."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from zeropoint.bench import aarch64, aarch64_decode, aarch64_mca
from zeropoint.bench.aarch64_counts import Block, Counts, CountsError, Executed, Mapping, read_counts
from zeropoint.bench.aarch64_decode import Instruction, ToolError, branch_offset, disassemble
from zeropoint.bench.aarch64_emulator import compile_plugin
from zeropoint.bench.aarch64_loops import innermost_loops
from zeropoint.bench.aarch64_measure import Code, Measured, StepCode, code_of
from zeropoint.bench.aarch64_report import millions, print_report
from zeropoint.bench.aarch64_rows import by_kernel, network_row

SDOT, SMULL, SUBS, BACK_8, RETURN = 0x4E829420, 0x0E22C020, 0xF1000529, 0x54FFFFC1, 0xD65F03C0
needs_llvm = pytest.mark.skipif(
    not any(shutil.which(name) for name in ("llvm-mc", "llvm-mc-19", "llvm-mc-14")), reason="LLVM's tools"
)
needs_emulator = pytest.mark.skipif(
    not all(map(shutil.which, ("qemu-aarch64", "aarch64-linux-gnu-gcc", "cc"))), reason="qemu and compilers"
)

MARKED = """
#include <sys/prctl.h>
int main(void)
{
    prctl(0x5a504d4b, 1, 0, 0, 0);
    __asm__ volatile("mov x9, #1000\\n"
                     "1: sdot v0.4s, v1.16b, v2.16b\\n"
                     "subs x9, x9, #1\\n"
                     "b.ne 1b" ::: "x9", "v0", "cc");
    prctl(0x5a504d4b, 0, 0, 0, 0);
    return 0;
}
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "counts.txt"
    path.write_text(text)
    return path


def test_counts_are_read_by_label_and_file(tmp_path: Path) -> None:
    text = (
        "threads 1\nmap 2000 3000 /lib/b.so\nmap 1000 2000 \n"
        f"block 1000 {SDOT:08x}{SUBS:08x}{BACK_8:08x} 1:10 0:2\nblock 2000 {RETURN:08x} 1:5\nend\n"
    )
    counts = read_counts(write(tmp_path, text))
    assert counts.threads == 1
    assert counts.total(1) == 35
    assert counts.total(0) == 6
    assert [counts.path_at(place) for place in (0x1000, 0x2000)] == ["", "/lib/b.so"]
    assert counts.instructions(1, 0x1004, 0x2000) == []  # blocks count where they begin
    assert counts.instructions(0)[1] == Executed(0x1004, SUBS, 2)
    assert counts.words() == {SDOT, SUBS, BACK_8, RETURN}
    assert counts.path_at(0x3000) == ""


def test_overlapping_blocks_add_up_per_address() -> None:
    blocks = [Block(0x1000, (SDOT, SUBS), {1: 1}), Block(0x1004, (SUBS,), {1: 9})]
    counts = Counts(1, blocks, [Mapping(0x1000, 0x2000, "")])
    assert counts.instructions(1) == [Executed(0x1000, SDOT, 1), Executed(0x1004, SUBS, 10)]


@pytest.mark.parametrize("text", ["", "threads 1\nblock 1000 d65f", "block 1000 d65f03c0 1:1\nend\n"])
def test_a_file_that_is_cut_short_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(CountsError, match="cut short"):
        read_counts(write(tmp_path, text))


def test_missing_counts_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(CountsError, match="before the emulator wrote its counts"):
        read_counts(tmp_path / "counts.txt")


@pytest.mark.parametrize(
    ("word", "offset"),
    [
        (BACK_8, -8),
        (0x14000003, 12),  # b .+12
        (0x17FFFFFF, -4),  # b .-4
        (0xB5FFFF49, -24),  # cbnz x9, .-24
        (0x3707FFE0, -4),  # tbnz w0, #0, .-4
        (0x94000001, None),  # bl
        (SDOT, None),
        (RETURN, None),
    ],
)
def test_branch_offsets(word: int, offset: int | None) -> None:
    assert branch_offset(word) == offset


def executed(start: int, *pairs: tuple[int, int]) -> list[Executed]:
    return [Executed(start + 4 * index, word, count) for index, (word, count) in enumerate(pairs)]


def test_innermost_loops_are_found_and_outer_ones_are_not() -> None:
    outer_back = 0x54FFFFA1 & ~(0x7FFFF << 5) | ((1 << 19) - 5) << 5  # b.ne .-20
    code = executed(
        0x1000,
        (RETURN, 1),
        (SMULL, 10),
        (SDOT, 100),
        (SUBS, 100),
        (BACK_8, 100),
        (SUBS, 10),
        (outer_back, 10),
    )
    (loop,) = innermost_loops(code)
    assert loop.begin == 0x1008
    assert loop.words == (SDOT, SUBS, BACK_8)
    assert loop.executed == 300
    assert loop.iterations == 100


def test_a_branch_back_over_code_that_is_seldom_run_is_no_loop() -> None:
    assert innermost_loops(executed(0x1000, (SDOT, 1), (SUBS, 100), (BACK_8, 100))) == []


@needs_llvm
def test_disassembly_keeps_the_order_and_marks_what_is_unknown() -> None:
    found = disassemble([SUBS, SDOT, 0xFFFFFFFF, BACK_8])
    assert found[SDOT] == Instruction("sdot", "v0.4s, v1.16b, v2.16b")
    assert found[SUBS].mnemonic == "subs"
    assert found[BACK_8] == Instruction("b.ne", "#0")
    assert found[0xFFFFFFFF].mnemonic == "<unknown>"


@pytest.mark.parametrize(
    ("mnemonic", "operands", "is_product", "macs"),
    [
        ("sdot", "v0.4s, v1.16b, v2.4b[0]", True, 16),
        ("smmla", "v0.4s, v1.16b, v2.16b", True, 32),
        ("smlal2", "v0.8h, v1.16b, v2.16b", True, 8),
        ("smlal", "v0.4s, v1.4h, v2.h[0]", True, 4),
        ("smull", "v0.2d, v1.2s, v2.2s", True, 0),  # of a rescale
        ("smull", "x0, w1, w2", False, 0),
        ("mul", "x0, x1, x2", False, 0),
        ("add", "v0.4s, v1.4s, v2.4s", False, 0),
    ],
)
def test_products(mnemonic: str, operands: str, is_product: bool, macs: int) -> None:
    instruction = Instruction(mnemonic, operands)
    assert instruction.is_product == is_product
    assert instruction.macs == macs


@needs_llvm
def test_cycles_of_several_loops_come_in_their_order() -> None:
    adds = ["add\tx0, x0, #1"]
    short, long = aarch64_mca.cycles_per_iteration([adds, adds * 10], "neoverse-n1")
    assert 9 <= long / short <= 11
    assert aarch64_mca.cycles_per_iteration([], "neoverse-n1") == []


def test_matrix_products_have_cycles_only_where_they_exist() -> None:
    assert not aarch64_mca.runs(["smmla\tv0.4s, v1.16b, v2.16b"], "neoverse-n1")
    assert aarch64_mca.runs(["smmla\tv0.4s, v1.16b, v2.16b"], "neoverse-v1")
    assert aarch64_mca.runs(["sdot\tv0.4s, v1.16b, v2.16b"], "neoverse-n1")


def code(instructions: int, dot: int) -> Code:
    return Code(instructions, dot, dot, {"sdot": dot, "add": instructions - dot}, [])


def measured(system: str, instructions: int, steps: list[StepCode] | None = None) -> Measured:
    return Measured(system, "1.0", code(instructions, instructions // 2), 7, 0, 1, [], steps or [])


def test_a_row_has_the_ratio_of_instructions() -> None:
    row = network_row("net", 1000, "dotprod", measured("zeropoint", 90), measured("litert", 120), "same")
    assert row["ratio"] == 0.75
    assert row["zeropoint"]["instructions_per_mac"] == 0.09
    assert row["litert"]["dot_share"] == 0.5


def test_a_system_that_failed_is_a_dash_with_its_reason(capsys: Any) -> None:
    row = network_row("net", 1000, "neon", measured("zeropoint", 2_000_000), "no such operator", "same")
    assert row["ratio"] is None
    print_report([row], steps=False, markdown=True)
    text = capsys.readouterr().out
    assert "| net | neon | 0.001 | 2.000 | - | - | 2000.000 | - | 50% | - | same |" in text
    assert "net, neon: litert: no such operator" in text


def test_steps_are_grouped_by_kernel_and_small_ones_together() -> None:
    steps = [
        StepCode(0, "conv2d 4x4", "a", 1000, code(600, 300)),
        StepCode(1, "conv2d 4x4", "b", 1000, code(390, 300)),
        StepCode(2, "border", "c", 0, code(6, 0)),
        StepCode(3, "table", "d", 0, code(4, 0)),
    ]
    row = network_row("net", 2000, "dotprod", measured("zeropoint", 1000, steps), "-", "same")
    first, rest = by_kernel(row["zeropoint"]["steps"], small=0.01)
    assert (first["kernel"], first["steps"], first["instructions"]) == ("conv2d 4x4", 2, 990)
    assert first["instructions_per_mac"] == 0.495
    assert first["dot_share"] == pytest.approx(600 / 990)
    assert (rest["kernel"], rest["instructions"], rest["loop"]) == ("2 others", 10, None)


def test_only_our_own_failures_and_bits_are_wrong() -> None:
    fine = network_row("net", 1000, "neon", measured("zeropoint", 90), "refused", "same")
    assert not aarch64._is_wrong(fine)
    assert aarch64._is_wrong({**fine, "bits": "3 differ"})
    assert aarch64._is_wrong(network_row("net", 1000, "neon", "failed", measured("litert", 90), "-"))
    assert not aarch64._is_wrong(network_row("net", 1000, "neon", "", measured("litert", 90), "-"))


@pytest.mark.parametrize(
    ("value", "text"), [(None, "-"), (1_234, "0.001"), (12_345_678, "12.3"), (123_456_789, "123")]
)
def test_millions(value: float | None, text: str) -> None:
    assert millions(value) == text


def test_missing_programs_are_named(monkeypatch: Any, tmp_path: Path, capsys: Any) -> None:
    model = tmp_path / "net.tflite"
    model.write_bytes(b"")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    assert aarch64.main([str(model)]) == 1
    assert "qemu-aarch64 is not on the path" in capsys.readouterr().err
    with pytest.raises(ToolError, match="no C compiler"):
        compile_plugin(tmp_path)
    with pytest.raises(ToolError, match="llvm-mc is not on the path"):
        aarch64_decode.llvm_tool("llvm-mc")


@needs_llvm
@needs_emulator
def test_a_marked_loop_is_counted_exactly(tmp_path: Path) -> None:
    source, program, counts_file = tmp_path / "marked.c", tmp_path / "marked", tmp_path / "counts.txt"
    source.write_text(MARKED)
    flags = ["-O2", "-static", "-march=armv8.2-a+dotprod"]
    subprocess.run(["aarch64-linux-gnu-gcc", *flags, "-o", str(program), str(source)], check=True)
    plugin = compile_plugin(tmp_path)
    command = ["qemu-aarch64", "-plugin", f"{plugin},out={counts_file}", str(program)]
    subprocess.run(command, check=True, env={**os.environ, "QEMU_CPU": "max"})
    counts = read_counts(counts_file)
    found = code_of(counts.instructions(1), disassemble(counts.words()))
    assert found.mnemonics["sdot"] == 1000
    assert found.dot == 1000
    hottest = found.loops[0]
    assert (hottest.loop.iterations, len(hottest.assembly), hottest.macs) == (1000, 3, 16)
    assert counts.path_at(hottest.loop.begin) == str(program)
