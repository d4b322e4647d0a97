"""Multiplications and additions per channel behind a convolution: what a batch norm has become."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..dialect.meaning import evaluate
from ..dialect.model import module_numerics
from ..dialect.types import TensorType
from . import graph
from .constant_operands import Array, constant_data, contraction_and_constant, per_channel, rebuild
from .decisions import record
from .registry import ModulePass, no_match, register
from .stored_maps import stored_values


@register
@dataclass(frozen=True)
class FoldBatchNormPass(ModulePass):
    """Fold a per-channel mul, add or sub with constants into weights and bias of the convolution or
    fully_connected before it. In floats up to float rounding; a quantized one only where it does nothing.

    ``add(mul(conv2d(x, w, b), m), a)``  =>  ``conv2d(x, w * m, b * m + a)``

    Quantized, the convolution has rounded and saturated its result before the mul, which weights of few bits
    cannot repeat: fold batch norms before quantization. An op that returns every stored value as it is (a
    multiplication by one, an addition of zero) is dropped.
    """

    name: ClassVar[str] = "fold-batch-norm"
    keeps_params: ClassVar[bool] = True

    def run(self, module: Any) -> None:
        mode = module_numerics(module)
        for op in graph.ops_of(module, "mul", "add", "sub"):
            if graph.type_of(op.results[0]).is_float:
                fold_affine(op)
            else:
                fold_quantized(op, mode)


def fold_affine(op: Any) -> bool | None:
    """``mul(conv2d(x, w, b), m)``  =>  ``conv2d(x, w * m, b * m)``; add: ``conv2d(x, w, b + a)``"""
    found = contraction_and_constant(op)
    if found is None:
        return no_match(op, "no convolution or fully_connected with a constant")
    first, index = found
    refused = _why_not(op, first, index)
    if refused:
        return no_match(op, refused)
    weights, bias = _folded(op, first, index)
    if weights is None:
        return no_match(op, "the constants are not one value per output channel, or not known")
    if not all(np.all(np.isfinite(array)) for array in (weights, bias) if array is not None):
        return no_match(op, "the folded weights or biases are not finite")
    record("folded", op, f"into weights and bias of {first.name}", FoldBatchNormPass.name)
    kernel = graph.type_of(first.operands[1])
    operands = [first.operands[0], first.operands[1]]
    if graph.name_of(op) == "mul":
        operands[1] = graph.build_before(op, "constant", [], kernel, {"value": weights}).results[0]
    if bias is not None:
        type_ = TensorType(kernel.shape[:1], "f32")
        operands.append(graph.build_before(op, "constant", [], type_, {"value": bias}).results[0])
    rebuild(first, op, operands, graph.attributes_of(op)["clamp"])
    return None


def _why_not(op: Any, first: Any, index: int) -> str | None:
    if graph.sole_user(first.results[0]) is None:
        return f"{first.name} has other users"
    if graph.attributes_of(first)["clamp"]:
        return f"{first.name} has an activation before it"
    if graph.type_of(first.results[0]) != graph.type_of(op.results[0]):
        return f"it broadcasts the result of {first.name}"
    if graph.name_of(op) == "sub" and index == 0:
        return "the constant is what is subtracted from"
    return None


def _folded(op: Any, first: Any, index: int) -> tuple[Array | None, Array | None]:
    """Weights and bias with the op's constant in them; no weights if that cannot be, no bias if none is
    needed.

    Products and sums are computed in float64 and rounded once.
    """
    weights, factor = constant_data(first.operands[1]), constant_data(op.operands[index])
    values = None if factor is None else per_channel(factor, graph.type_of(op.results[0]))
    if weights is None or values is None:
        return None, None
    values, bias = values.astype(np.float64), None
    if len(first.operands) > 2:
        bias = constant_data(first.operands[2])
        if bias is None:
            return None, None
    with np.errstate(over="ignore", invalid="ignore"):
        if graph.name_of(op) == "mul":
            weights = (weights * values.reshape(-1, *[1] * (weights.ndim - 1))).astype(np.float32)
            return weights, None if bias is None else (bias * values).astype(np.float32)
        start = np.zeros(values.shape) if bias is None else bias
        return weights, (start + (values if graph.name_of(op) == "add" else -values)).astype(np.float32)


def fold_quantized(op: Any, mode: str) -> bool | None:
    """``mul(conv2d(x, w) : T, m) : T``  =>  ``conv2d(x, w) : T``, if the mul returns all values of T as
    they are
    """
    found = contraction_and_constant(op)
    if found is None:
        return no_match(op, "no convolution or fully_connected with a constant")
    first, index = found
    source, result = graph.type_of(first.results[0]), graph.type_of(op.results[0])
    constant = constant_data(op.operands[index])
    values = None if constant is None else per_channel(constant, result)
    if values is None or source != result or result.params.storage.bits > 8:
        return no_match(op, f"{first.name} rounds to {source.params.storage.name} before it")
    changed = _changed_values(op, index, values, mode)
    if changed:
        return no_match(op, f"{first.name} rounds its result before it, and it changes {changed}")
    record("folded", op, "it returns every stored value as it is", FoldBatchNormPass.name)
    dead = graph.producer(op.operands[index], "constant")
    graph.replace(op, first.results[0])
    graph.erase_if_unused(dead)
    return None


def _changed_values(op: Any, index: int, constant: Array, mode: str) -> str:
    """Apply the op to every stored value with every channel's constant."""
    grid = stored_values(graph.type_of(op.results[0]).params)
    kinds = [graph.type_of(operand) for operand in op.operands]
    shapes = [(grid.size, 1), (1, constant.size)] if index == 1 else [(1, constant.size), (grid.size, 1)]
    kinds = [replace(kind, shape=shape) for kind, shape in zip(kinds, shapes, strict=True)]
    arrays = [grid, constant] if index == 1 else [constant, grid]
    inputs = [array.astype(kind.dtype).reshape(kind.shape) for array, kind in zip(arrays, kinds, strict=True)]
    result = replace(graph.type_of(op.results[0]), shape=(grid.size, constant.size))
    (got,) = evaluate(graph.name_of(op), inputs, kinds, [result], graph.attributes_of(op), mode)
    count = int(np.count_nonzero(got.astype(np.int64) != grid[:, None]))
    return f"{count} of {got.size} (value, channel) pairs" if count else ""
