"""Exported networks in C programs compute what the Python API computes, bit by bit, on every machine."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import zeropoint as zp
from c_program import Program, build, require, toolchain
from exported_networks import MANY, control_flow_network, control_flow_runs, random_inputs
from source_tree import ROOT
from zeropoint.dialect.context import parse_module
from zeropoint.frontends import load_bytes
from zeropoint.tools.cli_demo import quantize_images
from zeropoint.tools.demo import NETWORK, load_test_set

TARGETS = (
    "host",
    "aarch64",
    "aarch64-dotprod",
    "aarch64-i8mm",
    "riscv64",
    "thumbv7em",
    "thumbv7em-hf",
)
MODELS = ROOT.parent / "shared" / "models"
RUNS = 3


def check(model: zp.Model, target: str, folder: Path, runs: list[list[Any]], cpu: str = "") -> None:
    """The C program's outputs of all runs are those of one executable here."""
    exported = zp.export(model, target, name="net")
    assert exported.report.writable_bytes == 0
    executable = zp.compile(model)
    results = Program(exported, model, folder).run(*runs, cpu=cpu)
    for inputs, outputs in zip(runs, results, strict=True):
        for ours, theirs in zip(executable.run(*inputs), outputs, strict=True):
            assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("target", TARGETS)
def test_a_real_network(target: str, tmp_path: Path) -> None:
    model = zp.load(NETWORK)
    images, _ = load_test_set()
    check(model, target, tmp_path, [[image] for image in quantize_images(images[:RUNS], model.inputs[0])])


@pytest.mark.parametrize("target", TARGETS)
def test_state_and_every_kind_of_tensor(target: str, tmp_path: Path) -> None:
    model = zp.Model.from_module(parse_module(MANY), "many.mlir")
    check(model, target, tmp_path, [random_inputs(model, seed) for seed in range(RUNS)])


# Which instructions a CPU has: the code for each must not use others.
@pytest.mark.parametrize(
    ("target", "cpu"),
    [
        ("aarch64", "cortex-a53"),
        ("aarch64-dotprod", "neoverse-n1"),
        ("x86-64", "Nehalem"),
        ("x86-64-v3", "Haswell"),
    ],
)
def test_on_a_cpu_with_just_the_instructions(target: str, cpu: str, tmp_path: Path) -> None:
    model = zp.load(NETWORK)
    images, _ = load_test_set()
    check(model, target, tmp_path, [[image] for image in quantize_images(images[:1], model.inputs[0])], cpu)


@pytest.mark.skipif(not MODELS.is_dir(), reason="the shared networks are not here")
@pytest.mark.parametrize("target", ["host", "aarch64-dotprod", "riscv64"])
@pytest.mark.parametrize(
    "network",
    [
        "mlperftiny_kws_int8",
        "tflm_micro_speech_int8",
        "mww_okay_nabu_v2",  # variables
        "tflm_keyword_scrambled_8bit",  # int16 input, SVDF's state
    ],
)
def test_networks_of_others(network: str, target: str, tmp_path: Path) -> None:
    model = zp.load(MODELS / f"{network}.tflite")
    check(model, target, tmp_path, [random_inputs(model, seed) for seed in range(RUNS)])


@pytest.mark.parametrize("target", ["host", "aarch64-i8mm"])
def test_the_example(target: str, tmp_path: Path) -> None:
    require(toolchain(target))
    variables = [f"PYTHON={sys.executable}", f"TARGET={target}", f"BUILD={tmp_path}"]
    command = ["make", "-s", "-C", str(ROOT / "examples" / "c"), *variables]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "20 images: 20 recognized, 20 with the bits of the Python API"


@pytest.mark.parametrize("target", ["host", "aarch64-dotprod", "thumbv7em"])
def test_branches_and_loops(target: str, tmp_path: Path) -> None:
    model = load_bytes(control_flow_network(), name="loops.tflite")
    exported = zp.export(model, target)
    assert {"while", "for"} <= {kernel for layer in exported.report.layers for kernel in layer.kernels}
    check(model, target, tmp_path, control_flow_runs())


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("aarch64-i8mm", ["-march=armv8.2-a+dotprod+i8mm"]),
        ("riscv64", []),
        ("thumbv7em", ["-mcpu=cortex-m4", "-mthumb"]),
    ],
)
def test_assembly_is_what_the_assembler_reads(target: str, options: list[str], tmp_path: Path) -> None:
    """Assemblers that are years older than our code generator."""
    tools = toolchain(target)
    require(tools)
    model = zp.Model.from_module(parse_module(MANY), "many.mlir")
    exported = zp.export(model, target, "asm", tmp_path / "text.s", name="net")
    build([tools.compiler[0], *options, "-c", "-o", str(tmp_path / "text.o"), str(tmp_path / "text.s")])
    assembled = dataclasses.replace(exported, data=(tmp_path / "text.o").read_bytes())
    runs = [random_inputs(model, seed) for seed in range(RUNS)]
    executable = zp.compile(model)
    for inputs, outputs in zip(runs, Program(assembled, model, tmp_path).run(*runs), strict=True):
        want = [value.tobytes() for value in executable.run(*inputs)]
        assert [value.tobytes() for value in outputs] == want


def test_what_a_cpu_has_besides_is_not_used(tmp_path: Path) -> None:
    """A target's features say what code may use; its CPU's name, how to order instructions."""
    model = zp.load(NETWORK)
    board = tmp_path / "board.toml"
    board.write_text('extends = "aarch64"\n[machine]\ncpu = "neoverse-v1"\n')
    require(toolchain("aarch64"))
    images, _ = load_test_set()
    exported = zp.export(model, str(board), name="net")
    program = Program(dataclasses.replace(exported, target="aarch64"), model, tmp_path)
    (image,) = quantize_images(images[:1], model.inputs[0])
    ((scores,),) = program.run([image], cpu="cortex-a53")
    assert scores.tobytes() == zp.compile(model).run(image)[0].tobytes()
