"""Calls of launches on tensors: ``func.call`` of declarations that say which kernels run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...dialect.constants import elements_attribute
from ...dialect.mlir import arith, func, ir
from ...kernels.launch import Code, Launch
from ..entry import symbol

LAUNCHES = "qnn.launches"
"""Attribute of a declaration: what a call of it runs, in order."""
_READ = "bufferization.access"


class Calls:
    """Adds declarations and calls to a module."""

    def __init__(self, module: Any, entry: Any) -> None:
        operations = module.regions[0].blocks[0].operations
        self._entry = entry
        self._names = {symbol(op) for op in operations if "sym_name" in op.operation.attributes}
        self._numbers: dict[str, int] = {}
        """What the next name made of a base ends with, at least."""

    def constant(self, array: npt.NDArray[np.uint8], name: str) -> Any:
        """Packed bytes as a tensor, at the current insertion point."""
        value = elements_attribute(array, name)
        return arith.ConstantOp(value.type, value).result

    def call(
        self, kind: str, launches: Sequence[tuple[Launch, Sequence[int]]], inputs: Sequence[Any], result: Any
    ) -> Any:
        """Call ``launches`` (with the inputs each reads) on tensors ``inputs``.

        At the current insertion point and location; gives the result, of the tensor type ``result``.
        """
        name = self._free(kind)
        operands, described = list(inputs), []
        for launch, reads in launches:
            slots = list(reads)
            for array in launch.constants:
                slots.append(len(operands))
                operands.append(self.constant(array, f"{name}_constant"))
            described.append((launch, slots))
        # The result is the last buffer.
        attribute = ir.ArrayAttr.get(
            [describe(launch, [*slots, len(operands)]) for launch, slots in described]
        )
        types = [operand.type for operand in operands]
        with ir.InsertionPoint(self._entry):
            declaration = func.FuncOp(name, ir.FunctionType.get(types, [result]), visibility="private")
        read = ir.DictAttr.get({_READ: ir.StringAttr.get("read")})
        declaration.operation.attributes["arg_attrs"] = ir.ArrayAttr.get([read] * len(types))
        declaration.operation.attributes[LAUNCHES] = attribute
        return func.CallOp([result], name, operands).results[0]

    def _free(self, base: str) -> str:
        number = self._numbers.get(base, 0)
        while f"{base}_{number}" in self._names:
            number += 1
        self._numbers[base] = number + 1
        self._names.add(f"{base}_{number}")
        return f"{base}_{number}"


def describe(launch: Launch, operands: Sequence[int]) -> Any:
    """A launch on the operands (by number; the result's buffer is the last) of a call, as an attribute."""
    integer = ir.IntegerType.get_signless(64)
    options = {
        name: (
            ir.BoolAttr.get(value)
            if isinstance(value, bool)
            else ir.IntegerAttr.get(integer, value)
            if isinstance(value, int)
            else ir.StringAttr.get(value)
        )
        for name, value in launch.code.options
    }
    # Attributes sort their names: the order of options is part of a code, so it is kept beside them.
    order = ir.ArrayAttr.get([ir.StringAttr.get(name) for name, _ in launch.code.options])
    return ir.DictAttr.get(
        {
            "family": ir.StringAttr.get(launch.code.family),
            "isa": ir.StringAttr.get(launch.code.isa),
            "options": ir.DictAttr.get(options),
            "order": order,
            "units": ir.IntegerAttr.get(integer, launch.units),
            "operands": ir.DenseI64ArrayAttr.get(list(operands)),
            "scalars": ir.DenseI64ArrayAttr.get(list(launch.scalars)),
            "macs": ir.IntegerAttr.get(integer, launch.macs),
        }
    )


def read(attribute: Any) -> tuple[Launch, list[int]]:
    """The reverse of :func:`describe`; constants are operands of the call, and so not in the launch."""
    fields = ir.DictAttr(attribute)
    options = ir.DictAttr(fields["options"])
    pairs = []
    for entry in ir.ArrayAttr(fields["order"]):
        name = ir.StringAttr(entry).value
        value = options[name]
        pairs.append((name, value.value))
    code = Code(ir.StringAttr(fields["family"]).value, ir.StringAttr(fields["isa"]).value, tuple(pairs))
    launch = Launch(
        code,
        units=ir.IntegerAttr(fields["units"]).value,
        scalars=tuple(ir.DenseI64ArrayAttr(fields["scalars"])),
        macs=ir.IntegerAttr(fields["macs"]).value,
    )
    return launch, list(ir.DenseI64ArrayAttr(fields["operands"]))
