"""What LiteRT's interpreter says about a tensor, as the dicts its users read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dialect.types import QuantParams
from ..frontends.tflite.graph import Tensor

# What has no element type of ours.
_OTHER_TYPES: dict[str, type[np.generic]] = {
    "STRING": np.bytes_,
    "COMPLEX64": np.complex64,
    "COMPLEX128": np.complex128,
}


def tensor_details(tensor: Tensor, shape: Sequence[int] | None = None) -> dict[str, Any]:
    """The details dict of one tensor; ``shape`` replaces the file's (after a resize).

    ``quantization`` is (scale, zero point) of a per-tensor quantized tensor, else (0.0, 0);
    ``quantization_parameters`` has all of them.
    """
    params = tensor.element if isinstance(tensor.element, QuantParams) else None
    scales = () if params is None else params.scales
    zero_points = () if params is None else params.zero_points
    single = (float(scales[0]), int(zero_points[0])) if len(scales) == 1 else (0.0, 0)
    return {
        "name": tensor.name,
        "index": tensor.index,
        "shape": np.array(tensor.shape if shape is None else shape, np.int32),
        "shape_signature": np.array(tensor.shape_signature, np.int32),
        "dtype": _scalar_type(tensor),
        "quantization": single,
        "quantization_parameters": {
            "scales": np.array(scales, np.float32),
            "zero_points": np.array(zero_points, np.int32),
            "quantized_dimension": 0 if params is None or params.axis is None else params.axis,
            "block_size": 0,
        },
        "sparsity_parameters": {},
    }


def _scalar_type(tensor: Tensor) -> type[np.generic]:
    if not tensor.element:
        return _OTHER_TYPES.get(tensor.type_name, np.object_)
    return tensor.type.dtype.type
