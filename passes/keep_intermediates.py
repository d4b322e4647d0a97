"""keep-intermediates: every value of the network becomes an output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..dialect.describe import location_name
from ..dialect.mlir import func, ir
from ..dialect.model import NAME_ATTRIBUTE, find_main
from .entry import ROLE, update_type
from .registry import ModulePass, register


@register
@dataclass(frozen=True)
class KeepIntermediatesPass(ModulePass):
    """Return the result of every qnn op from ``@main``, after the model's own outputs, under its tensor's
    name.

    For debugging: values that nobody reads are computed too, and nothing is fused across a value.
    """

    name: ClassVar[str] = "keep-intermediates"

    def run(self, module: Any) -> None:
        main = find_main(module)
        block = main.operation.regions[0].blocks[0]
        return_op = block.operations[len(block.operations) - 1].operation
        values = list(return_op.operands)
        attributes = _result_attributes(main)
        names = {ir.StringAttr(a[NAME_ATTRIBUTE]).value for a in attributes if NAME_ATTRIBUTE in a}
        for op in block.operations:
            operation = op.operation
            if not operation.name.startswith("qnn.") or operation.name == "qnn.constant":
                continue
            for result in operation.results:
                if result not in values:
                    tensor = location_name(operation.location) or operation.name.removeprefix("qnn.")
                    name = _free_name(tensor, names)
                    values.append(result)
                    attributes.append(
                        ir.DictAttr.get(
                            {NAME_ATTRIBUTE: ir.StringAttr.get(name), ROLE: ir.StringAttr.get("intermediate")}
                        )
                    )
        with ir.InsertionPoint(return_op), return_op.location:
            func.ReturnOp(values)
        return_op.erase()
        update_type(main, [value.type for value in values])
        main.operation.attributes["res_attrs"] = ir.ArrayAttr.get(attributes)


def _result_attributes(main: Any) -> list[Any]:
    if "res_attrs" in main.operation.attributes:
        return [ir.DictAttr(a) for a in ir.ArrayAttr(main.operation.attributes["res_attrs"])]
    return [ir.DictAttr.get({}) for _ in main.type.results]


def _free_name(name: str, taken: set[str]) -> str:
    """``name``, or ``name#1``, ``name#2`` ... if it is taken; takes it."""
    free, count = name, 0
    while free in taken:
        count += 1
        free = f"{name}#{count}"
    taken.add(free)
    return free
