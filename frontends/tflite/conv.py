"""CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED: weights and biases in our layout and types.

Float activations on integer weights ("hybrid", "dynamic range") become the ``dynamic_`` ops.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...dialect.qnn.shapes import conv2d_shape, fully_connected_shape
from ...dialect.types import QuantParams, TensorType
from .operator_import import OperatorImport
from .registry import importer
from .shuffled import shuffled_fully_connected
from .weights import Computed, Constant, Places, any_bias_of, blocks_of, filter_type, is_hybrid, weights_of
from .window import window_of


@importer("CONV_2D")
def conv_2d(op: OperatorImport) -> None:
    """conv2d; the filter [O, KH, KW, I/groups] says how many groups there are."""
    op.demand_counts((2, 3))
    x, w = op.type(0), filter_type(op)
    op.demand_rank(x, 4)
    op.demand_rank(w, 4, "filter")
    channels, outputs = x.shape[3], w.shape[0]
    if not w.shape[3] or channels % w.shape[3] or not outputs or outputs % (channels // w.shape[3] or 1):
        op.fail(
            f"{channels} input channels and {outputs} output channels do not fit filter shape {list(w.shape)}"
        )
    _emit_conv(op, weights_of(op, w), channels // w.shape[3])


@importer("DEPTHWISE_CONV_2D")
def depthwise_conv_2d(op: OperatorImport) -> None:
    """conv2d with one group per input channel; the filter [1, KH, KW, C*M] becomes [C*M, KH, KW, 1]."""
    op.demand_counts((2, 3))
    x, w = op.type(0), filter_type(op, Places(channel_axis=3))
    op.demand_rank(x, 4)
    op.demand_rank(w, 4, "filter")
    channels, outputs, multiplier = x.shape[3], w.shape[3], op.option("depth_multiplier")
    if w.shape[0] != 1 or not outputs or outputs % channels:
        op.fail(
            f"{channels} input channels do not fit filter shape {list(w.shape)}, "
            "expected [1, KH, KW, channels x M]"
        )
    if multiplier and multiplier * channels != outputs:
        op.fail(f"depth multiplier {multiplier} x {channels} channels differs from the filter's {outputs}")
    params = w.element
    if isinstance(params, QuantParams) and params.axis is not None:
        params = replace(params, axis=0)
    transposed = TensorType((outputs, w.shape[1], w.shape[2], 1), params)
    _emit_conv(op, weights_of(op, transposed, (3, 1, 2, 0)), channels)


def _emit_conv(op: OperatorImport, filter: Constant | Computed, groups: int) -> None:
    w = filter.type
    window = window_of(op, op.type(0), w.shape[1:3], (op.option("dilation_h"), op.option("dilation_w")))
    strides, dilations, padding = window.strides, window.dilations, window.padding
    shape = op.infer(conv2d_shape, op.type(0).shape, w.shape, strides, dilations, padding)
    bias = any_bias_of(op, w)
    operands = [op.value(0), filter.value(op), *([bias.value(op)] if bias else [])]
    attributes: dict[str, Any] = {
        "strides": strides,
        "dilations": dilations,
        "padding": padding,
        "groups": groups,
        "clamp": op.clamp(),
    }
    if not is_hybrid(op, w):
        op.emit("conv2d", operands, shape, attributes)
        return
    # As LiteRT's kernels do it: the older one, of convolutions with a single filter scale, quantizes
    # symmetrically and multiplies the scales first; so does the depthwise one, but asymmetrically.
    depthwise, single = op.name == "DEPTHWISE_CONV_2D", w.params.is_per_tensor
    attributes |= {"asymmetric": depthwise or not single, "scales_first": depthwise or single}
    op.emit("dynamic_conv2d", operands, shape, attributes)


@importer("FULLY_CONNECTED")
def fully_connected(op: OperatorImport) -> None:
    """fully_connected on the input seen as [elements / K, K], unless its dimensions are to be kept."""
    if op.option("weights_format") != "DEFAULT":
        shuffled_fully_connected(op)
        return
    op.demand_counts((2, 3))
    blocks = blocks_of(op)
    x, w = op.type(0), blocks.type if blocks else filter_type(op)
    op.demand_rank(w, 2, "weights")
    features = w.shape[1]
    if not features or not x.shape or x.elements % features:
        op.fail(
            f"an input of shape {list(x.shape)} does not divide into rows of {features} "
            f"(weights {list(w.shape)})"
        )
    value = op.value(0)
    if not op.option("keep_num_dims") and (len(x.shape) != 2 or x.shape[1] != features):
        x = TensorType((x.elements // features, features), x.element)
        value = op.build("reshape", [value], x, {})
    shape = op.infer(fully_connected_shape, x.shape, w.shape)
    bias = any_bias_of(op, w)
    weights = blocks or weights_of(op, w)
    operands = [value, weights.value(op), *([bias.value(op)] if bias else [])]
    if not is_hybrid(op, w):
        op.emit("fully_connected", operands, shape, {"clamp": op.clamp()})
        return
    # Kernels for weights in blocks quantize asymmetrically, whatever the option says.
    attributes = {"clamp": op.clamp(), "asymmetric": bool(blocks) or op.option("asymmetric_inputs")}
    op.emit("dynamic_fully_connected", operands, shape, attributes)
