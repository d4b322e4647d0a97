"""form-kernels: single operators of 8-bit tensors beside convolutions and sums have kernels, and compute
their meaning on every instruction set that this machine has.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zeropoint as zp
from kernel_machines import MACHINES
from lowered_ops import Case, build_module
from random_tensors import quantized, seeds, values, zero_points
from zeropoint.codegen.program import COPY
from zeropoint.dialect.binary_functions import PREDICATES
from zeropoint.dialect.context import parse_module
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.dialect.model import Model
from zeropoint.dialect.types import TensorType
from zeropoint.dialect.unary_functions import FUNCTIONS
from zeropoint.kernels.instruction_set import INSTRUCTION_SETS
from zeropoint.runtime import compiler

MODES = ["reference", "xnnpack"]
STORAGES = st.sampled_from(["i8", "u8"])
pytestmark = pytest.mark.skipif(not MACHINES, reason="no kernels for this machine")


@pytest.fixture(params=MACHINES)
def isa(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """``zp.compile`` generates code for this instruction set."""
    monkeypatch.setattr(compiler, "_machine_here", lambda _: MACHINES[request.param])
    return str(request.param)


def families(cases: list[Case], mode: str = "reference") -> list[str]:
    """Compile and compare the cases with their meaning; the families of the steps, empty where none is."""
    executable = zp.compile(Model.from_module(build_module(cases, mode), "cases"))
    inputs = [a for case in cases for i, a in enumerate(case.arrays) if i not in case.constants]
    for case, actual in zip(cases, executable.run(*inputs), strict=True):
        np.testing.assert_array_equal(actual, case.expected(mode), err_msg=f"{case.op} {case.types}")
    program = executable._program
    return [
        program.codes[step.kernel].family if step.kernel in program.codes else ""
        for step in program.steps
        if step.kernel != COPY
    ]


def random_type(rng: np.random.Generator, shape: tuple[int, ...], storage: str) -> TensorType:
    low = -128 if storage == "i8" else 0
    point = int(rng.choice([low, low + 255, low + 128, int(rng.integers(low, low + 256))]))
    return quantized(shape, storage, float(2.0 ** rng.uniform(-6, 1)), point)


SHAPES = [
    ((6, 8, 9, 12), (6, 8, 9, 12)),
    ((40, 64), (64,)),
    ((1, 24, 24, 5), (1, 1, 1, 5)),
    ((8, 16, 32), (16, 32)),
    ((2, 24, 1, 33), (24, 7, 33)),
    ((3, 4, 4, 60), ()),
    ((1, 1, 1), (50, 60)),
]
OPS = ["maximum", "minimum", "squared_difference", "div", "prelu", "compare", "add", "sub", "mul"]
MAY_STAY = ("maximum", "minimum", "prelu")
"""What has no kernel for some types."""


@st.composite
def pair_cases(draw: st.DrawFn, op: str) -> Case:
    rng, storage = np.random.default_rng(draw(seeds)), draw(STORAGES)
    shapes = draw(st.sampled_from(SHAPES))
    a, b, y = (random_type(rng, shape, storage) for shape in (*shapes, np.broadcast_shapes(*shapes)))
    if op in ("maximum", "minimum") and draw(st.booleans()):
        a, b = replace(a, element=y.element), replace(b, element=y.element)
    attributes: dict[str, Any] = {}
    if op in ("squared_difference", "div"):
        op, attributes = "binary", {"function": op}
    if op == "compare":
        y, attributes = TensorType(y.shape, "i1"), {"predicate": draw(st.sampled_from(sorted(PREDICATES)))}
    if op in ("add", "sub", "mul"):
        attributes = {"clamp": draw(st.sampled_from([(), (0.0, 6.0)]))}
    constants = {i for i, shape in enumerate(shapes) if math.prod(shape) == 1}
    return Case(op, [values(rng, a), values(rng, b)], [a, b], y, attributes, constants)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("op", OPS)
def test_functions_of_two_tensors(isa: str, op: str, mode: str) -> None:
    @settings(max_examples=4, deadline=None)
    @given(st.lists(pair_cases(op), min_size=4, max_size=4))
    def check(cases: list[Case]) -> None:
        assert "" not in families(cases, mode) or op in MAY_STAY

    check()


@pytest.mark.parametrize("op", ["maximum", "minimum"])
@pytest.mark.parametrize("storage", ["i8", "u8"])
def test_extrema_of_like_parameters(isa: str, op: str, storage: str) -> None:
    rng = np.random.default_rng(3)
    kinds = [quantized(shape, storage, 0.5, 9) for shape in ((8, 16, 32), (16, 32), (8, 16, 32))]
    case = Case(op, [values(rng, kind) for kind in kinds[:2]], kinds[:2], kinds[2])
    assert families([case]) == ["extrema"]


@pytest.mark.parametrize("mode", MODES)
def test_functions_of_one_tensor(isa: str, mode: str) -> None:
    """Every one, by a table."""
    rng, cases = np.random.default_rng(5), []
    for name in sorted(set(FUNCTIONS) - {"logical_not"}):
        for storage in ("i8", "u8"):
            x, y = (random_type(rng, (2, 300), storage) for _ in range(2))
            cases.append(Case("unary", [values(rng, x)], [x], y, {"function": name}))
    x, y = (random_type(rng, (1, 4, 5, 6), "i8") for _ in range(2))
    cases.append(Case("leaky_relu", [values(rng, x)], [x], y, {"alpha": 0.3}))
    assert set(families(cases, mode)) == {"table"}


def test_two_tensors_of_few_elements_stay(isa: str) -> None:
    rng = np.random.default_rng(7)
    a, b, y = (random_type(rng, (2, 8), "i8") for _ in range(3))
    arrays = [values(rng, a), values(rng, b)]
    assert families([Case("binary", arrays, [a, b], y, {"function": "div"})]) == [""]


@st.composite
def products(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(seeds))
    storages = draw(st.sampled_from([("i8", "i8"), ("u8", "u8"), ("u8", "i8")]))
    rows, depth, columns = rng.integers(1, (12, 70, 40)).tolist()
    batches = draw(st.sampled_from([(), (2,), (3, 2), (1, 2, 3)]))
    ones = (1,) * draw(st.integers(0, 2))
    transposed = draw(st.booleans())
    points = [draw(zero_points(storage)) for storage in (*storages, storages[0])]
    a = quantized((*batches, rows, depth), storages[0], 0.05, points[0])
    b = quantized(
        (*ones, *((columns, depth) if transposed else (depth, columns))), storages[1], 0.04, points[1]
    )
    leading = np.broadcast_shapes(batches, ones)
    y = quantized((*leading, rows, columns), storages[0], 0.1 * float(2.0 ** rng.uniform(0, 5)), points[2])
    attributes = {"transpose_lhs": False, "transpose_rhs": transposed}
    return Case("batch_matmul", [values(rng, a), values(rng, b)], [a, b], y, attributes, {1})


@pytest.mark.parametrize("mode", MODES)
def test_products_with_a_constant_matrix(isa: str, mode: str) -> None:
    @settings(max_examples=4, deadline=None)
    @given(st.lists(products(), min_size=4, max_size=4))
    def check(cases: list[Case]) -> None:
        assert "" not in families(cases, mode)

    check()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("storage", ["i4", "u4"])
def test_filters_of_four_bits(isa: str, mode: str, storage: str) -> None:
    """Dense, depthwise and fully connected ones are taken as if they were of eight bits."""
    rng, cases = np.random.default_rng(11), []
    fields = {"strides": (1, 1), "dilations": (1, 1), "padding": (1, 1, 1, 1), "clamp": ()}
    for groups, shape in ((1, (20, 3, 3, 12)), (12, (12, 3, 3, 1))):
        x, y = quantized((1, 6, 7, 12), "i8", 0.1, -7), quantized((1, 6, 7, shape[0]), "i8", 0.9, 3)
        w = quantized(shape, storage, 0.1, 0 if storage == "i4" else 7)
        cases.append(
            Case("conv2d", [values(rng, x), values(rng, w)], [x, w], y, {**fields, "groups": groups}, {1})
        )
    x, y, w = (
        quantized((3, 33), "i8", 0.1, -7),
        quantized((3, 18), "i8", 0.5, 3),
        quantized((18, 33), storage, 0.1),
    )
    arrays = [values(rng, x), values(rng, w)]
    cases.append(Case("fully_connected", arrays, [x, w], y, {"clamp": ()}, {1}))
    assert "" not in families(cases, mode)


def test_transposes_of_many_dimensions(isa: str) -> None:
    """As they bring the phases of a transposed convolution between each other."""
    rng, cases = np.random.default_rng(13), []
    for shape, order in (
        ((2, 3, 5, 2, 2, 7), (0, 1, 3, 2, 4, 5)),
        ((1, 4, 4, 2, 3, 1), (0, 1, 3, 2, 4, 5)),
        ((2, 3, 1, 4, 5), (3, 4, 2, 0, 1)),
        ((2, 3, 4, 5, 6), (4, 2, 3, 0, 1)),
    ):
        x = quantized(shape, "i8", 0.5, 3)
        y = quantized(tuple(shape[axis] for axis in order), "i8", 0.5, 3)
        cases.append(Case("transpose", [values(rng, x)], [x], y, {"permutation": order}))
    assert set(families(cases)) == {"transpose"}


@st.composite
def int16_contractions(draw: st.DrawFn) -> Case:
    """Convolutions with and without a padding, matrix products; bias of 64, of 32 bits, or none."""
    rng = np.random.default_rng(draw(seeds))
    outputs, depth = int(rng.integers(1, 40)), int(rng.integers(1, 40))
    kind = draw(st.sampled_from(["i64", "i32", "none"]))
    is_conv = draw(st.booleans())
    kernel = rng.integers(1, 4, 2).tolist() if is_conv else []
    x = quantized((1, 6, 7, depth) if is_conv else (3, depth), "i16", 2.0**-9, 0)
    w = quantized((outputs, *kernel, depth), "i8", 0.01, 0)
    attributes: dict[str, Any] = {"clamp": draw(st.sampled_from([(), (0.0, 6.0)]))}
    shape: tuple[int, ...] = (3, outputs)
    if is_conv:
        padding = (kernel[0] - 1, 0, 0, kernel[1] - 1)
        attributes |= {"strides": (1, 1), "dilations": (1, 1), "padding": padding, "groups": 1}
        shape = (1, 6, 7, outputs)
    y = quantized(shape, "i16", float(2.0 ** rng.uniform(-10, -4)), 0)
    types, arrays = [x, w], [values(rng, x), values(rng, w)]
    if kind != "none":
        types.append(TensorType((outputs,), "i64"))
        if kind == "i32":
            types[2] = quantized((outputs,), "i32", x.params.scale * w.params.scale, 0)
        arrays.append(rng.integers(-100000, 100000, outputs).astype(types[2].dtype))
    return Case("conv2d" if is_conv else "fully_connected", arrays, types, y, attributes, {1, 2})


@pytest.mark.parametrize("mode", MODES)
def test_contractions_of_int16(isa: str, mode: str) -> None:
    @settings(max_examples=4, deadline=None)
    @given(st.lists(int16_contractions(), min_size=6, max_size=6))
    def check(cases: list[Case]) -> None:
        assert "" not in families(cases, mode)

    check()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("op", ["mean", "reduce"])
def test_sums_over_neighbouring_dimensions(isa: str, op: str, mode: str) -> None:
    @settings(max_examples=6, deadline=None)
    @given(seeds, STORAGES)
    def check(seed: int, storage: str) -> None:
        rng = np.random.default_rng(seed)
        shape = tuple(int(n) for n in rng.integers(1, 9, int(rng.integers(2, 6))))
        first = int(rng.integers(0, len(shape) - 1))
        axes = tuple(range(first, int(rng.integers(first + 1, len(shape)))))
        keep = bool(rng.integers(0, 2))
        kept = tuple(1 if i in axes else n for i, n in enumerate(shape) if keep or i not in axes)
        x, y = random_type(rng, shape, storage), random_type(rng, kept, storage)
        scale = y.params.scale * max(1.0, float(x.params.scale / y.params.scale)) * 2.0  # a factor below one
        y = quantized(kept, storage, scale, y.params.zero_point)
        attributes = {"axes": axes, "keep_dims": keep} | ({"function": "sum"} if op == "reduce" else {})
        assert families([Case(op, [values(rng, x)], [x], y, attributes)], mode) == ["mean"]

    check()


@pytest.mark.parametrize("axes", [(0, 2), (2,), ()])
def test_sums_over_other_dimensions_are_loops(isa: str, axes: tuple[int, ...]) -> None:
    x = quantized((3, 4, 5), "i8", 0.5, 3)
    kept = tuple(n for i, n in enumerate((3, 4, 5)) if i not in axes)
    attributes = {"axes": axes, "keep_dims": False, "function": "sum"}
    case = Case(
        "reduce", [values(np.random.default_rng(0), x)], [x], quantized(kept, "i8", 2.0, 1), attributes
    )
    assert "mean" not in families([case])


MATRICES = [
    ((3, 7, 20), (3, 20, 33), False),
    ((2, 4, 9, 16), (2, 4, 64, 16), True),
    ((1, 5, 30), (4, 30, 70), False),
    ((1, 40), (40, 32), False),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("left", "right", "transposed"), MATRICES)
def test_products_of_computed_matrices(
    isa: str, mode: str, left: tuple[int, ...], right: tuple[int, ...], transposed: bool
) -> None:
    @settings(max_examples=3, deadline=None)
    @given(seeds, STORAGES)
    def check(seed: int, storage: str) -> None:
        rng = np.random.default_rng(seed)
        shape = (*right[:-2], left[-2], right[-2] if transposed else right[-1])
        a, b = (random_type(rng, shape, storage) for shape in (left, right))
        scale = a.params.scale * b.params.scale * left[-1] ** 0.5 * 100
        y = quantized(shape, storage, float(scale), int(rng.integers(0, 128)))
        attributes = {"transpose_lhs": False, "transpose_rhs": transposed}
        case = Case("batch_matmul", [values(rng, a), values(rng, b)], [a, b], y, attributes)
        found = [family for family in families([case], mode) if family not in ("table", "")]
        packs = INSTRUCTION_SETS[isa].dot == "dot-u8s8"
        assert found == (["pack_matrix", "matrix_product"] if packs else [])

    check()


def test_repeated_right_matrices_are_loops(isa: str) -> None:
    rng = np.random.default_rng(0)
    a, b, y = (quantized(shape, "i8", 0.5, 3) for shape in ((2, 4, 3, 8), (2, 1, 8, 32), (2, 4, 3, 32)))
    attributes = {"transpose_lhs": False, "transpose_rhs": False}
    case = Case("batch_matmul", [values(rng, a), values(rng, b)], [a, b], y, attributes)
    assert not set(families([case])) & {"pack_matrix", "matrix_product"}


def test_a_product_of_computed_matrices_before_a_concat(isa: str) -> None:
    """It is packed into a buffer of its own, which a concat of who computes its inputs has no place for."""
    x, y = "!quant.uniform<i8:f32, 5.0e-01:3>", "!quant.uniform<i8:f32, 5.0e+01:-7>"
    left, right, result = f"tensor<2x5x20x{x}>", f"tensor<2x20x32x{x}>", f"tensor<2x5x32x{y}>"
    segments = f"array<i32: {', '.join(['1'] + ['0'] * 15)}>"
    text = f"""
    func.func @main(%a: {left}, %b: {right}) -> {result} {{
      %0 = "qnn.batch_matmul"(%a, %b) {{transpose_lhs = false, transpose_rhs = false}}
        : ({left}, {right}) -> {result}
      %1 = "qnn.concat"(%0) {{axis = 2 : i64, operandSegmentSizes = {segments}}} : ({result}) -> {result}
      return %1 : {result}
    }}"""
    model = Model.from_module(parse_module(text), "concat")
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-128, 128, shape).astype(np.int8) for shape in ((2, 5, 20), (2, 20, 32))]
    (expected,) = evaluate_module(model.module, arrays)
    np.testing.assert_array_equal(zp.compile(model).run(*arrays)[0], expected)
