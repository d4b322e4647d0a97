"""TRANSPOSE_CONV as a convolution with one output channel per phase of the stride, and an interleaving.

Along one axis of stride ``s``, input ``i`` and tap ``k`` meet at output ``i * s + k - pad``. Written ``s * q
+ r`` (phase ``r``), only the taps ``r, r + s, r + 2s, ...`` reach it, from the inputs ``q, q - 1, q - 2,
...``: the phase is an ordinary convolution over ``q`` with a part of the filter, in reverse. All phases are
channels of one conv2d, which does the same products as a transposed convolution would; a transpose then
brings them between each other. No number changes: the same products are added before the same rescale.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...dialect.qnn.shapes import conv_output_extent, same_padding
from ...dialect.types import QuantParams, TensorType
from .operator_import import OperatorImport
from .registry import importer
from .weights import Constant, Places, bias_of, filter_type, is_hybrid

_PLACES = Places(input=2, filter=1, bias=3)


@dataclass(frozen=True)
class Phases:
    """How one axis is computed: ``taps`` per phase, at ``count`` positions from ``first`` on."""

    stride: int
    taps: int
    first: int
    count: int
    skipped: int
    """Elements before the first output, once phases are interleaved."""

    @classmethod
    def of(cls, output: int, kernel: int, stride: int, padding: str) -> Phases:
        pad = convolution_padding(output, kernel, stride, padding)[0]
        first, last = pad // stride, (pad + output - 1) // stride
        return cls(stride, -(-kernel // stride), first, last - first + 1, pad - stride * first)

    def borders(self, extent: int) -> tuple[int, int]:
        """How far the convolution reads before its input and behind it."""
        return self.taps - 1 - self.first, self.first + self.count - extent


def convolution_padding(output: int, kernel: int, stride: int, padding: str) -> tuple[int, int]:
    """What the convolution whose transpose this is would add to ``output`` elements."""
    return same_padding(output, kernel, stride) if padding == "SAME" else (0, 0)


@importer("TRANSPOSE_CONV")
def transpose_conv(op: OperatorImport) -> None:
    """conv2d on all phases, then reshape, transpose, reshape, slice as far as the stride needs them."""
    op.demand_counts((3, 4))
    x, w = op.type(2), filter_type(op, _PLACES)
    op.demand_rank(x, 4)
    op.demand_rank(w, 4, "filter")
    shape = op.integers(0, "output shapes")
    if len(shape) != 4 or (shape[0], shape[3]) != (x.shape[0], w.shape[0]) or x.shape[3] != w.shape[3]:
        op.fail(
            f"output shape {list(shape)} does not fit input shape {list(x.shape)} "
            f"and filter shape {list(w.shape)}"
        )
    strides = op.option("stride_h"), op.option("stride_w")
    op.demand_positive(
        stride_h=strides[0],
        stride_w=strides[1],
        filter_height=w.shape[1],
        filter_width=w.shape[2],
        output_height=shape[1],
        output_width=shape[2],
        output_channels=shape[3],
    )
    op.demand_memory(shape, op.output().type)
    padding = op.option("padding")
    expected = [
        conv_output_extent(output, kernel, stride, 1, convolution_padding(output, kernel, stride, padding))
        for output, kernel, stride in zip(shape[1:3], w.shape[1:3], strides, strict=True)
    ]
    if list(x.shape[1:3]) != expected:
        op.fail(
            f"an input of {list(x.shape[1:3])} does not give the output {list(shape[1:3])}, {expected} does"
        )
    rows, columns = (
        Phases.of(output, kernel, stride, padding)
        for output, kernel, stride in zip(shape[1:3], w.shape[1:3], strides, strict=True)
    )
    phases = _convolve(op, x, w, (rows, columns))
    _interleave(op, phases, shape, (rows, columns))


def _convolve(op: OperatorImport, x: TensorType, w: TensorType, axes: tuple[Phases, Phases]) -> Any:
    """[N, Q, P, sh * sw * O]: all phases of every position, at the result's parameters."""
    rows, columns = axes
    outputs, copies = w.shape[0], rows.stride * columns.stride
    filter_shape = (copies * outputs, rows.taps, columns.taps, w.shape[3])
    shape = (x.shape[0], rows.count, columns.count, copies * outputs)
    op.demand_memory(filter_shape, w)
    op.demand_memory(shape, op.output().type)
    bias = bias_of(op, w, _PLACES)
    wanted = _repeated(w.element, copies)
    constants = [
        Constant(
            op.tensor(1),
            _filter_of_phases(op.constant(1, "weights"), w.element, axes),
            TensorType(filter_shape, wanted),
            ("phases", rows, columns),
        )
    ]
    if bias is not None:
        type_ = TensorType((copies * outputs,), _repeated(bias.type.element, copies))
        constants.append(
            Constant(bias.tensor, np.tile(bias.array, copies), type_, (bias.variant, "phases", copies))
        )
    attributes: dict[str, Any] = {
        "strides": (1, 1),
        "dilations": (1, 1),
        "padding": _padding(op, x, axes),
        "groups": 1,
        "clamp": op.clamp(),
    }
    operands = [op.value(2), *(constant.value(op) for constant in constants)]
    result = TensorType(shape, op.output().element)
    if is_hybrid(op, w, _PLACES):
        # LiteRT rounds each product to float32; here their exact sum is rounded once.
        attributes |= {"asymmetric": True, "scales_first": False}
        return op.build("dynamic_conv2d", operands, result, attributes)
    return op.build("conv2d", operands, result, attributes)


