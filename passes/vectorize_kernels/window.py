"""The geometry of a tagged contraction, read from its indexing maps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...dialect.mlir import ir
from ..kernel_builder import CONTRACTION


class NoMatchError(Exception):
    """Why a kernel is left as it is."""


@dataclass(frozen=True)
class Window:
    """Extents, strides and dilations, as in :class:`.spec.ConvSpec`."""

    kind: str
    batch: int
    in_height: int
    in_width: int
    in_channels: int
    out_height: int
    out_width: int
    out_channels: int
    kernel_height: int
    kernel_width: int
    strides: tuple[int, int] = (1, 1)
    dilations: tuple[int, int] = (1, 1)


def read_window(contraction: Any) -> Window:
    """The window of a contraction on memrefs ``x, w[, zero points], acc``.

    Raises:
        NoMatchError: it has another form than the ones of ``convert-qnn-to-linalg`` (see there), or groups.
    """
    kind = str(ir.StringAttr(contraction.attributes[CONTRACTION]).value)
    operands = list(contraction.operands)
    x, w, acc = (list(operands[i].type.shape) for i in (0, 1, -1))
    maps = [ir.AffineMapAttr(attribute) for attribute in contraction.attributes["indexing_maps"]]
    if kind == "matmul" and (len(x), len(w), len(acc)) == (2, 2, 2):
        window = Window(kind, 1, 1, x[0], x[1], 1, acc[0], acc[1], 1, 1)
        expected = ["d0, d2", "d1, d2", "d0, d1"]
        loops, channel = 3, "d1"
    elif kind == "conv2d" and (len(x), len(w), len(acc)) == (4, 4, 4):
        strides, dilations = _steps(maps[0], 4)
        window = Window(kind, *_sizes(x, acc), w[1], w[2], strides, dilations)
        expected = [f"d0, {_taps(strides, dilations, 4)}, d6", "d3, d4, d5, d6", "d0, d1, d2, d3"]
        loops, channel = 7, "d3"
    elif kind == "depthwise_conv2d" and (len(x), len(w), len(acc)) == (4, 3, 4):
        strides, dilations = _steps(maps[0], 3)
        window = Window(kind, *_sizes(x, acc), w[0], w[1], strides, dilations)
        read = "d5" if x[3] == acc[3] else "0"
        expected = [f"d0, {_taps(strides, dilations, 3)}, {read}", "d3, d4, d5", "d0, d1, d2, d5"]
        loops, channel = 6, "d5"
    else:
        raise NoMatchError(f"a {kind} in groups, or with other axes than usual")
    expected[2:2] = [channel] * (len(operands) - 3)
    variables = ", ".join(f"d{i}" for i in range(loops))
    if maps != [ir.Attribute.parse(f"affine_map<({variables}) -> ({exprs})>") for exprs in expected]:
        raise NoMatchError(f"a {kind} with other loops than usual")
    return window


def _sizes(x: list[int], acc: list[int]) -> tuple[int, int, int, int, int, int, int]:
    return (x[0], x[1], x[2], x[3], acc[1], acc[2], acc[3])


def _taps(strides: tuple[int, int], dilations: tuple[int, int], first: int) -> str:
    """Where a tap reads; its loops are ``d<first>`` and the next."""
    rows, columns = (
        f"d{1 + axis} * {strides[axis]} + d{first + axis} * {dilations[axis]}" for axis in (0, 1)
    )
    return f"{rows}, {columns}"


def _steps(map_: Any, first: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Strides and dilations: the factors of the loops in the input's rows and columns."""
    exprs = list(map_.value.results)[1:3]
    rows, columns = (_factors(expr) for expr in exprs)
    return (rows.get(1, 0), columns.get(2, 0)), (rows.get(first, 0), columns.get(first + 1, 0))


def _factors(expr: Any) -> dict[int, int]:
    """Of a sum of multiples of loops: loop -> factor. Whatever else is in it is left out."""
    if isinstance(expr, ir.AffineDimExpr):
        return {expr.position: 1}
    if isinstance(expr, ir.AffineMulExpr) and isinstance(expr.rhs, ir.AffineConstantExpr):
        return {loop: factor * expr.rhs.value for loop, factor in _factors(expr.lhs).items()}
    if isinstance(expr, ir.AffineAddExpr):
        return {**_factors(expr.lhs), **_factors(expr.rhs)}
    return {}
