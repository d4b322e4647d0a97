"""What follows a contraction and goes into it: biases of accumulators, batch norms; pads before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lowered_ops import Case, check_cases
from random_tensors import floating, quantized, seeds, values
from zeropoint.dialect import qnn
from zeropoint.dialect.context import new_context
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.dialect.ir_types import to_ir_type
from zeropoint.dialect.mlir import func, ir
from zeropoint.dialect.types import TensorType
from zeropoint.passes.pass_manager import run_pipeline


class Chain:
    """A function with one argument, built op by op; the newest value is the first operand of the next op."""

    def __init__(self, source: TensorType, mode: str = "reference") -> None:
        self.context = new_context()
        with self.context, ir.Location.unknown():
            self.module = ir.Module.create()
            self.module.operation.attributes["qnn.numerics"] = ir.StringAttr.get(mode)
            kinds = [to_ir_type(source)]
            self.function = func.FuncOp("main", (kinds, kinds), ip=ir.InsertionPoint(self.module.body))
            self.block = self.function.add_entry_block()
        self.value = self.block.arguments[0]

    def constant(self, type_: TensorType, array: Any) -> Any:
        return self._create("constant", [], type_, {"value": np.asarray(array, type_.dtype)})

    def then(self, op: str, others: Sequence[Any], type_: TensorType, **attributes: Any) -> None:
        self.value = self._create(op, [self.value, *others], type_, attributes)

    def finish(self) -> Any:
        with self.context, ir.Location.unknown():
            func.ReturnOp([self.value], ip=ir.InsertionPoint(self.block))
            kind = ir.FunctionType.get([self.block.arguments[0].type], [self.value.type])
            self.function.attributes["function_type"] = ir.TypeAttr.get(kind)
            assert self.module.operation.verify()
        return self.module

    def _create(self, op: str, operands: list[Any], type_: TensorType, attributes: dict[str, Any]) -> Any:
        with self.context, ir.Location.unknown():
            return qnn.create(op, operands, [type_], attributes, ip=ir.InsertionPoint(self.block))[0]


CONV = {"strides": (1, 1), "dilations": (1, 1), "padding": (0, 0, 0, 0), "groups": 1}


@pytest.mark.parametrize("mode", ["reference", "xnnpack"])
def test_accumulators_are_added_as_they_are(mode: str) -> None:
    """Meaning and lowering: wrapping, limited by a clamp, broadcast."""
    rng = np.random.default_rng(0)
    cases = []
    for op in ("add", "sub"):
        for clamp in ((), (0.0, 6.0), (-1e9, np.inf)):
            types = [quantized(shape, "i32", 0.125) for shape in ((3, 8), (8,))]
            arrays = [values(rng, kind) for kind in types]
            result = quantized((3, 8), "i32", 0.125)
            cases.append(Case(op, arrays, types, result, {"clamp": clamp}))
    total = cases[0].expected(mode)
    lhs, rhs = (array.astype(np.int64) for array in cases[0].arrays)
    np.testing.assert_array_equal(total, (lhs + rhs).astype(np.int32))
    assert cases[1].expected(mode).max() == 48  # 6 / 0.125
    check_cases(cases, mode)


@settings(max_examples=30)
@given(seed=seeds, mode=st.sampled_from(["reference", "xnnpack"]), has_bias=st.booleans())
def test_a_bias_into_the_accumulator_is_exact(seed: int, mode: str, has_bias: bool) -> None:
    rng = np.random.default_rng(seed)
    storage = ["i8", "u8"][rng.integers(2)]
    source, kernel = quantized((2, 6), storage, 0.5, 5), quantized((3, 6), "i8", 0.25)
    product, bias = quantized((2, 3), "i32", 0.125), quantized((3,), "i32", 0.125)
    chain = Chain(source, mode)
    operands = [chain.constant(kernel, values(rng, kernel))]
    if has_bias:
        operands.append(chain.constant(bias, values(rng, bias)))  # the sum of both may wrap
    chain.then("fully_connected", operands, product, clamp=())
    clamp = [(), (0.0, np.inf)][rng.integers(2)]
    chain.then("add", [chain.constant(bias, values(rng, bias))], product, clamp=clamp)
    module, x = chain.finish(), values(rng, source)
    before = evaluate_module(module, [x])
    run_pipeline(module, "fuse-matmul-bias")
    assert "qnn.add" not in str(module)
    np.testing.assert_array_equal(evaluate_module(module, [x])[0], before[0])


@settings(max_examples=30)
@given(seed=seeds, op=st.sampled_from(["conv2d", "fully_connected"]), has_bias=st.booleans())
def test_a_float_batch_norm_folds_up_to_rounding(seed: int, op: str, has_bias: bool) -> None:
    rng = np.random.default_rng(seed)
    shape = (2, 3, 3, 4) if op == "conv2d" else (2, 4)
    result = floating((*shape[:-1], 5))
    chain = Chain(floating(shape))
    kernel = floating((5, 1, 1, 4) if op == "conv2d" else (5, 4))
    operands = [chain.constant(kernel, values(rng, kernel))]
    if has_bias:
        operands.append(chain.constant(floating((5,)), rng.standard_normal(5)))
    chain.then(op, operands, result, clamp=(), **(CONV if op == "conv2d" else {}))
    for step in rng.choice(["mul", "add", "sub"], 3):
        per_channel = [(5,), (1, 5), ()][rng.integers(3)]
        chain.then(
            step, [chain.constant(floating(per_channel), rng.uniform(-2, 2, per_channel))], result, clamp=()
        )
    chain.then("clamp", [], result, clamp=(-1.0, np.inf))
    module, x = chain.finish(), values(rng, floating(shape))
    before = evaluate_module(module, [x])
    run_pipeline(module, "fold-batch-norm,merge-clamps")
    text = str(module)
    assert not any(f"qnn.{step}" in text for step in ("mul", "add", "sub", "clamp"))
    np.testing.assert_allclose(evaluate_module(module, [x])[0], before[0], rtol=1e-5, atol=1e-5)


@settings(max_examples=40)
@given(seed=seeds, op=st.sampled_from(["conv2d", "max_pool2d"]), storage=st.sampled_from(["i8", "u8", "f32"]))
def test_a_pad_folds_to_the_bit(seed: int, op: str, storage: str) -> None:
    rng = np.random.default_rng(seed)
    low, high = (0, *rng.integers(0, 2, 2).tolist(), 0), (0, *rng.integers(1, 2, 2).tolist(), 0)
    is_float, shape = storage == "f32", (1, 4, 5, 2)

    def typed(extents: Sequence[int]) -> TensorType:
        return floating(extents) if is_float else quantized(extents, storage, 0.5, 9)

    padded = [a + b + c for a, b, c in zip(low, shape, high, strict=True)]
    chain = Chain(typed(shape))
    fill = 0.0 if op == "conv2d" else -np.inf
    chain.then("pad", [], typed(padded), low=low, high=high, value=fill)
    result = typed((1, padded[1] - 1, padded[2] - 1, 2 if op == "max_pool2d" else 3))
    if op == "conv2d":
        kernel = floating((3, 2, 2, 2)) if is_float else quantized((3, 2, 2, 2), "i8", 0.02)
        chain.then(op, [chain.constant(kernel, values(rng, kernel))], result, clamp=(), **CONV)
    else:
        chain.then(op, [], result, window=(2, 2), strides=(1, 1), padding=(0, 0, 0, 0), clamp=())
    module, x = chain.finish(), values(rng, typed(shape))
    before = evaluate_module(module, [x])
    run_pipeline(module, "fold-pad")
    assert "qnn.pad" not in str(module)
    np.testing.assert_array_equal(evaluate_module(module, [x])[0], before[0])


@pytest.mark.parametrize(
    ("pipeline", "left"),
    [
        ("merge-requantizes", 1),
        ("hoist-requantize", 1),
        ("sink-requantize", 1),
        ("fold-requantize-into-producer", 1),
        ("share-requantizes,fold-requantize", 3000),
    ],
)
@pytest.mark.timeout(60)
def test_long_chains_take_linear_time(pipeline: str, left: int) -> None:
    """3000 requantizes behind each other, or one behind or before 3000 reshapes."""
    source, other = quantized((2, 3), "i8", 0.5, 3), quantized((3, 2), "i8", 0.5, 3)
    unsigned = quantized((2, 3), "u8", 0.5, 131)
    chain = Chain(quantized((2, 3), "i8", 0.3) if pipeline == "sink-requantize" else source)
    moves = [("reshape", [other, source][index % 2]) for index in range(3000)]
    if pipeline == "hoist-requantize":
        steps = [*moves, ("requantize", unsigned)]
    elif pipeline == "sink-requantize":
        steps = [("requantize", source), *moves]
    else:
        steps = [("requantize", [unsigned, source][index % 2]) for index in range(2999)]
        steps.append(("requantize", quantized((2, 3), "i8", 0.3)))
    for op, type_ in steps:
        chain.then(op, [], type_)
    module = chain.finish()
    run_pipeline(module, pipeline)
    assert str(module).count("qnn.requantize") == left