def _padding(op: OperatorImport, x: TensorType, axes: tuple[Phases, Phases]) -> tuple[int, int, int, int]:
    """Top, bottom, left, right of the convolution."""
    (top, bottom), (left, right) = (
        axis.borders(extent) for axis, extent in zip(axes, x.shape[1:3], strict=True)
    )
    op.demand_memory((x.shape[0], x.shape[1] + top + bottom, x.shape[2] + left + right, x.shape[3]), x)
    return top, bottom, left, right


def _filter_of_phases(
    weights: npt.NDArray[np.generic], element: str | QuantParams, axes: tuple[Phases, Phases]
) -> npt.NDArray[np.generic]:
    """[sh * sw * O, TH, TW, I] from [O, KH, KW, I]; taps that are not there hold the zero point."""
    outputs, *kernel, depth = weights.shape
    fill = element.zero_points[0] if isinstance(element, QuantParams) else 0
    full = np.full((outputs, *(a.stride * a.taps for a in axes), depth), fill, weights.dtype)
    full[:, : kernel[0], : kernel[1]] = weights
    rows, columns = axes
    split = full.reshape(outputs, rows.taps, rows.stride, columns.taps, columns.stride, depth)
    ordered = split[:, ::-1, :, ::-1].transpose(2, 4, 0, 1, 3, 5)
    phases: npt.NDArray[np.generic] = ordered.reshape(-1, rows.taps, columns.taps, depth)
    return phases


def _repeated(element: str | QuantParams, copies: int) -> str | QuantParams:
    """The element type of ``copies`` repetitions along axis 0."""
    if not isinstance(element, QuantParams) or element.axis is None:
        return element
    return replace(element, scales=element.scales * copies, zero_points=element.zero_points * copies)


def _interleave(op: OperatorImport, phases: Any, shape: tuple[int, ...], axes: tuple[Phases, Phases]) -> None:
    """[N, Q, P, sh * sw * O] => [N, Q * sh, P * sw, O], and of that the output."""
    rows, columns = axes
    batch, _, _, outputs = shape
    element = op.output().element
    if rows.stride * columns.stride > 1:
        split = (batch, rows.count, columns.count, rows.stride, columns.stride, outputs)
        phases = op.build("reshape", [phases], TensorType(split, element), {})
        order = (0, 1, 3, 2, 4, 5)
        moved = tuple(split[axis] for axis in order)
        phases = op.build("transpose", [phases], TensorType(moved, element), {"permutation": order})
        whole = (batch, rows.count * rows.stride, columns.count * columns.stride, outputs)
        phases = op.build("reshape", [phases], TensorType(whole, element), {})
        if whole != shape:
            offsets = (0, rows.skipped, columns.skipped, 0)
            attributes = {"offsets": offsets, "sizes": shape, "strides": (1, 1, 1, 1)}
            op.emit("slice", [phases], shape, attributes)
            return
    op.bind(phases, op.result_type(shape))
