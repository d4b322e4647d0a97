"""legalize-storage on elementwise ops: u8 where the target likes it, and the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lowered_ops import Case, build_module
from random_tensors import quantized, values
from zeropoint.dialect import qnn
from zeropoint.dialect.context import new_context
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.dialect.ir_types import to_ir_type
from zeropoint.dialect.mlir import func, ir
from zeropoint.dialect.types import TensorType
from zeropoint.passes.pass_manager import run_pipeline

UNARY: list[tuple[str, dict[str, Any]]] = [
    *[
        ("unary", {"function": f})
        for f in ("abs", "elu", "exp", "gelu", "hard_swish", "log", "rsqrt", "sqrt")
    ],
    ("leaky_relu", {"alpha": 0.25}),
]
BINARY: list[tuple[str, dict[str, Any]]] = [
    ("maximum", {}),
    ("minimum", {}),
    ("prelu", {}),
    ("compare", {"predicate": "less"}),
    ("binary", {"function": "squared_difference"}),
    ("binary", {"function": "div"}),
]


@pytest.mark.parametrize("mode", ["reference", "xnnpack"])
@pytest.mark.parametrize(("op", "attributes"), [*UNARY, *BINARY])
def test_numbers_stay(op: str, attributes: dict[str, Any], mode: str) -> None:
    types = [quantized((64,), "i8", 0.05, 3), quantized((64,), "i8", 0.11, -7)]
    types = types[: 1 if (op, attributes) in UNARY else 2]
    result = TensorType((64,), "i1") if op == "compare" else quantized((64,), "i8", 0.3, 5)
    arrays = [values(np.random.default_rng(i), type_) for i, type_ in enumerate(types)]
    module = build_module([Case(op, arrays, types, result, attributes)], mode)
    (before,) = evaluate_module(module, arrays)
    run_pipeline(module, "legalize-storage{target=x86-64-vnni}")
    (after,) = evaluate_module(module, arrays)
    np.testing.assert_array_equal(after, before)


@pytest.mark.parametrize(("op", "attributes"), [*UNARY, ("maximum", {}), ("prelu", {})])
def test_a_value_in_between_becomes_u8(op: str, attributes: dict[str, Any]) -> None:
    type_ = quantized((64,), "i8", 0.05, 3)
    with new_context(), ir.Location.name("case"):
        module = ir.Module.create()
        ends = [to_ir_type(type_)]
        function = func.FuncOp("main", (ends, ends), ip=ir.InsertionPoint(module.body))
        block = function.add_entry_block()
        point = ir.InsertionPoint(block)
        (value,) = block.arguments
        for _ in range(3):
            operands = [value] * (1 if (op, attributes) in UNARY else 2)
            (value,) = qnn.create(op, operands, [type_], attributes, ip=point)
        func.ReturnOp([value], ip=point)
    array = values(np.random.default_rng(1), type_)
    before = evaluate_module(module, [array])
    run_pipeline(module, "legalize-storage{target=x86-64-vnni}")
    np.testing.assert_array_equal(evaluate_module(module, [array]), before)
    assert "u8" in str(module)
