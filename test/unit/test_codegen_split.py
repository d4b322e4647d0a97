"""Reading ``@main``: every operand of a call becomes a place, whatever views lie between."""

from __future__ import annotations

import numpy as np
import pytest

from zeropoint.codegen.program import COPY, COPY_UNIT, Pointer
from zeropoint.codegen.split import KernelSource, split
from zeropoint.dialect.context import parse_module
from zeropoint.dialect.mlir import ir
from zeropoint.errors import PipelineError
from zeropoint.kernels.launch import Code, Launch
from zeropoint.passes.form_kernels.calls import LAUNCHES, describe

MAIN = """
module attributes {{qnn.arena_bytes = 1000 : i64}} {{
  func.func private @k(%a: memref<?xi8>) {{ return }}
  {more}
  func.func @main(%x: memref<4x8xi8>, %y: memref<2xf32>, %c: memref<640xi8> {{qnn.role = "constants"}},
      %o: memref<64xi8> {{qnn.role = "output"}}, %p: memref<64xi8> {{qnn.role = "output"}},
      %arena: memref<1000xi8> {{qnn.role = "arena"}}) {{
    {body}
    return
  }}
}}
"""


def steps_of(body: str, more: str = "") -> tuple:
    program, _ = split(parse_module(MAIN.format(body=body, more=more)))
    assert (program.inputs, program.outputs) == (2, 2)
    return program.steps


def test_views_and_shapes_are_followed() -> None:
    more = """
    func.func private @places(
        %a: memref<16xi32>, %b: memref<2x4x8xi8>, %c: memref<64xi8>, %d: memref<32xi8>) { return }"""
    body = """
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %0 = memref.view %arena[%c64][] : memref<1000xi8> to memref<8x8xi8>
    %1 = memref.expand_shape %0 [[0, 1], [2]] output_shape [2, 4, 8] : memref<8x8xi8> into memref<2x4x8xi8>
    %2 = memref.view %c[%c128][] : memref<640xi8> to memref<16xi32>
    %3 = memref.collapse_shape %x [[0, 1]] : memref<4x8xi8> into memref<32xi8>
    call @places(%2, %1, %p, %3) : (memref<16xi32>, memref<2x4x8xi8>, memref<64xi8>, memref<32xi8>) -> ()"""
    (step,) = steps_of(body, more)
    assert step.kernel == step.name == "places"
    assert step.arguments == (
        Pointer("constants", 0, 128),
        Pointer("arena", 0, 64),
        Pointer("output", 1),
        Pointer("input", 0),
    )
    assert step.bytes == 64 + 64 + 64 + 32


def test_scalars_are_bits() -> None:
    more = """
    func.func private @scalars(%a: i32, %b: f32, %c: f64, %d: bf16, %e: f16, %f: i64, %g: index, %h: i1) {
      return
    }"""
    body = """
    %sa = arith.constant -2 : i32
    %sb = arith.constant 0.5 : f32
    %sc = arith.constant -1.0 : f64
    %sd = arith.constant 1.5 : bf16
    %se = arith.constant 1.5 : f16
    %sf = arith.constant 9223372036854775807 : i64
    %sg = arith.constant 7 : index
    %sh = arith.constant true
    call @scalars(%sa, %sb, %sc, %sd, %se, %sf, %sg, %sh)
      : (i32, f32, f64, bf16, f16, i64, index, i1) -> ()"""
    (step,) = steps_of(body, more)
    wide = int(np.float64(-1.0).view(np.uint64))
    expected = (-2, 0x3F000000, wide, 0x3FC0, 0x3E00, (1 << 63) - 1, 7)
    assert step.arguments[:-1] == expected
    assert step.arguments[-1] & 1 == 1
    assert step.bytes == 0


