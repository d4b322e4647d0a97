"""convert-qnn-to-linalg: every ``qnn`` op becomes integer arithmetic on storage tensors.

Quantized tensors become tensors of signless storage integers; signedness lives on in ``arith.extsi`` and
``arith.extui``. What an op's numbers are is spelled out here: nothing after this pass knows scales or zero
points.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..registry import ModulePass, register
from .activation import logistic, softmax, tanh
from .contraction import conv2d, fully_connected
from .core import Lowering, convert_module
from .elementwise import add, mul, sub
from .pooling import avg_pool2d, max_pool2d
from .quantization import clamp, dequantize, quantize, requantize
from .reduction import arg_max, mean
from .resize import resize_bilinear, resize_nearest
from .shape_ops import concat, pad, reshape, slice_, transpose

LOWERINGS: dict[str, Lowering] = {
    "add": add,
    "arg_max": arg_max,
    "avg_pool2d": avg_pool2d,
    "clamp": clamp,
    "concat": concat,
    "conv2d": conv2d,
    "dequantize": dequantize,
    "fully_connected": fully_connected,
    "logistic": logistic,
    "max_pool2d": max_pool2d,
    "mean": mean,
    "mul": mul,
    "pad": pad,
    "quantize": quantize,
    "requantize": requantize,
    "reshape": reshape,
    "resize_bilinear": resize_bilinear,
    "resize_nearest": resize_nearest,
    "slice": slice_,
    "softmax": softmax,
    "sub": sub,
    "tanh": tanh,
    "transpose": transpose,
}
"""op (without its ``qnn.`` prefix) -> its lowering; ``constant`` is the mechanism's own (see ``core.py``)."""


@register
@dataclass(frozen=True)
class ConvertQnnToLinalgPass(ModulePass):
    """Lower every qnn op to linalg and arith on storage integers, by the module's ``qnn.numerics``."""

    name: ClassVar[str] = "convert-qnn-to-linalg"

    def run(self, module: Any) -> None:
        operation = module.operation
        with operation.context:
            convert_module(operation, LOWERINGS)
