"""TFLite files to qnn modules: a validating reader, and one importer function per operator."""

from __future__ import annotations

from . import (  # noqa: F401 - each registers its importers
    activation,
    choice,
    control_flow,
    conv,
    conv_3d,
    counted,
    detection,
    elementwise,
    index_ops,
    lstm,
    matmul,
    normalization,
    placement,
    pooling,
    quantize,
    reduction,
    repetition,
    resize,
    shape_arithmetic,
    shape_ops,
    single_lstm,
    space_ops,
    strided_slice,
    svdf,
    transpose_conv,
    unary,
    variables,
)
from .load import load_tflite

__all__ = ["load_tflite"]
