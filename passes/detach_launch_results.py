"""detach-launch-results: what a launch gives shares no memory with what it reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..dialect.mlir import func, ir, tensor
from .entry import function_type
from .form_kernels.calls import LAUNCHES
from .registry import ModulePass, register


@register
@dataclass(frozen=True)
class DetachLaunchResultsPass(ModulePass):
    """Give every declaration that ``form-kernels`` made a body that returns a new tensor.

    Of a function without a body bufferization assumes that its result may be any of its operands: in a chain
    of calls everything then shares memory with everything, and the analysis takes time with the cube of the
    chain's length. ``allocate-launch-results`` takes the bodies away again.
    """

    name: ClassVar[str] = "detach-launch-results"

    def run(self, module: Any) -> None:
        for function in module.regions[0].blocks[0].operations:
            if function.operation.name != "func.func" or LAUNCHES not in function.operation.attributes:
                continue
            type_ = function_type(function)
            (result,) = type_.results
            with function.location:
                block = function.operation.regions[0].blocks.append(*type_.inputs)
                with ir.InsertionPoint(block):
                    func.ReturnOp([tensor.empty(result.shape, result.element_type)])
