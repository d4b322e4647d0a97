"""CONV_3D and CONV_3D_TRANSPOSE of floats, as conv2d: the taps along the depth become channels.

``result[n, d] = sum over taps k: conv2d(input[n, d * stride + k * dilation - front], filter[k])``: the slices
of the input that a depth reads lie side by side as channels of one image, and so does the filter. The
transposed convolution is one of all phases of its stride, as in ``transpose_conv.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ...dialect.qnn.shapes import conv_output_extent, same_padding
from ...dialect.types import TensorType
from .operator_import import FLOAT, OperatorImport
from .registry import importer
from .transpose_conv import Phases, convolution_padding
from .weights import Constant

Pair: TypeAlias = tuple[int, int]
_AXES = ("d", "h", "w")


@dataclass(frozen=True)
class Volume:
    """A convolution over depth, height and width: one entry per axis; ``padding`` is (before, behind)."""

    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    padding: tuple[Pair, ...]


@importer("CONV_3D")
def conv_3d(op: OperatorImport) -> None:
    """conv2d on as many slices of the input as the filter [KD, KH, KW, I, O] has taps along the depth."""
    op.demand_counts((2, 3))
    x, filter_ = op.type(0), _float_filter(op, (0, 1))
    *kernel, depth, outputs = filter_.shape
    if depth != x.shape[4]:
        op.fail(f"{x.shape[4]} input channels do not fit filter shape {list(filter_.shape)}")
    strides, dilations = _numbers(op, "stride"), _numbers(op, "dilation")
    padding = tuple(
        same_padding(*axis) if op.option("padding") == "SAME" else (0, 0)
        for axis in zip(x.shape[1:4], kernel, strides, dilations, strict=True)
    )
    bias = _bias(op, 2, outputs)
    value, type_ = _convolve(op, (op.value(0), x), filter_, bias, Volume(strides, dilations, padding))
    op.bind(value, op.result_type(type_.shape))


@importer("CONV_3D_TRANSPOSE")
def conv_3d_transpose(op: OperatorImport) -> None:
    """A convolution of all phases, with the filter [KD, KH, KW, O, I], and their interleaving."""
    op.demand_counts((3, 4))
    x, filter_ = op.type(2), _float_filter(op, (2, 1))
    *kernel, outputs, depth = filter_.shape
    shape = op.integers(0, "output shapes")
    if len(shape) != 5 or (shape[0], shape[4]) != (x.shape[0], outputs) or depth != x.shape[4]:
        op.fail(
            f"output shape {list(shape)} does not fit input shape {list(x.shape)} "
            f"and filter shape {list(filter_.shape)}"
        )
    if any(extent < 1 for extent in shape):
        op.fail(f"output shape {list(shape)}: extents must be positive")
    op.demand_memory(shape, x)
    strides, padding = _numbers(op, "stride"), op.option("padding")
    if _numbers(op, "dilation") != (1, 1, 1):
        op.unsupported("dilations of a transposed convolution")
    spans = list(zip(shape[1:4], kernel, strides, strict=True))
    expected = [conv_output_extent(n, k, s, 1, convolution_padding(n, k, s, padding)) for n, k, s in spans]
    if list(x.shape[1:4]) != expected:
        op.fail(
            f"an input of {list(x.shape[1:4])} does not give the output {list(shape[1:4])}, {expected} does"
        )
    axes = [Phases.of(*span, padding) for span in spans]
    copies = int(np.prod(strides))
    op.demand_memory((*(axis.taps for axis in axes), depth, copies * outputs), x)
    bias = _bias(op, 3, outputs, copies)
    borders = tuple(axis.borders(extent) for axis, extent in zip(axes, x.shape[1:4], strict=True))
    ones = (1, 1, 1)
    phases = _convolve(
        op, (op.value(2), x), _filter_of_phases(filter_, axes), bias, Volume(ones, ones, borders)
    )
    _interleave(op, phases[0], shape, axes)


def _numbers(op: OperatorImport, name: str) -> tuple[int, ...]:
    """An option of depth, height and width."""
    values = {f"{name}_{axis}": op.option(f"{name}_{axis}") for axis in _AXES}
    op.demand_positive(**values)
    return tuple(values.values())


def _float_filter(op: OperatorImport, places: Sequence[int]) -> npt.NDArray[Any]:
    """The filter's values; input, filter and result are of rank 5 and floats."""
    for index, what in zip(places, ("input", "filter"), strict=True):
        op.demand_kind(op.type(index), FLOAT, what)
        op.demand_rank(op.type(index), 5, what)
    op.demand_kind(op.output().type, FLOAT, "result")
    filter_ = op.constant(places[1], "weights")
    if 0 in filter_.shape:
        op.fail(f"filter of shape {list(filter_.shape)}")
    return filter_


def _bias(op: OperatorImport, index: int, outputs: int, copies: int = 1) -> list[Constant]:
    if not op.has(index):
        return []
    op.demand_kind(op.type(index), FLOAT, "bias")
    data = op.constant(index, "biases").reshape(-1)
    if data.size != outputs:
        op.fail(f"bias of {data.size} values, expected {outputs} (one per output channel)")
    return [Constant(op.tensor(index), np.tile(data, copies), TensorType((copies * outputs,), "f32"), copies)]


