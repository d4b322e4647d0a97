"""The kernel families by the kind of what they compute."""

from __future__ import annotations

from . import amx_conv2d, border, conv2d, depthwise_conv2d, mean, pool, softmax, sums, table
from .conv import Conv
from .families import Family

FAMILIES: dict[type, tuple[Family, ...]] = {
    sums.Add: (sums,),
    border.Border: (border,),
    table.Table: (table,),
    pool.Pool: (pool,),
    mean.Mean: (mean,),
    softmax.Softmax: (softmax,),
    Conv: (depthwise_conv2d, conv2d),
}
"""Class of what is computed -> the families that may take it, in the order they are asked."""

EXTENSIONS: dict[str, dict[type, tuple[Family, ...]]] = {"amx": {Conv: (amx_conv2d,)}}
"""Instruction set -> the families that need what it has beyond the set it extends; they are asked first."""
