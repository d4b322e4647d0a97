"""Compiles the MLIR text of one kernel and runs it on numpy arrays."""

from __future__ import annotations

import ctypes
import math
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest

import amx_emulation
import emulated_kernels
from zeropoint.codegen import amx_permission
from zeropoint.codegen.float_literals import rewrite_float_literals
from zeropoint.codegen.machine import Machine, host
from zeropoint.dialect.context import new_context
from zeropoint.dialect.mlir import ir, passmanager
from zeropoint.dialect.mlir import llvm as llvm_dialect
from zeropoint.kernels.families import emit, plan
from zeropoint.kernels.instruction_set import INSTRUCTION_SETS
from zeropoint.kernels.launch import OVERREAD_BYTES, Code, Launch

_LOWER = (
    "builtin.module(convert-vector-to-scf,convert-scf-to-cf,convert-math-to-llvm,convert-to-llvm,"
    "reconcile-unrealized-casts)"
)
_COMPILED: dict[Code, Any] = {}


def has(isa: str) -> bool:
    """Whether this machine can run code of an instruction set: really, or AMX emulated by vectors, or
    AVX-VNNI in the encoding of AVX-512, or another architecture's under an emulator.
    """
    if emulated_kernels.is_foreign(isa):
        return not emulated_kernels.why_not(isa)
    return _features(isa) <= set(host().features.split(","))


def each_of(*isas: str) -> list[Any]:
    """Parameters of a test: what this machine has not is skipped."""
    return [
        pytest.param(isa, marks=pytest.mark.skipif(not has(isa), reason=f"the machine has no {isa}"))
        for isa in isas
    ]


def _runnable(isa: str) -> str:
    """The instruction set that code for ``isa`` is compiled for here."""
    return INSTRUCTION_SETS[isa].base if isa == "amx" and amx_permission.why_not() else isa


def _features(isa: str) -> frozenset[str]:
    """What code for ``isa`` is compiled for here."""
    features = INSTRUCTION_SETS[_runnable(isa)].features
    if isa == "avxvnni" and not features <= set(host().features.split(",")):
        # LLVM has one intrinsic for both encodings of an instruction.
        return features - {"+avxvnni"} | {"+avx512f", "+avx512vl", "+avx512vnni"}
    return features


def llvm_ir(text: str) -> str:
    context = new_context()
    with context, ir.Location.unknown():
        module = ir.Module.parse(text)
        passmanager.PassManager.parse(_LOWER).run(module.operation)
        return rewrite_float_literals(str(llvm_dialect.translate_module_to_llvmir(module.operation)))


def machine_of(isa: str) -> Machine:
    """A machine of an instruction set alone, whatever else the host has."""
    if emulated_kernels.is_foreign(isa):
        return emulated_kernels.machine(isa)
    return _machine(INSTRUCTION_SETS[isa].features)


def _machine(features: frozenset[str]) -> Machine:
    return Machine(host().triple, "x86-64", ",".join(sorted(features)))


def assembly(code: Code) -> str:
    module, machine = _llvm_module(llvm_ir(emit(code)), machine_of(code.isa))
    return str(machine.emit_assembly(module))


def _llvm_module(text: str, wanted: Machine) -> tuple[Any, Any]:
    """LLVM IR for a machine."""
    wanted.target_machine()  # initializes LLVM
    target = llvm.Target.from_triple(wanted.triple)
    machine = target.create_target_machine(
        cpu=wanted.cpu, features=wanted.features, opt=1, reloc="pic", codemodel="small"
    )
    module = llvm.parse_assembly(text)
    module.triple = wanted.triple
    module.data_layout = str(machine.target_data)
    return module, machine


def compiled(code: Code) -> Any:
    """``f(row address, begin, end)``; where AMX is emulated it fails if a tile instruction would have."""
    if code not in _COMPILED:
        _COMPILED[code] = load(llvm_ir(emit(code)), code.isa, f"kernel{len(_COMPILED)}")
    return _COMPILED[code][0]


def emulated(code: Code) -> Path:
    """A program for an emulated machine."""
    if code not in _COMPILED:
        module, machine = _llvm_module(llvm_ir(emit(code)), machine_of(code.isa))
        _COMPILED[code] = emulated_kernels.linked(machine.emit_object(module))
    program: Path = _COMPILED[code]
    return program