def _convolve(
    op: OperatorImport,
    source: tuple[Any, TensorType],
    filter_: npt.NDArray[Any],
    bias: Sequence[Constant],
    volume: Volume,
) -> tuple[Any, TensorType]:
    """The convolution of [N, D, H, W, C] by [KD, KH, KW, C, O], and its type."""
    value, x = source
    taps, height, width, depth, outputs = filter_.shape
    extents = [
        conv_output_extent(extent, kernel, stride, dilation, padding)
        for extent, kernel, stride, dilation, padding in zip(
            x.shape[1:4], filter_.shape[:3], volume.strides, volume.dilations, volume.padding, strict=True
        )
    ]
    if 0 in extents:
        op.fail(
            f"a kernel of {list(filter_.shape[:3])} does not fit into the padded input of {list(x.shape)}"
        )
    batch, frames = x.shape[0], extents[0]
    padded = [n + sum(pair) for n, pair in zip(x.shape[1:4], volume.padding, strict=True)]
    op.demand_memory((batch, *padded, x.shape[4]), x)
    op.demand_memory((batch * frames, *padded[1:], taps * depth), x)
    images = _frames(op, (value, x), taps, frames, volume)
    kernel = filter_.transpose(4, 1, 2, 0, 3).reshape(outputs, height, width, taps * depth)
    place = 1  # of the filter, in both operators
    constant = Constant(op.tensor(place), kernel, TensorType(kernel.shape, "f32"), "2-d")
    attributes = {
        "strides": volume.strides[1:],
        "dilations": volume.dilations[1:],
        "padding": (*volume.padding[1], *volume.padding[2]),
        "groups": 1,
        "clamp": op.clamp(),
    }
    flat = TensorType((batch * frames, *extents[1:], outputs), "f32")
    operands = [images, constant.value(op), *(one.value(op) for one in bias)]
    result = op.build("conv2d", operands, flat, attributes)
    whole = TensorType((batch, *extents, outputs), "f32")
    return op.build("reshape", [result], whole, {}), whole


def _frames(
    op: OperatorImport, source: tuple[Any, TensorType], taps: int, frames: int, volume: Volume
) -> Any:
    """[N * D', H, W, KD * C]: what each frame of the result reads, tap by tap."""
    value, x = source
    batch, _, height, width, channels = x.shape
    front, behind = volume.padding[0]
    if front or behind:
        x = TensorType((batch, x.shape[1] + front + behind, *x.shape[2:]), "f32")
        low, high = (0, front, 0, 0, 0), (0, behind, 0, 0, 0)
        value = op.build("pad", [value], x, {"low": low, "high": high, "value": 0.0})
    one = TensorType((batch, frames, height, width, channels), "f32")
    strides = (1, volume.strides[0], 1, 1, 1)
    slices = []
    for tap in range(taps):
        offsets = (0, tap * volume.dilations[0], 0, 0, 0)
        attributes = {"offsets": offsets, "sizes": one.shape, "strides": strides}
        slices.append(op.build("slice", [value], one, attributes))
    together = TensorType((*one.shape[:4], taps * channels), "f32")
    value = op.build("concat", slices, together, {"axis": 4}) if taps > 1 else slices[0]
    return op.build(
        "reshape", [value], TensorType((batch * frames, height, width, taps * channels), "f32"), {}
    )


def _filter_of_phases(filter_: npt.NDArray[Any], axes: Sequence[Phases]) -> npt.NDArray[Any]:
    """[TD, TH, TW, I, sd * sh * sw * O] from [KD, KH, KW, O, I]; taps that are not there are zero."""
    *kernel, outputs, depth = filter_.shape
    full = np.zeros((*(a.stride * a.taps for a in axes), outputs, depth), filter_.dtype)
    full[: kernel[0], : kernel[1], : kernel[2]] = filter_
    shape = [n for axis in axes for n in (axis.taps, axis.stride)]
    split = full.reshape(*shape, outputs, depth)[::-1, :, ::-1, :, ::-1]
    ordered = split.transpose(0, 2, 4, 7, 1, 3, 5, 6)
    phases: npt.NDArray[Any] = ordered.reshape(*(axis.taps for axis in axes), depth, -1)
    return phases


def _interleave(op: OperatorImport, phases: Any, shape: tuple[int, ...], axes: Sequence[Phases]) -> None:
    """[N, Q, P, R, sd * sh * sw * O] => [N, Q * sd, P * sh, R * sw, O], and of that the output."""
    batch, outputs = shape[0], shape[4]
    split = (batch, *(axis.count for axis in axes), *(axis.stride for axis in axes), outputs)
    value = op.build("reshape", [phases], TensorType(split, "f32"), {})
    order = (0, 1, 4, 2, 5, 3, 6, 7)
    moved = TensorType(tuple(split[axis] for axis in order), "f32")
    value = op.build("transpose", [value], moved, {"permutation": order})
    whole = (batch, *(axis.count * axis.stride for axis in axes), outputs)
    value = op.build("reshape", [value], TensorType(whole, "f32"), {})
    offsets = (0, *(axis.skipped for axis in axes), 0)
    op.emit("slice", [value], shape, {"offsets": offsets, "sizes": shape, "strides": (1, 1, 1, 1, 1)})
