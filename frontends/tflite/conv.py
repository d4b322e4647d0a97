"""CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED: weights and biases in our layout and types."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...dialect.qnn.shapes import conv2d_shape, fully_connected_shape
from ...dialect.types import QuantParams, Storage, TensorType
from .operator_import import FLOAT, Q32, OperatorImport, kind
from .registry import importer
from .window import window_of

_I8_WITH_I4_BOUNDS = Storage(8, True, -8, 7)
_INT32 = 2
"""Code of INT32 in the option that says how wide biases (and accumulators) are."""
_BIAS_LIMIT = float(1 << 46)
"""Sums of products and bias must stay within the 48 bits that are rescaled."""
_BIAS_TOLERANCE = 0.02
"""How far a bias scale may be from input x weight scale, in units of the output scale
(LiteRT's own limit).
"""


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
    _emit_conv(op, w, op.constant(1, "weights"), channels // w.shape[3])


@importer("DEPTHWISE_CONV_2D")
def depthwise_conv_2d(op: OperatorImport) -> None:
    """conv2d with one group per input channel; the filter [1, KH, KW, C*M] becomes [C*M, KH, KW, 1]."""
    op.demand_counts((2, 3))
    x, w = op.type(0), filter_type(op)
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
        if params.axis != 3:
            op.fail(f"filter scales lie on axis {params.axis}, expected 3 (the output channels)")
        params = replace(params, axis=0)
    transposed = TensorType((outputs, w.shape[1], w.shape[2], 1), params)
    _emit_conv(op, transposed, op.constant(1, "weights").transpose(3, 1, 2, 0), channels)


def _emit_conv(op: OperatorImport, w: TensorType, weights: Any, groups: int) -> None:
    window = window_of(op, op.type(0), w.shape[1:3], (op.option("dilation_h"), op.option("dilation_w")))
    strides, dilations, padding = window.strides, window.dilations, window.padding
    shape = op.infer(conv2d_shape, op.type(0).shape, w.shape, strides, dilations, padding)
    operands = [op.value(0), op.constant_value(op.tensor(1), weights, w), *_bias(op, w)]
    attributes = {
        "strides": strides,
        "dilations": dilations,
        "padding": padding,
        "groups": groups,
        "clamp": op.clamp(),
    }
    op.emit("conv2d", operands, shape, attributes)


@importer("FULLY_CONNECTED")
def fully_connected(op: OperatorImport) -> None:
    """fully_connected on the input seen as [elements / K, K], unless its dimensions are to be kept."""
    op.demand_counts((2, 3))
    x, w = op.type(0), filter_type(op)
    if op.option("weights_format") != "DEFAULT":
        op.unsupported(f"weights format {op.option('weights_format')}")
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
    operands = [value, op.constant_value(op.tensor(1), op.constant(1, "weights"), w), *_bias(op, w)]
    op.emit("fully_connected", operands, shape, {"clamp": op.clamp()})


def filter_type(op: OperatorImport) -> TensorType:
    """The filter's type as stored (4-bit values count as i8 with bounds); what input and result it is
    combined with is checked.
    """
    x, w, y = op.type(0), op.type(1), op.output().type
    op.constant(1, "weights")
    activations, weights = kind(x), kind(w)
    if activations in FLOAT and isinstance(w.element, QuantParams):
        op.unsupported(f"hybrid (float activations with {_name(op, 1)} weights)")
    if activations == weights == kind(y) and activations in FLOAT:
        return w
    signed = ("quantized i8", "quantized i4")
    wanted = {"quantized i8": signed, "quantized u8": ("quantized u8",), "quantized i16": signed}
    if weights not in wanted.get(activations, ()):
        op.unsupported(f"{activations} input with {weights} weights")
    if kind(y) != activations and not (op.name == "FULLY_CONNECTED" and kind(y) in Q32):
        op.unsupported(f"{activations} input with {kind(y)} result")
    params = w.params
    channel_axis = 3 if op.name == "DEPTHWISE_CONV_2D" else 0
    if params.axis is not None and (params.axis != channel_axis or activations == "quantized u8"):
        op.fail(
            f"{weights} weights have scales along axis {params.axis}, "
            f"expected {channel_axis} and int8 storage"
        )
    if op.name != "FULLY_CONNECTED" and weights != "quantized u8" and any(params.zero_points):
        op.fail(f"int8 weights need zero point 0, got {params.zero_points[0]}")
    if params.storage.bits == 4:
        return TensorType(w.shape, replace(params, storage=_I8_WITH_I4_BOUNDS))
    return w


def _name(op: OperatorImport, index: int) -> str:
    return op.tensor(index).type_name.lower()


def _bias(op: OperatorImport, w: TensorType) -> list[Any]:
    """The bias as an operand, if there is one.

    Its parameters follow from the others: scale input x weight, in double precision, zero point 0. The
    file's own scale is a rounded copy of that, which kernels do not read.
    """
    wide = kind(op.type(0)) == "quantized i16"
    if not op.has(2):
        return [_no_bias(op, w)] if wide and op.operator.options.get("bias_type") != _INT32 else []
    data, declared = op.constant(2, "biases"), op.type(2)
    outputs = w.shape[0]
    if data.size != outputs:
        op.fail(f"bias of shape {list(declared.shape)}, expected {outputs} values (one per output channel)")
    if kind(w) in FLOAT:
        op.demand_kind(declared, FLOAT, "bias")
        return [op.constant_value(op.tensor(2), data.reshape(-1), TensorType((outputs,), "f32"))]
    if wide and data.dtype == np.int64:
        if isinstance(declared.element, QuantParams):
            _check_bias_params(op, declared.element, w)
        return [_wide_bias(op, w, data.reshape(-1))]
    op.demand_kind(declared, {"i32", *Q32}, "bias")
    if isinstance(declared.element, QuantParams):
        _check_bias_params(op, declared.element, w)
    s_x = op.type(0).params.scale
    # A filter channel of scale 0 is stored as zeros of scale 1 (without_dead_channels), and the bias follows.
    scales = tuple(s_x * (s_w or 1.0) for s_w in w.params.scales)
    params = QuantParams(Storage.of("i32"), scales, (0,) * len(scales), w.params.axis)
    values, dead = _without_dead_channels(data.reshape(-1), w.params)
    return [op.constant_value(op.tensor(2), values, TensorType((outputs,), params), dead)]


def _without_dead_channels(
    values: npt.NDArray[np.generic], weights: QuantParams
) -> tuple[npt.NDArray[np.generic], tuple[int, ...]]:
    """A channel of scale 0 is one of real zeros, bias included: that too was stored in units of input x 0."""
    dead = tuple(c for c, scale in enumerate(weights.scales) if scale == 0)
    if not dead:
        return values, dead
    alive = np.asarray(weights.scales) != 0
    return np.where(alive, values, values.dtype.type(0)), dead


def _wide_bias(op: OperatorImport, w: TensorType, values: npt.NDArray[np.generic]) -> Any:
    """An int64 bias: a plain integer tensor, in units of input x weight scale."""
    if np.abs(values.astype(np.float64)).max(initial=0) >= _BIAS_LIMIT:
        op.fail(f"bias values up to {np.abs(values).max()}, expected less than 2^46 (48-bit accumulators)")
    values, dead = _without_dead_channels(values, w.params)
    return op.constant_value(op.tensor(2), values, TensorType(values.shape, "i64"), dead)


def _no_bias(op: OperatorImport, w: TensorType) -> Any:
    """Kernels of int16 activations accumulate in 64 bits unless the operator says otherwise: a bias of zeros
    stands for that.
    """
    zeros = np.zeros(w.shape[0], np.int64)
    return op.constant_value(op.tensor(1), zeros, TensorType(zeros.shape, "i64"), "no bias")


def _check_bias_params(op: OperatorImport, bias: QuantParams, w: TensorType) -> None:
    if any(bias.zero_points):
        op.fail(f"the bias must have zero point 0, got {next(z for z in bias.zero_points if z)}")
    # LiteRT compares scales in per-tensor FULLY_CONNECTED and in uint8 convolutions. Per-channel and int8
    # convolutions are computed without a look at the bias's scale, so any is right there.
    compared = op.name == "FULLY_CONNECTED" or not w.params.storage.signed
    if not compared or not bias.is_per_tensor or not w.params.is_per_tensor:
        return
    expected, s_y = op.type(0).params.scale * w.params.scale, op.output().type.params.scale
    if (
        not math.isclose(bias.scale, expected, rel_tol=1e-3)
        and abs(bias.scale - expected) > _BIAS_TOLERANCE * s_y
    ):
        op.fail(f"bias scale {bias.scale:g} differs from input scale x weight scale, {expected:g}")
