"""form-kernels: networks of what kernels stand beside, compiled for every instruction set this machine has,
against the numpy meaning, bit by bit.
"""

from __future__ import annotations

import logging
import math
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import kernel_networks
import zeropoint as zp
from guarded_arrays import before_a_gap
from kernel_machines import MACHINES
from zeropoint.codegen.machine import Machine
from zeropoint.codegen.program import COPY
from zeropoint.codegen.split import split
from zeropoint.dialect.context import parse_module
from zeropoint.dialect.describe import location_name
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.dialect.model import Model
from zeropoint.passes.externalize_constants import constant_block
from zeropoint.passes.pass_manager import run_pipeline
from zeropoint.passes.pipelines import passes_to
from zeropoint.runtime import compiler

MODES = ["reference", "xnnpack"]


pytestmark = pytest.mark.skipif(not MACHINES, reason="no kernels for this machine")


@pytest.fixture(params=MACHINES)
def isa(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """``zp.compile`` generates code for this instruction set, and takes networks as they are."""
    monkeypatch.setattr(compiler, "_machine_here", lambda _: MACHINES[request.param])
    return str(request.param)


def check(model: Model, seed: int = 0, **options: Any) -> zp.Executable:
    """Compile and compare two runs with the meaning."""
    executable = zp.compile(model, **options)
    rng = np.random.default_rng(seed)
    for _ in range(2):
        inputs = kernel_networks.random_inputs(model, rng)
        expected = evaluate_module(model.module, inputs)
        for actual, right in zip(executable.run(*inputs), expected, strict=True):
            compare(actual, right, model)
    return executable


def compare(actual: np.ndarray[Any, Any], right: np.ndarray[Any, Any], model: Model) -> None:
    if right.dtype.kind == "f":
        np.testing.assert_allclose(actual, right, rtol=1e-5, atol=1e-6, err_msg=model.text())
    else:
        np.testing.assert_array_equal(actual, right, err_msg=model.text())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seeds", [range(first, first + 4) for first in range(0, 12, 4)])
def test_networks_equal_their_meaning(isa: str, mode: str, seeds: range) -> None:
    for seed in seeds:
        check(kernel_networks.build(seed, mode), seed)


@pytest.mark.parametrize("seed", range(12, 18))
def test_every_value_of_a_network(isa: str, seed: int) -> None:
    model = kernel_networks.build(seed, MODES[seed % 2])
    executable = zp.compile(model, keep_intermediates=True)
    inputs = kernel_networks.random_inputs(model, np.random.default_rng(seed))
    expected = {}

    def keep(operation: Any, results: list[np.ndarray[Any, Any]]) -> None:
        expected[location_name(operation.location)] = results[0]

    evaluate_module(model.module, inputs, keep=keep)
    executable.run(*inputs)
    kept = executable.intermediates()
    assert len(kept) >= len(set(kept) & set(expected)) > 0
    for name in set(kept) & set(expected):
        compare(kept[name], expected[name], model)


@pytest.mark.parametrize("seed", range(18, 22))
def test_threads(isa: str, seed: int) -> None:
    """Several in a run, and several runs at once."""
    model = kernel_networks.build(seed, "xnnpack")
    executable = zp.compile(model, threads=2 + seed % 2)
    rng = np.random.default_rng(seed)
    given = [kernel_networks.random_inputs(model, rng) for _ in range(4)]
    expected = [evaluate_module(model.module, inputs) for inputs in given]
    with ThreadPoolExecutor(3) as pool:
        runs = list(pool.map(lambda number: executable.run(*given[number % 4]), range(40)))
    for number, results in enumerate(runs):
        for actual, right in zip(results, expected[number % 4], strict=True):
            compare(actual, right, model)


@pytest.mark.parametrize("level", ["legalized", "formed", "linalg", "kernels"])
@pytest.mark.parametrize("seed", range(22, 26))
def test_every_level_can_be_read_again(level: str, seed: int) -> None:
    """What is printed and parsed becomes the same program."""
    name = list(MACHINES)[seed % len(MACHINES)]

    def program(module: Any, start: str | None) -> tuple[Any, ...]:
        run_pipeline(module, passes_to("kernels", start=start, isa=name))
        steps, kernels = split(module)
        calls = [(step.kernel, step.units, step.arguments) for step in steps.steps]
        return calls, kernels, steps.arena_bytes, constant_block(module).tobytes()

    expected = program(kernel_networks.build(seed, "xnnpack").module, None)
    module = kernel_networks.build(seed, "xnnpack").module
    run_pipeline(module, passes_to(level, isa=name))
    assert program(parse_module(module.operation.get_asm()), level) == expected


# Networks by hand.

TYPES = """
!x = !quant.uniform<i8:f32, 0.05:3>
!y = !quant.uniform<i8:f32, 0.8:3>
!w = !quant.uniform<i8:f32, 0.01>
"""
CONV = (
    "strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, "
    "groups = 1 : i64, clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>"
)
DENSE = "clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>"


def concat(*axes: int, count: int = 2) -> str:
    sizes = ", ".join("1" if i < count else "0" for i in range(16))
    return f"axis = {axes[0]} : i64, operandSegmentSizes = array<i32: {sizes}>"


def weights(*shape: int) -> str:
    size = "x".join(map(str, shape))
    bytes_ = np.random.default_rng(math.prod(shape)).integers(0, 256, math.prod(shape), dtype=np.uint8)
    value = f'dense<"0x{bytes_.tobytes().hex()}"> : tensor<{size}xi8>'
    return f'"qnn.constant"() {{value = {value}}} : () -> tensor<{size}x!w>'


def network(text: str, mode: str = "xnnpack") -> Model:
    whole = f'{TYPES}module attributes {{qnn.numerics = "{mode}"}} {{\n{text}\n}}'
    return Model.from_module(parse_module(whole))


@pytest.mark.parametrize("mode", MODES)
def test_matrix_products_side_by_side(isa: str, mode: str) -> None:
    """Each writes its own columns."""
    check(
        network(
            f"""
func.func @main(%a: tensor<3x20x!x>) -> tensor<3x28x!y> {{
  %w0 = {weights(12, 20)}
  %w1 = {weights(16, 20)}
  %0 = "qnn.fully_connected"(%a, %w0) {{{DENSE}}} : (tensor<3x20x!x>, tensor<12x20x!w>) -> tensor<3x12x!y>
  %1 = "qnn.fully_connected"(%a, %w1) {{{DENSE}}} : (tensor<3x20x!x>, tensor<16x20x!w>) -> tensor<3x16x!y>
  %2 = "qnn.concat"(%0, %1) {{{concat(1)}}} : (tensor<3x12x!y>, tensor<3x16x!y>) -> tensor<3x28x!y>
  return %2 : tensor<3x28x!y>
}}""",
            mode,
        )
    )


@pytest.mark.parametrize("mode", MODES)
def test_matrix_product_of_pixels_between_convolutions(isa: str, mode: str) -> None:
    """It reads inside a border, and writes inside one."""
    check(
        network(
            f"""
func.func @main(%a: tensor<1x4x5x20x!x>) -> (tensor<1x4x5x8x!y>, tensor<1x4x5x8x!y>) {{
  %w0 = {weights(12, 20)}
  %w1 = {weights(8, 3, 3, 12)}
  %w2 = {weights(8, 3, 3, 20)}
  %0 = "qnn.tanh"(%a) : (tensor<1x4x5x20x!x>) -> tensor<1x4x5x20x!x>
  %1 = "qnn.fully_connected"(%0, %w0) {{{DENSE}}}
    : (tensor<1x4x5x20x!x>, tensor<12x20x!w>) -> tensor<1x4x5x12x!y>
  %2 = "qnn.conv2d"(%1, %w1) {{{CONV}}} : (tensor<1x4x5x12x!y>, tensor<8x3x3x12x!w>) -> tensor<1x4x5x8x!y>
  %3 = "qnn.conv2d"(%0, %w2) {{{CONV}}} : (tensor<1x4x5x20x!x>, tensor<8x3x3x20x!w>) -> tensor<1x4x5x8x!y>
  return %2, %3 : tensor<1x4x5x8x!y>, tensor<1x4x5x8x!y>
}}""",
            mode,
        )
    )


@pytest.mark.parametrize("mode", MODES)
def test_transposed_matrices_side_by_side(isa: str, mode: str) -> None:
    """Each is written into its own columns, also where rows are counted in two dimensions."""
    check(
        network(
            f"""
func.func @main(%a: tensor<16x5x!x>, %b: tensor<5x20x!x>, %c: tensor<3x16x5x!x>, %d: tensor<3x5x20x!x>)
    -> (tensor<5x36x!x>, tensor<3x5x36x!x>) {{
  %0 = "qnn.transpose"(%a) {{permutation = array<i64: 1, 0>}} : (tensor<16x5x!x>) -> tensor<5x16x!x>
  %1 = "qnn.concat"(%b, %0) {{{concat(1)}}} : (tensor<5x20x!x>, tensor<5x16x!x>) -> tensor<5x36x!x>
  %2 = "qnn.transpose"(%c) {{permutation = array<i64: 0, 2, 1>}} : (tensor<3x16x5x!x>) -> tensor<3x5x16x!x>
  %3 = "qnn.concat"(%2, %d) {{{concat(2)}}} : (tensor<3x5x16x!x>, tensor<3x5x20x!x>) -> tensor<3x5x36x!x>
  return %1, %3 : tensor<5x36x!x>, tensor<3x5x36x!x>
}}""",
            mode,
        )
    )


@pytest.mark.parametrize("through_concat", [False, True])
def test_a_pad_of_ones_around_which_is_a_border_of_zeros(isa: str, through_concat: bool) -> None:
    pad = "low = array<i64: 0, 1, 2, 0>, high = array<i64: 0, 1, 0, 0>, value = 1.0 : f32"
    one = concat(3, count=1)
    between = f'"qnn.concat"(%1) {{{one}}} : (tensor<1x6x7x20x!x>) -> tensor<1x6x7x20x!x>'
    same = '"qnn.reshape"(%1) : (tensor<1x6x7x20x!x>) -> tensor<1x6x7x20x!x>'
    check(
        network(
            f"""
func.func @main(%a: tensor<1x4x5x20x!x>) -> tensor<1x6x7x8x!y> {{
  %w = {weights(8, 3, 3, 20)}
  %0 = "qnn.tanh"(%a) : (tensor<1x4x5x20x!x>) -> tensor<1x4x5x20x!x>
  %1 = "qnn.pad"(%0) {{{pad}}} : (tensor<1x4x5x20x!x>) -> tensor<1x6x7x20x!x>
  %2 = {between if through_concat else same}
  %3 = "qnn.conv2d"(%2, %w) {{{CONV}}} : (tensor<1x6x7x20x!x>, tensor<8x3x3x20x!w>) -> tensor<1x6x7x8x!y>
  return %3 : tensor<1x6x7x8x!y>
}}"""
        )
    )


# What is formed.


def launched(model: Model) -> list[str]:
    """The families of the steps of a network; empty for what none takes."""
    program = zp.compile(model, cache=False)._program
    codes = program.codes
    return [codes[s.kernel].family if s.kernel in codes else "" for s in program.steps if s.kernel != COPY]


def convolution(operands: str, types: str, groups: int = 1, fields: str = "") -> Model:
    """A network of a convolution of 6 channels, with ``%a`` for an input and ``fields`` before it."""
    attributes = CONV.replace("groups = 1", f"groups = {groups}").replace("1, 1, 1, 1>", "0, 0, 0, 0>")
    return network(
        f"""
func.func @main(%a: tensor<1x4x4x6x!x>, %f: tensor<4x1x1x6x!w>) -> tensor<1x4x4x4x!y> {{
  {fields}
  %0 = "qnn.conv2d"({operands}) {{{attributes}}} : ({types}) -> tensor<1x4x4x4x!y>
  return %0 : tensor<1x4x4x4x!y>
}}"""
    )


def test_ordinary_convolutions_have_kernels(isa: str) -> None:
    """One step each, the copy into a border included in none."""
    model = convolution(
        "%a, %w", "tensor<1x4x4x6x!x>, tensor<4x1x1x6x!w>", fields=f"%w = {weights(4, 1, 1, 6)}"
    )
    assert launched(model) == ["table", "conv2d"], "the caller's i8 becomes u8"
    check(model)
    grouped = convolution(
        "%a, %w", "tensor<1x4x4x6x!x>, tensor<4x1x1x3x!w>", 2, f"%w = {weights(4, 1, 1, 3)}"
    )
    assert launched(grouped) == ["table", "conv2d"]
    check(grouped)


def test_a_filter_that_is_no_constant_stays(isa: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "zeropoint.passes"):
        families = launched(convolution("%a, %f", "tensor<1x4x4x6x!x>, tensor<4x1x1x6x!w>"))
    assert set(families) == {""}
    assert "its filter is not a constant" in caplog.text


def test_the_reference_pipeline_forms_nothing(isa: str) -> None:
    model = kernel_networks.build(3, "xnnpack")
    assert zp.compile(model)._program.codes
    assert not zp.compile(model, pipeline="reference")._program.codes


def test_equal_code_is_one_kernel(isa: str) -> None:
    """Other weights, sizes and scales are other constants and numbers."""
    model = network(
        f"""
func.func @main(%a: tensor<1x4x5x16x!x>, %b: tensor<1x9x5x16x!y>)
    -> (tensor<1x4x5x16x!y>, tensor<1x9x5x16x!y>) {{
  %w0 = {weights(16, 3, 3, 16)}
  %w1 = "qnn.constant"() {{value = dense<-3> : tensor<16x3x3x16xi8>}} : () -> tensor<16x3x3x16x!w>
  %0 = "qnn.conv2d"(%a, %w0) {{{CONV}}}
    : (tensor<1x4x5x16x!x>, tensor<16x3x3x16x!w>) -> tensor<1x4x5x16x!y>
  %1 = "qnn.conv2d"(%b, %w1) {{{CONV}}}
    : (tensor<1x9x5x16x!y>, tensor<16x3x3x16x!w>) -> tensor<1x9x5x16x!y>
  return %0, %1 : tensor<1x4x5x16x!y>, tensor<1x9x5x16x!y>
}}"""
    )
    program = check(model)._program
    kernels = [step.kernel for step in program.steps if step.kernel in program.codes]
    convolutions = [kernel for kernel in kernels if program.codes[kernel].family == "conv2d"]
    assert len(convolutions) == 2
    assert len(set(convolutions)) == 1


@pytest.mark.parametrize(
    ("features", "isa_name"),
    [
        ("+avx512f,+avx512bw,+avx512vl,+avx512dq,+avx512vnni", "avx512vnni"),
        ("+avx2,+fma,+avx512f,+avx512bw,-avx512vl,+avx512dq,+avx512vnni", "avx2"),
        ("+avx2,+fma,+avxvnni,+sse4.1,+ssse3", "avxvnni"),
        ("+sse4.1,+ssse3,+avx2", "sse4"),
        ("+sse3", ""),
        ("", ""),
    ],
)
def test_instruction_set_of_a_machine(features: str, isa_name: str) -> None:
    assert Machine("x86_64-unknown-linux-gnu", features=features).isa == isa_name


# Memory.


def surrounded(shape: tuple[int, ...], dtype: np.dtype[Any], fill: int) -> np.ndarray[Any, Any]:
    """An array that starts on no boundary, amid bytes that are ``fill``."""
    dtype = np.dtype(dtype)
    whole = np.full(math.prod(shape) * dtype.itemsize + 3 * 128, fill, np.uint8)
    start = -whole.ctypes.data % 64 + 64 + dtype.itemsize
    return whole[start : start + math.prod(shape) * dtype.itemsize].view(dtype).reshape(shape)


@pytest.mark.parametrize("seed", range(6))
def test_the_caller_s_memory(isa: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written beside results; what kernels may read too far is ours."""
    executable = zp.compile(kernel_networks.build(seed, "xnnpack"), keep_intermediates=seed % 2 == 0)
    for step in executable._program.steps:
        if step.kernel in executable._program.codes:
            pointers = [place for place in step.arguments if not isinstance(place, int)]
            assert "output" not in {place.base for place in pointers[:-1]}
    results = [surrounded(shape, dtype, 0x5A) for shape, dtype in executable._made]
    monkeypatch.setattr(executable, "_new_results", lambda: results)
    executable.run(*kernel_networks.random_inputs(executable, np.random.default_rng(seed)))
    for result in results:
        whole = result
        while isinstance(whole.base, np.ndarray):
            whole = whole.base
        start = result.ctypes.data - whole.ctypes.data
        assert set(whole[:start]) == set(whole[start + result.nbytes :]) == {0x5A}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_no_kernel_reads_behind_the_caller_s_arrays(isa: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither inputs nor results; a process that does dies."""
    for seed in range(30, 36):
        executable = zp.compile(kernel_networks.build(seed, "xnnpack"))
        given = kernel_networks.random_inputs(executable, np.random.default_rng(seed))
        inputs = [before_a_gap(array) for array in given]
        results = [before_a_gap(np.zeros(shape, dtype)) for shape, dtype in executable._made]
        monkeypatch.setattr(executable, "_new_results", lambda results=results: results)
        if not (child := os.fork()):
            executable.run(*inputs)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0, f"seed {seed}"
