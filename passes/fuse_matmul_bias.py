"""A bias added behind a matrix product."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..dialect.fixed_point import wrap_int32
from ..dialect.types import QuantParams, TensorType
from . import graph
from .constant_operands import constant_data, contraction_and_constant, per_channel, rebuild
from .decisions import record
from .registry import ModulePass, no_match, register


@register
@dataclass(frozen=True)
class FuseMatmulBiasPass(ModulePass):
    """Make an add of a constant to the i32 accumulator of a fully_connected its bias. Exact; in floats up to
    float rounding (the sum is rounded once instead of twice).

    ``add(fully_connected(x, w) : i32, constant)``  =>  ``fully_connected(x, w, bias) : i32``

    The accumulator stays i32 until the bias is in. A result of fewer bits has been rounded before the add,
    so it stays.
    """

    name: ClassVar[str] = "fuse-matmul-bias"
    keeps_params: ClassVar[bool] = True

    def run(self, module: Any) -> None:
        for op in graph.ops_of(module, "add"):
            fuse_bias(op)


def fuse_bias(op: Any) -> bool | None:
    """``add(fully_connected(x, w), constant)``  =>  ``fully_connected(x, w, bias)``"""
    found = contraction_and_constant(op)
    if found is None or graph.name_of(found[0]) != "fully_connected":
        return no_match(op, "no sum of a fully_connected and a constant")
    first, index = found
    refused = _why_not(op, first, index)
    if refused:
        return no_match(op, refused)
    bias, type_ = _bias(op, first, index)
    if bias is None:
        return no_match(op, "the constants are not one value per output channel, or their data is not there")
    record("folded", op, f"as bias into {first.name}", FuseMatmulBiasPass.name)
    constant = graph.build_before(op, "constant", [], type_, {"value": bias})
    operands = [first.operands[0], first.operands[1], constant.results[0]]
    rebuild(first, op, operands, graph.attributes_of(op)["clamp"])
    return None


def _why_not(op: Any, first: Any, index: int) -> str | None:
    product, result = graph.type_of(first.results[0]), graph.type_of(op.results[0])
    if graph.sole_user(first.results[0]) is None:
        return f"{first.name} has other users"
    if graph.attributes_of(first)["clamp"]:
        return f"{first.name} has an activation before the sum"
    if product != result:
        return f"the result is not of the type of {first.name}"
    if product.is_float:
        return None
    if product.params.storage.name != "i32":
        return f"{first.name} gives {product.params.storage.name}: it is rounded before the sum, not after"
    addend = graph.type_of(op.operands[index]).params
    if addend != product.params:
        return "the constant has other parameters than the accumulator"
    if not _is_accumulator(first, product.params):
        return f"the i32 result of {first.name} is not its accumulator"
    return None


def _is_accumulator(first: Any, result: QuantParams) -> bool:
    """Whether result = accumulator: scale = input scale x filter scale, zero point 0."""
    source, kernel = (graph.type_of(operand).params for operand in list(first.operands)[:2])
    wanted = {float(np.float32(source.scale * scale)) for scale in kernel.scales}
    return result.zero_point == 0 and wanted == {result.scale}


def _bias(op: Any, first: Any, index: int) -> tuple[Any, TensorType]:
    """The bias with the constant in it (None if that cannot be), and its type."""
    product = graph.type_of(first.results[0])
    type_ = TensorType((product.shape[-1],), product.element)
    addend = constant_data(op.operands[index])
    total = None if addend is None else per_channel(addend, product)
    if total is None or len(first.operands) < 3:
        return None if total is None else total.copy(), type_
    bias = constant_data(first.operands[2])
    if bias is None:
        return None, type_
    if product.is_float:
        return bias + total, type_
    type_ = graph.type_of(first.operands[2])
    return wrap_int32(bias.astype(np.int64) + total).astype(np.int32), type_
