"""keep-intermediates: every value of the network becomes an output."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar

from ..dialect.describe import location_name
from ..dialect.mlir import func, ir
from ..dialect.model import NAME_ATTRIBUTE
from .entry import ROLE, entry_function, result_attributes, update_type
from .registry import ModulePass, register


@register
@dataclass(frozen=True)
class KeepIntermediatesPass(ModulePass):
    """Return the result of every qnn op from ``@main``, after the model's own outputs, by its tensor's name.

    For debugging: values that nobody reads are computed too, and nothing is fused across a value. Where
    several ops stem from one operator of the model, and so have one name, the last has the tensor's value;
    the ones before are ``name#0``, ``name#1`` ...
    """

    name: ClassVar[str] = "keep-intermediates"

    def run(self, module: Any) -> None:
        main = entry_function(module)
        if main is None:
            return
        block = main.operation.regions[0].blocks[0]
        return_op = block.operations[len(block.operations) - 1].operation
        attributes = result_attributes(main)
        outputs = list(return_op.operands)
        kept = [result for result in _results(block) if result not in outputs]
        taken = [ir.StringAttr(a[NAME_ATTRIBUTE]).value for a in attributes if NAME_ATTRIBUTE in a]
        for name in _names(kept, taken):
            named = {NAME_ATTRIBUTE: ir.StringAttr.get(name), ROLE: ir.StringAttr.get("intermediate")}
            attributes.append(ir.DictAttr.get(named))
        values = [*outputs, *kept]
        with ir.InsertionPoint(return_op), return_op.location:
            func.ReturnOp(values)
        return_op.erase()
        update_type(main, [value.type for value in values])
        main.operation.attributes["res_attrs"] = ir.ArrayAttr.get(attributes)


def _results(block: Any) -> list[Any]:
    operations = [op.operation for op in block.operations if op.operation.name.startswith("qnn.")]
    return [result for op in operations if op.name != "qnn.constant" for result in op.results]


def _names(values: list[Any], taken: list[str]) -> list[str]:
    """A name for each value, different from each other and from ``taken``."""
    owners = [value.owner for value in values]
    wanted = [location_name(op.location) or op.name.removeprefix("qnn.") for op in owners]
    left, used = Counter([*wanted, *taken]), set(taken)
    numbers: Counter[str] = Counter()
    names = []
    for name in wanted:
        left[name] -= 1
        unique = name
        while left[name] > 0 or unique in used:
            unique = f"{name}#{numbers[name]}"
            numbers[name] += 1
            if unique not in used and unique not in left:
                break
        used.add(unique)
        names.append(unique)
    return names
