"""vectorize-kernels with a family of plain loops: what is described, packed and called, bit by bit."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import zeropoint as zp
from loop_kernels import Loops
from lowered_ops import Case, build_module
from random_tensors import quantized
from zeropoint.codegen.machine import Machine
from zeropoint.dialect.constants import elements_array
from zeropoint.dialect.context import new_context, parse_module
from zeropoint.dialect.mlir import ir
from zeropoint.dialect.numerics import Rounding
from zeropoint.dialect.op_constants import Rescale
from zeropoint.dialect.types import Storage
from zeropoint.errors import PipelineError
from zeropoint.passes import vectorize_kernels
from zeropoint.passes.epilogue import epilogue_attribute, read_epilogue
from zeropoint.passes.pass_manager import run_pipeline
from zeropoint.passes.pipelines import passes_to
from zeropoint.passes.plan_memory import ARENA_BYTES
from zeropoint.runtime.executable import Executable

ISA = "testloops"


@pytest.fixture
def loops(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loops]:
    """The family, used by ``zp.compile`` in this test."""
    family = Loops()
    monkeypatch.setitem(vectorize_kernels.FAMILIES, ISA, [family])
    monkeypatch.setattr(Machine, "isa", ISA)
    return family


def conv(
    shape: tuple[int, int, int, int],
    filter_shape: tuple[int, int, int, int],
    *,
    seed: int = 0,
    storage: str = "i8",
    filter_storage: str = "i8",
    zero_points: tuple[int, ...] = (0,),
    strides: tuple[int, int] = (1, 1),
    dilations: tuple[int, int] = (1, 1),
    padding: tuple[int, int, int, int] = (0, 0, 0, 0),
    groups: int = 1,
    constants: tuple[int, ...] = (1, 2),
) -> Case:
    """A convolution of random values, with a scale per channel, or one where there is a zero point."""
    rng = np.random.default_rng(seed)
    outputs, kh, kw, depth = filter_shape
    low = 0 if storage == "u8" else -128
    count = outputs if len(zero_points) > 1 or zero_points == (0,) else 1
    axis = 0 if count > 1 or zero_points == (0,) else None
    x = quantized(shape, storage, 0.05, low + 100)
    w = quantized(filter_shape, filter_storage, rng.uniform(0.001, 0.02, count), zero_points, axis)
    b = quantized((outputs,), "i32", [0.05 * scale for scale in w.params.scales], 0, axis)
    extents = [
        (n + before + after - dilation * (kernel - 1) - 1) // stride + 1
        for n, before, after, dilation, kernel, stride in zip(
            shape[1:3], padding[::2], padding[1::2], dilations, (kh, kw), strides, strict=True
        )
    ]
    y = quantized((shape[0], *extents, outputs), storage, 0.1 * (kh * kw * depth) ** 0.5, low + 120)
    arrays = [
        rng.integers(low, low + 256, shape).astype(x.dtype),
        rng.integers(*((0, 256) if filter_storage == "u8" else (-128, 128)), filter_shape).astype(w.dtype),
        rng.integers(-3000, 3000, outputs).astype(np.int32),
    ]
    attributes: dict[str, Any] = {"strides": strides, "dilations": dilations, "padding": padding}
    attributes |= {"groups": groups, "clamp": (0.0, 6.0)}
    return Case("conv2d", arrays, [x, w, b], y, attributes, constants)


def dense(shape: tuple[int, ...], outputs: int) -> Case:
    rng = np.random.default_rng(1)
    x = quantized(shape, "i8", 0.05, 3)
    w = quantized((outputs, shape[-1]), "i8", 0.01)
    y = quantized((*shape[:-1], outputs), "i8", 0.5, -4)
    arrays = [rng.integers(-128, 128, kind.shape).astype(np.int8) for kind in (x, w)]
    return Case("fully_connected", arrays, [x, w], y, {"clamp": ()}, (1,))


def compiled(cases: list[Case], mode: str = "xnnpack") -> Executable:
    return zp.compile(zp.Model.from_module(build_module(cases, mode), "cases"), cache=False)


def check(cases: list[Case], mode: str = "xnnpack") -> None:
    executable = compiled(cases, mode)
    inputs = [a for case in cases for i, a in enumerate(case.arrays) if i not in case.constants]
    for case, actual in zip(cases, executable.run(*inputs), strict=True):
        np.testing.assert_array_equal(actual, case.expected(mode))


@pytest.mark.parametrize(
    ("case", "kind"),
    [
        (conv((1, 5, 7, 8), (6, 1, 1, 8)), "conv2d"),
        (conv((2, 6, 5, 3), (4, 3, 2, 3), strides=(2, 1), padding=(1, 1, 0, 1)), "conv2d"),
        (conv((1, 9, 9, 2), (3, 3, 3, 2), dilations=(2, 3)), "conv2d"),
        (conv((1, 4, 4, 5), (7, 3, 3, 5), storage="u8", filter_storage="u8", zero_points=(131,)), "conv2d"),
        (conv((1, 4, 4, 5), (2, 1, 1, 5), filter_storage="u8", zero_points=(3, 250)), "conv2d"),
        (conv((1, 7, 6, 5), (5, 3, 3, 1), groups=5, padding=(1, 1, 1, 1)), "depthwise_conv2d"),
        (conv((1, 7, 6, 1), (9, 3, 3, 1), strides=(2, 2)), "depthwise_conv2d"),
        (dense((5, 33), 10), "matmul"),
        (dense((2, 3, 8), 4), "matmul"),
    ],
)
def test_code_of_a_family_gives_the_same_bits(loops: Loops, case: Case, kind: str) -> None:
    check([case])
    (spec,) = loops.emitted.values()
    assert spec.kind == kind
    assert (spec.out_height * spec.out_width, spec.out_channels) == (
        np.prod(case.result.shape[1:-1] if kind != "matmul" else case.result.shape[:-1]),
        case.result.shape[-1],
    )
    assert spec.input_signed == (case.types[0].params.storage.name == "i8")
    assert spec.result_signed == (case.result.params.storage.name == "i8")
    assert spec.filter_zero_points in (case.types[1].params.zero_points, (0,))


def test_window_of_a_padded_convolution(loops: Loops) -> None:
    check([conv((1, 6, 5, 3), (4, 3, 2, 3), strides=(2, 1), dilations=(1, 2), padding=(1, 2, 0, 1))])
    (spec,) = loops.emitted.values()
    assert (spec.in_height, spec.in_width, spec.in_channels) == (9, 6, 3)
    assert (spec.kernel_height, spec.kernel_width) == (3, 2)
    assert (spec.strides, spec.dilations) == ((2, 1), (1, 2))
    assert spec.input_slack, "the padded input is a buffer of ours"


def test_equal_kernels_share_one_function(loops: Loops) -> None:
    """Other weights and scales are other constants; the code is the same."""
    cases = [conv((1, 5, 7, 8), (6, 1, 1, 8), seed=seed) for seed in (0, 1)]
    cases.append(conv((1, 5, 7, 8), (6, 1, 1, 8), strides=(2, 2)))
    check(cases)
    module = build_module(cases, "xnnpack")
    passes = passes_to("llvm", isa=ISA)
    run_pipeline(module, passes[: passes.index("externalize-constants")])
    names = [str(op.name.value) for op in module.body.operations if op.operation.name == "func.func"]
    assert names == [f"conv2d_0_{ISA}", f"conv2d_2_{ISA}", "main"]


@pytest.mark.parametrize(
    ("case", "mode", "reason"),
    [
        (conv((1, 4, 4, 6), (4, 1, 1, 3), groups=2), "xnnpack", "it is not bias, contraction and rescale"),
        (conv((1, 4, 4, 6), (4, 1, 1, 6), constants=(2,)), "xnnpack", "its filter is not a constant"),
        (conv((1, 4, 4, 6), (4, 1, 1, 6), constants=(1,)), "xnnpack", "its bias is not a constant"),
        (conv((1, 4, 4, 6), (4, 1, 1, 6)), "reference", "only XNNPACK's rounding"),
    ],
)
def test_other_kernels_stay(
    loops: Loops, case: Case, mode: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "zeropoint.passes"):
        check([case], mode)
    assert not loops.emitted
    assert reason in caplog.text


def lowered(case: Case, stop: str) -> Any:
    """The module of ``case`` before the pass ``stop`` of the optimized pipeline."""
    passes = passes_to("llvm", isa=ISA)
    module = build_module([case], "xnnpack")
    run_pipeline(module, passes[: passes.index(stop)])
    return module


def test_old_kernel_and_its_buffers_are_gone(loops: Loops) -> None:
    case = conv((1, 5, 5, 8), (6, 3, 3, 8), padding=(1, 1, 1, 1))
    module = lowered(case, "externalize-constants")
    names = [op.operation.name for op in module.body.operations]
    assert names.count("memref.global") == 2, "the packed filter and the parameters"
    text = module.operation.get_asm()
    assert "linalg.generic" not in text
    assert "xi32>" not in text, "no accumulator"
    data = [
        elements_array(op.operation.attributes["initial_value"])
        for op in module.body.operations
        if op.operation.name == "memref.global"
    ]
    assert sorted(array.nbytes for array in data) == [6 * 4 * 2, 6 * 3 * 3 * 8 * 2]


def test_the_arena_ends_with_what_kernels_may_read(loops: Loops) -> None:
    def arena(isa: str) -> int:
        module = build_module([conv((1, 5, 5, 8), (6, 3, 3, 8), padding=(1, 1, 1, 1))], "xnnpack")
        run_pipeline(module, passes_to("llvm", isa=isa))
        return int(ir.IntegerAttr(module.operation.attributes[ARENA_BYTES]).value)

    padded = -(-7 * 7 * 8 // 64) * 64
    assert arena(ISA) == padded + 64
    assert arena("") > padded + 64, "with an accumulator"


def test_only_buffers_of_ours_have_slack(loops: Loops) -> None:
    """An argument and a value that is returned lie in the caller's memory."""
    text = """
!x = !quant.uniform<i8:f32, 5.0e-01>
module attributes {qnn.numerics = "xnnpack"} {
  func.func @main(%x: tensor<1x4x4x8x!x>) -> tensor<1x4x4x8x!x> {
    %w = "qnn.constant"() {value = dense<1> : tensor<8x1x1x8xi8>} : () -> tensor<8x1x1x8x!x>
    %y = "qnn.conv2d"(%x, %w) {CONV} : (tensor<1x4x4x8x!x>, tensor<8x1x1x8x!x>) -> tensor<1x4x4x8x!x>
    %z = "qnn.conv2d"(%y, %w) {CONV} : (tensor<1x4x4x8x!x>, tensor<8x1x1x8x!x>) -> tensor<1x4x4x8x!x>
    return %z : tensor<1x4x4x8x!x>
  }
}
""".replace(
        "CONV",
        "strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, "
        "groups = 1 : i64, clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>",
    )
    model = zp.Model.from_module(parse_module(text), "two")
    x = np.arange(128, dtype=np.int8).reshape(1, 4, 4, 8)
    expected = zp.compile(model, pipeline="reference", cache=False).run(x)
    for keep, slack in ((False, [False, True]), (True, [False, False])):
        loops.specs.clear()
        executable = zp.compile(model, keep_intermediates=keep, cache=False)
        assert [spec.input_slack for spec in loops.specs] == slack
        np.testing.assert_array_equal(executable.run(x)[0], expected[0])


