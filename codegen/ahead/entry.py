"""The functions that a header declares, and the data that they read, as LLVM IR.

No table holds an address, so read-only data need no relocation and nothing is written but the arena, the
outputs and the model.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping, Sequence

from ...dialect.buffers import ALIGNMENT, OVERREAD_BYTES
from ..machine import Machine
from ..program import Program
from .cpu_check import BASELINE, CHECK_CPU, CpuCheck
from .interface import DTYPES, ERROR_NUMBERS, ERRORS, CTensor, Interface
from .run_function import RunFunction, memcpy


def entry_ir(
    interface: Interface,
    program: Program,
    constants: bytes,
    kernels: Mapping[str, str],
    machine: Machine,
    check: CpuCheck,
) -> str:
    """LLVM IR that declares ``kernels`` (their symbols, by their names in the program) and
    ``NAME_check_cpu``, and defines everything that the header declares.

    ``check``: of the CPU, and the attributes of functions that run before and behind it.
    """
    name, word = interface.name, f"i{machine.pointer_bits}"
    run = RunFunction(interface, program, kernels, word, check.checked)
    block = _bytes(constants + bytes(OVERREAD_BYTES))
    parts = [
        f'source_filename = "{name}"',
        f"@{name}_constants = internal constant {block}, align {ALIGNMENT}",
        _tensor_table(interface, "input", interface.inputs),
        _tensor_table(interface, "output", interface.outputs),
        _error_text(name),
        _check_model(name, word),
        _init(interface, word),
        _reset(interface, word) if interface.variables else "",
        run.text(),
        *(f"declare void @{symbol}(ptr, i64, i64)" for symbol in dict.fromkeys(kernels.values())),
        f"declare i1 @{name}_{CHECK_CPU}() {BASELINE}",
        f"declare void @llvm.memcpy.p0.p0.{word}(ptr, ptr, {word}, i1)",
        f"attributes {BASELINE} = {{ nounwind {check.baseline} }}",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _bytes(data: bytes) -> str:
    text = "\\" + data.hex("\\") if data else ""
    return f'[{len(data)} x i8] c"{text}"'


def _tensor_table(interface: Interface, kind: str, tensors: Sequence[CTensor]) -> str:
    """``NAME_inputs_tensors``: an array of the header's ``NAME_tensor``."""
    if not tensors:
        return ""
    scales, dimensions, letters = interface.most_scales, interface.most_dimensions, interface.name_bytes
    type_ = (
        f"{{ [{scales} x double], [{scales} x i32], i32, i32, i32, i32, i32, [{dimensions} x i32], i32, i32, "
        f"[{letters} x i8] }}"
    )
    names = [tensor.info.name for tensor in interface.outputs]
    rows = []
    for tensor in tensors:
        info = tensor.info
        real = [*tensor.scales, *[0.0] * (scales - len(tensor.scales))]
        zero = [*tensor.zero_points, *[0] * (scales - len(tensor.zero_points))]
        shape = [*info.shape, *[0] * (dimensions - len(info.shape))]
        axis = -1 if info.axis is None else info.axis
        length = names.index(info.length) if info.length else -1
        numbers = (len(tensor.scales), axis, length, DTYPES[str(info.dtype)], len(info.shape))
        fields = [
            f"[{scales} x double] [{', '.join(f'double {_double(value)}' for value in real)}]",
            f"[{scales} x i32] [{_i32s(zero)}]",
            *(f"i32 {number}" for number in numbers),
            f"[{dimensions} x i32] [{_i32s(shape)}]",
            f"i32 {tensor.elements}",
            f"i32 {tensor.bytes}",
            _bytes(info.name.encode().ljust(letters, b"\0")),
        ]
        rows.append(f"  {type_} {{ {', '.join(fields)} }}")
    body = ",\n".join(rows)
    return f"@{interface.name}_{kind}_tensors = constant [{len(tensors)} x {type_}] [\n{body}\n]"


def _i32s(values: Sequence[int]) -> str:
    return ", ".join(f"i32 {value}" for value in values)


