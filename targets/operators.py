"""The names a target file may use: ops, storage types, and which rules fit where.

Plain names, so that reading a target needs no MLIR; a test compares them with the dialect.
"""

from __future__ import annotations

CONVERSIONS = (
    "cast",
    "constant",
    "dequantize",
    "dynamic_conv2d",
    "dynamic_fully_connected",
    "quantize",
    "requantize",
)
"""Ops that legalization itself inserts or folds, and cast, which is about stored integers: their parameters
are their own, they take no rule.
"""

OPERATORS = (
    "add",
    "arg_max",
    "arg_min",
    "avg_pool2d",
    "batch_matmul",
    "binary",
    "broadcast",
    "clamp",
    "compare",
    "concat",
    "conv2d",
    "cumsum",
    "decode_boxes",
    "dynamic_slice",
    "dynamic_update_slice",
    "fully_connected",
    "gather",
    "l2_normalization",
    "leaky_relu",
    "local_response_normalization",
    "log_softmax",
    "logistic",
    "lstm_cell",
    "lstm_gate",
    "lstm_hidden",
    "lstm_normalization",
    "max_pool2d",
    "maximum",
    "mean",
    "minimum",
    "mul",
    "non_max_suppression",
    "nonzero",
    "one_hot",
    "pad",
    "prelu",
    "reduce",
    "reduce_max",
    "reduce_min",
    "reshape",
    "resize_bilinear",
    "resize_nearest",
    "reverse",
    "reverse_sequence",
    "scatter_nd",
    "select",
    "slice",
    "softmax",
    "sub",
    "tanh",
    "top_k",
    "transpose",
    "unary",
)
"""Ops that a rule can be written for, names without ``qnn.``."""

CONTRACTIONS = ("conv2d", "fully_connected")
"""Ops with a bias, whose result may be the accumulator itself: `derived` has a meaning for them."""

WITHOUT_RESULT_PARAMETERS = ("arg_max", "arg_min", "compare", "non_max_suppression", "nonzero", "top_k")
"""Ops whose result is an ordinary integer. Their rule is looked up by the *input's* storage type."""

STORAGES = ("i4", "u4", "i8", "u8", "i16", "u16", "i32")
"""Storage types of results."""

BIAS = "bias"
"""Stands in the place of a storage type for the bias of a contraction."""

ANY = "*"
"""Every storage type that is not named."""


ARROW = "->"
"""``i8->i16``: results in i16 of an input in i8, where that differs from other inputs."""


def result_storage(place: str) -> str:
    """The storage type of the result: ``i16`` of ``i16`` and of ``i8->i16``."""
    return place.rpartition(ARROW)[2]


def storage_range(name: str) -> tuple[int, int]:
    """Lowest and highest stored value of ``i8``, ``u8`` ..."""
    bits, signed = int(name[1:]), name[0] == "i"
    low = -(1 << (bits - 1)) if signed else 0
    return low, low + (1 << bits) - 1