def test_a_descriptor_keeps_its_base_and_a_copy_starts_at_the_first_element() -> None:
    """An offset in a memref's type is added by the kernel, but nobody adds it for a copy."""
    type_ = "memref<8xi32, strided<[1], offset: 4>>"
    more = f"func.func private @part(%a: {type_}) {{ return }}"
    body = f"""
    %c0 = arith.constant 0 : index
    %0 = memref.view %arena[%c0][] : memref<1000xi8> to memref<64xi32>
    %1 = memref.subview %0[4] [8] [1] : memref<64xi32> to {type_}
    %2 = memref.view %p[%c0][] : memref<64xi8> to memref<8xi32>
    call @part(%1) : ({type_}) -> ()
    memref.copy %1, %2 : {type_} to memref<8xi32>"""
    call, copy = steps_of(body, more)
    assert call.arguments == (Pointer("arena", 0, 0),)
    assert copy.arguments == (Pointer("arena", 0, 16), Pointer("output", 1), 32)
    assert (copy.kernel, copy.units) == (COPY, 1)


def test_strided_copies_are_refused() -> None:
    type_ = "memref<4x4xi8, strided<[8, 1]>>"
    body = f"""
    %0 = memref.subview %x[0, 0] [4, 4] [1, 1] : memref<4x8xi8> to {type_}
    %c0 = arith.constant 0 : index
    %1 = memref.view %o[%c0][] : memref<64xi8> to memref<4x4xi8>
    memref.copy %0, %1 : {type_} to memref<4x4xi8>"""
    with pytest.raises(PipelineError, match=r"memref.copy in @main: memref<4x4xi8, strided.* is not dense"):
        steps_of(body)


def test_what_is_no_step_is_refused() -> None:
    with pytest.raises(PipelineError, match=r"'memref.alloc' in @main is no step .*up to level kernels"):
        steps_of("%0 = memref.alloc() : memref<4xi8>")


def test_tensor_names_come_from_locations() -> None:
    location = 'fused["conv"("m.tflite":1:0), "relu", callsite("conv" at "x")]'
    body = f"call @k(%v) : (memref<?xi8>) -> () loc({location})"
    cast = "%v = memref.cast %o : memref<64xi8> to memref<?xi8>\n"
    (step,) = steps_of(cast + body)
    assert step.source == ("conv", "relu")


def test_kernel_text_is_alone_and_does_not_depend_on_its_name() -> None:
    kernel = """
    func.func private @{name}(%a: memref<4xf32>) attributes {{qnn.isa = "avx512vnni"}} {{
      %0 = func.call @helper() : () -> f32
      %c0 = arith.constant 0 : index
      memref.store %0, %a[%c0] : memref<4xf32>
      return
    }}"""
    helper = """
    memref.global "private" constant @table : memref<1xf32> = dense<2.0>
    memref.global "private" constant @unused : memref<1xf32> = dense<3.0>
    func.func private @helper() -> f32 {
      %0 = memref.get_global @table : memref<1xf32>
      %c0 = arith.constant 0 : index
      %1 = memref.load %0[%c0] : memref<1xf32>
      return %1 : f32
    }"""
    body = """
    %c0 = arith.constant 0 : index
    %0 = memref.view %o[%c0][] : memref<64xi8> to memref<4xf32>
    call @{name}(%0) : (memref<4xf32>) -> ()"""
    texts = []
    for name in ("first", "second"):
        more = kernel.format(name=name) + helper
        _, kernels = split(parse_module(MAIN.format(body=body.format(name=name), more=more)))
        source = kernels[name]
        assert isinstance(source, KernelSource)
        assert source.parameters == ("memref<4xf32>",)
        texts.append(source.text)
    assert texts[0] == texts[1]
    assert "@table" in texts[0]
    assert "@helper" in texts[0]
    assert "@unused" not in texts[0]
    assert "@main" not in texts[0]


