"""What the machine code of elementwise kernels looks like: the instructions that make them fast, and vectors
that stay in registers. Also for instruction sets that this machine does not have.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from kernel_runner import assembly
from random_tensors import quantized
from zeropoint.dialect import rescale
from zeropoint.dialect.numerics import Rounding
from zeropoint.kernels.border import Border
from zeropoint.kernels.conversion import Dequantize, Quantize
from zeropoint.kernels.families import plan
from zeropoint.kernels.image import Image
from zeropoint.kernels.instruction_set import INSTRUCTION_SETS
from zeropoint.kernels.launch import Launch
from zeropoint.kernels.products import Multiply
from zeropoint.kernels.sums import Add
from zeropoint.kernels.table import Table

IMAGE = Image(1, 28, 28, 192)
FLOATS = Image(1, 28, 28, 192, element_bytes=4)
BYTES = np.arange(256, dtype=np.uint8)
KINDS = [quantized((1,), "i8", scale, zero) for scale, zero in ((0.11, 3), (0.07, -5), (0.13, 0))]


def add(mode: str) -> Add:
    return Add(IMAGE, IMAGE, IMAGE, True, True, True, rescale.add(*KINDS, (), mode))


SPECS: dict[str, Any] = {
    "copy": Table(IMAGE, IMAGE, BYTES),
    "flip": Table(IMAGE, IMAGE, BYTES ^ 0x80),
    "table": Table(IMAGE, IMAGE, np.roll(BYTES, 5)),
    "border": Border(Image(1, 28, 28, 192, (1, 1, 1, 1)), 0),
    "add": add("reference"),
    "xnnpack add": add("xnnpack"),
    "mul": Multiply(IMAGE, IMAGE, IMAGE, True, True, True, rescale.mul(*KINDS)),
    "quantize": Quantize(FLOATS, IMAGE, True, 0.5, 3, -128, 127, Rounding.ONCE_HALF_AWAY),
    "dequantize": Dequantize(IMAGE, FLOATS, True, 0.5, 3),
}


def code_of(name: str, isa: str) -> str:
    launch = plan(SPECS[name], INSTRUCTION_SETS[isa])
    assert isinstance(launch, Launch), launch
    return assembly(launch.code)


@pytest.mark.parametrize("isa", ["avx512vbmi", "avx512vnni", "avxvnni", "avx2", "sse4", "neon"])
@pytest.mark.parametrize("name", SPECS)
def test_inner_loops_keep_vectors_in_registers(isa: str, name: str) -> None:
    code = code_of(name, isa)
    assert "call" not in code
    spills = re.findall(r"^\s*v?mov[au]p.*%[xyz]mm\d+, .*\(%rsp\)", code, re.MULTILINE)
    spills += re.findall(r"^\s*st[rp]\s+q.*\[sp", code, re.MULTILINE)
    # More constants than registers: the 16 rows of a table, and three roundings.
    many = name == "table" or (isa == "sse4" and name in ("add", "mul"))
    assert not spills or (many and INSTRUCTION_SETS[isa].registers == 16)


@pytest.mark.parametrize(
    ("name", "isa", "instructions"),
    [
        ("table", "avx512vbmi", ["vpermt2b|vpermi2b"]),
        ("table", "avx512vnni", [r"vpshufb\s+%zmm"]),
        ("table", "sse4", ["pshufb"]),
        ("table", "neon", [r"tbl\s+v\d+.16b, \{ v\d+.16b, .*, .*, .* \}", "tbx"]),
        ("add", "neon", [r"scvtf\s+v\d+.4s, v\d+.4s, #24", "fmla", "uzp1", "sqxtun"]),
        ("mul", "neon", ["saddw2", "smull2", "sqrdmulh", "srshl", "sqadd"]),
        ("quantize", "neon", ["fdiv", "sqxtn2"]),
        ("add", "avx512vnni", [r"vfmadd\d+ps\s+\{rz-sae\}", r"vpmovsxbd\s+48\(", "vpackuswb", "vpermd"]),
        ("add", "avx2", [r"vfmadd\d+ps\s+%ymm", "vpackuswb", "vpermd"]),
        ("add", "sse4", ["pmuldq", "packsswb"]),
        ("xnnpack add", "sse4", ["pmulld", "psrad"]),
        ("mul", "avx512vnni", [r"vfmadd\d+ps", "vpaddsw"]),
        ("quantize", "avx2", ["vdivps", "vcvttps2dq", "vpacksswb"]),
        ("dequantize", "avx512vnni", ["vcvtdq2ps", "vmulps"]),
    ],
)
def test_instructions(name: str, isa: str, instructions: list[str]) -> None:
    code = code_of(name, isa)
    for instruction in instructions:
        assert re.search(instruction, code), instruction


def test_a_sum_of_sixteen_numbers_takes_nine_instructions() -> None:
    """And seldom one more: 64 numbers are packed, clamped and flipped together, and looped over."""
    code = code_of("add", "avx512vnni")
    body = max(re.split(r"^\.LBB\S+:", code, flags=re.MULTILINE), key=lambda part: part.count("vfmadd"))
    instructions = [line for line in body.splitlines() if re.match(r"\tv?[a-z]", line)]
    assert len(instructions) < 4 * 9 + 12
