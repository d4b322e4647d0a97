"""What an AArch64 host finds out about itself, and what it refuses; on several emulated CPUs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import zeropoint as zp
from emulation import IS_EMULATED
from zeropoint.dialect.context import parse_module
from zeropoint.runtime.compiler import compile_ahead

pytestmark = pytest.mark.skipif(not IS_EMULATED, reason="only an emulator can be another CPU")

NETWORK = """
!x = !quant.uniform<i8:f32, 5.0e-01:3>
!y = !quant.uniform<i8:f32, 4.0>
func.func @main(%x: tensor<1x40x!x> {qnn.name = "x"}) -> (tensor<1x40x!y> {qnn.name = "y"}) {
  %y = "qnn.requantize"(%x) : (tensor<1x40x!x>) -> tensor<1x40x!y> loc("y")
  return %y : tensor<1x40x!y>
}
"""
FEATURES = """
from zeropoint.codegen import cpu
from zeropoint.codegen.machine import host
from zeropoint.targets import detect_host
assert cpu.here() == cpu.instructions(host().features.split(",")), (cpu.here(), host())
print(detect_host().extends)
"""
RUN = """
import sys, numpy as np, zeropoint as zp
try:
    (y,) = zp.load_executable(sys.argv[1]).run(np.full((1, 40), 11, np.int8))
    print(*set(y.ravel()))
except zp.TargetError as error:
    print(error)
"""
COMPILE = """
import sys, zeropoint as zp
try:
    zp.compile(sys.argv[1], "aarch64-i8mm")
except zp.TargetError as error:
    print(error)
"""


def on(cpu: str, program: str, *arguments: str) -> str:
    """What a program of Python prints on an emulated CPU."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, "QEMU_CPU": cpu},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The network, saved for each target."""
    folder = tmp_path_factory.mktemp("saved")
    model = zp.Model.from_module(parse_module(NETWORK), "network.mlir")
    for target in ("aarch64", "aarch64-dotprod", "aarch64-i8mm"):
        compile_ahead(model, target).save(folder / f"{target}.zpx")
    return folder


@pytest.mark.parametrize(
    ("cpu", "target"),
    [
        ("max", "aarch64-i8mm"),
        ("neoverse-n1", "aarch64-dotprod"),
        ("cortex-a76", "aarch64-dotprod"),
        ("cortex-a53", "aarch64"),
    ],
)
def test_the_host_is_the_strongest_target_that_it_fits(cpu: str, target: str) -> None:
    assert on(cpu, FEATURES) == target


@pytest.mark.parametrize(
    ("cpu", "target", "missing"),
    [
        ("max", "aarch64-i8mm", ""),
        ("neoverse-n1", "aarch64-dotprod", ""),
        ("neoverse-n1", "aarch64-i8mm", "i8mm"),
        ("cortex-a53", "aarch64", ""),
        ("cortex-a53", "aarch64-dotprod", "dotprod"),
        ("cortex-a53", "aarch64-i8mm", "dotprod, i8mm"),
    ],
)
def test_a_file_is_refused_before_it_runs(folder: Path, cpu: str, target: str, missing: str) -> None:
    path = str(folder / f"{target}.zpx")
    refusal = f"{path}: uses instructions that this CPU lacks ({missing}); compile the model here"
    assert on(cpu, RUN, path) == (refusal if missing else "1")


def test_a_target_is_refused_before_anything_is_compiled() -> None:
    from zeropoint.tools.demo import NETWORK as DIGITS

    said = on("cortex-a53", COMPILE, str(DIGITS))
    assert said == "target 'aarch64-i8mm': this machine has no dotprod, i8mm"
