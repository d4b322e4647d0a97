"""dynamic_conv2d and dynamic_fully_connected: rows are quantized into a temporary buffer, then multiplied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...dialect import fixed_point as fx
from ...dialect.numerics import Rounding
from ...dialect.op_constants import Rescale
from ...kernels.conv import Reals, WideConv
from ...kernels.image import Image
from ...kernels.quantize_rows import QuantizeRows
from .. import graph
from .groups import Around, Group, Part, Want, constant_array

NO_RESCALE = Rescale(Rounding.EXACT, (1.0,), (1 << 30,), (1,), 0, 0, 0)
_TO_U8 = 128


def conv2d(op: Any, attributes: Mapping[str, Any], around: Around) -> Group | str:
    """A convolution whose filter and bias are constants; each image is quantized by its range."""
    constants = _constants(op)
    if isinstance(constants, str):
        return constants
    filter_, bias = constants
    source, target = (graph.type_of(value).shape for value in (op.operands[0], op.results[0]))
    if 1 < attributes["groups"] == source[3]:
        return "depthwise of dynamic range"
    top, bottom, left, right = attributes["padding"]
    spec = QuantizeRows(
        source[0],
        _image(source, border=(top, bottom, left, right)),
        attributes["asymmetric"],
        around.signed_inputs,
    )
    ending = _ending(op, attributes, spec, bias, attributes["scales_first"])
    numbers = tuple(attributes["strides"]), tuple(attributes["dilations"]), (top, left), attributes["groups"]
    return _group(op, spec, _image(target, element_bytes=4), filter_, numbers, ending)


def fully_connected(op: Any, attributes: Mapping[str, Any], around: Around) -> Group | str:
    """A product with constant weights and bias; each row is quantized by its range."""
    constants = _constants(op)
    if isinstance(constants, str):
        return constants
    weights, bias = constants
    outputs, depth = weights.shape
    rows = graph.type_of(op.operands[0]).elements // depth
    spec = QuantizeRows(rows, Image(1, 1, rows, depth), attributes["asymmetric"], around.signed_inputs)
    ending = _ending(op, attributes, spec, bias, scales_first=True)
    result = Image(1, 1, rows, outputs, element_bytes=4)
    return _group(op, spec, result, weights[:, None, None], ((1, 1), (1, 1), (0, 0), 1), ending)


def _image(shape: Sequence[int], **others: Any) -> Image:
    batch, height, width, channels = shape
    return Image(batch, height, width, channels, **others)


def _constants(op: Any) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32] | None] | str:
    """Filter and bias."""
    types = [graph.type_of(value) for value in op.operands]
    if not all(type_.is_static for type_ in types):
        return "extents that are known at run time only"
    filter_, *rest = [constant_array(value) for value in list(op.operands)[1:]]
    if filter_ is None or any(array is None for array in rest):
        return "its filter or bias is not a constant"
    return filter_, rest[0] if rest else None


def _ending(
    op: Any,
    attributes: Mapping[str, Any],
    spec: QuantizeRows,
    bias: npt.NDArray[np.float32] | None,
    scales_first: bool,
) -> Reals:
    params, outputs = graph.type_of(op.operands[1]).params, graph.type_of(op.operands[1]).shape[0]
    scales = np.asarray(params.scales, np.float32)
    is_blocked = bool(params.block_sizes)
    by_block = scales.reshape(outputs, -1).T if is_blocked else np.broadcast_to(scales, (outputs,))[None]
    return Reals(
        by_block,
        bias,
        tuple(attributes["clamp"]) or None,
        spec.asymmetric,
        scales_first and not is_blocked,
        is_blocked,
        spec.per_pixel,
        spec.parameters,
    )


def _group(
    op: Any,
    rows: QuantizeRows,
    result: Image,
    filter_: npt.NDArray[np.int8],
    window: tuple[Any, Any, Any, int],
    ending: Reals,
) -> Group:
    strides, dilations, padding, groups = window
    start = np.zeros(filter_.shape[0], np.int64)
    if not (rows.signed or rows.asymmetric or ending.is_blocked):
        start = -_TO_U8 * filter_.reshape(filter_.shape[0], -1).sum(1, dtype=np.int64)
    conv = WideConv(
        kind="conv2d",
        input=rows.output,
        output=result,
        kernel=(filter_.shape[1], filter_.shape[2]),
        strides=strides,
        dilations=dilations,
        padding=padding,
        groups=groups,
        input_signed=rows.signed,
        filter_signed=True,
        filter_zero_points=(0,),
        result_signed=True,
        rescale=NO_RESCALE,
        filter=filter_,
        bias=fx.wrap_int32(start).astype(np.int32),
        ending=ending,
    )
    parts = [Part(rows, (0,), rows.buffer_bytes), Part(conv, (1,))]
    return Group(op, (op.operands[0],), (Want(),), lambda inputs, output: parts)