# A kernel whose steps can be spoilt one by one, and the call of it.
KERNEL = """
#x = affine_map<(m, o, k) -> (m, k)>
#w = affine_map<(m, o, k) -> (o, k)>
#y = affine_map<(m, o, k) -> (m, o)>
#id = affine_map<(m, o) -> (m, o)>
memref.global "private" constant @weights : memref<8x8xi8> = dense<1>
func.func private @matmul_0(
    %x: memref<4x8xi8>, %w: memref<8x8xi8>, %acc: memref<4x8xi32>, %other: memref<4x8xi32>,
    %out: memref<4x8xi8>) {
  %b = arith.constant 2 : i32
  linalg.fill ins(%b : i32) outs(%acc : memref<4x8xi32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<4x8xi8>, memref<8x8xi8>) outs(%acc : memref<4x8xi32>)
      attrs = {qnn.contraction = "matmul"} {
  ^bb0(%a: i8, %f: i8, %s: i32):
    %0 = arith.extsi %a : i8 to i32
    %1 = arith.extsi %f : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %s, %2 : i32
    linalg.yield %3 : i32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%acc : memref<4x8xi32>) outs(%out : memref<4x8xi8>) attrs = {qnn.epilogue = {
        rounding = "float32-half-even", scales = array<f64: 0.5>, multipliers = array<i64: 1073741824>,
        shifts = array<i64: 0>, zero_point = 0, low = -128, high = 127, storage = "i8"}} {
  ^bb0(%a: i32, %o: i8):
    %0 = arith.trunci %a : i32 to i8
    linalg.yield %0 : i8
  }
  return
}
func.func @main(%x: memref<4x8xi8>, %out: memref<4x8xi8>) {
  %w = memref.get_global @weights : memref<8x8xi8>
  %acc = memref.alloc() : memref<4x8xi32>
  %other = memref.alloc() : memref<4x8xi32>
  call @matmul_0(%x, %w, %acc, %other, %out)
      : (memref<4x8xi8>, memref<8x8xi8>, memref<4x8xi32>, memref<4x8xi32>, memref<4x8xi8>) -> ()
  return
}
"""


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("", "", None),
        ("ins(%b : i32) outs(%acc", "ins(%b : i32) outs(%other", "its steps work on different accumulators"),
        ("ins(%acc : memref", "ins(%other : memref", "its steps work on different accumulators"),
        ("(m, o, k) -> (o, k)", "(m, o, k) -> (k, o)", "a matmul with other loops than usual"),
        (
            "  return\n}\nfunc.func @main",
            "  memref.copy %acc, %other : memref<4x8xi32> to memref<4x8xi32>\n  return\n}\nfunc.func @main",
            "it is not bias, contraction and rescale alone",
        ),
        ("qnn.epilogue", "qnn.something", "its rescale is not known in plain numbers"),
        ("scales = array<f64: 0.5>", "scales = array<f64: 0.5, 0.5>", "belong to another axis"),
        ("addi %s, %2", "addi %2, %2", "it does not sum products"),
        ("muli %0, %1", "muli %1, %1", "it does not multiply an input with a filter"),
        ("muli %0, %1", "muli %b, %1", "it does not multiply stored integers"),
        ("%3 = arith.addi", "%3 = arith.subi", "it does not sum products"),
        (
            "%1 = arith.extsi %f : i8 to i32",
            "%e = arith.extsi %f : i8 to i32\n    %1 = arith.subi %e, %s : i32",
            "it subtracts something else than a zero point",
        ),
        (
            "%0 = arith.extsi %a : i8 to i32",
            "%e = arith.extsi %a : i8 to i32\n    %0 = arith.subi %e, %b : i32",
            "it subtracts the input's zero point itself",
        ),
    ],
)
def test_kernels_of_other_form_stay(
    loops: Loops, caplog: pytest.LogCaptureFixture, old: str, new: str, reason: str | None
) -> None:
    assert old in KERNEL
    module = parse_module(KERNEL.replace(old, new, 1) if old else KERNEL)
    with caplog.at_level(logging.DEBUG, "zeropoint.passes"):
        run_pipeline(module, f"vectorize-kernels{{isa={ISA}}}")
    assert ("call @matmul_0(" in str(module)) == (reason is not None)
    assert reason is None or reason in caplog.text