def test_launches_become_steps_and_inputs_of_a_caller_are_copied_once() -> None:
    """A launched kernel may read beyond the end of an input, which a caller's array does not allow."""
    body = """
    %c64 = arith.constant 64 : index
    %0 = memref.view %arena[%c64][] : memref<1000xi8> to memref<64xi8>
    %1 = memref.view %c[%c64][] : memref<640xi8> to memref<64xi8>
    call @group(%x, %1, %0) : (memref<4x8xi8>, memref<64xi8>, memref<64xi8>) -> ()
    call @group(%x, %1, %o) : (memref<4x8xi8>, memref<64xi8>, memref<64xi8>) -> ()"""
    more = "func.func private @group(memref<4x8xi8>, memref<64xi8>, memref<64xi8>)"
    module = parse_module(MAIN.format(body=body, more=more))
    first = Launch(Code("conv2d", "avx2", (("rows", 4), ("relu", True))), 5, scalars=(7, -1), macs=2_000_000)
    second = Launch(Code("table", "avx2"), 1)
    with module.context:
        for op in module.body.operations:
            if ir.StringAttr(op.attributes["sym_name"]).value == "group":
                op.attributes[LAUNCHES] = ir.ArrayAttr.get(
                    [describe(first, [0, 1, 2]), describe(second, [2, 2])]
                )
    program, kernels = split(module)
    assert kernels == {first.code.symbol: first.code, second.code.symbol: second.code}
    copy, one, table, two, _ = program.steps
    staged = Pointer("arena", 0, 1024)
    assert copy.arguments == (Pointer("input"), staged, 32)
    assert program.arena_bytes >= 1024 + 32 + 128
    assert one.arguments == (staged, Pointer("constants", 0, 64), Pointer("arena", 0, 64), 7, -1)
    assert two.arguments == (staged, Pointer("constants", 0, 64), Pointer("output"), 7, -1)
    assert (one.kernel, one.name, one.units, one.macs) == (first.code.symbol, "group", 5, 2_000_000)
    assert one.cost == 2_000_000 // 200 + one.bytes // 40
    assert table.arguments == (Pointer("arena", 0, 64),) * 2


@pytest.mark.parametrize(
    ("operands", "overlaps"), [("%1, %0", True), ("%0, %1", False), ("%0, %0", False), ("%inside, %0", False)]
)
def test_a_border_is_filled_while_the_inside_is_written(operands: str, overlaps: bool) -> None:
    """But not while a step reads the same buffer, or any view of it."""
    body = f"""
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %0 = memref.view %arena[%c0][] : memref<1000xi8> to memref<64xi8>
    %1 = memref.view %arena[%c64][] : memref<1000xi8> to memref<64xi8>
    %half = memref.subview %0[32] [32] [1] : memref<64xi8> to memref<32xi8, strided<[1], offset: 32>>
    %inside = memref.reinterpret_cast %half to offset: [0], sizes: [64], strides: [1]
      : memref<32xi8, strided<[1], offset: 32>> to memref<64xi8>
    call @fill(%0) : (memref<64xi8>) -> ()
    call @sum({operands}) : (memref<64xi8>, memref<64xi8>) -> ()"""
    more = """
    func.func private @fill(memref<64xi8>)
    func.func private @sum(memref<64xi8>, memref<64xi8>)"""
    module = parse_module(MAIN.format(body=body, more=more))
    launches = {"fill": Launch(Code("border", "avx2"), 1), "sum": Launch(Code("conv2d", "avx2"), 9)}
    with module.context:
        for op in module.body.operations:
            name = ir.StringAttr(op.attributes["sym_name"]).value
            if name in launches:
                numbers = [0] if name == "fill" else [0, 1]
                op.attributes[LAUNCHES] = ir.ArrayAttr.get([describe(launches[name], numbers)])
    program, _ = split(module)
    assert [step.overlaps_next for step in program.steps] == [overlaps, False]


def test_copies_are_cut_into_units() -> None:
    body = """
    %c0 = arith.constant 0 : index
    %0 = memref.view %big[%c0][] : memref<100000xi8> to memref<40000xi8>
    %c50000 = arith.constant 50000 : index
    %1 = memref.view %big[%c50000][] : memref<100000xi8> to memref<40000xi8>
    memref.copy %0, %1 : memref<40000xi8> to memref<40000xi8>"""
    text = MAIN.format(body=body, more="").replace("%arena: memref<1000xi8>", "%big: memref<100000xi8>")
    program, _ = split(parse_module(text))
    assert [step.units for step in program.steps] == [-(-40000 // COPY_UNIT)]
