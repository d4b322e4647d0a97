"""Operators that are a function of every element: ABS, EXP, GELU ... and LEAKY_RELU."""

from __future__ import annotations

import math

from .operator_import import FLOAT, PLAIN, Q8, Q16, OperatorImport
from .registry import importer

_SMALL = frozenset({"i8", "i16"})
_FUNCTIONS: dict[str, tuple[str, frozenset[str]]] = {
    "ABS": ("abs", FLOAT | Q8 | Q16 | PLAIN | _SMALL),
    "CEIL": ("ceil", FLOAT),
    "COS": ("cos", FLOAT),
    "ELU": ("elu", FLOAT | Q8 | Q16),
    "EXP": ("exp", FLOAT | Q8 | Q16),
    "FLOOR": ("floor", FLOAT),
    "HARD_SWISH": ("hard_swish", FLOAT | Q8 | Q16),
    "LOG": ("log", FLOAT | Q8 | Q16),
    "LOGICAL_NOT": ("logical_not", frozenset({"i1"})),
    "NEG": ("neg", FLOAT | Q8 | Q16 | PLAIN | _SMALL),
    "ROUND": ("round", FLOAT),
    "RSQRT": ("rsqrt", FLOAT | Q8 | Q16),
    "SIGN": ("sign", FLOAT | Q8 | Q16 | PLAIN),
    "SIN": ("sin", FLOAT),
    "SQRT": ("sqrt", FLOAT | Q8 | Q16),
    "SQUARE": ("square", FLOAT | Q8 | Q16),
}
"""Operator -> the function of ``qnn.unary``, and the kinds of tensors it takes."""


@importer(*_FUNCTIONS)
def unary(op: OperatorImport) -> None:
    function, kinds = _FUNCTIONS[op.name]
    op.demand_counts((1,))
    op.demand_same_kind(kinds)
    op.emit("unary", [op.value(0)], op.type(0).shape, {"function": function})


@importer("GELU")
def gelu(op: OperatorImport) -> None:
    """By the error function, or (``approximate``) by tanh."""
    op.demand_counts((1,))
    op.demand_same_kind(FLOAT | Q8 | Q16)
    function = "gelu_tanh" if op.option("approximate") else "gelu"
    op.emit("unary", [op.value(0)], op.type(0).shape, {"function": function})


@importer("LEAKY_RELU")
def leaky_relu(op: OperatorImport) -> None:
    op.demand_counts((1,))
    op.demand_same_kind(FLOAT | Q8 | Q16)
    alpha = op.option("alpha")
    if not math.isfinite(alpha):
        op.fail(f"alpha must be finite, got {alpha:g}")
    op.emit("leaky_relu", [op.value(0)], op.type(0).shape, {"alpha": alpha})
