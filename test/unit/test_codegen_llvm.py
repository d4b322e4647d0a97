"""LLVM IR to machine code: for this machine and for others, and the errors on the way."""

from __future__ import annotations

import ctypes
import itertools

import numpy as np
import pytest

from zeropoint.codegen.listing import assembly, llvm_ir
from zeropoint.codegen.llvm import to_assembly, to_object
from zeropoint.codegen.loader import load
from zeropoint.codegen.lowering import Lowering, translate
from zeropoint.codegen.machine import Machine, host
from zeropoint.codegen.split import KernelSource, split
from zeropoint.dialect.context import new_context, parse_module
from zeropoint.errors import PipelineError, TargetError
from zeropoint.passes.pass_manager import run_pipeline
from zeropoint.passes.pipelines import passes_to

DOUBLE = """
func.func private @body(%x: memref<i32> {llvm.noalias}, %y: memref<i32> {llvm.noalias})
    attributes {llvm.linkage = #llvm.linkage<internal>} {
  %0 = memref.load %x[] : memref<i32>
  %1 = arith.addi %0, %0 : i32
  memref.store %1, %y[] : memref<i32>
  return
}
"""
SCALARS = """
func.func private @body(%y: memref<6xf64>, %a: i32, %b: f32, %c: i64, %d: index, %e: i1, %f: f64) {
  %0 = arith.sitofp %a : i32 to f64
  %1 = arith.extf %b : f32 to f64
  %2 = arith.sitofp %c : i64 to f64
  %3 = arith.index_cast %d : index to i64
  %4 = arith.sitofp %3 : i64 to f64
  %5 = arith.uitofp %e : i1 to f64
"""
MACHINES = {
    "x86_64-unknown-linux-gnu": b"\x7fELF",
    "aarch64-unknown-linux-gnu": b"\x7fELF",
    "riscv64-unknown-linux-gnu": b"\x7fELF",
    "arm64-apple-macosx11.0": b"\xcf\xfa\xed\xfe",
    "x86_64-pc-windows-msvc": b"\x64\x86",
}


def double_ir() -> str:
    return lower(KernelSource(DOUBLE, ("memref<i32>", "memref<i32>")))


def lower(source: KernelSource) -> str:
    return Lowering(new_context()).kernel(source).text


def call(text: str, *slots: int) -> None:
    code = load({"it": to_object(text, host())})
    row = np.array(slots, np.int64)
    kernel = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    kernel(code.address("it", "kernel"))(row.ctypes.data, 0, 1)


def test_code_runs() -> None:
    x, y = np.array([21], np.int32), np.zeros(1, np.int32)
    call(double_ir(), x.ctypes.data, y.ctypes.data)
    assert y[0] == 42


def test_scalars_come_out_of_the_row_in_their_types() -> None:
    stores = [
        f"%i{i} = arith.constant {i} : index\nmemref.store %{v}, %y[%i{i}] : memref<6xf64>"
        for i, v in enumerate(["0", "1", "2", "4", "5", "f"])
    ]
    text = "\n".join([SCALARS, *stores, "return", "}"])
    y = np.zeros(6)
    bits = [int(np.float32(-0.5).view(np.uint32)), int(np.float64(2.25).view(np.int64))]
    parameters = ("memref<6xf64>", "i32", "f32", "i64", "index", "i1", "f64")
    call(lower(KernelSource(text, parameters)), y.ctypes.data, -7, bits[0], 1 << 40, 5, 1, bits[1])
    assert list(y) == [-7, -0.5, 2.0**40, 5, 1, 2.25]


@pytest.mark.parametrize(("triple", "optimize"), list(itertools.product(MACHINES, [True, False])))
def test_object_for_any_machine(triple: str, optimize: bool) -> None:
    code = to_object(double_ir(), Machine(triple), optimize=optimize)
    assert code.startswith(MACHINES[triple])
    assert b"kernel" in code


@pytest.mark.parametrize("machine", [Machine("aarch64-unknown-linux-gnu", "", "+dotprod"), host()])
def test_whole_network_for_any_machine(machine: Machine) -> None:
    text = """
    !q = !quant.uniform<i8:f32, 5.0e-01:3>
    func.func @main(%x: tensor<4x64x!q>, %y: tensor<4x64x!q>) -> tensor<4x64x!q> {
      %0 = "qnn.add"(%x, %y) {clamp = array<f32>} : (tensor<4x64x!q>, tensor<4x64x!q>) -> tensor<4x64x!q>
      %1 = "qnn.softmax"(%0) {beta = 1.0 : f32, axis = 1 : i64} : (tensor<4x64x!q>) -> tensor<4x64x!q>
      return %1 : tensor<4x64x!q>
    }"""
    module = parse_module(text)
    run_pipeline(module, passes_to("kernels", "reference"))
    program, kernels = split(module)
    assert set(program.kernels) == set(kernels)
    lowering = Lowering(module.context)
    for kernel in kernels.values():
        assert isinstance(kernel, KernelSource)
        code = to_object(lowering.kernel(kernel).text, machine)
        assert code.startswith(b"\x7fELF") or not machine.triple.endswith("gnu")
    assert "# kernel elementwise_0" in assembly(module, machine)


def test_assembly_uses_the_features_of_the_machine() -> None:
    text = """
    define void @kernel(ptr %x, ptr %y) {
      %1 = load <8 x i32>, ptr %x
      %2 = add <8 x i32> %1, %1
      store <8 x i32> %2, ptr %y
      ret void
    }"""
    triple = "x86_64-unknown-linux-gnu"
    assert "%ymm" in to_assembly(text, Machine(triple, "x86-64", "+avx2"))
    assert "%ymm" not in to_assembly(text, Machine(triple, "x86-64"))
    assert "v0.4s" in to_assembly(text, Machine("aarch64-unknown-linux-gnu"))


def test_bodies_are_not_inlined() -> None:
    text = double_ir()
    assert "noinline" in text
    assert "call void @body" in text


def test_unknown_triple() -> None:
    with pytest.raises(TargetError, match=r"target 'pdp11-dec-unix': LLVM cannot generate code for it"):
        to_object(double_ir(), Machine("pdp11-dec-unix"))


def test_other_dialects_are_refused() -> None:
    with pytest.raises(PipelineError, match=r"'func.func' is not of the LLVM dialect"):
        translate(parse_module("func.func @main() { return }"))


def test_main_is_needed() -> None:
    with pytest.raises(PipelineError, match="no function @main with a body"):
        llvm_ir(parse_module("func.func private @other() { return }"))


def test_bad_kernel_text_is_an_error_with_its_reason() -> None:
    with pytest.raises(PipelineError, match=r"<kernel>:1:37: error: .*unregistered dialect"):
        Lowering(new_context()).launched('func.func @kernel() { "undefined_op"() : () -> () return }')


def test_missing_library_function_is_named() -> None:
    """MLIR's runtime library is not here: a strided memref.copy would call it."""
    text = """
    llvm.func @memrefCopy()
    llvm.func @main() { llvm.call @memrefCopy() : () -> () llvm.return }"""
    with pytest.raises(PipelineError, match="calls 'memrefCopy', which this process does not have"):
        translate(parse_module(text))


def test_host_has_a_cpu_and_features() -> None:
    machine = host()
    assert machine.triple
    assert machine.cpu
    assert host() is machine
