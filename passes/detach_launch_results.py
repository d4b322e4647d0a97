"""detach-launch-results: what a launch gives shares no memory with what it reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..dialect.mlir import func, ir, tensor
from .entry import function_type
from .form_kernels.calls import LAUNCHES
from .nested_modules import CONTROL
from .registry import ModulePass, register


@register
@dataclass(frozen=True)
class DetachLaunchResultsPass(ModulePass):
    """Give every declaration that ``form-kernels`` or ``outline-control-flow`` made a body that returns new
    tensors.

    Of a function without a body bufferization assumes that its result may be any of its operands: in a chain
    of calls everything then shares memory with everything, and the analysis takes time with the cube of the
    chain's length. ``allocate-launch-results`` takes the bodies away again.
    """

    name: ClassVar[str] = "detach-launch-results"

    def run(self, module: Any) -> None:
        for function in module.regions[0].blocks[0].operations:
            attributes = function.operation.attributes
            if function.operation.name != "func.func" or not (
                LAUNCHES in attributes or CONTROL in attributes
            ):
                continue
            type_ = function_type(function)
            with function.location:
                block = function.operation.regions[0].blocks.append(*type_.inputs)
                with ir.InsertionPoint(block):
                    func.ReturnOp([tensor.empty(r.shape, r.element_type) for r in type_.results])
