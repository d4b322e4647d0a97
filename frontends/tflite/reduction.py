"""MEAN, SUM, REDUCE_* and CUMSUM."""

from __future__ import annotations

from ...dialect.qnn.shapes import reduce_shape
from .operator_import import FLOAT, PLAIN, Q8, Q16, OperatorImport
from .registry import importer

_SMALL = frozenset({"i8", "i16"})
_BOOLEAN = frozenset({"i1"})


@importer("MEAN")
def mean(op: OperatorImport) -> None:
    """mean over constant axes; over none it changes the parameters."""
    op.demand_counts((2,))
    op.demand_same_kind(FLOAT | Q8 | Q16 | PLAIN)
    axes = _axes(op)
    _emit(op, "mean" if axes else "reduce", axes, {} if axes else {"function": "sum"})


@importer("SUM", "REDUCE_PROD")
def combine(op: OperatorImport) -> None:
    op.demand_counts((2,))
    op.demand_same_kind(FLOAT | Q8 | Q16 | PLAIN | _SMALL)
    _emit(op, "reduce", _axes(op), {"function": "sum" if op.name == "SUM" else "prod"})


@importer("REDUCE_ALL", "REDUCE_ANY")
def quantify(op: OperatorImport) -> None:
    op.demand_counts((2,))
    op.demand_same_kind(_BOOLEAN)
    _emit(op, "reduce", _axes(op), {"function": op.name.removeprefix("REDUCE_").lower()})


@importer("REDUCE_MAX", "REDUCE_MIN")
def extremum(op: OperatorImport) -> None:
    op.demand_counts((2,))
    op.demand_same_kind(FLOAT | Q8 | Q16 | PLAIN | _SMALL)
    _emit(op, op.name.lower(), _axes(op), {})


def _axes(op: OperatorImport) -> tuple[int, ...]:
    """Constant axes; negative ones count from the end, repeated ones count once. A scalar has none."""
    rank = len(op.type(0).shape)
    if not rank:
        return ()
    return tuple(sorted({op.axis(axis, rank) for axis in op.integers(1, "axes")}))


def _emit(op: OperatorImport, name: str, axes: tuple[int, ...], attributes: dict[str, str]) -> None:
    keep_dims = op.option("keep_dims")
    shape = op.type(0).shape
    if any(shape[axis] == 0 for axis in axes):
        op.unsupported(f"a reduction of {list(shape)} over an empty dimension")
    result = reduce_shape(shape, axes, keep_dims)
    op.emit(name, [op.value(0)], result, {"axes": axes, "keep_dims": keep_dims, **attributes})


@importer("CUMSUM")
def cumsum(op: OperatorImport) -> None:
    """Along a constant axis."""
    op.demand_counts((2,))
    op.demand_same_kind(FLOAT | PLAIN)
    axes, shape = op.integers(1, "the axis"), op.type(0).shape
    if len(axes) != 1:
        op.fail(f"got {len(axes)} axes, expected 1")
    attributes = {name: op.option(name) for name in ("exclusive", "reverse")}
    op.emit("cumsum", [op.value(0)], shape, {"axis": op.axis(axes[0], len(shape)), **attributes})
