"""What every qnn op means, as one numpy function per op: the oracle of all tests of lowerings and kernels.

A function takes a :class:`~.call.Call` (arrays of storage integers or floats, their types, plain attributes)
and returns the result's array. Nothing here knows MLIR.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..numerics import MODES
from ..types import TensorType
from .activation import logistic, softmax, tanh
from .arithmetic import add, mul, sub
from .binary import binary, compare, maximum, minimum, prelu
from .call import Array, Call
from .contraction import conv2d, fully_connected
from .detection import decode_boxes, non_max_suppression
from .dynamic_range import dynamic_conv2d, dynamic_fully_connected
from .indexing import dynamic_slice, dynamic_update_slice, gather, one_hot, scatter_nd
from .matmul import batch_matmul
from .movement import concat, pad, reshape, slice_, transpose
from .normalization import l2_normalization, local_response_normalization, log_softmax
from .ordering import arg_min, nonzero, top_k
from .pooling import avg_pool2d, max_pool2d, mean
from .quantization import clamp, constant, dequantize, quantize, requantize
from .rearrangement import broadcast, cast, reverse, reverse_sequence, select
from .recurrent import lstm_cell, lstm_gate, lstm_hidden, lstm_normalization
from .reduce import cumsum, reduce, reduce_max, reduce_min
from .resize import resize_bilinear, resize_nearest
from .selection import arg_max
from .unary import leaky_relu, unary

MEANINGS: dict[str, Callable[[Call], Array]] = {
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
    "constant": constant,
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
"""op (without its ``qnn.`` prefix) -> its meaning."""


def evaluate(
    op: str,
    inputs: Sequence[Array | None],
    input_types: Sequence[TensorType | None],
    result_types: Sequence[TensorType],
    attributes: Mapping[str, Any],
    mode: str = "reference",
) -> list[Array]:
    """The results of ``op`` (name without ``qnn.``) on storage arrays; absent optional operands are None or
    left out.

    Raises ``KeyError`` for an unknown op or mode, ``ValueError`` for inputs whose shape or dtype is not their
    type's.
    """
    meaning, _ = MEANINGS[op], MODES[mode]
    present = [(array, kind) for array, kind in zip(inputs, input_types, strict=True) if array is not None]
    for index, (array, kind) in enumerate(present):
        if kind is None or array.dtype != kind.dtype or not _fits(array.shape, kind.shape):
            raise ValueError(
                f"{op}: operand {index} is {array.dtype}{list(array.shape)}, its type says {kind}"
            )
    (result_type,) = result_types
    call = Call(
        op,
        tuple(array for array, _ in present),
        tuple(kind for _, kind in present if kind is not None),
        result_type,
        attributes,
        mode,
    )
    result = meaning(call)
    if not _fits(result.shape, result_type.shape):
        raise ValueError(f"{op}: result is {list(result.shape)}, its type says {list(result_type.shape)}")
    return [result.astype(result_type.dtype, copy=False)]


def _fits(shape: tuple[int, ...], declared: tuple[int, ...]) -> bool:
    return len(shape) == len(declared) and all(d in (-1, n) for n, d in zip(shape, declared, strict=True))
