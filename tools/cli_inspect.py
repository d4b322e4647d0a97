"""``zeropoint inspect``: the operators of a model with shapes, parameters, multipliers and shifts."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from ..dialect.describe import OpRow, describe
from ..dialect.numerics import Rounding
from ..dialect.types import QuantParams, TensorType
from .cli_arguments import add_model_arguments, load_model
from .tables import print_table

COLUMNS = (
    "#",
    "operator",
    "tensor",
    "input",
    "result",
    "parameters",
    "rounding",
    "multiplier or scale",
    "shift",
    "range",
    "MMAC",
    "KB",
)
RIGHT = ("#", "multiplier or scale", "shift", "MMAC", "KB")
SPARE = ("input", "KB", "rounding", "range", "MMAC", "tensor")
"""What a narrow terminal can do without, first to last."""


def register(commands: Any) -> None:
    """Add the subcommand to ``commands`` (argparse's subparsers)."""
    command: argparse.ArgumentParser = commands.add_parser(
        "inspect",
        help="a table of a model's operators",
        description="A table of the operators: shapes, (scale, zero point) of the result, the rounding "
        "rule, the fixed-point multiplier and shift that the kernel applies (left shifts are positive; "
        "per-channel operators show the range over their channels; rules that multiply in floating point "
        "show the scale), the stored range after a fused activation, millions of multiply-accumulates "
        "(MMAC; what is in a loop is counted once) and 1000 bytes (KB) of constants. "
        "Rounding rules: `double` rounds twice, in Q31 integers; `once-half-away` and "
        "`float32-half-even` once, the product in float64 or float32; `single-half-up` once, in integers; "
        "`exact` never has to.",
    )
    add_model_arguments(command)
    command.add_argument("--json", action="store_true", help="every row in full, as JSON, for scripts")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    model = load_model(arguments)
    rows = describe(model.module)
    if arguments.json:
        print(json.dumps(_document(model, rows), indent=1))
        return 0
    for label, tensors in (("input", model.inputs), ("output", model.outputs)):
        for tensor in tensors:
            print(f"{label:7} {tensor.name}: {shape(tensor.type)} {_parameters(tensor.type)}")
    print(f"numerics {model.numerics}\n")
    print_table(COLUMNS, [_cells(row) for row in rows], right=RIGHT, shorten=("tensor",), spare=SPARE)
    total = sum(row.macs for row in rows) / 1e6
    size = sum(row.constant_bytes for row in rows) / 1e3
    print(f"\n{len(rows)} operators, {total:.1f} MMAC, {size:.0f} KB of constants")
    return 0


def _document(model: Any, rows: Sequence[OpRow]) -> dict[str, Any]:
    def tensors(infos: Any) -> list[dict[str, Any]]:
        return [
            {
                "name": t.name,
                "shape": list(t.shape),
                "dtype": str(t.dtype),
                "scale": t.scale,
                "zero_point": t.zero_point,
                "axis": t.axis,
            }
            for t in infos
        ]

    return {
        "model": model.name,
        "numerics": model.numerics,
        "inputs": tensors(model.inputs),
        "outputs": tensors(model.outputs),
        "operators": [row.to_json() for row in rows],
    }


def _cells(row: OpRow) -> tuple[str, ...]:
    return (
        str(row.index),
        f"{row.op} depthwise" if is_depthwise(row) else row.op,
        row.name.split(";")[0],  # converters join the names of everything fused; the first says enough
        " + ".join(shape(t) for t in row.inputs),
        shape(row.result),
        _parameters(row.result),
        row.rounding,
        *rescale_cells(row),
        f"{row.range[0]}..{row.range[1]}" if row.range else "",
        f"{row.macs / 1e6:.2f}" if row.macs else "",
        f"{row.constant_bytes / 1e3:.1f}" if row.constant_bytes else "",
    )


def is_depthwise(row: OpRow) -> bool:
    """Whether a convolution has one group per input channel, and more than one of them."""
    return row.op == "conv2d" and 1 < row.attributes["groups"] == row.inputs[0].shape[3]


def rescale_cells(row: OpRow) -> tuple[str, str]:
    """Multiplier and shift, or the real scale where the rounding rule multiplies in floating point."""
    if row.rounding in (Rounding.DOUBLE.value, Rounding.EXACT.value):
        return span(row.multipliers), span(row.shifts)
    return span([float(f"{scale:.6g}") for scale in row.scales]), ""


def shape(type_: TensorType) -> str:
    """``1x8x8x3``."""
    return "x".join(str(d) for d in type_.shape) or "scalar"


def _parameters(type_: TensorType) -> str:
    params = type_.element
    if not isinstance(params, QuantParams):
        return params
    if params.axis is None and not params.block_sizes:
        return f"{params.storage} ({params.scale:.6g}, {params.zero_point})"
    return f"{params.storage} ({len(params.scales)} scales)"


def span(values: Sequence[float]) -> str:
    """``7``, or ``-9..-6`` for values that differ."""
    if not values:
        return ""
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low}..{high}"