def _double(value: float) -> str:
    """A literal that every version of LLVM reads as exactly this number."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def _error_text(name: str) -> str:
    texts = [meaning for _, meaning in ERRORS] + ["no error of this network"]
    lines = [
        f"@{name}_error.{i} = internal constant {_bytes(t.encode() + bytes(1))}" for i, t in enumerate(texts)
    ]
    lines += [f"define ptr @{name}_error_text(i32 %error) {BASELINE} {{"]
    previous = f"@{name}_error.{len(texts) - 1}"
    for number in range(len(ERRORS)):
        lines.append(f"  %is{number} = icmp eq i32 %error, {number}")
        lines.append(f"  %t{number} = select i1 %is{number}, ptr @{name}_error.{number}, ptr {previous}")
        previous = f"%t{number}"
    return "\n".join([*lines, f"  ret ptr {previous}", "}"])


def _mark(name: str) -> int:
    """What the model's ``check`` is combined with: memory that nobody has initialized does not have it."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little") >> 1


def _check_model(name: str, word: str) -> str:
    """``i32 NAME_check_model(model)``: an error, or 0."""
    return f"""
define internal i32 @{name}_check_model(ptr %model) {BASELINE} {{
  %none = icmp eq ptr %model, null
  br i1 %none, label %null, label %look
look:
  %arena = load ptr, ptr %model
  %check.p = getelementptr ptr, ptr %model, i32 1
  %check = load {word}, ptr %check.p
  %address = ptrtoint ptr %arena to {word}
  %expected = xor {word} %address, {_mark(name)}
  %there = icmp ne ptr %arena, null
  %same = icmp eq {word} %check, %expected
  %fine = and i1 %there, %same
  %result = select i1 %fine, i32 0, i32 {ERROR_NUMBERS["ERROR_NOT_INITIALIZED"]}
  ret i32 %result
null:
  ret i32 {ERROR_NUMBERS["ERROR_MODEL_NULL"]}
}}"""


def _init(interface: Interface, word: str) -> str:
    name, error = interface.name, ERROR_NUMBERS
    first_values = f"  %done = call i32 @{name}_reset(ptr %model)\n" if interface.variables else ""
    return f"""
define i32 @{name}_init(ptr %model, ptr %arena, {word} %bytes) {BASELINE} {{
  %no.model = icmp eq ptr %model, null
  br i1 %no.model, label %exit, label %clear
clear:
  %check.p = getelementptr ptr, ptr %model, i32 1
  store ptr null, ptr %model
  store {word} 0, ptr %check.p
  %no.arena = icmp eq ptr %arena, null
  br i1 %no.arena, label %exit, label %size
size:
  %small = icmp ult {word} %bytes, {interface.arena_bytes}
  br i1 %small, label %exit, label %align
align:
  %address = ptrtoint ptr %arena to {word}
  %odd = and {word} %address, {ALIGNMENT - 1}
  %misaligned = icmp ne {word} %odd, 0
  br i1 %misaligned, label %exit, label %cpu
cpu:
  %has.all = call i1 @{name}_{CHECK_CPU}()
  br i1 %has.all, label %fine, label %exit
fine:
  store ptr %arena, ptr %model
  %check = xor {word} %address, {_mark(name)}
  store {word} %check, ptr %check.p
{first_values}  br label %exit
exit:
  %result = phi i32 [ {error["ERROR_MODEL_NULL"]}, %0 ], [ {error["ERROR_ARENA_NULL"]}, %clear ],
    [ {error["ERROR_ARENA_TOO_SMALL"]}, %size ], [ {error["ERROR_ARENA_MISALIGNED"]}, %align ],
    [ {error["ERROR_CPU"]}, %cpu ], [ 0, %fine ]
  ret i32 %result
}}"""


def _reset(interface: Interface, word: str) -> str:
    name = interface.name
    lines = [
        f"define i32 @{name}_reset(ptr %model) {BASELINE} {{",
        f"  %error = call i32 @{name}_check_model(ptr %model)",
        "  %fine = icmp eq i32 %error, 0",
        "  br i1 %fine, label %copy, label %exit",
        "copy:",
        "  %arena = load ptr, ptr %model",
    ]
    for i, (variable, place) in enumerate(zip(interface.variables, interface.places, strict=True)):
        source = f"getelementptr (i8, ptr @{name}_constants, {word} {variable.initial})"
        lines.append(f"  %p{i} = getelementptr i8, ptr %arena, {word} {place}")
        lines.append(memcpy(word, f"align {ALIGNMENT} %p{i}", source, variable.bytes))
    return "\n".join([*lines, "  br label %exit", "exit:", "  ret i32 %error", "}"])
