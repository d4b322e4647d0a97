"""Run qnn ops through the reference pipeline, many of them in one compilation, and compare with their numpy
meaning.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

import zeropoint
from zeropoint.dialect import qnn
from zeropoint.dialect.context import new_context
from zeropoint.dialect.ir_types import to_ir_type
from zeropoint.dialect.meaning import evaluate
from zeropoint.dialect.mlir import func, ir
from zeropoint.dialect.model import Model
from zeropoint.dialect.types import TensorType
from zeropoint.passes.pass_manager import run_pipeline
from zeropoint.passes.pipelines import passes_to

Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True)
class Case:
    """One op with its operands' values; those whose index is in ``constants`` are ``qnn.constant``, the
    others arguments.
    """

    op: str
    arrays: Sequence[Array]
    types: Sequence[TensorType]
    result: TensorType
    attributes: Mapping[str, Any] = field(default_factory=dict)
    constants: Collection[int] = ()

    def expected(self, mode: str) -> Array:
        """The op's meaning."""
        return evaluate(self.op, self.arrays, self.types, [self.result], self.attributes, mode)[0]


def build_module(cases: Sequence[Case], mode: str) -> Any:
    """A module whose ``@main`` computes every case, one result each."""
    with new_context(), ir.Location.name("case"):
        module = ir.Module.create()
        module.operation.attributes["qnn.numerics"] = ir.StringAttr.get(mode)
        arguments = [
            to_ir_type(type_)
            for case in cases
            for i, type_ in enumerate(case.types)
            if i not in case.constants
        ]
        results = [to_ir_type(case.result) for case in cases]
        function = func.FuncOp("main", (arguments, results), ip=ir.InsertionPoint(module.body))
        block = function.add_entry_block()
        point = ir.InsertionPoint(block)
        values = iter(block.arguments)
        outputs = []
        for case in cases:
            operands = [
                qnn.create("constant", [], [type_], {"value": array}, ip=point)[0]
                if i in case.constants
                else next(values)
                for i, (array, type_) in enumerate(zip(case.arrays, case.types, strict=True))
            ]
            outputs += qnn.create(case.op, operands, [case.result], case.attributes, ip=point)
        func.ReturnOp(outputs, ip=point)
    return module


def run_cases(cases: Sequence[Case], mode: str) -> list[Array]:
    """The results of all cases as the reference pipeline computes them."""
    model = Model.from_module(build_module(cases, mode), "cases")
    executable = zeropoint.compile(model, pipeline="reference", cache=False)
    return executable.run(
        *[array for case in cases for i, array in enumerate(case.arrays) if i not in case.constants]
    )


def lower(module: Any) -> Any:
    """``module`` after convert-qnn-to-linalg and canonicalization, in place."""
    run_pipeline(module, passes_to("linalg"))
    return module


def check_cases(cases: Sequence[Case], mode: str = "reference") -> None:
    """Every result equals the meaning: quantized and integer ones bit by bit, floats to a few units of the
    last place.
    """
    for case, actual in zip(cases, run_cases(cases, mode), strict=True):
        expected = case.expected(mode)
        what = f"{case.op} {dict(case.attributes)} of {[str(t) for t in case.types]} to {case.result}"
        if case.result.is_float and case.op != "dequantize":
            np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5, err_msg=what)
        else:
            np.testing.assert_array_equal(actual, expected, err_msg=what)
