"""What the rescale after a contraction computes, kept as plain numbers beside its arithmetic.

``convert-qnn-to-linalg`` writes it as the discardable attribute ``qnn.epilogue`` of the elementwise op, for
code generators that have instructions of their own for it.
"""

from __future__ import annotations

from typing import Any

from ..dialect.mlir import ir
from ..dialect.numerics import Rounding
from ..dialect.op_constants import Rescale
from ..dialect.types import Storage

EPILOGUE = "qnn.epilogue"
"""Discardable attribute of the only user of a contraction."""


def epilogue_attribute(rescale: Rescale, storage: Storage) -> Any:
    """``rescale`` into the result's ``storage`` as a dictionary attribute (in the current context)."""
    return ir.DictAttr.get(
        {
            "rounding": ir.StringAttr.get(rescale.rounding.value),
            "scales": ir.DenseF64ArrayAttr.get(list(rescale.scales)),
            "multipliers": ir.DenseI64ArrayAttr.get(list(rescale.multipliers)),
            "shifts": ir.DenseI64ArrayAttr.get(list(rescale.shifts)),
            "zero_point": _integer(rescale.zero_point),
            "low": _integer(rescale.low),
            "high": _integer(rescale.high),
            "storage": ir.StringAttr.get(storage.name),
        }
    )


def read_epilogue(attribute: Any) -> tuple[Rescale, Storage]:
    """What :func:`epilogue_attribute` wrote."""
    values = ir.DictAttr(attribute)
    rescale = Rescale(
        Rounding(ir.StringAttr(values["rounding"]).value),
        tuple(ir.DenseF64ArrayAttr(values["scales"])),
        tuple(ir.DenseI64ArrayAttr(values["multipliers"])),
        tuple(ir.DenseI64ArrayAttr(values["shifts"])),
        *(ir.IntegerAttr(values[name]).value for name in ("zero_point", "low", "high")),
    )
    return rescale, Storage.of(ir.StringAttr(values["storage"]).value)


def _integer(value: int) -> Any:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
