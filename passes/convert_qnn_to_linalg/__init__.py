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
from .binary import binary, compare, maximum, minimum, prelu
from .contraction import conv2d, fully_connected
from .core import Lowering, convert_module
from .detection import decode_boxes, non_max_suppression
from .dynamic_range import dynamic_conv2d, dynamic_fully_connected
from .elementwise import add, mul, sub
from .indexing import dynamic_slice, dynamic_update_slice, gather, one_hot, scatter_nd
from .lstm_gates import lstm_gate, lstm_normalization
from .matmul import batch_matmul
from .normalization import l2_normalization, local_response_normalization, log_softmax
from .ordering import nonzero, top_k
from .pooling import avg_pool2d, max_pool2d
from .quantization import clamp, dequantize, quantize, requantize
from .rearrangement import broadcast, cast, reverse, reverse_sequence, select
from .recurrent import lstm_cell, lstm_hidden
from .reduce import cumsum, reduce, reduce_max, reduce_min
from .reduction import arg_max, arg_min, mean
from .resize import resize_bilinear, resize_nearest
from .shape_ops import concat, pad, reshape, slice_, transpose
from .unary import leaky_relu, unary

LOWERINGS: dict[str, Lowering] = {
    "add": add,
    "arg_max": arg_max,
    "arg_min": arg_min,
    "avg_pool2d": avg_pool2d,
    "batch_matmul": batch_matmul,
    "binary": binary,
    "broadcast": broadcast,
    "cast": cast,
    "clamp": clamp,
    "compare": compare,
    "concat": concat,
    "conv2d": conv2d,
    "cumsum": cumsum,
    "decode_boxes": decode_boxes,
    "dequantize": dequantize,
    "dynamic_conv2d": dynamic_conv2d,
    "dynamic_fully_connected": dynamic_fully_connected,
    "dynamic_slice": dynamic_slice,
    "dynamic_update_slice": dynamic_update_slice,
    "fully_connected": fully_connected,
    "gather": gather,
    "leaky_relu": leaky_relu,
    "lstm_cell": lstm_cell,
    "lstm_gate": lstm_gate,
    "lstm_hidden": lstm_hidden,
    "lstm_normalization": lstm_normalization,
    "l2_normalization": l2_normalization,
    "local_response_normalization": local_response_normalization,
    "log_softmax": log_softmax,
    "logistic": logistic,
    "max_pool2d": max_pool2d,
    "maximum": maximum,
    "mean": mean,
    "minimum": minimum,
    "mul": mul,
    "non_max_suppression": non_max_suppression,
    "nonzero": nonzero,
    "one_hot": one_hot,
    "pad": pad,
    "prelu": prelu,
    "quantize": quantize,
    "reduce": reduce,
    "reduce_max": reduce_max,
    "reduce_min": reduce_min,
    "requantize": requantize,
    "reshape": reshape,
    "resize_bilinear": resize_bilinear,
    "resize_nearest": resize_nearest,
    "reverse": reverse,
    "reverse_sequence": reverse_sequence,
    "scatter_nd": scatter_nd,
    "select": select,
    "slice": slice_,
    "softmax": softmax,
    "sub": sub,
    "tanh": tanh,
    "top_k": top_k,
    "transpose": transpose,
    "unary": unary,
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
