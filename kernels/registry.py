"""The kernel families by the kind of what they compute."""

from __future__ import annotations

from . import (
    amx_conv2d,
    arg_max,
    border,
    conv2d,
    conv2d_16x8,
    conv2d_wide,
    conversion,
    depthwise_conv2d,
    extrema,
    matrix_product,
    mean,
    pack_matrix,
    pair_table,
    pool,
    products,
    quantize_rows,
    resize,
    softmax,
    sums,
    table,
    transpose,
)
from .conv import Conv, WideConv
from .families import Family

FAMILIES: dict[type, tuple[Family, ...]] = {
    conversion.Dequantize: (conversion,),
    conversion.Quantize: (conversion,),
    products.Multiply: (products,),
    sums.Add: (sums,),
    extrema.Extremum: (extrema,),
    pair_table.PairTable: (pair_table,),
    border.Border: (border,),
    table.Table: (table,),
    pool.Pool: (pool,),
    mean.Mean: (mean,),
    arg_max.ArgMax: (arg_max,),
    resize.Resize: (resize,),
    softmax.Softmax: (softmax,),
    transpose.Transpose: (transpose,),
    conv2d_16x8.Conv16x8: (conv2d_16x8,),
    quantize_rows.QuantizeRows: (quantize_rows,),
    WideConv: (conv2d_wide,),
    pack_matrix.PackMatrix: (pack_matrix,),
    matrix_product.MatrixProduct: (matrix_product,),
    Conv: (depthwise_conv2d, conv2d),
}
"""Class of what is computed -> the families that may take it, in the order they are asked."""

EXTENSIONS: dict[str, dict[type, tuple[Family, ...]]] = {
    "amx": {Conv: (amx_conv2d,)},
    "avx512vbmi": {table.Table: (table,)},
    "i8mm": {Conv: (conv2d,), WideConv: (conv2d_wide,)},
}
"""Instruction set -> the families that need what it has beyond the set it extends; they are asked first."""
