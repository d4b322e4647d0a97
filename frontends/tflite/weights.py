"""Weights and biases of contractions: what is combined with what, checked, in our types."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...dialect.types import QuantParams, Storage, TensorType
from .graph import Tensor
from .operator_import import FLOAT, Q16, Q32, OperatorImport, kind

_INT32 = 2
"""Code of INT32 in the option that says how wide biases (and accumulators) are."""
_BIAS_LIMIT = float(1 << 46)
"""Sums of products and bias must stay within the 48 bits that are rescaled."""
_BIAS_TOLERANCE = 0.02
"""How far a bias scale may be from input x weight scale, in units of the output scale
(LiteRT's own limit).
"""
_SIGNED = ("quantized i8", "quantized i4")
_WEIGHTS = {
    "quantized i8": _SIGNED,
    "quantized u8": ("quantized u8",),
    "quantized i16": _SIGNED,
    "f32": ("f32", *_SIGNED),
}
"""Kind of the input -> kinds of weights it is combined with."""
_TWO_BITS = {"quantized i8": ("quantized i2",), "f32": ("quantized i2",)}
_RESULTS = {"FULLY_CONNECTED": {"quantized i8": Q32, "quantized u8": Q16 | Q32, "quantized i16": Q32}}
"""Operator -> kind of its input -> kinds of its result, besides the input's own."""


@dataclass(frozen=True)
class Places:
    """Which inputs of an operator are what, and along which axis of the filter scales may differ."""

    input: int = 0
    filter: int = 1
    bias: int = 2
    channel_axis: int = 0


PLACES = Places()


@dataclass(frozen=True)
class Constant:
    """A constant made from one of the file's: stored values and their type; ``variant`` tells apart uses of
    one type whose values differ.
    """

    tensor: Tensor
    array: npt.NDArray[np.generic]
    type: TensorType
    variant: Hashable = None

    def value(self, op: OperatorImport) -> Any:
        return op.constant_value(self.tensor, self.array, self.type, self.variant)


@dataclass(frozen=True)
class Computed:
    """Weights or biases that are computed at run time, in the layout and type of the op."""

    result: Any
    type: TensorType

    def value(self, op: OperatorImport) -> Any:
        return self.result


def weights_of(
    op: OperatorImport, type_: TensorType, permutation: tuple[int, ...] = ()
) -> Constant | Computed:
    """The filter, a constant or not, as ``type_``; its dimensions in another order, if ``permutation`` says
    so.
    """
    if op.is_constant(PLACES.filter):
        array = op.constant(PLACES.filter, "weights")
        array = array.transpose(permutation) if permutation else array
        return Constant(op.tensor(PLACES.filter), array, type_)
    given, value = op.type(PLACES.filter), op.value(PLACES.filter)
    if given.is_quantized and not given.params.is_per_tensor:
        op.unsupported("weights that are computed at run time with per-channel parameters")
    if permutation:
        value = op.build("transpose", [value], type_, {"permutation": permutation})
    return Computed(value, type_)


def is_hybrid(op: OperatorImport, w: TensorType, places: Places = PLACES) -> bool:
    """Whether float activations meet integer weights: they are quantized at run time."""
    return kind(op.type(places.input)) in FLOAT and w.is_quantized


def blocks_of(op: OperatorImport) -> Constant | None:
    """The weights [N, K] of input 1 whose scales go by blocks along K; None if they are no such."""
    tensor = op.tensor(PLACES.filter)
    blocks, shape = tensor.blockwise, tensor.shape
    if blocks is None:
        return None
    if kind(op.type(0)) not in FLOAT or kind(op.output().type) not in FLOAT:
        op.unsupported(f"{kind(op.type(0))} input with weights in blocks")
    op.demand_kind(tensor.type, {"i4", "i8"}, "weights in blocks")
    op.demand_rank(tensor.type, 2, "weights")
    if blocks.size < 1 or shape[1] % blocks.size:
        op.fail(f"blocks of {blocks.size} do not divide weights of shape {list(shape)}")
    scales = _block_scales(op, blocks.scales, shape[0] * (shape[1] // blocks.size))
    alive = scales != 0  # a block of scale 0 holds real zeros, whatever is stored
    stored = op.constant(PLACES.filter, "weights").reshape(scales.size, blocks.size)
    values = np.where(alive[:, None], stored, stored.dtype.type(0)).reshape(shape)
    params = QuantParams(
        Storage.of(str(tensor.element)),
        tuple(np.where(alive, scales, 1.0).tolist()),
        (0,) * scales.size,
        block_sizes=((0, 1), (1, blocks.size)),
    )
    return Constant(tensor, values, TensorType(shape, params))


def _block_scales(op: OperatorImport, index: int, count: int) -> npt.NDArray[np.float64]:
    tensors = op.graph.tensors
    if not 0 <= index < len(tensors):
        op.fail(f"the tensor {index} of block scales does not exist, the graph has {len(tensors)}")
    data = op.graph.data_of(tensors[index])
    if data is None or data.dtype.kind != "f" or data.size != count:
        got = "no constant" if data is None else f"{data.size} of type {tensors[index].type_name}"
        op.fail(f"block scales: got {got}, expected {count} floats (one per block)")
    scales = data.reshape(-1).astype(np.float64)
    if not (np.isfinite(scales).all() and (scales >= 0).all()):
        op.fail("block scales must be finite and positive")
    return scales


def filter_type(op: OperatorImport, places: Places = PLACES) -> TensorType:
    """The filter's type as stored (values of few bits count as i8 with bounds); what input and result it is
    combined with is checked.
    """
    x, w, y = op.type(places.input), op.type(places.filter), op.output().type
    activations, weights = kind(x), kind(w)
    # Two bits are for matrix products only.
    known = (
        *_WEIGHTS.get(activations, ()),
        *(_TWO_BITS.get(activations, ()) if op.name == "FULLY_CONNECTED" else ()),
    )
    if weights not in known:
        op.unsupported(f"{activations} input with {weights} weights")
    if kind(y) not in {activations, *_RESULTS.get(op.name, {}).get(activations, ())}:
        op.unsupported(f"{activations} input with {kind(y)} result")
    if not w.is_quantized:
        return w
    params, axis = w.params, places.channel_axis
    if params.axis is not None and (params.axis != axis or activations == "quantized u8"):
        op.fail(f"{weights} weights have scales along axis {params.axis}, expected {axis} and int8 storage")
    symmetric = op.name != "FULLY_CONNECTED" or activations in FLOAT
    if symmetric and weights != "quantized u8" and any(params.zero_points):
        op.fail(f"int8 weights need zero point 0, got {params.zero_points[0]}")
    if params.storage.bits < 8:
        bounds = Storage(8, True, params.storage.minimum, params.storage.maximum)
        return TensorType(w.shape, replace(params, storage=bounds))
    return w


def any_bias_of(op: OperatorImport, w: TensorType) -> Constant | Computed | None:
    """As :func:`bias_of`, of biases that may be computed at run time."""
    if not op.has(PLACES.bias) or op.is_constant(PLACES.bias):
        return bias_of(op, w)
    type_ = _bias_type(op, w, PLACES)
    if any(scale == 0 for scale in (w.params.scales if w.is_quantized else ())):
        op.unsupported("biases that are computed at run time beside weights with scales of 0")
    declared, value = op.type(PLACES.bias), op.value(PLACES.bias)
    if declared.shape != type_.shape:
        declared = TensorType(type_.shape, declared.element)
        value = op.build("reshape", [value], declared, {})
    return Computed(op.relabel(value, declared, type_), type_)


def bias_of(op: OperatorImport, w: TensorType, places: Places = PLACES) -> Constant | None:
    """The bias, if there is one, a constant; ``w`` is the filter with the output channels on axis 0."""
    wide = kind(op.type(places.input)) in Q16
    if not op.has(places.bias):
        return _no_bias(op, w, places) if wide and op.operator.options.get("bias_type") != _INT32 else None
    tensor, data = op.tensor(places.bias), op.constant(places.bias, "biases")
    type_ = _bias_type(op, w, places)
    values = data.reshape(-1)
    if type_.element == "i64":
        return _wide_bias(op, w, tensor, values)
    if not type_.is_quantized:
        return Constant(tensor, values, type_)
    values, dead = _without_dead_channels(values, w.params)
    return Constant(tensor, values, type_, dead)


def _bias_type(op: OperatorImport, w: TensorType, places: Places) -> TensorType:
    """f32, a plain i64 in units of input x weight scale, or i32 whose parameters follow from the others:
    scale input x weight, in double precision, zero point 0. The file's own scale is a rounded copy of that,
    which kernels do not read.
    """
    declared, outputs = op.type(places.bias), w.shape[0]
    if declared.elements != outputs:
        op.fail(f"bias of shape {list(declared.shape)}, expected {outputs} values (one per output channel)")
    if kind(w) in FLOAT or is_hybrid(op, w, places):
        op.demand_kind(declared, FLOAT, "bias")
        return TensorType((outputs,), "f32")
    is_wide = kind(op.type(places.input)) in Q16 and declared.dtype == np.int64
    if not is_wide:
        op.demand_kind(declared, {"i32", *Q32}, "bias")
    if isinstance(declared.element, QuantParams):
        _check_bias_params(op, declared.element, w, places)
    if is_wide:
        return TensorType((outputs,), "i64")
    s_x = op.type(places.input).params.scale
    # A filter channel of scale 0 is stored as zeros of scale 1 (without_dead_channels), and the bias follows.
    scales = tuple(s_x * (s_w or 1.0) for s_w in w.params.scales)
    return TensorType((outputs,), QuantParams(Storage.of("i32"), scales, (0,) * len(scales), w.params.axis))


def _without_dead_channels(
    values: npt.NDArray[np.generic], weights: QuantParams
) -> tuple[npt.NDArray[np.generic], tuple[int, ...]]:
    """A channel of scale 0 is one of real zeros, bias included: that too was stored in units of input x 0."""
    dead = tuple(c for c, scale in enumerate(weights.scales) if scale == 0)
    if not dead:
        return values, dead
    alive = np.asarray(weights.scales) != 0
    return np.where(alive, values, values.dtype.type(0)), dead


def _wide_bias(
    op: OperatorImport, w: TensorType, tensor: Tensor, values: npt.NDArray[np.generic]
) -> Constant:
    """An int64 bias: a plain integer tensor, in units of input x weight scale."""
    if np.abs(values.astype(np.float64)).max(initial=0) >= _BIAS_LIMIT:
        op.fail(f"bias values up to {np.abs(values).max()}, expected less than 2^46 (48-bit accumulators)")
    values, dead = _without_dead_channels(values, w.params)
    return Constant(tensor, values, TensorType(values.shape, "i64"), dead)


def _no_bias(op: OperatorImport, w: TensorType, places: Places) -> Constant:
    """Kernels of int16 activations accumulate in 64 bits unless the operator says otherwise: a bias of zeros
    stands for that.
    """
    zeros = np.zeros(w.shape[0], np.int64)
    return Constant(op.tensor(places.filter), zeros, TensorType(zeros.shape, "i64"), "no bias")


def _check_bias_params(op: OperatorImport, bias: QuantParams, w: TensorType, places: Places) -> None:
    if any(bias.zero_points):
        op.fail(f"the bias must have zero point 0, got {next(z for z in bias.zero_points if z)}")
    # LiteRT compares scales in per-tensor FULLY_CONNECTED and in uint8 convolutions. Per-channel and int8
    # convolutions are computed without a look at the bias's scale, so any is right there.
    compared = op.name == "FULLY_CONNECTED" or not w.params.storage.signed
    if not compared or not bias.is_per_tensor or not w.params.is_per_tensor:
        return
    expected, s_y = op.type(places.input).params.scale * w.params.scale, op.output().type.params.scale
    if (
        not math.isclose(bias.scale, expected, rel_tol=1e-3)
        and abs(bias.scale - expected) > _BIAS_TOLERANCE * s_y
    ):
        op.fail(f"bias scale {bias.scale:g} differs from input scale x weight scale, {expected:g}")
