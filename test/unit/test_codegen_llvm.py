"""LLVM IR to machine code: for this machine and for others, and the errors on the way."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from zeropoint.codegen import jit
from zeropoint.codegen.jit import LoadedCode
from zeropoint.codegen.llvm import ENTRY, to_assembly, to_llvm_ir, to_object
from zeropoint.codegen.machine import Machine, host
from zeropoint.dialect.context import parse_module
from zeropoint.errors import PipelineError, TargetError
from zeropoint.passes.pass_manager import run_pipeline
from zeropoint.passes.pipelines import passes_to

DOUBLE = """
llvm.func internal @kernel(%x: !llvm.ptr {llvm.noalias}, %y: !llvm.ptr {llvm.noalias}) {
  %0 = llvm.load %x : !llvm.ptr -> i32
  %1 = llvm.add %0, %0 : i32
  llvm.store %1, %y : i32, !llvm.ptr
  llvm.return
}
llvm.func @main(%x: !llvm.ptr, %y: !llvm.ptr) {
  llvm.call @kernel(%x, %y) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.return
}
"""
MACHINES = {
    "x86_64-unknown-linux-gnu": b"\x7fELF",
    "aarch64-unknown-linux-gnu": b"\x7fELF",
    "riscv64-unknown-linux-gnu": b"\x7fELF",
    "arm64-apple-macosx11.0": b"\xcf\xfa\xed\xfe",
    "x86_64-pc-windows-msvc": b"\x64\x86",
}


def test_code_runs() -> None:
    code = LoadedCode(to_object(to_llvm_ir(parse_module(DOUBLE)), host()), ENTRY)
    x, y = np.array([21], np.int32), np.zeros(1, np.int32)
    table = (ctypes.c_void_p * 2)(x.ctypes.data, y.ctypes.data)
    code.call(ctypes.addressof(table))
    assert y[0] == 42


@pytest.mark.parametrize("triple", MACHINES)
def test_object_for_any_machine(triple: str) -> None:
    code = to_object(to_llvm_ir(parse_module(DOUBLE)), Machine(triple))
    assert code.startswith(MACHINES[triple])
    assert ENTRY.encode() in code


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
    run_pipeline(module, passes_to("llvm", "reference"))
    assert to_object(to_llvm_ir(module), machine).startswith(b"\x7fELF") or not machine.triple.endswith("gnu")


def test_assembly_uses_the_features_of_the_machine() -> None:
    text = """
    llvm.func @main(%x: !llvm.ptr, %y: !llvm.ptr) {
      %0 = llvm.load %x : !llvm.ptr -> vector<8xi32>
      %1 = llvm.add %0, %0 : vector<8xi32>
      llvm.store %1, %y : vector<8xi32>, !llvm.ptr
      llvm.return
    }"""
    ir_text = to_llvm_ir(parse_module(text))
    triple = "x86_64-unknown-linux-gnu"
    assert "%ymm" in to_assembly(ir_text, Machine(triple, "x86-64", "+avx2"))
    assert "%ymm" not in to_assembly(ir_text, Machine(triple, "x86-64"))
    assert "v0.4s" in to_assembly(ir_text, Machine("aarch64-unknown-linux-gnu"))


def test_kernels_are_not_inlined_and_the_module_keeps_its_names() -> None:
    module = parse_module(DOUBLE)
    text = to_llvm_ir(module)
    assert "noinline" in text
    assert "call void @kernel" in text
    assert "llvm.func @main" in str(module)


def test_unknown_triple() -> None:
    with pytest.raises(TargetError, match=r"target 'pdp11-dec-unix': LLVM cannot generate code for it"):
        to_object(to_llvm_ir(parse_module(DOUBLE)), Machine("pdp11-dec-unix"))


def test_other_dialects_are_refused() -> None:
    with pytest.raises(
        PipelineError, match=r"'func.func' is not of the LLVM dialect: run the pipeline up to"
    ):
        to_llvm_ir(parse_module("func.func @main() { return }"))


def test_main_is_needed() -> None:
    with pytest.raises(PipelineError, match="no function @main with a body"):
        to_llvm_ir(parse_module("llvm.func @other() { llvm.return }"))


def test_missing_library_function_is_named() -> None:
    """MLIR's runtime library is not here: a strided memref.copy would call it."""
    text = """
    llvm.func @memrefCopy()
    llvm.func @main() { llvm.call @memrefCopy() : () -> () llvm.return }"""
    with pytest.raises(PipelineError, match="calls 'memrefCopy', which this process does not have"):
        to_llvm_ir(parse_module(text))


@pytest.mark.parametrize("name", ["expf", "tanhf", "roundevenf", "memcpy"])
def test_library_functions_are_found(name: str) -> None:
    assert jit.is_available(name)


def test_symbol_that_is_not_defined_is_named() -> None:
    code = to_object(to_llvm_ir(parse_module(DOUBLE)), host())
    with pytest.raises(PipelineError, match="no_such_entry"):
        LoadedCode(code, "no_such_entry")


def test_host_has_a_cpu_and_features() -> None:
    machine = host()
    assert machine.triple
    assert machine.cpu
    assert host() is machine