def load(text: str, isa: str, name: str, emulate: bool = False) -> tuple[Any, Any]:
    """LLVM IR of ``@kernel`` as a function, which lives as long as the second value."""
    if emulates := emulate or _runnable(isa) != isa:
        text = amx_emulation.emulated(text)
    module, machine = _llvm_module(text, _machine(_features(isa)))
    jit = llvm.create_lljit_compiler()
    builder = llvm.JITLibraryBuilder().add_object_img(machine.emit_object(module)).add_current_process()
    for symbol in ("kernel", *(amx_emulation.STATE if emulates else ())):
        builder.export_symbol(symbol)
    tracker = builder.link(jit, name)
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(tracker["kernel"])
    return amx_emulation.checked(call, tracker) if emulates else call, (tracker, jit)


def aligned(size: int, fill: int = 0) -> np.ndarray:
    raw = np.full(size + 64 + OVERREAD_BYTES, fill, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size]


def buffer(image: Any, values: np.ndarray, border: int = 0, fill: int = 0xA5) -> np.ndarray:
    """The bytes of ``values`` (``[batch, height, width, channels]``) in a buffer as ``image`` says; border
    bytes are ``border``, channels of others ``fill``.
    """
    flat = aligned(image.buffer_bytes, fill)
    whole = flat.reshape(*image.buffer_shape[:3], -1)
    top, _, left, _ = image.border
    first, count = image.first_channel * image.element_bytes, image.channels * image.element_bytes
    whole[:, :, :, first : first + count] = border
    bytes_ = (
        np.ascontiguousarray(values).view(np.uint8).reshape(image.batch, image.height, image.width, count)
    )
    whole[:, top : top + image.height, left : left + image.width, first : first + count] = bytes_
    return flat


def inside(image: Any, flat: np.ndarray, dtype: Any) -> np.ndarray:
    """The tensor in a buffer."""
    whole = flat.reshape(*image.buffer_shape[:3], -1)
    top, _, left, _ = image.border
    first, count = image.first_channel * image.element_bytes, image.channels * image.element_bytes
    part = whole[:, top : top + image.height, left : left + image.width, first : first + count]
    return np.ascontiguousarray(part).view(dtype)


def launch_of(spec: Any, isa: str) -> Launch | str:
    return plan(spec, INSTRUCTION_SETS[isa])


def run(launch: Launch, inputs: list[np.ndarray], results: list[np.ndarray], pieces: int = 1) -> None:
    """Run all units, cut into ``pieces`` that are done last to first: units may not depend on each other."""
    step = max(1, math.ceil(launch.units / pieces))
    if emulated_kernels.is_foreign(launch.code.isa):
        program, buffers = emulated(launch.code), [*inputs, *launch.constants]
        emulated_kernels.run(program, launch.code.isa, buffers, results, launch.scalars, launch.units, step)
        return
    constants = []
    for constant in launch.constants:
        copy = aligned(constant.size)
        copy[:] = constant
        constants.append(copy)
    slots = [a.ctypes.data for a in (*inputs, *constants, *results)] + list(launch.scalars)
    row = np.array(slots, np.int64)
    call = compiled(launch.code)
    for begin in reversed(range(0, launch.units, step)):
        call(row.ctypes.data, begin, min(begin + step, launch.units))


def run_text(text: str, isa: str, inputs: list[np.ndarray], results: list[np.ndarray], units: int) -> None:
    """As :func:`run`, the MLIR text of a kernel without constants and scalars."""
    ir_text = llvm_ir(text)
    if emulated_kernels.is_foreign(isa):
        module, machine = _llvm_module(ir_text, machine_of(isa))
        program = emulated_kernels.linked(machine.emit_object(module))
        emulated_kernels.run(program, isa, inputs, results, (), units, units)
        return
    call, _alive = load(ir_text, isa, "kernel")
    row = np.array([array.ctypes.data for array in (*inputs, *results)], np.int64)
    call(row.ctypes.data, 0, units)


def untouched(image: Any, before: np.ndarray, after: np.ndarray) -> bool:
    """Whether everything but the tensor itself is as it was: border, other channels."""
    a, b = before.copy(), after.copy()
    zeros = np.zeros((image.batch, image.height, image.width, image.channels * image.element_bytes), np.uint8)
    for flat in (a, b):
        whole = flat.reshape(*image.buffer_shape[:3], -1)
        top, _, left, _ = image.border
        first, count = image.first_channel * image.element_bytes, image.channels * image.element_bytes
        whole[:, top : top + image.height, left : left + image.width, first : first + count] = zeros
    return bool(np.array_equal(a, b))