class Broken(Loops):
    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def emit(self, name: str, spec: Any) -> str:
        return self._text.replace("NAME", name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func.func private @NAME(", "does not parse"),
        (
            "func.func private @NAME(%x: i32) { return }",
            "expected code of 'conv2d_0_testloops' on 4 pointers",
        ),
        ("", "expected code of"),
    ],
)
def test_wrong_code_of_a_family_is_an_error(
    loops: Loops, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    monkeypatch.setitem(vectorize_kernels.FAMILIES, ISA, [Broken(text)])
    with pytest.raises(PipelineError, match=message):
        compiled([conv((1, 5, 7, 8), (6, 1, 1, 8))])


def test_unknown_instruction_set() -> None:
    module = build_module([], "reference")
    with pytest.raises(
        PipelineError, match=r"unknown instruction set 'avx512vni'; did you mean 'avx512vnni'"
    ):
        run_pipeline(module, "vectorize-kernels{isa=avx512vni}")


@pytest.mark.parametrize(
    ("features", "isa"),
    [
        ("+avx2,+avx512bw,+avx512vl,+avx512vnni", "avx512vnni"),
        ("+avx2,+avx512bw,-avx512vl,+avx512vnni", ""),
        ("", ""),
    ],
)
def test_instruction_set_of_a_machine(features: str, isa: str) -> None:
    assert Machine("x86_64-unknown-linux-gnu", features=features).isa == isa


def test_the_reference_pipeline_has_no_vector_code(loops: Loops) -> None:
    model = zp.Model.from_module(build_module([conv((1, 5, 5, 8), (6, 1, 1, 8))], "xnnpack"), "conv")
    zp.compile(model, pipeline="reference", cache=False)
    assert not loops.emitted


@pytest.mark.parametrize(
    "rescale",
    [
        Rescale(Rounding.DOUBLE, (0.1, 1 / 3), (1717986918, 1431655765), (-3, -1), 5, -128, 127),
        Rescale(Rounding.FLOAT32_HALF_EVEN, (3.4028234663852886e38,), (1073741824,), (129,), 0, 0, 255),
        Rescale(Rounding.ONCE_HALF_AWAY, (5e-324, float("inf")), (0, 2147483647), (-40, 30), 1, 2, 3),
    ],
)
def test_epilogue_attribute_keeps_every_bit(rescale: Rescale) -> None:
    with new_context():
        attribute = epilogue_attribute(rescale, Storage.of("u8"))
        for read in (attribute, ir.Attribute.parse(str(attribute))):
            assert read_epilogue(read) == (rescale, Storage.of("u8"))
